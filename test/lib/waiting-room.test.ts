import { describe, expect, test } from '@jest/globals';
import { createFairSemaphore, type Release } from '../../src/lib/fair-semaphore.ts';
import { bothSlots, createWaitingRoom, slotOf, type Waiter } from '../../src/lib/waiting-room.ts';
import { waitFor } from '../support/wait-for.ts';

/** A room in front of one slot. */
function roomOfOne(options = {}) {
  const semaphore = createFairSemaphore({ total: 100, perKey: 1 });
  const room = createWaitingRoom({ maxWaitMs: 1, ...options });
  const offered: string[] = [];
  const waiter = (id: string, isAccepted = true): Waiter => ({
    id,
    line: 'a',
    slot: slotOf(semaphore, 'a'),
    async offer() {
      offered.push(id);
      return isAccepted;
    },
  });
  const letIn = async (who: Waiter): Promise<Release> => {
    const entered = await room.enter(who);
    if ('comeBackInMs' in entered) throw new Error(`${who.id} was sent away.`);
    return entered.release;
  };
  const sentAway = async (who: Waiter): Promise<number> => {
    const entered = await room.enter(who);
    if ('release' in entered) throw new Error(`${who.id} was let in.`);
    return entered.comeBackInMs;
  };
  return { semaphore, offered, waiter, letIn, sentAway };
}

describe('a waiting room', () => {
  test('defers callers without a slot, and invites them in order of arrival', async () => {
    const { offered, waiter, letIn, sentAway } = roomOfOne();
    const release = await letIn(waiter('first'));
    await sentAway(waiter('second'));
    await sentAway(waiter('third'));
    expect(offered).toEqual([]);
    release();
    await waitFor('an offer', async () => offered.length > 0);
    // The slot is reserved: no other caller gets it.
    await sentAway(waiter('fourth'));
    const releaseSecond = await letIn(waiter('second'));
    releaseSecond();
    await waitFor('the next offer', async () => offered.length > 1);
    expect(offered).toEqual(['second', 'third']);
  });

  test('a repeat keeps the position', async () => {
    const { offered, waiter, letIn, sentAway } = roomOfOne();
    const release = await letIn(waiter('first'));
    await sentAway(waiter('second'));
    await sentAway(waiter('third'));
    await sentAway(waiter('second'));
    release();
    await waitFor('an offer', async () => offered.length > 0);
    expect(offered).toEqual(['second']);
    await letIn(waiter('second'));
  });

  test('a waiter that asks when a slot is free needs no offer', async () => {
    const { offered, waiter, letIn } = roomOfOne({ maxWaitMs: 60_000 });
    const release = await letIn(waiter('first'));
    const second = letIn(waiter('second'));
    release();
    (await second)();
    expect(offered).toEqual([]);
  });

  test.each([
    ['no longer wants it', { isAccepted: false, retentionMs: 60_000 }],
    ['does not come in time', { isAccepted: true, retentionMs: 1 }],
  ])('the place of one that %s goes to the next', async (_name, { isAccepted, retentionMs }) => {
    const { offered, waiter, letIn, sentAway } = roomOfOne({ retentionMs });
    const release = await letIn(waiter('first'));
    await sentAway(waiter('second', isAccepted));
    await sentAway(waiter('third', isAccepted));
    release();
    await waitFor('both offers', async () => offered.length === 2);
    expect(offered).toEqual(['second', 'third']);
  });

  test('the longer the line, the later the retry', async () => {
    const { waiter, letIn, sentAway } = roomOfOne();
    await letIn(waiter('first'));
    const early = await sentAway(waiter('second'));
    const waits = await Promise.all(Array.from({ length: 2_000 }, (_, index) => sentAway(waiter(`v${index}`))));
    expect(early).toBeGreaterThanOrEqual(20_000);
    expect(waits.at(-1)).toBeGreaterThan(300_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(15 * 60_000);
  });
});

test('of two slots, one is not held without the other', async () => {
  const [hosts, all] = [createFairSemaphore({ total: 10, perKey: 1 }), createFairSemaphore({ total: 10, perKey: 2 })];
  const slot = (host: string) => bothSlots(slotOf(hosts, host), slotOf(all, 'a'));
  const first = slot('x').tryAcquire();
  expect(slot('x').tryAcquire()).toBeUndefined();
  expect(all.inUse('a')).toBe(1);
  slot('y').tryAcquire();
  expect(slot('z').tryAcquire()).toBeUndefined();
  expect(hosts.inUse('z')).toBe(0);
  const waiting = slot('z').acquire(new AbortController().signal);
  first?.();
  (await waiting)();
  expect([hosts.inUse('x'), hosts.inUse('z'), all.inUse('a')]).toEqual([0, 0, 1]);
});
