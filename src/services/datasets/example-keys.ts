import { hash } from 'node:crypto';
import {
  CONTENT_KEY_PREFIX,
  contentHash,
  type Example,
  type ExampleContent,
} from '../../domain/evaluations/example.ts';

/** The key of an example, or the position where its id was used before. */
export type KeyOrDuplicate = { key: string } | { usedAt: number };

/** Assigns keys to the examples of one set, unique in the set. */
export interface ExampleKeys {
  /**
   * Returns the example's id, or a hash of its content if it has none; the second example of equal content gets the suffix `#2`, and so on.
   * @param place its line or index, for the error about a repeated id
   */
  keyOf(id: Example['id'], content: ExampleContent, place: number): KeyOrDuplicate;
}

/** Two words of fingerprint and one of value. */
const WORDS = 3;
const MAX_LOAD = 0.7;

/**
 * A map from hashes to positive numbers, in one flat array: a million entries take 24 MiB, where a `Map` of the texts would take
 * hundreds. It identifies a hash by 64 bits; two of a million collide about once in 30 million sets.
 */
class HashMap {
  private slots = new Uint32Array(1024 * WORDS);
  private size = 0;

  /** Returns the number stored for this hash, or 0 if there is none, and stores `next` of it. */
  exchange(hex: string, next: (known: number) => number): number {
    if (this.size >= (this.slots.length / WORDS) * MAX_LOAD) this.grow();
    const high = Number.parseInt(hex.slice(0, 8), 16);
    const low = Number.parseInt(hex.slice(8, 16), 16);
    const at = this.find(high, low);
    const known = this.slots[at + 2] ?? 0;
    if (known === 0) this.size += 1;
    this.slots.set([high, low, next(known)], at);
    return known;
  }

  private find(high: number, low: number): number {
    const { slots } = this;
    let at = (low % (slots.length / WORDS)) * WORDS;
    while (slots[at + 2] !== 0 && (slots[at] !== high || slots[at + 1] !== low)) at = (at + WORDS) % slots.length;
    return at;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) {
      const slot = old.subarray(at, at + WORDS);
      if (slot[2] !== 0) this.slots.set(slot, this.find(slot[0] ?? 0, slot[1] ?? 0));
    }
  }
}

export function createExampleKeys(): ExampleKeys {
  const seen = new HashMap();
  return {
    keyOf(id, content, place) {
      if (id !== undefined) {
        // Index 0 is a valid position.
        const usedAt = seen.exchange(hash('sha256', `id ${id}`), (known) => (known === 0 ? place + 1 : known));
        return usedAt === 0 ? { key: id } : { usedAt: usedAt - 1 };
      }
      const hex = contentHash(content);
      const before = seen.exchange(hex, (known) => known + 1);
      return { key: `${CONTENT_KEY_PREFIX}${hex}${before === 0 ? '' : `#${before + 1}`}` };
    },
  };
}
