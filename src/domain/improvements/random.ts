import { hash } from 'node:crypto';

/** The next number from 0 up to, but excluding, 1. */
export type Draw = () => number;

/**
 * Random numbers that depend only on the arguments, so that a step that is repeated after a crash decides the same.
 *
 * @param seed of the improvement
 * @param proposal the number of the candidate
 * @param purpose what is decided
 */
export function createDraw(seed: string | number, proposal: number, purpose: string): Draw {
  let count = 0;
  return () => {
    const text = `${seed}:${proposal}:${purpose}:${count}`;
    count += 1;
    return hash('sha256', text, 'buffer').readUInt32BE() / 2 ** 32;
  };
}

/** A copy in random order (Fisher and Yates). */
export function shuffled<Item>(items: readonly Item[], draw: Draw): Item[] {
  const list = [...items];
  for (let last = list.length - 1; last > 0; last -= 1) {
    const at = Math.floor(draw() * (last + 1));
    const [a, b] = [list[at], list[last]];
    if (a === undefined || b === undefined) continue;
    list[at] = b;
    list[last] = a;
  }
  return list;
}
