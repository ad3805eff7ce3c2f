/** Maximum number of unsent results: they are lost if the program ends. */
const MAX_WAITING = 100;

/**
 * Works on several items concurrently, and yields completed results: immediately if the reader is waiting, together if it is
 * busy. It ends when the reader leaves.
 * @param work throws only to stop everything
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
  // The error is thrown below, after earlier results are yielded.
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
