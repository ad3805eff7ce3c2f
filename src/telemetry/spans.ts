import { type Attributes, context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { ApplicationFailure } from '@temporalio/common';
import type { TokenUsage } from '../domain/usage.ts';
import { ModelError } from '../models/model-error.ts';

/** Names of attributes that are ours. Ids are the public ones. */
export const OUR = {
  workspace: 'pms.workspace.id',
  execution: 'pms.execution.id',
  evaluation: 'pms.evaluation.id',
  example: 'pms.evaluation.example',
  rule: 'pms.rule.name',
  batch: 'pms.batch.id',
  event: 'pms.event.id',
  delivery: 'pms.delivery.id',
  attempt: 'pms.delivery.attempt',
} as const;

/** Of all spans of this service. Once the SDK has started, it is the SDK's. */
export const tracer = trace.getTracer('prompt-management-service');

/** `undefined` stands for an attribute that there is not. */
export function attributesOf(given: Attributes): Attributes {
  const attributes: Attributes = {};
  for (const name in given) if (given[name] !== undefined) attributes[name] = given[name];
  return attributes;
}

/** Marks a span as failed. @param type few different ones: a code, a status, a class of errors */
export function markFailed(span: Span, type: string, message?: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
}

/** What an error is: its message may hold what was sent. */
export function typeOf(error: unknown): string {
  if (error instanceof ApplicationFailure) return error.type ?? error.name;
  if (error instanceof ModelError) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}

/** What a failed call of a model was billed. */
export const spentBy = (error: unknown): TokenUsage | undefined =>
  error instanceof ModelError ? (error.spent?.tokens ?? undefined) : undefined;

/** Does work in a span that is the current one meanwhile, and ends it. */
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
