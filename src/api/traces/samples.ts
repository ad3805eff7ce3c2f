import type { z } from 'zod';
import { executionSample } from '../executions/samples.ts';
import type { Conversation, Trace, TraceStep, WholeTraceStep } from './schema.ts';

const tokens = { input: 105, output: 18, cached_input: 0, reasoning: 0, total: 123 };
const cost = { amount: '0.00002655', currency: 'USD' as const, unpriced_calls: 0 };

/** Samples for the documentation. */
export const traceSample: z.input<typeof Trace> = {
  id: '5b8efff798038103d269b633813fc60c',
  name: 'invoke_agent travel',
  status: 'ok',
  settled: true,
  started_at: '2026-01-31T12:00:00.000Z',
  ended_at: '2026-01-31T12:00:02.310Z',
  duration_ms: 2310,
  steps: 4,
  calls: 2,
  errors: 0,
  tokens,
  cost,
  models: ['openai/gpt-4o-mini'],
  tools: ['get_weather'],
  agents: ['travel'],
  prompts: [{ name: 'support/greeting', version: 1 }],
  conversation_id: 'chat-17',
  user_id: 'user-42',
  service: 'travel-api',
  environment: 'production',
  tags: [],
  metadata: { customer: 'acme' },
  input: 'Do I need an umbrella in Paris?',
  output: 'Yes: it rains.',
  incomplete: [],
};

export const stepSample: z.input<typeof TraceStep> = {
  id: 'eee19b7ec3c1b174',
  parent_id: 'eee19b7ec3c1b173',
  type: 'model',
  name: 'chat gpt-4o-mini',
  status: 'ok',
  started_at: '2026-01-31T12:00:00.009Z',
  duration_ms: 611.204,
  tokens: { input: 52, output: 9, cached_input: 0, cache_write: 0, reasoning: 0 },
  own_tokens: { input: 52, output: 9, cached_input: 0, cache_write: 0, reasoning: 0 },
  cost: { amount: '0.0000132', currency: 'USD' },
  execution_id: executionSample.id,
  model: 'gpt-4o-mini',
  provider: 'openai',
  tool: null,
  agent: null,
  prompt: { name: 'support/greeting', version: 1 },
  error: null,
  has_input: true,
  has_output: true,
  cut: [],
};

export const wholeStepSample: z.input<typeof WholeTraceStep> = {
  ...stepSample,
  input: [{ role: 'user', content: 'Do I need an umbrella in Paris?' }],
  output: 'Yes: it rains.',
  tool_calls: [],
  parameters: { temperature: 0 },
  conversation_id: 'chat-17',
  user_id: 'user-42',
  service: 'travel-api',
  environment: 'production',
  tags: [],
  metadata: {},
  attributes: {},
  events: [],
  links: [],
  resource: { 'service.name': 'travel-api' },
  scope: { name: 'gen_ai', version: null },
};

export const conversationSample: z.input<typeof Conversation> = {
  id: 'chat-17',
  traces: 3,
  started_at: '2026-01-31T12:00:00.000Z',
  last_at: '2026-01-31T12:04:10.120Z',
  user_id: 'user-42',
  calls: 5,
  errors: 0,
  tokens,
  cost,
};

export const otlpBodies = {
  'A model call': {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'travel-api' } }] },
        scopeSpans: [
          {
            spans: [
              {
                traceId: '5b8efff798038103d269b633813fc60c',
                spanId: 'eee19b7ec3c1b174',
                name: 'chat gpt-4o-mini',
                startTimeUnixNano: '1769860800009000000',
                endTimeUnixNano: '1769860800620000000',
                attributes: [
                  { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
                  { key: 'gen_ai.request.model', value: { stringValue: 'gpt-4o-mini' } },
                ],
              },
            ],
          },
        ],
      },
    ],
  },
};

const counts = (...values: [string, number][]) => values.map(([value, count]) => ({ value, count }));
export const traceFacetsSample = {
  facets: {
    status: counts(['ok', 118], ['error', 2]),
    name: counts(['invoke_agent travel', 120]),
    service: counts(['travel-api', 120]),
    environment: [],
    user_id: counts(['ada', 17]),
    model: counts(['openai/gpt-4o-mini', 120]),
    tool: counts(['get_weather', 40]),
    agent: counts(['travel', 120]),
    tag: [],
  },
  counted: 120,
  complete: true,
};
