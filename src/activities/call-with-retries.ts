import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../domain/errors.ts';
import type { FairSemaphore } from '../lib/fair-semaphore.ts';
import type {
  CallOrigin,
  ModelCall,
  ModelResponse,
  Models,
  SimilarityCall,
  SimilarityResponse,
} from '../models/model.ts';
import { ModelError } from '../models/model-error.ts';
import { fallsBackOn } from '../services/executions/run/fall-back.ts';
import { createProviderThrottle, type ProviderThrottle } from './provider-throttle.ts';

/** Limits after which a model call has finally failed. */
interface RetryLimits {
  /** Attempts that count; refusals with 429 do not. */
  maxAttempts: number;
  /** A call is given up if its provider refuses requests for longer than this. */
  maxRefusedMs: number;
}
/**
 * Attempts and waits together last over half a minute. A provider that refuses for more than a day has no quota left, today or
 * tomorrow.
 */
const LIMITS: RetryLimits = { maxAttempts: 6, maxRefusedMs: 26 * 60 * 60_000 };
/** Lower limits if another model can be called instead. */
const LIMITS_WITH_FALLBACK: RetryLimits = { maxAttempts: 3, maxRefusedMs: 60_000 };
const FIRST_WAIT_MS = 1_000;
/** Also caps `Retry-After` from a provider that is overloaded (not 429). */
const MAX_WAIT_MS = 60_000;

/** A response, the number of calls it took, and the model that produced it. */
export type RetriedResponse = ModelResponse & { attempts: number; model: string };

/** A call that finally failed: retrying cannot help, or was tried often enough. */
export class CallFailedError extends Error {
  readonly failure: ModelError;
  /** Calls made to all models. */
  readonly attempts: number;
  /** The model that failed last. */
  readonly model: string;
  /** The failures of the models before it. */
  readonly before: readonly ModelError[];

  constructor(failure: ModelError, attempts: number, model: string, before: readonly ModelError[] = []) {
    super(failure.message);
    this.name = 'CallFailedError';
    this.failure = failure;
    this.attempts = attempts;
    this.model = model;
    this.before = before;
  }
}

/** A call, with the models to call if its own finally fails. */
export type RetriedCall = Omit<ModelCall, 'workspace'> & { fallbackModels?: readonly string[] };

/** Calls models until one responds or the error is not retryable, at the pace that each provider allows. */
export interface RetryingModels {
  /**
   * @param call its `model` is called first; if that finally fails with an error that another model may not have, its
   * `fallbackModels` follow in order
   * @param stopWaiting ends waits before and between calls; only `call.signal` ends a call in flight
   * @throws CallFailedError of the last model; the signals' reason or an `AbortError` if one of them aborted the call
   */
  generate(call: RetriedCall, stopWaiting: AbortSignal): Promise<RetriedResponse>;
  /** Compares texts by embeddings. @throws as `generate` */
  similarities(call: Omit<SimilarityCall, 'workspace'>, stopWaiting: AbortSignal): Promise<SimilarityResponse>;
  /** Until when a model is not called because its provider refused calls; undefined if it can be called. */
  refusedUntil(model: string): Date | undefined;
}

/** The pause that a provider requested with 429; undefined for other errors. */
function refusedFor(error: unknown): number | undefined {
  if (!(error instanceof ModelError) || error.code !== 'model_rate_limited' || !error.retryable) return undefined;
  return error.retryAfterMs ?? FIRST_WAIT_MS;
}

function unexpected(): ModelError {
  return new ModelError('model_unavailable', 'The call ended in an unexpected way.', { retryable: false });
}

function leftAlone(): ModelError {
  return new ModelError('model_rate_limited', 'The provider is currently refusing calls.');
}

/**
 * One throttle for each workspace and model, shared by everything in this process. A provider counts by account and model, so all
 * callers of a model share its pace (like TCP flows on one line), and a refused workspace slows down no other.
 * @param slots calls in flight, by workspace
 * @param firstWaitMs before the second attempt; doubles for each further wait
 * @returns `of`: the models for a run of a workspace (public ids), whose runs take turns. Its `origin` is added to that of each
 * call
 */
export function createRetryingModels(
  models: Models,
  slots: FairSemaphore,
  firstWaitMs = FIRST_WAIT_MS,
): { of(workspace: string, run: string, origin?: CallOrigin): RetryingModels } {
  const throttles = new Map<string, { throttle: ProviderThrottle; users: number }>();

  function nameOf(model: string): string {
    try {
      return models.resolve(model).model;
    } catch (error) {
      // The call itself reports the problem.
      if (error instanceof ApiError) return model;
      throw error;
    }
  }

  /** Callers choose model names, so throttles that are unused and hold no state are removed. */
  async function withThrottle<T>(key: string, work: (throttle: ProviderThrottle) => Promise<T>): Promise<T> {
    const entry = throttles.get(key) ?? { throttle: createProviderThrottle(), users: 0 };
    throttles.set(key, entry);
    entry.users += 1;
    try {
      return await work(entry.throttle);
    } finally {
      entry.users -= 1;
      if (entry.users === 0 && entry.throttle.isUnlimited) throttles.delete(key);
    }
  }

  const keyOf = (workspace: string, model: string) => `${workspace} ${nameOf(model)}`;

  const of = (workspace: string, run: string, origin?: CallOrigin): RetryingModels => ({
    async generate({ fallbackModels = [], ...call }, stopWaiting) {
      const before: ModelError[] = [];
      let attempts = 0;
      let model = call.model;
      for (const next of [...fallbackModels, undefined]) {
        const limits = next === undefined ? LIMITS : LIMITS_WITH_FALLBACK;
        try {
          const tried = { ...call, workspace, model, origin: { ...origin, ...call.origin } };
          const response = await withThrottle(keyOf(workspace, model), (throttle) =>
            retry(throttle, { workspace, run, limits }, tried, () => models.generate(tried), stopWaiting),
          );
          return { ...response, model, attempts: attempts + response.attempts };
        } catch (error) {
          if (!(error instanceof CallFailedError)) throw error;
          attempts += error.attempts;
          if (next === undefined || !fallsBackOn(error.failure.code))
            throw new CallFailedError(error.failure, attempts, model, before);
          before.push(error.failure);
          model = next;
        }
      }
      throw new Error('The last model neither responded nor failed.');
    },
    similarities(call, stopWaiting) {
      const tried = { ...call, workspace, origin: { ...origin, ...call.origin } };
      const ask = () => models.similarities(tried);
      return withThrottle(keyOf(workspace, call.model), (throttle) =>
        retry(throttle, { workspace, run, limits: LIMITS }, tried, ask, stopWaiting),
      );
    },
    refusedUntil(model) {
      const until = throttles.get(keyOf(workspace, model))?.throttle.pausedUntil ?? 0;
      return until > Date.now() ? new Date(until) : undefined;
    },
  });

  /** @param ask makes one call */
  async function retry<Response>(
    throttle: ProviderThrottle,
    { workspace, run, limits }: { workspace: string; run: string; limits: RetryLimits },
    call: Pick<ModelCall, 'model' | 'signal'>,
    ask: () => Promise<Response>,
    stopWaiting: AbortSignal,
  ): Promise<Response & { attempts: number }> {
    const { maxAttempts, maxRefusedMs } = limits;
    const enter = () => slots.acquire(workspace, { signal: stopWaiting, group: run });
    let attempts = 0;
    let counted = 0;
    let firstRefusedAt: number | undefined;
    let refusal: ModelError | undefined;
    const callOnce = () => {
      attempts += 1;
      return ask();
    };
    for (;;) {
      // With a fallback, do not wait longer than that for a provider.
      if (limits === LIMITS_WITH_FALLBACK && throttle.pausedUntil - Date.now() > maxRefusedMs)
        throw new CallFailedError(refusal ?? leftAlone(), attempts, call.model);
      try {
        return { ...(await throttle.run(stopWaiting, callOnce, refusedFor, enter)), attempts };
      } catch (error) {
        if (!(error instanceof ModelError)) {
          if (call.signal.aborted || stopWaiting.aborted) throw error;
          // A bug here or in a provider's library: rethrown as is, it would be retried again and again.
          throw new CallFailedError(unexpected(), attempts, call.model);
        }
        const refused = refusedFor(error) !== undefined;
        if (refused) firstRefusedAt ??= Date.now();
        else counted += 1;
        const refusedMs = refused ? Date.now() - (firstRefusedAt ?? 0) : 0;
        if (!error.retryable || counted >= maxAttempts || refusedMs > maxRefusedMs)
          throw new CallFailedError(error, attempts, call.model);
        refusal = error;
        if (refused) continue;
        const backOff = firstWaitMs * 2 ** (counted - 1) * (0.75 + Math.random() / 2);
        const waitMs = Math.min(MAX_WAIT_MS, Math.max(backOff, error.retryAfterMs ?? 0));
        await delay(waitMs, undefined, { signal: stopWaiting });
      }
    }
  }

  return { of };
}
