/** A sample for the documentation. */
export const usageSample = {
  data: [
    {
      prompt_name: 'support/greeting',
      model: 'openai/gpt-4o-mini',
      day: '2026-01-31',
      executions: 2,
      completed: 2,
      failed: 0,
      tokens: { input: 24, output: 16, cached_input: 0, reasoning: 0, total: 40 },
      cost: { amount: '0.0000132', currency: 'USD' },
      unpriced: 0,
      latency: { mean_ms: 611, responses: 2 },
    },
  ],
  evaluations: [
    {
      prompt_name: 'support/greeting',
      model: 'openai/gpt-4o-mini',
      day: '2026-01-31',
      examples: 200,
      judgements: 0,
      tokens: { input: 2400, output: 1600, cached_input: 0, reasoning: 0, total: 4000 },
      cost: { amount: '0.00132', currency: 'USD' },
      unpriced: 0,
      latency: { mean_ms: 598, responses: 199 },
    },
  ],
  rules: [
    {
      rule: 'support/tone',
      model: 'openai/gpt-4o-mini',
      day: '2026-01-31',
      judgements: 120,
      tokens: { input: 48000, output: 6000, cached_input: 0, reasoning: 0, total: 54000 },
      cost: { amount: '0.0108', currency: 'USD' },
      unpriced: 0,
    },
  ],
  since: '2026-01-01T00:00:00.000Z',
  until: '2026-02-01T00:00:00.000Z',
};
