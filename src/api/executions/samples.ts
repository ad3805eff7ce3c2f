import { SAMPLE_DATA } from '../../domain/webhooks/events.ts';
import { serverSentEvent } from '../../http/event-stream.ts';

const { tokens, cost, latency } = SAMPLE_DATA['execution.completed'];

/** Samples for the documentation. */
export const executionBodies = {
  Greeting: { prompt_name: 'support/greeting', variables: { name: 'Ada' } },
  'The next question of a chat': {
    prompt_name: 'support/greeting',
    variables: { name: 'Ada' },
    messages: [
      { role: 'assistant', content: 'Hello Ada, lovely to meet you!' },
      { role: 'user', content: 'And in French?' },
    ],
  },
  'A draft with a fallback': {
    draft: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Greet {{ name }}.' },
      ],
      model: 'openai/gpt-4o-mini',
      fallback_models: ['anthropic/claude-haiku-4-5'],
    },
    variables: { name: 'Ada' },
  },
  'Reuse a response from the last hour': {
    prompt_name: 'support/greeting',
    variables: { name: 'Ada' },
    reuse: { max_age: 3600 },
  },
};
export const recordBodies = {
  'A call to a model': {
    records: [
      {
        id: 'checkout-7f3a',
        prompt_name: 'support/greeting',
        prompt_version: 1,
        model: 'openai/gpt-4o-mini',
        variables: { name: 'Ada' },
        input: 'Greet Ada in one sentence.',
        output: 'Hello Ada, lovely to meet you!',
        tokens: { input: 12, output: 9 },
        started_at: '2026-01-31T12:00:00.009Z',
        finished_at: '2026-01-31T12:00:00.620Z',
        metadata: { customer: 'acme' },
      },
    ],
  },
};
export const executionSample = {
  id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  status: 'completed',
  prompt_name: 'support/greeting',
  prompt_version: 1,
  label: null,
  model: 'openai/gpt-4o-mini',
  requested_model: 'openai/gpt-4o-mini',
  provider: 'openai',
  parameters: { temperature: 0.2 },
  variables: { name: 'Ada' },
  input: 'Greet Ada in one sentence.',
  tools: null,
  tool_choice: null,
  includes: [],
  output: 'Hello Ada, lovely to meet you!',
  output_json: null,
  tool_calls: [],
  finish_reason: 'stop',
  tokens,
  cost,
  latency,
  attempts: 1,
  calls: [
    {
      model: 'openai/gpt-4o-mini',
      started_at: '2026-01-31T12:00:00.009Z',
      duration_ms: 611,
      tokens,
      cost: { amount: cost.amount, currency: cost.currency },
      error: null,
    },
  ],
  reused_from: null,
  error: null,
  release: null,
  metadata: { customer: 'acme' },
  recorded: false,
  trace_id: null,
  span_id: null,
  parent_id: null,
  conversation_id: null,
  kind: null,
  workflow_id: 'execute-prompt/exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  created_at: '2026-01-31T12:00:00.000Z',
  started_at: '2026-01-31T12:00:00.009Z',
  finished_at: '2026-01-31T12:00:00.634Z',
};

export const facetsSample = {
  facets: {
    status: [
      { value: 'completed', count: 118 },
      { value: 'failed', count: 2 },
    ],
    prompt_name: [{ value: 'support/greeting', count: 120 }],
    prompt_version: [{ value: '1', count: 120 }],
    model: [{ value: 'openai/gpt-4o-mini', count: 120 }],
    label: [{ value: 'production', count: 110 }],
    recorded: [{ value: 'false', count: 120 }],
    error_code: [{ value: 'provider_error', count: 2 }],
  },
  failures: [{ code: 'provider_error', message: 'The provider answered with status 500.', count: 2 }],
  counted: 120,
  complete: true,
};

const sampleEvent = (sequence: number, type: string, content: object) =>
  serverSentEvent({ id: `1.${sequence}`, event: type, data: { type, sequence_number: sequence, ...content } });

/** The same execution as a stream. */
export const streamSample = [
  sampleEvent(1, 'execution.started', {
    execution: { ...executionSample, status: 'running', output: null, finish_reason: null, finished_at: null },
  }),
  sampleEvent(2, 'output_text.delta', { delta: 'Hello Ada, ' }),
  sampleEvent(3, 'output_text.delta', { delta: 'lovely to meet you!' }),
  sampleEvent(4, 'execution.completed', { execution: executionSample }),
].join('');
