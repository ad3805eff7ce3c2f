import { storableText } from '../../domain/text/storable-text.ts';
import type { RequestBody } from '../requests/json-body.ts';

/** A response reduced to what is read of it: text, tool calls, why it ended, and usage. */
export interface Understood {
  /** In the provider's own form, as its SDK takes it. */
  body: RequestBody;
  /** Whether `body` says what was used. Where it does not, its counts stand for nothing. */
  hasUsage: boolean;
  /** What was not understood, so that there is no response; undefined: there is one. */
  fault: string | undefined;
}

const MAX_KINDS = 20;
const MAX_KIND_CHARS = 80;

/** The kinds of parts, blocks and events of a response that are not known, and were left out. */
export class SkippedKinds {
  readonly #kinds = new Set<string>();
  /** Whether one of them was a part of what the model said: not only an event that may have held anything. */
  hasParts = false;

  add(what: 'event' | 'part' | 'tool call', kind: unknown): void {
    if (what !== 'event') this.hasParts = true;
    if (this.#kinds.size >= MAX_KINDS) return;
    const name = typeof kind === 'string' && kind !== '' ? kind.slice(0, MAX_KIND_CHARS) : 'without a type';
    this.#kinds.add(storableText(`${what} ${name}`));
  }

  /** Each kind once, in the order in which they came. */
  list(): string[] {
    return [...this.#kinds];
  }
}

/** The fields of an object that are texts, of those named: what else is there is left out. */
export function textsAt(object: RequestBody, names: readonly string[]): RequestBody {
  return Object.fromEntries(names.flatMap((name) => (typeof object[name] === 'string' ? [[name, object[name]]] : [])));
}

/** A count of tokens, which some servers send as a text. */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) ? count : undefined;
}

/** The fault of a response of which everything was left out. */
export const nothingBut = (skipped: SkippedKinds): string => `it has nothing but ${skipped.list().join(', ')}`;
