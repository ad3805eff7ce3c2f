import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { storableText } from '../domain/text/storable-text.ts';

/** Far longer than any of our messages; Temporal truncates at a few KiB, but only on arrival. */
const MAX_TEXT = 4_000;
/** Temporal allows a year; Node.js timers allow 24 days. */
const MAX_DELAY_MS = 14 * 24 * 60 * 60_000;
const MAX_CAUSES = 5;

const boundedText = (text: string) => storableText(text.slice(0, MAX_TEXT));

function boundedDelay(delay: ApplicationFailure['nextRetryDelay']): ApplicationFailure['nextRetryDelay'] {
  // Durations in words are always ours.
  if (typeof delay !== 'number') return delay;
  if (Number.isNaN(delay)) return undefined;
  return Math.min(Math.max(Math.ceil(delay), 0), MAX_DELAY_MS);
}

function isRetryWait(detail: unknown): detail is { retryInMs: number } {
  return typeof detail === 'object' && detail !== null && 'retryInMs' in detail && typeof detail.retryInMs === 'number';
}

/**
 * Converts an error to a form that Temporal accepts: bounded texts of valid Unicode and a finite delay. Errors can contain provider
 * and receiver content, and the SDK crashes the process if it cannot encode one.
 */
function bounded(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return new Error(boundedText(String(error)));
  // The SDK's own errors report cancellations and stay unchanged.
  if (error.name === 'AbortError' || (error instanceof TemporalFailure && !(error instanceof ApplicationFailure)))
    return error;
  const cause = error.cause === undefined || depth >= MAX_CAUSES ? undefined : bounded(error.cause, depth + 1);
  const nextRetryDelay = error instanceof ApplicationFailure ? boundedDelay(error.nextRetryDelay) : undefined;
  const [detail] = error instanceof ApplicationFailure ? (error.details ?? []) : [];
  const failure = ApplicationFailure.create({
    message: boundedText(error.message),
    type: boundedText((error instanceof ApplicationFailure ? error.type : undefined) ?? error.name),
    nonRetryable: error instanceof ApplicationFailure && error.nonRetryable === true,
    ...(nextRetryDelay != null && { nextRetryDelay }),
    // Our own detail: how long the workflow waits before a retry.
    ...(isRetryWait(detail) && { details: [{ retryInMs: boundedDelay(detail.retryInMs) }] }),
    ...(cause instanceof Error && { cause }),
  });
  failure.stack = boundedText(error.stack ?? '');
  return failure;
}

/** For every worker: bounds the failures of activities to what Temporal accepts. */
export const boundedFailures: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        throw bounded(error);
      }
    },
  },
});
