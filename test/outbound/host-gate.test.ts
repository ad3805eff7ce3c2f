import { describe, expect, test } from '@jest/globals';
import { createHostGate, type HostGate } from '../../src/outbound/host-gate.ts';

const HOST = 'receiver.test:443';

/** A gate with a clock that stands still until it is moved. */
function gateWithClock(concurrency: number, waiting: number) {
  let time = 1_000;
  const gate = createHostGate({ concurrency, waiting, now: () => time });
  return { gate, pass: (ms: number) => (time += ms) };
}

async function letIn(gate: HostGate, host = HOST): Promise<() => void> {
  const answer = await gate.enter(host);
  if ('comeBackInMs' in answer) throw new Error(`Sent away for ${answer.comeBackInMs} ms.`);
  return answer.leave;
}

async function sentAway(gate: HostGate, host = HOST): Promise<number> {
  const answer = await gate.enter(host);
  if ('leave' in answer) throw new Error('Let in.');
  return answer.comeBackInMs;
}

test('so many are let in, and then so many wait', async () => {
  const { gate } = gateWithClock(2, 1);
  const leave = await letIn(gate);
  await letIn(gate);
  const third = letIn(gate);
  expect(await sentAway(gate)).toBeGreaterThan(0);
  leave();
  // Its turn has come; who asks now waits in its place.
  await third;
  const fourth = letIn(gate);
  await sentAway(gate);
  (await third)();
  await fourth;
});

test('who waits is let in in the order in which they came', async () => {
  const { gate } = gateWithClock(1, 3);
  let leave = await letIn(gate);
  const order: number[] = [];
  const turns = [1, 2, 3].map(async (number) => {
    const left = await letIn(gate);
    order.push(number);
    return left;
  });
  for (const turn of turns) {
    leave();
    leave = await turn;
  }
  expect(order).toEqual([1, 2, 3]);
});

test('hosts do not stand in each other’s way', async () => {
  const { gate } = gateWithClock(1, 0);
  await letIn(gate, 'slow.test:443');
  await sentAway(gate, 'slow.test:443');
  await letIn(gate, 'fast.test:443');
  await letIn(gate, 'slow.test:8443');
});

test('leaving twice makes room for one', async () => {
  const { gate } = gateWithClock(1, 2);
  const leave = await letIn(gate);
  const inside: string[] = [];
  const [second, third] = ['second', 'third'].map(async (name) => {
    const left = await letIn(gate);
    inside.push(name);
    return left;
  });
  leave();
  leave();
  const leaveSecond = await second;
  expect(inside).toEqual(['second']);
  leaveSecond?.();
  await third;
});

describe('how long to stay away', () => {
  test('grows by the pace at which the host serves', async () => {
    const { gate, pass } = gateWithClock(4, 0);
    const leaves = [await letIn(gate), await letIn(gate), await letIn(gate), await letIn(gate)];
    pass(2_000);
    for (const leave of leaves.splice(0, 2)) leave();
    await letIn(gate);
    await letIn(gate);
    // Visits last 2 s and four are inside at once: one place each 500 ms.
    expect([await sentAway(gate), await sentAway(gate), await sentAway(gate)]).toEqual([500, 1_000, 1_500]);
  });

  test('leaves time for those who wait', async () => {
    const { gate, pass } = gateWithClock(1, 2);
    const leave = await letIn(gate);
    const second = letIn(gate);
    pass(3_000);
    leave();
    await second;
    void gate.enter(HOST);
    void gate.enter(HOST);
    // Two of 3 s are before it, and the one that is inside.
    expect(await sentAway(gate)).toBe(9_000);
  });

  test('follows how the host changes', async () => {
    const { gate, pass } = gateWithClock(1, 1);
    let leave = await letIn(gate);
    let next = letIn(gate);
    const visit = async (ms: number) => {
      pass(ms);
      leave();
      leave = await next;
      next = letIn(gate);
    };
    await visit(10_000);
    for (let count = 0; count < 40; count += 1) await visit(2_000);
    // It has come near to what two visits of 2 s take.
    const wait = await sentAway(gate);
    expect(wait).toBeGreaterThanOrEqual(4_000);
    expect(wait).toBeLessThan(4_100);
  });

  test('takes a host that nobody has come back from for as slow as it has been so far', async () => {
    const { gate, pass } = gateWithClock(1, 0);
    await letIn(gate);
    expect(await sentAway(gate)).toBe(500);
    pass(8_000);
    expect(await sentAway(gate)).toBe(8_000);
  });

  test('begins anew where all tickets are of the past', async () => {
    const { gate, pass } = gateWithClock(1, 0);
    await letIn(gate);
    await sentAway(gate);
    await sentAway(gate);
    pass(1_000);
    expect(await sentAway(gate)).toBeLessThanOrEqual(1_000);
  });

  test('is between 500 ms and a minute, and 10,000 do not come back at once', async () => {
    const { gate, pass } = gateWithClock(10, 10);
    const leaves = await Promise.all(Array.from({ length: 10 }, () => letIn(gate)));
    pass(500);
    leaves[0]?.();
    for (let count = 0; count < 11; count += 1) void gate.enter(HOST);
    const times = await Promise.all(Array.from({ length: 10_000 }, () => sentAway(gate)));
    expect(Math.min(...times)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...times)).toBeLessThanOrEqual(60_000);
    const inSecond = Map.groupBy(times, (time) => Math.floor(time / 1_000));
    // 20 in a second is what the host serves; those for whom a minute is too short are spread over half of one.
    expect(inSecond.get(5)?.length).toBe(20);
    expect(Math.max(...[...inSecond.values()].map((some) => some.length))).toBeLessThan(500);
  });
});

test('a host that all have left is forgotten', async () => {
  const { gate, pass } = gateWithClock(1, 1);
  const leave = await letIn(gate);
  const second = letIn(gate);
  pass(50_000);
  leave();
  (await second)();
  await letIn(gate);
  void gate.enter(HOST);
  // Nothing is left of visits that lasted 50 s.
  expect(await sentAway(gate)).toBe(500);
});
