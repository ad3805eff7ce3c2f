import process from 'node:process';

const TIMES = 3;

/**
 * The longest time in milliseconds that one piece of work blocked this process's event loop during `work`. Measured in CPU time
 * of the main thread, so that a busy machine does not count. Above `limitMs` it is measured again, three times in all: garbage
 * collection varies, but the work's own time is the same each time.
 */
export async function longestBlock<T>(
  work: () => Promise<T>,
  limitMs: number,
): Promise<{ result: T; blockMs: number }> {
  for (let time = 1; ; time += 1) {
    const measured = await measureOnce(work);
    if (measured.blockMs < limitMs || time === TIMES) return measured;
  }
}

async function measureOnce<T>(work: () => Promise<T>): Promise<{ result: T; blockMs: number }> {
  let last = process.threadCpuUsage();
  let blockMs = 0;
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    blockMs = Math.max(blockMs, (user + system) / 1_000);
  };
  // A round of the loop runs timers once, so there is one round between two ticks.
  const timer = setInterval(look, 1);
  try {
    const result = await work();
    look();
    return { result, blockMs };
  } finally {
    clearInterval(timer);
  }
}
