import { expect, test } from '@jest/globals';
import type { Release } from '../../src/lib/fair-semaphore.ts';
import { createQuarantine } from '../../src/lib/quarantine.ts';

test('lets one more run for each that has ended', () => {
  const { place } = createQuarantine();
  const enterAll = () => {
    const entered: Release[] = [];
    for (let next = place(2).tryAcquire(); next !== undefined; next = place(2).tryAcquire()) entered.push(next);
    return entered;
  };
  for (const width of [1, 2, 4, 8]) {
    const entered = enterAll();
    expect(entered).toHaveLength(width);
    for (const release of entered) release();
  }
});

test('runs alone what was in flight at two ends, in its turn', async () => {
  const { place } = createQuarantine();
  const signal = new AbortController().signal;
  const order: string[] = [];
  const first = await place(2).acquire(signal);
  const run = async (name: string, deaths: number) => {
    const release = await place(deaths).acquire(signal);
    order.push(`${name} begins`);
    await new Promise(setImmediate);
    order.push(`${name} ends`);
    release();
  };
  const all = [run('alone', 3), run('other', 2), run('last', 5)];
  expect(place(2).tryAcquire()).toBeUndefined();
  first();
  first();
  await Promise.all(all);
  expect(order).toEqual(['alone begins', 'alone ends', 'other begins', 'other ends', 'last begins', 'last ends']);
});

test('holds up nobody for long, and nothing after a single end', async () => {
  const { place } = createQuarantine(10);
  const signal = new AbortController().signal;
  await place(2).acquire(signal);
  await place(2).acquire(signal);
  for (let count = 0; count < 10; count++) await place(1).acquire(signal);
});

test('whoever stops waiting holds up nothing', async () => {
  const { place } = createQuarantine();
  const first = await place(2).acquire(new AbortController().signal);
  const given = new AbortController();
  const up = place(3).acquire(given.signal);
  const other = place(2).acquire(new AbortController().signal);
  given.abort(new Error('given up'));
  await expect(up).rejects.toThrow('given up');
  first();
  (await other)();
  await expect(place(2).acquire(given.signal)).rejects.toThrow('given up');
});
