import { expect, test } from '@jest/globals';
import { createFairSemaphore } from '../../src/lib/fair-semaphore.ts';
import { HeldBytes } from '../../src/lib/held-bytes.ts';

const KIB = 1024;
const signal = new AbortController().signal;

test('counts bytes beyond 64 KiB, in steps, and releases them', async () => {
  const budget = createFairSemaphore({ total: 1024 * KIB * KIB });
  const held = new HeldBytes(budget, 'ws_a', 2);
  await held.growTo(64 * KIB, signal);
  expect(budget.inUse('ws_a')).toBe(0);
  await held.growTo(65 * KIB, signal);
  await held.growTo(1024 * KIB, signal);
  expect(budget.inUse('ws_a')).toBe(2 * 1024 * KIB);
  await held.growTo(1025 * KIB, signal);
  expect(budget.inUse('ws_a')).toBe(2 * 16 * 1024 * KIB);
  held.release();
  expect(budget.inUse('ws_a')).toBe(0);
});

test('two that grow simultaneously do not deadlock', async () => {
  // Room for one of the largest, and for two of those before.
  const budget = createFairSemaphore({ total: 16 * 1024 * KIB });
  const grow = async () => {
    const held = new HeldBytes(budget, 'ws_a', 1);
    for (const bytes of [100, 2_000, 16_000]) await held.growTo(bytes * KIB, signal);
    held.release();
  };
  await Promise.all([grow(), grow(), grow()]);
  expect(budget.inUse('ws_a')).toBe(0);
});

test('giving up holds nothing', async () => {
  const budget = createFairSemaphore({ total: 1024 * KIB });
  const release = await budget.acquire('ws_b', { amount: 1024 * KIB });
  const given = new AbortController();
  const held = new HeldBytes(budget, 'ws_a', 1);
  const grown = held.growTo(100 * KIB, given.signal);
  given.abort(new Error('given up'));
  await expect(grown).rejects.toThrow('given up');
  held.release();
  release();
  expect(budget.inUse('ws_a')).toBe(0);
});
