import { ADDS, READS, type ToolSpec } from './tool.ts';

export const REVIEW_TOOLS: readonly ToolSpec[] = [
  {
    name: 'list_queues',
    operation: 'listQueues',
    title: 'List annotation queues',
    description:
      'Lists the queues of runs, examples and traces that reviewers score, with their progress and the scores they ask for.',
    hints: READS,
  },
  {
    name: 'add_queue_items',
    operation: 'addQueueItems',
    title: 'Put items into a queue',
    description:
      'Puts runs, examples, traces or steps of traces into a queue, for people to look at; or pairs of outputs for the same input, for people to say which is better. Items already in the queue are not added again.',
    hints: { ...ADDS, idempotent: true },
  },
  {
    name: 'next_queue_item',
    operation: 'leaseQueueItem',
    title: 'Get the next item of a queue',
    description:
      'Leases the next item of a queue for some minutes: then call complete_queue_item, skip_queue_item or return_queue_item. A caller that already holds an item gets the same one again. Score as a reviewer only if you were asked to.',
    hints: { ...ADDS, idempotent: true },
  },
  {
    name: 'complete_queue_item',
    operation: 'completeQueueItem',
    title: 'Complete an item of a queue',
    description:
      'Stores your scores for an item that you have taken and ends it. With correction and dataset, what the output should have been becomes an example. Scores of a pair (an item with other) are first, second or tie.',
    hints: { ...ADDS, destructive: true },
  },
  {
    name: 'skip_queue_item',
    operation: 'skipQueueItem',
    title: 'Skip an item of a queue',
    description: 'Ends an item that you have taken, without a score.',
    hints: { ...ADDS, destructive: true },
  },
  {
    name: 'return_queue_item',
    operation: 'returnQueueItem',
    title: 'Give an item of a queue back',
    description:
      'Returns an item that you hold to the queue, for someone else; a completed or skipped item is open again.',
    hints: { ...ADDS, idempotent: true },
  },
  {
    name: 'create_score',
    operation: 'createScores',
    title: 'Store a score',
    description:
      'Scores a run or an evaluation example: a number, yes or no, a category or a text, under a name such as helpful. Scores of that name appear in statistics and release checks.',
    hints: ADDS,
    form: 1,
    omit: ['source'],
  },
  {
    name: 'list_scores',
    operation: 'listScores',
    title: 'List scores',
    description: 'Lists scores, newest first: of a run, an evaluation, a prompt, a name, a source, with comments.',
    hints: READS,
    omit: ['format'],
  },
  {
    name: 'summarize_scores',
    operation: 'summarizeScores',
    title: 'Sum up scores',
    description:
      'Sums up scores by name, prompt, version, day or other groups: how prompts do in the eyes of users, reviewers and evaluators.',
    hints: READS,
  },
];
