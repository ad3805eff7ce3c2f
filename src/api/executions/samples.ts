import { SAMPLE_DATA } from '../../services/events/samples.ts';

const { tokens, cost, latency } = SAMPLE_DATA['execution.completed'];

/** Samples for the documentation. */
export const executionSample = {
  id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  status: 'completed',
  prompt_name: 'support/greeting',
  prompt_version: 1,
  model: 'openai/gpt-4o-mini',
  provider: 'openai',
  parameters: { temperature: 0.2 },
  variables: { name: 'Ada' },
  input: 'Greet Ada in one sentence.',
  output: 'Hello Ada, lovely to meet you!',
  finish_reason: 'stop',
  tokens,
  cost,
  latency,
  attempts: 1,
  error: null,
  metadata: { customer: 'acme' },
  workflow_id: 'execute-prompt/exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  created_at: '2026-01-31T12:00:00.000Z',
  started_at: '2026-01-31T12:00:00.009Z',
  finished_at: '2026-01-31T12:00:00.634Z',
};
