const judge = {
  type: 'llm_judge',
  name: 'tone',
  model: 'openai/gpt-4o-mini',
  rubric: 'Friendly and to the point.',
};

/** A rule that costs nothing. */
export const setFreeRuleSample = {
  group: 'support',
  evaluators: [{ type: 'json_valid' }, { type: 'latency', at_most_ms: 5_000 }],
};

export const setRuleSample = {
  prompt_name: 'support/greeting',
  sample_rate: 0.1,
  evaluators: [judge],
  max_cost_per_day: 5,
};

/** A rule on traces. */
export const setTraceRuleSample = {
  trace_filter: { agent: 'travel' },
  sample_rate: 0.1,
  evaluators: [{ ...judge, name: 'solved', rubric: 'The agent did what the user wanted, in the shortest way.' }],
  max_cost_per_day: 5,
};

export const ruleSample = {
  name: 'support/tone',
  prompt_name: 'support/greeting',
  group: null,
  label: null,
  filter: null,
  trace_filter: null,
  sample_rate: 0.1,
  evaluators: [judge],
  max_cost_per_day: '5',
  enabled: true,
  scored: 1200,
  failed: 3,
  skipped: 0,
  skipped_budget: 14,
  spent: '41.2',
  spent_today: '2.31',
  waiting: 2,
  last_error: null,
  created_at: '2026-01-01T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
};

export const createBackfillSample = { since: '2026-01-01T00:00:00Z', until: '2026-02-01T00:00:00Z', max_cost: 10 };

export const backfillSample = {
  id: 'bf_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12',
  rule: 'support/tone',
  since: '2026-01-01T00:00:00.000Z',
  until: '2026-02-01T00:00:00.000Z',
  max_cost: '10',
  status: 'running',
  status_reason: null,
  progress: 0.4,
  found: 520,
  scored: 480,
  failed: 1,
  spent: '3.9',
  error: null,
  last_error: null,
  created_at: '2026-02-01T12:00:00.000Z',
  finished_at: null,
};
