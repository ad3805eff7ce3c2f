import { type Attributes, context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { ApplicationFailure } from '@temporalio/common';
import type { TokenUsage } from '../domain/usage.ts';
import { ModelError } from '../models/model-error.ts';

/** Our own attribute names. Ids are public. */
export const OUR = {
  workspace: 'pms.workspace.id',
  execution: 'pms.execution.id',
  trace: 'pms.trace.id',
  evaluation: 'pms.evaluation.id',
  example: 'pms.evaluation.example',
  rule: 'pms.rule.name',
  batch: 'pms.batch.id',
  event: 'pms.event.id',
  delivery: 'pms.delivery.id',
  attempt: 'pms.delivery.attempt',
} as const;

/** The tracer for all spans of this service. Once the SDK has started, it is the SDK's. */
export const tracer = trace.getTracer('prompt-management-service');

/** Drops attributes that are `undefined`. */
export function attributesOf(given: Attributes): Attributes {
  const attributes: Attributes = {};
  for (const name in given) if (given[name] !== undefined) attributes[name] = given[name];
  return attributes;
}

/** Marks a span as failed. @param type of low cardinality: a code, a status, an error class */
export function markFailed(span: Span, type: string, message?: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
}

/** The type of an error, without its message, which may contain content. */
export function typeOf(error: unknown): string {
  if (error instanceof ApplicationFailure) return error.type ?? error.name;
  if (error instanceof ModelError) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}

/** The tokens billed for a failed model call. */
export const spentBy = (error: unknown): TokenUsage | undefined =>
  error instanceof ModelError ? (error.spent?.tokens ?? undefined) : undefined;

/** Runs work with the span as the current one, and then ends it. */
export async function inSpan<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    markFailed(span, typeOf(error));
    throw error;
  } finally {
    span.end();
  }
}
