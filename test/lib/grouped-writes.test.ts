import { expect, test } from '@jest/globals';
import { GroupedWrites } from '../../src/lib/grouped-writes.ts';

class RefusedError extends Error {}

/** Writes of texts that each wait until released; a text with `bad` is rejected. */
function stage(maxSize = Number.POSITIVE_INFINITY) {
  const begun: { items: readonly string[]; end: (error?: Error) => void }[] = [];
  const writes = new GroupedWrites<string>({
    write: (items) =>
      new Promise((resolve, reject) => {
        const bad = items.find((item) => item.includes('bad'));
        const end = (error = bad === undefined ? undefined : new RefusedError(bad)) =>
          error === undefined ? resolve() : reject(error);
        begun.push({ items, end });
      }),
    isRefusal: (error) => error instanceof RefusedError,
    sizeOf: (item) => item.length,
    maxSize,
  });
  /** Ends the latest write. */
  async function end(error?: Error): Promise<void> {
    begun.at(-1)?.end(error);
    await new Promise(setImmediate);
  }
  return { writes, end, groups: () => begun.map(({ items }) => items) };
}

test('an item is written at once, and later ones are the next write, in their order', async () => {
  const { writes, end, groups } = stage();
  const first = writes.write('a');
  expect(groups()).toEqual([['a']]);
  const others = [writes.write('b'), writes.write('c')];
  expect(groups()).toEqual([['a']]);
  await end();
  await first;
  expect(groups()).toEqual([['a'], ['b', 'c']]);
  const last = writes.write('d');
  await end();
  await Promise.all(others);
  await end();
  await last;
  expect(groups()).toEqual([['a'], ['b', 'c'], ['d']]);
  const later = writes.write('e');
  expect(groups()).toHaveLength(4);
  await end();
  await later;
});

test('a bad item fails alone, and later ones proceed', async () => {
  const { writes, end, groups } = stage();
  const all = Promise.allSettled(['a', 'b', 'bad', 'c'].map((item) => writes.write(item)));
  await end();
  const later = writes.write('d');
  for (let write = 0; write < 4; write += 1) await end();
  expect(groups()).toEqual([['a'], ['b', 'bad', 'c'], ['b'], ['bad'], ['c'], ['d']]);
  expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  await end();
  await later;
});

test('another error fails the whole group, and nothing after it', async () => {
  const { writes, end, groups } = stage();
  const first = writes.write('a');
  const group = Promise.allSettled([writes.write('b'), writes.write('c')]);
  await end();
  await first;
  await end(new Error('gone'));
  for (const result of await group) expect(result).toMatchObject({ status: 'rejected', reason: { message: 'gone' } });
  const next = writes.write('d');
  await end();
  await next;
  expect(groups()).toEqual([['a'], ['b', 'c'], ['d']]);
});

test('a group ends with the item that fills it', async () => {
  const { writes, end, groups } = stage(6);
  const all = Promise.all(['a', 'bbb', 'ccc', 'ddddddddd', 'e'].map((item) => writes.write(item)));
  for (let write = 0; write < 4; write += 1) await end();
  await all;
  expect(groups()).toEqual([['a'], ['bbb', 'ccc'], ['ddddddddd'], ['e']]);
});
