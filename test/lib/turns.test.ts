import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createTurns } from '../../src/lib/turns.ts';

const never = new AbortController().signal;
const options = { signal: () => never };

/** Blocks the event loop. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('a key has one turn at a time, and a break after it as long as the event loop was busy', async () => {
  const turns = createTurns();
  const end = await turns.take('a', options);
  const second = turns.take('a', options);
  work(50);
  // Waiting does not count as work.
  await delay(100);
  const endedAt = performance.now();
  end();
  end();
  (await second)();
  const tookMs = performance.now() - endedAt;
  expect(tookMs).toBeGreaterThan(45);
  expect(tookMs).toBeLessThan(140);
});

test('keys take turns, whatever the queues', async () => {
  const turns = createTurns();
  const order: string[] = [];
  const take = async (key: string) => {
    const end = await turns.take(key, options);
    order.push(key);
    work(5);
    end();
  };
  await Promise.all(['a', 'a', 'a', 'b'].map(take));
  expect(order.indexOf('b')).toBeLessThan(2);
});

test('a wait that is given up takes no turn', async () => {
  const turns = createTurns();
  const end = await turns.take('a', options);
  const reason = new Error('given up');
  await expect(turns.take('a', { signal: () => AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(turns.step('a', options)).resolves.toBeUndefined();
  await expect(turns.step('a', { signal: () => AbortSignal.abort(reason) })).rejects.toBe(reason);
  end();
  await delay(5);
  (await turns.take('b', options))();
});

test("one step of a key's queue is taken in each round: the urgent first, and the others group by group", async () => {
  const turns = createTurns();
  const order: string[] = [];
  const step = async (name: string, more: { urgent?: boolean; group?: string } = {}) => {
    await turns.step('a', { ...options, ...more });
    order.push(name);
  };
  const rules = ['rule 1', 'rule 2', 'rule 3'].map((name) => step(name, { group: 'rules' }));
  await Promise.all([...rules, step('request'), step('response', { urgent: true })]);
  expect(order).toEqual(['rule 1', 'response', 'rule 2', 'request', 'rule 3']);
});
