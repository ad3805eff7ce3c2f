import { context, isSpanContextValid, type SpanContext, TraceFlags, trace } from '@opentelemetry/api';

// Workflow code has no part in tracing: what starts a workflow hands it the trace as a text, which it hands to its steps.

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The current span, as W3C Trace Context writes it; undefined where there is none. */
export function currentTraceparent(): string | undefined {
  const span = trace.getSpanContext(context.active());
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

/** Undefined for what is no span. */
export function parseTraceparent(text: unknown): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = '0'] = (typeof text === 'string' && TRACEPARENT.exec(text)) || [];
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(span) ? span : undefined;
}
