import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createPacedTurns } from '../../src/lib/paced-turns.ts';

const never = new AbortController().signal;

/** Keeps the event loop busy. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('there is one turn at a time, and a break after it as long as it took', async () => {
  const turns = createPacedTurns();
  const end = await turns.take('a', never);
  const second = turns.take('a', never);
  work(50);
  const endedAt = performance.now();
  end();
  end();
  (await second)();
  expect(performance.now() - endedAt).toBeGreaterThan(45);
});

test('workspaces take turns, whoever waits for more of them', async () => {
  const turns = createPacedTurns();
  const order: string[] = [];
  const first = await turns.take('a', never);
  const all = ['a', 'a', 'a', 'b'].map(async (workspace) => {
    const end = await turns.take(workspace, never);
    order.push(workspace);
    end();
  });
  first();
  await Promise.all(all);
  expect(order.indexOf('b')).toBeLessThan(2);
});

test('a wait that is given up takes no turn', async () => {
  const turns = createPacedTurns();
  const end = await turns.take('a', never);
  const reason = new Error('given up');
  await expect(turns.take('a', AbortSignal.abort(reason))).rejects.toBe(reason);
  end();
  await delay(5);
  (await turns.take('b', never))();
});
