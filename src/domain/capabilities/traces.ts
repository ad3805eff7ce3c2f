import type { Declaration } from '../capability.ts';

export const traces = {
  name: 'traces',
  tags: { Traces: 'Runs of agents as trees of steps, sent by OpenTelemetry, and conversations of them.' },
  audit: { 'trace.deleted': 'trace', 'conversation.deleted': 'conversation' },
  auditedWhenFull: ['trace.deleted', 'conversation.deleted'],
  retention: { traces: { setting: 'TRACE_RETENTION', default: 30 * 24 * 60 * 60_000 } },
  guides: { traces: 'Traces: agents, tools and conversations, by OpenTelemetry' },
} as const satisfies Declaration;
