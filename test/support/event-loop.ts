import process from 'node:process';

const TIMES = 3;

/**
 * The longest time in milliseconds that this process's event loop was kept from everything else by one piece of work while
 * `work` went on. Measured in processor time of the main thread, so that a busy machine adds nothing to it. Above `limitMs` it is
 * measured again, three times in all: garbage of other tests is collected at some time, and what the work itself does is there
 * each time.
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
  // A round of the loop runs timers once, so between two looks there is one round.
  const timer = setInterval(look, 1);
  try {
    const result = await work();
    look();
    return { result, blockMs };
  } finally {
    clearInterval(timer);
  }
}
