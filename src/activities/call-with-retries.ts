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

/** When a model has failed for good. */
interface RetryLimits {
  /** Tries that count: a refusal for going too fast does not. */
  maxAttempts: number;
  /** A provider that refuses for longer than this is given up. */
  maxRefusedMs: number;
}
/**
 * With the waits between them the tries outlast half a minute. A provider that refuses for more than a day has no quota left for
 * us, nor will it have tomorrow.
 */
const LIMITS: RetryLimits = { maxAttempts: 6, maxRefusedMs: 26 * 60 * 60_000 };
/** Where another model can be called instead. */
const LIMITS_WITH_FALLBACK: RetryLimits = { maxAttempts: 3, maxRefusedMs: 60_000 };
const FIRST_WAIT_MS = 1_000;
/** Also the longest `Retry-After` that is heeded where the provider is overloaded rather than too fast for us. */
const MAX_WAIT_MS = 60_000;

/** A response, how many calls it took, and the model that gave it. */
export type RetriedResponse = ModelResponse & { attempts: number; model: string };

/** A call that failed for good: trying again can't mend it, or was tried often enough. */
export class CallFailedError extends Error {
  readonly failure: ModelError;
  /** Calls that were made, to all the models. */
  readonly attempts: number;
  /** The model that failed last. */
  readonly model: string;
  /** How the models before it failed. */
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

/** A call, and the models to call where its own has failed for good. */
export type RetriedCall = Omit<ModelCall, 'workspace'> & { fallbackModels?: readonly string[] };

/** Calls models until they respond or an error is non-retryable, at the pace that each provider allows. */
export interface RetryingModels {
  /**
   * @param call its `model` is called first; where that has failed for good in a way that another may not, so are the
   * `fallbackModels`, in order
   * @param stopWaiting ends waits before a call and between two; a call in flight ends by `call.signal` only
   * @throws CallFailedError of the last model; the signals' reason or an `AbortError` where one of them ended it
   */
  generate(call: RetriedCall, stopWaiting: AbortSignal): Promise<RetriedResponse>;
  /** Compares texts by embeddings. @throws as `generate` */
  similarities(call: Omit<SimilarityCall, 'workspace'>, stopWaiting: AbortSignal): Promise<SimilarityResponse>;
  /** Until when a model is left alone, since its provider refused calls; undefined where it is not. */
  refusedUntil(model: string): Date | undefined;
}

/** How long a provider that answered 429 wants to be left alone; undefined for other errors. */
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
 * One throttle for each workspace and model, shared by everything in this process. A provider counts by account and model, and
 * so whoever calls a model finds its pace (as TCP's flows do on one line); a workspace whose model is refused slows nobody else.
 * @param slots calls in flight, by workspace
 * @param firstWaitMs before the second try; each further wait is twice as long
 * @returns `of`: the models for a run of a workspace (public ids); within a workspace, turns go round its runs. Its `origin` adds to that of each call
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
      // What is wrong with it is the call's to say.
      if (error instanceof ApiError) return model;
      throw error;
    }
  }

  /** Callers choose the names of models: what nobody uses any more and has nothing to remember is forgotten. */
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

  /** @param ask makes the call once */
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
      // Whoever has a fallback does not wait for a provider that wants to be left alone for longer.
      if (limits === LIMITS_WITH_FALLBACK && throttle.pausedUntil - Date.now() > maxRefusedMs)
        throw new CallFailedError(refusal ?? leftAlone(), attempts, call.model);
      try {
        return { ...(await throttle.run(stopWaiting, callOnce, refusedFor, enter)), attempts };
      } catch (error) {
        if (!(error instanceof ModelError)) {
          if (call.signal.aborted || stopWaiting.aborted) throw error;
          // A fault of ours, or of a provider's library: were it thrown as it is, the call would be made again and again.
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
