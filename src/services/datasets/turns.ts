/** Lets only so many do something at a time; the others wait in line. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

/** @param places how many at a time */
export function createTurns(places: number): Turns {
  const waiting: (() => void)[] = [];
  let free = places;

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  async function enter(): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  return {
    async take(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
