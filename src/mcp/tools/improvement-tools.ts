import { asText, CALLS_MODELS, READS, SETS, type ToolSpec } from './tool.ts';

export const IMPROVEMENT_TOOLS: readonly ToolSpec[] = [
  {
    name: 'estimate_improvement',
    operation: 'estimateImprovement',
    title: 'Estimate an improvement',
    description:
      'Estimates the cost of a search for a better version of a prompt, and what its examples could prove. Use it before start_improvement.',
    hints: READS,
  },
  {
    name: 'start_improvement',
    operation: 'createImprovement',
    title: 'Start an improvement',
    description:
      'Searches for a better version of a prompt: a model rewrites it from failing examples of a dataset, and the best candidate is tested once on unseen ones. Takes minutes to hours and spends at most max_cost. Nothing changes until a candidate is accepted.',
    hints: CALLS_MODELS,
    next: ({ id }) => `It has started. Watch it with get_improvement and id ${asText(id ?? '')}.`,
  },
  {
    name: 'suggest_prompt',
    operation: 'suggestPrompt',
    title: 'Suggest a better prompt',
    description:
      'Has a model rewrite the texts of a prompt from examples that failed, with one call. Whether the result is better is not measured: store it with update_prompt and run an evaluation, or use start_improvement for a proof.',
    hints: CALLS_MODELS,
  },
  {
    name: 'list_improvements',
    operation: 'listImprovements',
    title: 'List improvements',
    description: 'Lists searches for better versions of prompts, newest first.',
    hints: READS,
  },
  {
    name: 'get_improvement',
    operation: 'getImprovement',
    title: 'Read an improvement',
    description: 'Reads a search: its progress, spending, best candidate and verdict.',
    hints: READS,
  },
  {
    name: 'list_improvement_candidates',
    operation: 'listImprovementCandidates',
    title: 'List the candidates of an improvement',
    description: 'Lists the rewritten prompts of a search with their scores, changes, and reasons for rejection.',
    hints: READS,
  },
  {
    name: 'finish_improvement',
    operation: 'finishImprovement',
    title: 'End a search and get its verdict',
    description: 'Ends a search now; the best candidate so far is tested on the held-out examples.',
    hints: { ...CALLS_MODELS, destructive: true, idempotent: true },
  },
  {
    name: 'cancel_improvement',
    operation: 'cancelImprovement',
    title: 'Cancel an improvement',
    description: 'Ends a search without a verdict.',
    hints: SETS,
  },
  {
    name: 'accept_improvement',
    operation: 'acceptImprovement',
    title: 'Accept a candidate',
    description:
      'Creates a version of the prompt from a candidate, and optionally starts a release. Callers without a label get the new version: ask a person before.',
    hints: { ...SETS, openWorld: true },
  },
];
