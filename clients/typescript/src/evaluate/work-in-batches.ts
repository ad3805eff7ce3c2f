/** Results that wait to be sent at most: what is done but not sent is lost where the program ends. */
const MAX_WAITING = 100;

/**
 * Works on some items at a time, and yields what was done meanwhile: at once where the reader waits, together where it is busy. A
 * reader that leaves ends it.
 * @param work never throws unless nothing more is to be done
 */
export async function* workInBatches<Item, Result>(
  items: AsyncIterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result[], void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  const done: Result[] = [];
  const paused: (() => void)[] = [];
  let tell = () => {};
  let isOver = false;
  const worker = async () => {
    while (!isOver) {
      if (done.length >= MAX_WAITING) await new Promise<void>((resume) => paused.push(resume));
      const next = await iterator.next();
      if (next.done) return;
      done.push(await work(next.value));
      tell();
    }
  };
  const workers = Promise.all(Array.from({ length: concurrency }, worker)).finally(() => {
    isOver = true;
    tell();
  });
  // It is thrown below, once what was done before is yielded.
  workers.catch(() => {});
  try {
    for (;;) {
      if (done.length === 0 && !isOver)
        await new Promise<void>((told) => {
          tell = told;
        });
      if (done.length > 0) {
        yield done.splice(0);
        for (const resume of paused.splice(0)) resume();
      } else if (isOver) break;
    }
    await workers;
  } finally {
    isOver = true;
    for (const resume of paused) resume();
  }
}
