/** Random numbers for simulations, reproducible from a seed. */
export interface Draws {
  /** 0 ≤ x < 1. */
  uniform: () => number;
  normal: () => number;
  /** The number of `count` independent events of this probability that happen. For small counts. */
  binomial: (count: number, probability: number) => number;
}

/** Uniform 32-bit numbers with `sfc32` (Doty-Humphrey's PractRand), from which all others are derived. */
export function createDraws(seed: number): Draws {
  let [a, b, c, d] = [0, seed | 0, (seed >>> 16) ^ 0x9e3779b9, 1];
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 16; i += 1) next();
  const uniform = () => next() / 2 ** 32;
  return {
    uniform,
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
    binomial: (count, probability) => {
      // Jumps from event to event: as many draws as events.
      let events = 0;
      const misses = Math.log1p(-probability);
      for (let at = Math.floor(Math.log(1 - uniform()) / misses); at < count; events += 1)
        at += 1 + Math.floor(Math.log(1 - uniform()) / misses);
      return events;
    },
  };
}
