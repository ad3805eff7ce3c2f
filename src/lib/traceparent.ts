import { context, isSpanContextValid, type SpanContext, TraceFlags, trace } from '@opentelemetry/api';

// Workflow code has no tracing: the caller that starts a workflow passes the trace as text, and the workflow passes it
// to its steps.

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The current span in W3C Trace Context format; undefined if there is none. */
export function currentTraceparent(): string | undefined {
  const span = trace.getSpanContext(context.active());
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

/** Undefined if the text is not a valid span context. */
export function parseTraceparent(text: unknown): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = '0'] = (typeof text === 'string' && TRACEPARENT.exec(text)) || [];
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(span) ? span : undefined;
}
