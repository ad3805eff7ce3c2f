import { z } from 'zod';
import { type Declaration, event } from '../capability.ts';
import { STEP_STATUSES } from '../traces/step.ts';

const TraceData = z
  .strictObject({
    trace_id: z.string(),
    name: z.string().nullable(),
    status: z.enum(STEP_STATUSES),
    duration_ms: z.number().nullable(),
    steps: z.int(),
    calls: z.int().meta({ description: 'The number of model calls.' }),
    errors: z.int().meta({ description: 'The number of steps that failed.' }),
    tokens: z.strictObject({ input: z.int(), output: z.int() }),
    cost: z.strictObject({ amount: z.string().nullable(), currency: z.literal('USD') }),
    conversation_id: z.string().nullable(),
    user_id: z.string().nullable(),
    service: z.string().nullable(),
    environment: z.string().nullable(),
  })
  .meta({ id: 'TraceEventData' });
export type TraceData = z.output<typeof TraceData>;

export const traces = {
  name: 'traces',
  tags: { Traces: 'Runs of agents as trees of steps, sent by OpenTelemetry, and conversations of them.' },
  audit: {
    'trace.deleted': 'trace',
    'conversation.deleted': 'conversation',
    'trace_user.deleted': 'trace_user',
    'trace_policy.updated': 'trace_policy',
  },
  auditedWhenFull: ['trace.deleted', 'conversation.deleted', 'trace_user.deleted'],
  events: {
    'trace.completed': event(TraceData, {
      trace_id: '5b8efff798038103d269b633813fc60c',
      name: 'invoke_agent travel',
      status: 'ok',
      duration_ms: 4_210,
      steps: 4,
      calls: 2,
      errors: 0,
      tokens: { input: 105, output: 18 },
      cost: { amount: '0.0000266', currency: 'USD' },
      conversation_id: 'chat-17',
      user_id: 'ada',
      service: 'travel-api',
      environment: 'production',
    }),
  },
  retention: { traces: { setting: 'TRACE_RETENTION', default: 30 * 24 * 60 * 60_000 } },
  guides: { traces: 'Traces: agents, tools and conversations, by OpenTelemetry' },
} as const satisfies Declaration;
