import { errorOf, PmsError } from '../errors.ts';
import type { Prompt, ResolvedPrompt, ResolvePrompts } from '../generated/types.gen.ts';
import { LoadedPrompt } from './loaded-prompt.ts';

/** Which version is meant. Default: the latest. */
export interface Selector {
  label?: string | undefined;
  version?: number | undefined;
}

/** Reads prompts: `POST /prompts/resolve`. */
export type Resolve = (prompts: ResolvePrompts['prompts']) => Promise<ResolvedPrompt[]>;

interface Entry {
  readonly key: string;
  readonly name: string;
  readonly selector: Selector;
  prompt: LoadedPrompt;
  includesHash: string | null;
  /** When it is to be asked for again, in milliseconds of `Date.now()`. */
  dueAt: number;
  ttlMs: number;
  /** Whether anybody took it since it was last asked for. */
  isUsed: boolean;
}

/** Counts, from the beginning of the program. */
export interface CacheMetrics {
  /** Prompts that were in the cache: of them `stale` were due, and given while they are asked for again. */
  hits: number;
  stale: number;
  /** Prompts that had to be waited for. */
  misses: number;
  /** Requests to the service. */
  requests: number;
  /** Requests that failed. */
  failures: number;
  /** Prompts that left the cache: for want of room, or because the service has them no more. */
  evictions: number;
  /** Prompts in the cache now. */
  size: number;
}

/** A cache's content as JSON, to be kept in a file for the next start. */
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

/** Prompts in one request. */
const MAX_RESOLVED = 200;
/** After a refresh that failed. */
const RETRY_MS = 5_000;

const keyOf = (name: string, { label, version }: Selector) =>
  version !== undefined ? `${name}@${version}` : label !== undefined ? `${name}@${label}` : name;

const given = ({ label, version }: Selector) => ({
  ...(label !== undefined && { label }),
  ...(version !== undefined && { version }),
});

/**
 * Prompts by name and selector. What is due is given at once and asked for again behind it, all that is due with one request.
 * Nothing is asked for that nobody takes. While the service can't be reached, what there is stays.
 */
export class PromptCache {
  readonly #resolve: Resolve;
  readonly #maxEntries: number;
  readonly #onError: (error: unknown) => void;
  readonly #now: () => number;
  /** The one that was used longest ago comes first. */
  readonly #entries = new Map<string, Entry>();
  readonly #counts = { hits: 0, stale: 0, misses: 0, requests: 0, failures: 0, evictions: 0 };
  /** Prompts that are waited for, by key; asked for together once the running code has ended. */
  readonly #waiting = new Map<string, Promise<LoadedPrompt>>();
  #batch: Map<string, Wanted> | undefined;
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

  /** What is in the cache, even if it is due; undefined where there is nothing. */
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

  /** Asks the service, together with whatever else is asked for at the moment. @throws PmsError */
  load(name: string, selector: Selector, ttlMs: number): Promise<LoadedPrompt> {
    const key = keyOf(name, selector);
    const known = this.#waiting.get(key);
    if (known !== undefined) return known;
    this.#counts.misses += 1;
    const loading = new Promise<LoadedPrompt>((resolve, reject) => {
      if (this.#batch === undefined) {
        this.#batch = new Map();
        queueMicrotask(() => this.#loadBatch());
      }
      this.#batch.set(key, { key, name, selector, ttlMs, resolve, reject });
    }).finally(() => this.#waiting.delete(key));
    this.#waiting.set(key, loading);
    return loading;
  }

  dump(): CacheDump {
    const prompts: CacheDump['prompts'] = [];
    for (const { prompt, selector, includesHash } of this.#entries.values())
      if (prompt.data !== undefined)
        prompts.push({ ...given(selector), prompt: prompt.data, includes: prompt.includes, hash: includesHash });
    return { format: 1, prompts };
  }

  /** Takes what `dump` gave, but for what is there already. All of it is due. */
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

  async #loadBatch(): Promise<void> {
    const wanted = [...(this.#batch?.values() ?? [])];
    this.#batch = undefined;
    try {
      await this.#ask(wanted, (each, found) => {
        if (found instanceof PmsError) each.reject(found);
        else each.resolve(found);
      });
    } catch (error) {
      for (const each of wanted) each.reject(error);
    }
  }

  /** Asks for all that is due and was used since it was last asked for. Never throws. */
  #refresh(): void {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    const now = this.#now();
    const due = [...this.#entries.values()].filter(({ dueAt, isUsed }) => isUsed && dueAt <= now);
    for (const entry of due) entry.isUsed = false;
    this.#ask(due, (_, result) => {
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

  /** Asks for prompts, keeps what comes, and drops what the service has no more. */
  async #ask<Each extends Pick<Wanted, 'key' | 'name' | 'selector' | 'ttlMs'>>(
    wanted: readonly Each[],
    found: (each: Each, result: LoadedPrompt | PmsError) => void,
  ): Promise<void> {
    for (let left = [...wanted]; left.length > 0; ) {
      const asked = left.splice(0, MAX_RESOLVED);
      const known = asked.map(({ key }) => this.#entries.get(key));
      this.#counts.requests += 1;
      const results = await this.#resolve(
        asked.map(({ name, selector }, index) => ({ name, ...given(selector), ...knownOf(known[index]) })),
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
          // The version is the same, but who gets it may not be.
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
        throw errorOf('internal_error', 'The service left out all prompts that it was asked for.');
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
