import type { PmsError } from '../errors.ts';
import { InvalidRequestError, NotFoundError } from '../errors.ts';
import { type Fallback, LoadedPrompt } from './loaded-prompt.ts';
import { type CacheDump, type CacheMetrics, PromptCache, type Resolve, type Selector } from './prompt-cache.ts';
import { decide } from './rollout.ts';

/** Options of the prompt cache. */
export interface CacheOptions {
  /** How long a prompt is used without a refresh, in milliseconds. Default: 60,000 */
  ttlMs?: number;
  /** Maximum number of cached prompts; the least recently used is removed first. Default: 1,000 */
  maxEntries?: number;
  /**
   * How long to wait for a prompt that is not in the cache, in milliseconds: for the response, and then as long again for retries if the
   * request fails and there is no fallback. Default: 5,000
   */
  timeoutMs?: number;
  /**
   * Called with the reason if a prompt could not be fetched: when the caller gets the cached prompt or the fallback, and at the first
   * retry of a fetch. Default: a `console.warn` at the first failure of an outage
   */
  onError?: (error: unknown) => void;
  /** The time in milliseconds. Default: `Date.now` */
  now?: () => number;
}

export interface GetOptions extends Selector {
  /** Returned if nothing else is available: the service can't be reached, rejects the key, or does not have the prompt. */
  fallback?: Fallback | undefined;
  /**
   * Selects between the versions of a release running on the label, such as the id of a user or conversation: the same key gets the
   * same version. Default: random each time
   */
  rolloutKey?: string | undefined;
  /** In milliseconds; 0 always waits for the service. Default: the setting of the cache */
  ttlMs?: number | undefined;
}

/** Counters since the start of the program. */
export interface PromptMetrics extends CacheMetrics {
  /** Number of returned fallbacks. */
  fallbacks: number;
}

/** `Resolve` as a request. @param onRetry called with each failure that is retried */
type RequestPrompts = (...asked: [...Parameters<Resolve>, onRetry: (error: PmsError) => void]) => ReturnType<Resolve>;

const TTL_MS = 60_000;
const MAX_ENTRIES = 1_000;

/** Cached prompts by name. */
export class Prompts {
  readonly #cache: PromptCache;
  readonly #ttlMs: number;
  readonly #onError: (error: unknown) => void;
  #fallbacks = 0;

  constructor(
    request: RequestPrompts,
    { ttlMs = TTL_MS, maxEntries = MAX_ENTRIES, onError, now = Date.now }: Omit<CacheOptions, 'timeoutMs'>,
  ) {
    this.#ttlMs = ttlMs;
    const outage = outageLog();
    this.#onError = onError ?? outage.failed;
    const resolve: Resolve = async (prompts, isPatient) => {
      let isRetried = false;
      const found = await request(prompts, isPatient, (error) => {
        if (!isRetried) this.#onError(error);
        isRetried = true;
      });
      outage.succeeded();
      return found;
    };
    this.#cache = new PromptCache(resolve, { maxEntries, onError: this.#onError, now });
  }

  /**
   * Returns a prompt by name: the latest version, the version of a label, or a given version. A cached prompt is returned immediately.
   * After its TTL it is still returned immediately, and refreshed in the background with all due prompts in one request.
   * @throws PmsError if neither the prompt nor a fallback is available: NotFoundError, ConnectionError …
   */
  async get(
    name: string,
    { fallback, rolloutKey, ttlMs = this.#ttlMs, ...selector }: GetOptions = {},
  ): Promise<LoadedPrompt> {
    const loading = this.#load(name, selector, ttlMs, fallback === undefined);
    const prompt = await (fallback === undefined
      ? loading
      : loading.catch((error) => this.#fallBack(name, fallback, error)));
    return prompt.data?.release === undefined ? prompt : this.#decide(prompt, prompt.data.release, rolloutKey);
  }

  /** The candidate, if the key gets it. A version never changes, so it is fetched once. */
  async #decide(
    stable: LoadedPrompt,
    release: NonNullable<NonNullable<LoadedPrompt['data']>['release']>,
    key: string | undefined,
  ): Promise<LoadedPrompt> {
    const decided = await decide(release, key);
    if (decided.arm === 'stable' || release.candidate_version === stable.version) return stable.decidedBy(decided);
    try {
      const candidate = await this.#load(stable.name, { version: release.candidate_version }, this.#ttlMs, false);
      return candidate.decidedBy(decided);
    } catch (error) {
      // The stable version is cached, and works.
      this.#onError(error);
      return stable.decidedBy({ ...decided, arm: 'stable' });
    }
  }

  #load(name: string, selector: Selector, ttlMs: number, isPatient: boolean): Promise<LoadedPrompt> {
    const cached = ttlMs > 0 ? this.#cache.peek(name, selector, ttlMs) : undefined;
    return cached === undefined ? this.#cache.load(name, selector, ttlMs, isPatient) : Promise.resolve(cached);
  }

  #fallBack(name: string, fallback: Fallback, error: PmsError): LoadedPrompt {
    // The request is wrong, which a fallback must not hide.
    if (error instanceof InvalidRequestError) throw error;
    this.#onError(error);
    this.#fallbacks += 1;
    return LoadedPrompt.fallback(name, fallback);
  }

  /** The content of the cache, to be stored in a file for the next start. */
  dump(): CacheDump {
    return this.#cache.dump();
  }

  /** Restores a `dump`. Its prompts are returned immediately, and refreshed in the background. */
  load(dump: CacheDump): void {
    this.#cache.restore(dump, this.#ttlMs);
  }

  /** Empties the cache. */
  clear(): void {
    this.#cache.clear();
  }

  get metrics(): PromptMetrics {
    return { ...this.#cache.metrics, fallbacks: this.#fallbacks };
  }
}

/** Warns at the first failure after a success, because every `get` during an outage may fail. A missing prompt is not an outage. */
function outageLog(): { failed: (error: unknown) => void; succeeded: () => void } {
  let isOut = false;
  return {
    failed(error) {
      if (isOut || error instanceof NotFoundError) return;
      isOut = true;
      console.warn(`pms-client: prompts cannot be fetched: ${error instanceof Error ? error.message : String(error)}`);
    },
    succeeded() {
      isOut = false;
    },
  };
}
