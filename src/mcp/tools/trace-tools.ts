import { ADDS, READS, type ToolSpec } from './tool.ts';

export const TRACE_TOOLS: readonly ToolSpec[] = [
  {
    name: 'search_traces',
    operation: 'listTraces',
    title: 'Search traces',
    description:
      'Finds runs of agents, newest first, by words (q), name, status, prompt, model, tool, agent, user, conversation, release and arm, time, cost, duration, number of steps and metadata. Use it to see which runs failed or were expensive. A page may be empty and still have a next_cursor: continue with it.',
    hints: READS,
  },
  {
    name: 'count_traces',
    operation: 'countTraces',
    title: 'Count traces',
    description:
      'Counts runs of agents by status, name, service, environment, user, model, tool, agent and tag, of those that a filter matches. Use it before search_traces to see what there is.',
    hints: READS,
  },
  {
    name: 'get_trace',
    operation: 'getTrace',
    title: 'Read a trace',
    description:
      'Reads one run of an agent: status, steps, model calls, errors, tokens, cost, and the beginnings of its input and output.',
    hints: READS,
  },
  {
    name: 'list_trace_steps',
    operation: 'listTraceSteps',
    title: 'List the steps of a trace',
    description:
      'Lists the steps of a run as a tree (parent_id), without their texts: model calls, tools, retrievals, with their errors, tokens and cost.',
    hints: READS,
  },
  {
    name: 'get_trace_step',
    operation: 'getTraceStep',
    title: 'Read a step of a trace',
    description: 'Reads one step of a run with its input, output, tool calls and attributes.',
    hints: READS,
  },
  {
    name: 'list_conversations',
    operation: 'listConversations',
    title: 'List conversations',
    description:
      'Lists conversations, the most recent first, with the number of their traces, errors, tokens and cost.',
    hints: READS,
  },
  {
    name: 'get_conversation',
    operation: 'getConversation',
    title: 'Read a conversation',
    description: 'Reads a conversation: its traces, oldest first, with the beginnings of its messages.',
    hints: READS,
  },
  {
    name: 'add_traces_to_dataset',
    operation: 'createDatasetFromTraces',
    title: 'Make examples out of traces',
    description:
      'Adds whole runs of agents, or single steps of them, as examples to a dataset, in a new version of it: what went in, and what came out.',
    hints: ADDS,
  },
];
