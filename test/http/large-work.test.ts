import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createHandling, createLargeWork, type Handling } from '../../src/http/large-work.ts';
import { createTurns } from '../../src/lib/turns.ts';

const MIB = 1024 * 1024;
const work = createLargeWork(createTurns(), 16 * MIB);

/** A request of a workspace, with a function that ends its response. */
function request(workspaceId: string, signal = new AbortController().signal): { handling: Handling; close(): void } {
  const response = Object.assign(new EventEmitter(), { closed: false });
  return {
    handling: createHandling(work, workspaceId, response as unknown as ServerResponse, () => signal),
    close() {
      response.closed = true;
      response.emit('close');
    },
  };
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true;
  const settle = () => {
    pending = false;
  };
  promise.then(settle, settle);
  for (let turns = 0; turns < 5; turns += 1) await nextTurn();
  return pending;
}

test('bodies of one workspace wait for one another, and not for those of others', async () => {
  const first = [request('a'), request('a')];
  for (const { handling } of first) await handling.receive(4 * MIB);
  const third = request('a');
  const received = third.handling.receive(4 * MIB);
  expect(await isPending(received)).toBe(true);
  const other = request('b');
  await other.handling.receive(4 * MIB);
  // Small ones reserve nothing.
  await request('a').handling.receive(1_000);
  first[0]?.handling.dealtWith();
  await received;
  for (const each of [...first, third, other]) each.handling.dealtWith();
});

test('a body that is only kept passes its slot to others, but not its memory', async () => {
  const [kept, next, third] = [request('a'), request('a'), request('a')];
  for (const each of [kept, next]) await each.handling.receive(4 * MIB);
  await kept.handling.begin(4 * MIB);
  const turn = next.handling.begin(4 * MIB);
  expect(await isPending(turn)).toBe(true);
  kept.handling.endTurn();
  await turn;
  const received = third.handling.receive(4 * MIB);
  expect(await isPending(received)).toBe(true);
  kept.handling.dealtWith();
  await received;
  for (const each of [next, third]) each.handling.dealtWith();
});

test('a workspace has one slot at a time', async () => {
  const [one, two, other] = [request('a'), request('a'), request('b')];
  await one.handling.begin(MIB);
  const second = two.handling.begin(MIB);
  expect(await isPending(second)).toBe(true);
  await other.handling.begin(MIB);
  await two.handling.turn(1_000);
  one.handling.dealtWith();
  await second;
  // Writing its response uses and ends the body's turn.
  expect(await two.handling.show(async () => 'written')).toBe('written');
  const end = await one.handling.turn(MIB);
  end();
  other.handling.dealtWith();
});

test('memory of a sent response is released, even for later requests', async () => {
  const one = request('a');
  await one.handling.reserve(2 * MIB);
  const two = request('a');
  const waiting = two.handling.reserve(2 * MIB);
  expect(await isPending(waiting)).toBe(true);
  // The reservation for the written part is kept.
  one.handling.keep(1_000);
  await waiting;
  const gone = request('a');
  const late = gone.handling.reserve(2 * MIB);
  expect(await isPending(late)).toBe(true);
  gone.close();
  two.close();
  await late;
  const last = request('a');
  await last.handling.reserve(2 * MIB);
  for (const each of [one, last]) each.close();
  expect(work.responses.inUse('a')).toBe(0);
});

test('a wait given up is refused', async () => {
  const one = request('a');
  await one.handling.begin(MIB);
  const gone = new AbortController();
  const two = request('a', gone.signal).handling.begin(MIB);
  gone.abort();
  await expect(two).rejects.toMatchObject({ code: 'rate_limited' });
  one.handling.dealtWith();
});

test('a workspace takes one step per round of the event loop, and others do not wait for its queue', async () => {
  const order: string[] = [];
  const step = async (workspaceId: string, name: string, signal?: AbortSignal) => {
    await request(workspaceId, signal).handling.step();
    order.push(name);
  };
  const gone = new AbortController();
  const steps = [
    step('a', 'a1'),
    step('a', 'a2'),
    step('a', 'gone', gone.signal),
    step('a', 'a3'),
    step('b', 'b1'),
    step('b', 'b2'),
  ];
  gone.abort();
  await expect(steps[2]).rejects.toMatchObject({ code: 'rate_limited' });
  await Promise.allSettled(steps);
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
});
