const TOKENS = { input: 2400, output: 1600, cached_input: 0, reasoning: 0, total: 4000 };
const NO_TOKENS = { input: 0, output: 0, cached_input: 0, reasoning: 0, total: 0 };
const ID = 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11';
const BASELINE_ID = 'eval_0198e1b2-1d4e-7f00-8a3b-5c9d2e7f4a66';

/** An evaluation as the documentation shows it. */
export const EVALUATION_SAMPLE = {
  id: ID,
  status: 'completed',
  status_reason: null,
  name: 'Shorter answers',
  target: { type: 'prompt', name: 'support/greeting' },
  prompt_name: 'support/greeting',
  prompt_version: 2,
  model: 'openai/gpt-4o-mini',
  fallback_models: [],
  includes: [],
  provider: 'openai',
  parameters: { temperature: 0 },
  dataset: { name: 'support/questions', version: 1 },
  evaluators: [{ type: 'exact_match', name: 'exact_match', weight: 1 }],
  threshold: 0.9,
  example_threshold: null,
  baseline_id: BASELINE_ID,
  source_evaluation_id: null,
  reuse: null,
  concurrency: 20,
  mode: 'interactive',
  batch: null,
  max_cost: '2.5',
  start_at: null,
  metadata: {},
  schedule_id: null,
  improvement_id: null,
  score: 0.93,
  scores_by_evaluator: { exact_match: 0.93 },
  passed: true,
  examples_total: 200,
  examples_evaluated: 200,
  examples_failed: 1,
  regressions: 3,
  improvements: 9,
  tokens: TOKENS,
  cost: { amount: '0.00132', currency: 'USD' },
  judge: { tokens: NO_TOKENS, cost: { amount: '0', currency: 'USD' } },
  latency: { p50_ms: 611, p95_ms: 1420 },
  progress: 1,
  retries: 0,
  workflow_id: `evaluation-run/${ID}`,
  results_due_at: null,
  error: null,
  created_at: '2026-01-31T12:00:00.000Z',
  started_at: '2026-01-31T12:00:00.120Z',
  finished_at: '2026-01-31T12:00:09.480Z',
};

/** A run of the caller's own program. */
export const CODE_SAMPLE = {
  ...EVALUATION_SAMPLE,
  target: { type: 'code', name: 'support/agent' },
  prompt_name: 'support/agent',
  prompt_version: 0,
  model: 'code',
  provider: 'code',
  parameters: {},
  evaluators: [{ type: 'code', name: 'correct', weight: 1 }],
  scores_by_evaluator: { correct: 0.93 },
  concurrency: 0,
  max_cost: null,
  tokens: NO_TOKENS,
  cost: { amount: '0', currency: 'USD' },
  workflow_id: '',
};

/** A run with batches that waits for them. */
export const BATCHED_SAMPLE = {
  ...EVALUATION_SAMPLE,
  status: 'running',
  mode: 'batch',
  batch: { max_wait: '24h', then: 'interactive' },
  batches: [
    {
      number: 1,
      id: 'batch_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12',
      wave: 'responses',
      evaluator: null,
      provider: 'openai',
      model: 'openai/gpt-4o-mini',
      provider_batch_id: 'batch_68f0c5',
      status: 'in_progress',
      provider_status: 'in_progress',
      items: 200,
      counts: { total: 200, succeeded: 40, failed: 0 },
      submitted_at: '2026-01-31T12:00:02.000Z',
      expires_at: '2026-02-01T12:00:02.000Z',
      next_poll_at: '2026-01-31T12:05:02.000Z',
      finished_at: null,
      error: null,
    },
  ],
  savings: { amount: '0', currency: 'USD' },
};

/** One example's result as the documentation shows it. */
export const RESULT_SAMPLE = {
  seq: 0,
  example_id: 'ada',
  status: 'scored',
  variables: { name: 'Ada' },
  expected: 'Hello Ada!',
  output: 'Hello Ada!',
  tool_calls: [],
  model: 'openai/gpt-4o-mini',
  reused_from: null,
  finish_reason: 'stop',
  score: 1,
  scores: { exact_match: { score: 1, reason: null } },
  baseline_score: 0,
  regression: false,
  improvement: true,
  error: null,
  attempts: 1,
  tokens: { input: 12, output: 8, cached_input: 0, reasoning: 0, total: 20 },
  cost: { amount: '0.0000066', currency: 'USD' },
  model_ms: 611,
};

/** A comparison as the documentation shows it. */
export const COMPARISON_SAMPLE = {
  a: BASELINE_ID,
  b: ID,
  examples_compared: 200,
  score_a: 0.9,
  score_b: 0.93,
  difference: 0.03,
  interval: { low: -0.01, high: 0.07, method: 'sign_flip' },
  p_value: 0.15,
  verdict: 'within_noise',
  withheld: null,
  comparable: true,
  left_out_evaluators: [],
  note: 'The difference of +3.0 points is within noise: 95 % CI −1.0 to +7.0, p = 0.150, over 200 examples.',
  regressions: {
    total: 1,
    examples: [
      { key: 'bob', seq_a: 1, seq_b: 1, score_a: 1, score_b: 0, difference: -1, failed_a: false, failed_b: false },
    ],
  },
  improvements: { total: 0, examples: [] },
  unchanged: 199,
  only_in_a: { total: 0, keys: [] },
  only_in_b: { total: 0, keys: [] },
  by_evaluator: [],
  metadata_keys: ['topic'],
};

export const SUMMARY_SAMPLE = {
  results: 200,
  failed: 0,
  scored: 200,
  passed: 186,
  score: 0.93,
  histogram: [14, 0, 0, 0, 0, 0, 0, 0, 0, 186],
  by_evaluator: { exact_match: 0.93 },
  tokens: 4000,
  cost: { amount: '0.00132', currency: 'USD' as const },
  latency: { p50_ms: 640, p95_ms: 1210 },
  complete: true,
};

/** Bodies of `POST /evaluations`, by title. */
export const CREATE_SAMPLES = {
  'Over a dataset': {
    prompt_name: 'support/greeting',
    dataset: 'support/questions',
    evaluators: [{ type: 'exact_match' }],
    threshold: 0.9,
    max_cost: 2.5,
  },
  'Over inline examples': {
    prompt_name: 'support/greeting',
    examples: [{ id: 'ada', variables: { name: 'Ada' }, expected: 'Hello Ada!' }],
    evaluators: [{ type: 'contains' }],
  },
  'Over executions': {
    prompt_name: 'support/greeting',
    version: 7,
    executions: { since: '2026-01-31T00:00:00Z', limit: 50 },
    evaluators: [{ type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Is it polite?' }],
    max_cost: 2.5,
  },
  'At the price of batches': {
    prompt_name: 'support/greeting',
    dataset: 'support/questions',
    evaluators: [{ type: 'exact_match' }],
    mode: 'batch',
    batch: { max_wait: '24h', then: 'interactive' },
  },
  'With your own scorer': {
    prompt_name: 'support/greeting',
    dataset: 'support/questions',
    evaluators: [{ type: 'http', name: 'style', url: 'https://example.com/score', timeout_ms: 20_000, weight: 2 }],
  },
};
