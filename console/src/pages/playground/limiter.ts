/** Limits the number of concurrent tasks; the others wait in order. */
export function createLimiter(most: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  const next = () => {
    while (running < most) {
      const begin = waiting.shift();
      if (begin === undefined) return;
      begin();
    }
  };
  return {
    /** @returns a function that removes the task if it has not started, and returns whether it did */
    add(task: () => Promise<void>): () => boolean {
      const begin = () => {
        running++;
        void task().finally(() => {
          running--;
          next();
        });
      };
      waiting.push(begin);
      next();
      return () => {
        const at = waiting.indexOf(begin);
        if (at >= 0) waiting.splice(at, 1);
        return at >= 0;
      };
    },
  };
}
