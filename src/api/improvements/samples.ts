import type { z } from 'zod';
import type {
  Candidate,
  CreateImprovement,
  Improvement,
  ImprovementEstimate,
  Suggestion,
  SuggestPrompt,
} from './schema.ts';

export const createSamples: Record<string, z.input<typeof CreateImprovement>> = {
  'With a limit of five dollars': {
    prompt_name: 'support/greeting',
    dataset: 'support/tickets',
    evaluators: [{ type: 'contains', value: 'order number' }],
    reflection: { model: 'openai/gpt-4.1' },
    max_cost: 5,
  },
  'With a judge, without a limit': {
    prompt_name: 'support/greeting',
    dataset: 'support/tickets',
    evaluators: [{ type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Is the answer right and kind?' }],
    reflection: { model: 'openai/gpt-4.1', instructions: 'Keep it short.' },
    keep: ['Never promise a refund.'],
    max_cost: null,
  },
};

export const improvementSample: z.input<typeof Improvement> = {
  id: 'imp_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  status: 'completed',
  status_reason: null,
  phase: 'verdict',
  error: null,
  prompt_name: 'support/greeting',
  prompt_version: 3,
  dataset: { name: 'support/tickets', version: 4 },
  evaluators: [{ type: 'contains', name: 'contains', weight: 1 }],
  example_threshold: null,
  reflection: { model: 'openai/gpt-4.1', prompt: null, parameters: {}, instructions: null },
  parts: ['template'],
  keep: [],
  few_shot: 0,
  feedback: null,
  max_cost: '5',
  max_proposals: 60,
  parallel: 2,
  minibatch: 8,
  patience: 24,
  deadline: null,
  max_length: null,
  concurrency: 20,
  mode: 'interactive',
  batch: null,
  reuse: { max_age: 2_592_000 },
  group_by: null,
  seed: '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  metadata: {},
  split: { train: 51, check: 48, held_out: 101 },
  spent: { cost: 1.1042, calls: 1_420, reused: 96, reflections: 33, savings: 0.02 },
  base: { train: 0.58, check: 0.6, check_again: 0.61 },
  best: { number: 17, check: 0.79 },
  proposals: { made: 33, rejected: 4, skipped: 1, tried: 15, checked: 13 },
  curve: [{ proposal: 0, cost: 0.08, check: 0.6 }],
  stop_reason: 'patience',
  verdict: {
    result: 'improvement',
    candidate: 17,
    evaluation_id: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12',
    base_evaluation_id: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a13',
    examples: 101,
    score_base: 0.594,
    score: 0.718,
    difference: 0.124,
    interval: { low: 0.051, high: 0.198 },
    p_value: 0.0013,
    p_needed: 0.05,
    look: 1,
    note: '+12.4 points on 101 examples it never saw (95 % CI +5.1 to +19.8); +18.5 where it was chosen.',
    by_evaluator: [],
    agreement: null,
    optimism: 0.061,
    cost_per_call: { base: 0.0004, candidate: 0.0005 },
    length: { base: 180, candidate: 642 },
  },
  accepted: null,
  workflow_id: 'improvement/imp_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  created_at: '2026-01-31T12:00:00.000Z',
  finished_at: '2026-01-31T12:21:40.000Z',
};

export const candidateSample: z.input<typeof Candidate> = {
  number: 17,
  parent: 9,
  kind: 'reflect',
  status: 'finalist',
  reject: null,
  change: 'Asks for the order number before anything else.',
  diagnosis: ['Answers promise a refund without an order number.'],
  content: { template: 'Greet {{ name }} and ask for the order number.', messages: null, tools: null },
  length: 46,
  minibatch: { parent_score: 0.5, score: 0.75, examples: 8 },
  check: { score: 0.79, difference: 0.19 },
  cost: 0.021,
  execution_ids: ['exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a14'],
  evaluation_ids: { check: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a15' },
};

export const candidateDiffs: z.input<typeof Candidate>['diffs'] = {
  parent: [
    {
      path: 'template',
      diff: '--- template@9\n+++ template@17\n@@ -1,1 +1,1 @@\n-Greet {{ name }}.\n+Greet {{ name }} and ask for the order number.\n',
    },
  ],
  base: [
    {
      path: 'template',
      diff: '--- template@0\n+++ template@17\n@@ -1,1 +1,1 @@\n-Greet {{ name }}.\n+Greet {{ name }} and ask for the order number.\n',
    },
  ],
};

export const suggestSamples: Record<string, z.input<typeof SuggestPrompt>> = {
  'From an execution with its scores and comments': {
    prompt_name: 'support/greeting',
    execution_ids: ['exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a14'],
    model: 'openai/gpt-4.1',
  },
  'From the worst results of an evaluation': {
    prompt_name: 'support/greeting',
    evaluation_id: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a13',
    model: 'openai/gpt-4.1',
  },
};

export const suggestionSample: z.input<typeof Suggestion> = {
  prompt_name: 'support/greeting',
  prompt_version: 3,
  content: { template: 'Greet {{ name }} and ask for the order number.', messages: null, tools: null },
  reject: null,
  change: 'Asks for the order number before anything else.',
  diagnosis: ['Answers promise a refund without an order number.'],
  examples: 8,
  status: 'completed',
  execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a14',
  cost: '0.0041',
  measured: false,
};

export const estimateSample: z.input<typeof ImprovementEstimate> = {
  split: { train: 51, check: 48, held_out: 101 },
  held_out: { fresh: 101, look: 1, p_needed: 0.05, least_provable: 0.059406 },
  calls: { expected: 2_605, most: 4_189 },
  reflections: 60,
  cost: { expected: '1.31', most: '3.62' },
  warnings: [],
};
