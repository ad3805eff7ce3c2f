import { storableText } from '../../domain/text/storable-text.ts';
import type { RequestBody } from '../requests/json-body.ts';

/** The parsed part of a response: text, tool calls, finish reason, and usage. */
export interface Understood {
  /** In the provider's own format, as its SDK expects it. */
  body: RequestBody;
  /** Whether `body` has usage. If not, its counts are placeholders. */
  hasUsage: boolean;
  /** What made the response unusable; undefined if it is usable. */
  fault: string | undefined;
}

const MAX_KINDS = 20;
const MAX_KIND_CHARS = 80;

/** Unknown kinds of parts, blocks and events in the response that were skipped. */
export class SkippedKinds {
  readonly #kinds = new Set<string>();
  /** Whether a skipped item was part of the model's output, and not only an event of unknown content. */
  hasParts = false;

  add(what: 'event' | 'part' | 'tool call', kind: unknown): void {
    if (what !== 'event') this.hasParts = true;
    if (this.#kinds.size >= MAX_KINDS) return;
    const name = typeof kind === 'string' && kind !== '' ? kind.slice(0, MAX_KIND_CHARS) : 'without a type';
    this.#kinds.add(storableText(`${what} ${name}`));
  }

  /** Each kind once, in order of appearance. */
  list(): string[] {
    return [...this.#kinds];
  }
}

/** Picks the named fields that are strings. */
export function textsAt(object: RequestBody, names: readonly string[]): RequestBody {
  return Object.fromEntries(names.flatMap((name) => (typeof object[name] === 'string' ? [[name, object[name]]] : [])));
}

/** A token count, which some servers send as a string. */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) ? count : undefined;
}

/** The fault of a response in which everything was skipped. */
export const nothingBut = (skipped: SkippedKinds): string => `it has nothing but ${skipped.list().join(', ')}`;
