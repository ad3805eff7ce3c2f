import type { PmsError } from '../errors.ts';
import { InvalidRequestError, NotFoundError } from '../errors.ts';
import { type Fallback, LoadedPrompt } from './loaded-prompt.ts';
import { type CacheDump, type CacheMetrics, PromptCache, type Resolve, type Selector } from './prompt-cache.ts';
import { decide } from './rollout.ts';

/** How prompts are kept. */
export interface CacheOptions {
  /** How long a prompt is given without asking for it again, in milliseconds. Default: 60,000 */
  ttlMs?: number;
  /** Prompts that are kept at most; the one that was used longest ago goes first. Default: 1,000 */
  maxEntries?: number;
  /**
   * How long a prompt that is not in the cache is waited for, in milliseconds: for the response, and then for as long again if the request
   * fails and there is no fallback. Default: 5,000
   */
  timeoutMs?: number;
  /**
   * Called with the reason when a prompt could not be fetched: when the caller gets what was in the cache or its fallback, and when a fetch
   * is tried again for the first time. Default: a line of `console.warn` at the first failure of an outage
   */
  onError?: (error: unknown) => void;
  /** The time in milliseconds. Default: `Date.now` */
  now?: () => number;
}

export interface GetOptions extends Selector {
  /** Given where there is nothing else: the service can't be reached, refuses the key, or has no such prompt. */
  fallback?: Fallback | undefined;
  /**
   * Decides between the versions of a release that runs on the label, such as the id of a user or conversation: the same key gets the
   * same version. Default: at random each time
   */
  rolloutKey?: string | undefined;
  /** In milliseconds; 0 asks the service and waits for it. Default: that of the cache */
  ttlMs?: number | undefined;
}

/** Counts, from the beginning of the program. */
export interface PromptMetrics extends CacheMetrics {
  /** Fallbacks that were given. */
  fallbacks: number;
}

/** `Resolve` as a request. @param onRetry called with each failure after which it is made again */
type RequestPrompts = (...asked: [...Parameters<Resolve>, onRetry: (error: PmsError) => void]) => ReturnType<Resolve>;

const TTL_MS = 60_000;
const MAX_ENTRIES = 1_000;

/** Prompts by name, from a cache. */
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
   * A prompt by its name: the latest version, the one of a label, or a version. What is in the cache is given at once. Once its
   * time is up it is still given at once, and asked for again behind that, with all that is due in one request.
   * @throws PmsError where there is neither the prompt nor a fallback: NotFoundError, ConnectionError …
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

  /** The candidate, where the key gets it. A version never changes, so it is asked for once. */
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
      // The stable version is there, and works.
      this.#onError(error);
      return stable.decidedBy({ ...decided, arm: 'stable' });
    }
  }

  #load(name: string, selector: Selector, ttlMs: number, isPatient: boolean): Promise<LoadedPrompt> {
    const cached = ttlMs > 0 ? this.#cache.peek(name, selector, ttlMs) : undefined;
    return cached === undefined ? this.#cache.load(name, selector, ttlMs, isPatient) : Promise.resolve(cached);
  }

  #fallBack(name: string, fallback: Fallback, error: PmsError): LoadedPrompt {
    // The request is wrong: no fallback makes up for that.
    if (error instanceof InvalidRequestError) throw error;
    this.#onError(error);
    this.#fallbacks += 1;
    return LoadedPrompt.fallback(name, fallback);
  }

  /** What is in the cache, for a file from which the next start begins. */
  dump(): CacheDump {
    return this.#cache.dump();
  }

  /** Takes what `dump` gave. It is given at once, and asked for again behind that. */
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

/** Warns at the first failure after a success, since every `get` of an outage may fail. That a prompt is missing is not an outage. */
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
