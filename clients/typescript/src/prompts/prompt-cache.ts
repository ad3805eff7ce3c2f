import { errorOf, PmsError } from '../errors.ts';
import type { Prompt, ResolvedPrompt, ResolvePrompts } from '../generated/types.gen.ts';
import { LoadedPrompt } from './loaded-prompt.ts';

/** Selects a version. Default: the latest. */
export interface Selector {
  label?: string | undefined;
  version?: number | undefined;
}

/**
 * Reads prompts: `POST /prompts/resolve`.
 * @param isPatient whether to keep waiting for an unavailable service, because there is no alternative
 */
export type Resolve = (prompts: ResolvePrompts['prompts'], isPatient: boolean) => Promise<ResolvedPrompt[]>;

interface Entry {
  readonly key: string;
  readonly name: string;
  readonly selector: Selector;
  prompt: LoadedPrompt;
  includesHash: string | null;
  /** When to refresh it, in milliseconds of `Date.now()`. */
  dueAt: number;
  ttlMs: number;
  /** Whether it was used since the last refresh. */
  isUsed: boolean;
}

/** Counters since the start of the program. */
export interface CacheMetrics {
  /** Prompts found in the cache; of these, `stale` were due for a refresh and returned anyway. */
  hits: number;
  stale: number;
  /** Prompts that had to be fetched. */
  misses: number;
  /** Requests to the service. */
  requests: number;
  /** Requests that failed. */
  failures: number;
  /** Prompts removed from the cache: because it was full, or the service no longer has them. */
  evictions: number;
  /** Prompts currently in the cache. */
  size: number;
}

/** The content of a cache as JSON, to be stored in a file for the next start. */
export interface CacheDump {
  format: 1;
  prompts: {
    label?: string;
    version?: number;
    prompt: Prompt;
    includes: LoadedPrompt['includes'];
    hash: string | null;
  }[];
}

/** Maximum prompts per request. */
const MAX_RESOLVED = 200;
/** The pause after a failed refresh. */
const RETRY_MS = 5_000;

const keyOf = (name: string, { label, version }: Selector) =>
  version !== undefined ? `${name}@${version}` : label !== undefined ? `${name}@${label}` : name;

const given = ({ label, version }: Selector) => ({
  ...(label !== undefined && { label }),
  ...(version !== undefined && { version }),
});

/**
 * Caches prompts by name and selector. A due prompt is returned immediately and refreshed in the background, all due ones with
 * one request. Unused prompts are not refreshed. While the service can't be reached, the cache keeps its content.
 */
export class PromptCache {
  readonly #resolve: Resolve;
  readonly #maxEntries: number;
  readonly #onError: (error: unknown) => void;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #counts = { hits: 0, stale: 0, misses: 0, requests: 0, failures: 0, evictions: 0 };
  /** Prompts being fetched, by key; requested together once the running code yields. */
  readonly #waiting = new Map<string, Promise<LoadedPrompt>>();
  /** Requests that are patient, and requests with a fallback. */
  readonly #batches = new Map<boolean, Map<string, Wanted>>();
  #isRefreshing = false;

  constructor(
    resolve: Resolve,
    { maxEntries, onError, now }: { maxEntries: number; onError: (error: unknown) => void; now: () => number },
  ) {
    this.#now = now;
    this.#resolve = resolve;
    this.#maxEntries = maxEntries;
    this.#onError = onError;
  }

  get metrics(): CacheMetrics {
    return { ...this.#counts, size: this.#entries.size };
  }

  /** The cached prompt, even if it is due; undefined if there is none. */
  peek(name: string, selector: Selector, ttlMs: number): LoadedPrompt | undefined {
    const key = keyOf(name, selector);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#counts.hits += 1;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.isUsed = true;
    if (entry.ttlMs !== ttlMs) {
      entry.dueAt += ttlMs - entry.ttlMs;
      entry.ttlMs = ttlMs;
    }
    if (entry.dueAt <= this.#now()) {
      this.#counts.stale += 1;
      this.#refresh();
    }
    return entry.prompt;
  }

  /** Fetches a prompt, together with all others requested at the moment. @throws PmsError */
  load(name: string, selector: Selector, ttlMs: number, isPatient: boolean): Promise<LoadedPrompt> {
    const key = keyOf(name, selector);
    const waitingKey = `${isPatient} ${key}`;
    const known = this.#waiting.get(waitingKey);
    if (known !== undefined) return known;
    this.#counts.misses += 1;
    const loading = new Promise<LoadedPrompt>((resolve, reject) => {
      let batch = this.#batches.get(isPatient);
      if (batch === undefined) {
        batch = new Map();
        this.#batches.set(isPatient, batch);
        queueMicrotask(() => this.#loadBatch(isPatient));
      }
      batch.set(key, { key, name, selector, ttlMs, resolve, reject });
    }).finally(() => this.#waiting.delete(waitingKey));
    this.#waiting.set(waitingKey, loading);
    return loading;
  }

  dump(): CacheDump {
    const prompts: CacheDump['prompts'] = [];
    for (const { prompt, selector, includesHash } of this.#entries.values())
      if (prompt.data !== undefined)
        prompts.push({ ...given(selector), prompt: prompt.data, includes: prompt.includes, hash: includesHash });
    return { format: 1, prompts };
  }

  /** Restores a `dump`, without replacing existing entries. All of it is due. */
  restore({ format, prompts }: CacheDump, ttlMs: number): void {
    if (format !== 1) return;
    for (const { prompt, includes, hash, label, version } of prompts) {
      const selector = given({ label, version });
      const wanted = { key: keyOf(prompt.name, selector), name: prompt.name, selector, ttlMs };
      if (!this.#entries.has(wanted.key)) this.#keep(wanted, LoadedPrompt.of(prompt, includes), hash, 0);
    }
  }

  clear(): void {
    this.#entries.clear();
  }

  #keep(
    { key, name, selector, ttlMs }: Pick<Wanted, 'key' | 'name' | 'selector' | 'ttlMs'>,
    prompt: LoadedPrompt,
    includesHash: string | null,
    dueAt: number,
  ): void {
    this.#entries.delete(key);
    this.#entries.set(key, { key, name, selector, prompt, includesHash, dueAt, ttlMs, isUsed: false });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) return;
      this.#entries.delete(oldest);
      this.#counts.evictions += 1;
    }
  }

  async #loadBatch(isPatient: boolean): Promise<void> {
    const wanted = [...(this.#batches.get(isPatient)?.values() ?? [])];
    this.#batches.delete(isPatient);
    try {
      await this.#ask(wanted, isPatient, (each, found) => {
        if (found instanceof PmsError) each.reject(found);
        else each.resolve(found);
      });
    } catch (error) {
      for (const each of wanted) each.reject(error);
    }
  }

  /** Refreshes all due prompts that were used since their last refresh. Never throws. */
  #refresh(): void {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    const now = this.#now();
    const due = [...this.#entries.values()].filter(({ dueAt, isUsed }) => isUsed && dueAt <= now);
    for (const entry of due) entry.isUsed = false;
    this.#ask(due, false, (_, result) => {
      if (result instanceof PmsError) this.#onError(result);
    })
      .catch((error: unknown) => {
        this.#onError(error);
        const later = this.#now() + RETRY_MS;
        for (const entry of due) if (entry.dueAt < later) entry.dueAt = later;
      })
      .finally(() => {
        this.#isRefreshing = false;
      });
  }

  /** Fetches prompts, stores the results, and removes prompts that the service no longer has. */
  async #ask<Each extends Pick<Wanted, 'key' | 'name' | 'selector' | 'ttlMs'>>(
    wanted: readonly Each[],
    isPatient: boolean,
    found: (each: Each, result: LoadedPrompt | PmsError) => void,
  ): Promise<void> {
    for (let left = [...wanted]; left.length > 0; ) {
      const asked = left.splice(0, MAX_RESOLVED);
      const known = asked.map(({ key }) => this.#entries.get(key));
      this.#counts.requests += 1;
      const results = await this.#resolve(
        asked.map(({ name, selector }, index) => ({ name, ...given(selector), ...knownOf(known[index]) })),
        isPatient,
      ).catch((error: unknown) => {
        this.#counts.failures += 1;
        throw error;
      });
      for (const [index, each] of asked.entries()) {
        const result = results[index];
        const before = known[index];
        const dueAt = this.#now() + each.ttlMs;
        if (result?.prompt !== undefined) {
          const prompt = LoadedPrompt.of(result.prompt, result.includes ?? {});
          this.#keep(each, prompt, result.includes_hash ?? null, dueAt);
          found(each, prompt);
        } else if (result?.unchanged && before !== undefined) {
          before.dueAt = dueAt;
          const { data, includes } = before.prompt;
          // The version is unchanged, but the release may have changed.
          if (data !== undefined && JSON.stringify(data.release) !== JSON.stringify(result.release))
            before.prompt = LoadedPrompt.of(withRelease(data, result.release), includes);
          found(each, before.prompt);
        } else if (result?.error !== undefined) {
          const { code, message } = result.error;
          if (code === 'not_found' && this.#entries.delete(each.key)) this.#counts.evictions += 1;
          else if (before !== undefined) before.dueAt = dueAt;
          found(each, errorOf(code, message, { status: code === 'not_found' ? 404 : 400 }));
        } else left.push(each);
      }
      if (left.length > 0 && left.at(-asked.length) === asked[0])
        throw errorOf('internal_error', 'The service left out all requested prompts.');
    }
  }
}

function withRelease(prompt: Prompt, release: Prompt['release']): Prompt {
  const changed = { ...prompt };
  if (release === undefined) delete changed.release;
  else changed.release = release;
  return changed;
}

interface Wanted {
  key: string;
  name: string;
  selector: Selector;
  ttlMs: number;
  resolve(prompt: LoadedPrompt): void;
  reject(error: unknown): void;
}

function knownOf(entry: Entry | undefined) {
  if (entry === undefined) return {};
  const { prompt, includesHash } = entry;
  return { known_version: prompt.version, ...(includesHash !== null && { known_includes: includesHash }) };
}
