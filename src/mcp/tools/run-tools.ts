import { BRIEF_CONTENT } from './prompt-tools.ts';
import { asText, CALLS_MODELS, READS, SETS, type ToolSpec } from './tool.ts';

const DEFAULT_WAIT_SECONDS = 30;
/** MCP hosts abort a call after a minute. */
const MAX_WAIT_SECONDS = 55;

/** For tools that run prompts: how long to wait. */
export const WAITING: Pick<ToolSpec, 'own' | 'headers'> = {
  own: {
    wait_seconds: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_WAIT_SECONDS,
      default: DEFAULT_WAIT_SECONDS,
      description: 'The time to wait for the end.',
    },
  },
  headers: ({ wait_seconds: wait = DEFAULT_WAIT_SECONDS }) => ({
    Prefer: `wait=${typeof wait === 'number' ? Math.min(wait, MAX_WAIT_SECONDS) : asText(wait)}`,
  }),
};

const ENDED = new Set(['completed', 'failed', 'canceled']);

export const RUN_TOOLS: readonly ToolSpec[] = [
  {
    name: 'run_prompt',
    operation: 'createExecution',
    title: 'Run a prompt',
    description:
      'Calls the model with a prompt and its variables, and gives the output with tokens, cost and latency. This costs money. Use draft to try a change that is not stored. A run that has not ended after wait_seconds continues: poll it with get_execution.',
    hints: CALLS_MODELS,
    omit: ['rollout_key'],
    brief: {
      draft: {
        type: 'object',
        description:
          'Content that is not stored: template or messages, tools, inputs, model, parameters, as create_prompt_version has them. With prompt_name, omitted fields come from the version.',
      },
      messages: { type: 'array', items: { type: 'object' }, description: "Appended to the prompt's own messages." },
      parameters: BRIEF_CONTENT.parameters,
    },
    ...WAITING,
    next: ({ id, status }) =>
      ENDED.has(asText(status ?? ''))
        ? undefined
        : `It is still running. Check again with get_execution and id ${asText(id ?? '')}.`,
  },
  {
    name: 'get_execution',
    operation: 'getExecution',
    title: 'Read an execution',
    description: 'Reads one run of a prompt: variables, output, error, tokens, cost, latency, scores.',
    hints: READS,
  },
  {
    name: 'search_executions',
    operation: 'listExecutions',
    title: 'Search executions',
    description:
      'Finds runs of prompts, newest first or in the order of cost, latency or tokens (sort), by words in their texts (q), prompt, version, status, error, model, label, release, time, cost, latency, metadata and scores. Use it to see what fails, or what users of a prompt have got. A page may be empty and still have a next_cursor: continue with it.',
    hints: READS,
  },
  {
    name: 'count_executions',
    operation: 'countExecutions',
    title: 'Count executions',
    description:
      'Counts runs of prompts by status, prompt, version, model, label, origin and error, with the filters of search_executions. Use it first, to see where failures are before you read them.',
    hints: READS,
  },
  {
    name: 'cancel_execution',
    operation: 'cancelExecution',
    title: 'Cancel an execution',
    description: 'Cancels an unfinished run. Model usage up to then may be charged.',
    hints: { ...SETS, idempotent: false },
  },
  {
    name: 'list_providers',
    operation: 'listProviders',
    title: 'List model providers',
    description:
      'Lists the model providers that are set up. A model is written provider/model, such as openai/gpt-5-mini.',
    hints: READS,
  },
  {
    name: 'get_usage',
    operation: 'getUsage',
    title: 'Read usage and cost',
    description: 'Sums up runs, tokens and cost over a period, by prompt, model, day or other groups.',
    hints: READS,
  },
  {
    name: 'get_prompt_statistics',
    operation: 'getPromptStatistics',
    title: 'Read the statistics of a prompt',
    description: 'Shows how a prompt does over time and by version: runs, errors, cost, latency, scores.',
    hints: READS,
  },
];
