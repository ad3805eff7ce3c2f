import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { storableText } from '../domain/text/storable-text.ts';

/** Far more than any message of ours; Temporal would cut them at a few KiB, but only once they have arrived. */
const MAX_TEXT = 4_000;
/** Temporal's own is a year; timers of Node.js take 24 days. */
const MAX_DELAY_MS = 14 * 24 * 60 * 60_000;
const MAX_CAUSES = 5;

const boundedText = (text: string) => storableText(text.slice(0, MAX_TEXT));

function boundedDelay(delay: ApplicationFailure['nextRetryDelay']): ApplicationFailure['nextRetryDelay'] {
  // Durations in words are our own.
  if (typeof delay !== 'number') return delay;
  if (Number.isNaN(delay)) return undefined;
  return Math.min(Math.max(Math.ceil(delay), 0), MAX_DELAY_MS);
}

function isRetryWait(detail: unknown): detail is { retryInMs: number } {
  return typeof detail === 'object' && detail !== null && 'retryInMs' in detail && typeof detail.retryInMs === 'number';
}

/**
 * An error as Temporal can be told of it: texts of bounded length that are valid Unicode, and a finite delay. What providers and
 * receivers send gets into errors, and the SDK ends the process where it can't encode one.
 */
function bounded(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return new Error(boundedText(String(error)));
  // What says that an activity was canceled is the SDK's own.
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
    // Our own: how long the workflow waits before it tries again.
    ...(isRetryWait(detail) && { details: [{ retryInMs: boundedDelay(detail.retryInMs) }] }),
    ...(cause instanceof Error && { cause }),
  });
  failure.stack = boundedText(error.stack ?? '');
  return failure;
}

/** For every worker: no activity fails with more than Temporal can be told. */
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
