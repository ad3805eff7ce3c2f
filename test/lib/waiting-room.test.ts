import { describe, expect, test } from '@jest/globals';
import { createFairSemaphore, type Release } from '../../src/lib/fair-semaphore.ts';
import { bothPlaces, createWaitingRoom, placeOf, type Visitor } from '../../src/lib/waiting-room.ts';
import { waitFor } from '../support/wait-for.ts';

/** A room in front of one place. */
function roomOfOne(options = {}) {
  const semaphore = createFairSemaphore({ total: 100, perKey: 1 });
  const room = createWaitingRoom({ patienceMs: 1, ...options });
  const invited: string[] = [];
  const visitor = (id: string, isWanted = true): Visitor => ({
    id,
    line: 'a',
    place: placeOf(semaphore, 'a'),
    async invite() {
      invited.push(id);
      return isWanted;
    },
  });
  const letIn = async (who: Visitor): Promise<Release> => {
    const entered = await room.enter(who);
    if ('comeBackInMs' in entered) throw new Error(`${who.id} was sent away.`);
    return entered.release;
  };
  const sentAway = async (who: Visitor): Promise<number> => {
    const entered = await room.enter(who);
    if ('release' in entered) throw new Error(`${who.id} was let in.`);
    return entered.comeBackInMs;
  };
  return { semaphore, invited, visitor, letIn, sentAway };
}

describe('a waiting room', () => {
  test('sends away who finds no place, and invites them in the order in which they came', async () => {
    const { invited, visitor, letIn, sentAway } = roomOfOne();
    const release = await letIn(visitor('first'));
    await sentAway(visitor('second'));
    await sentAway(visitor('third'));
    expect(invited).toEqual([]);
    release();
    await waitFor('an invitation', async () => invited.length > 0);
    // The place is kept: nobody else gets it.
    await sentAway(visitor('fourth'));
    const releaseSecond = await letIn(visitor('second'));
    releaseSecond();
    await waitFor('the next invitation', async () => invited.length > 1);
    expect(invited).toEqual(['second', 'third']);
  });

  test('asking again keeps the position', async () => {
    const { invited, visitor, letIn, sentAway } = roomOfOne();
    const release = await letIn(visitor('first'));
    await sentAway(visitor('second'));
    await sentAway(visitor('third'));
    await sentAway(visitor('second'));
    release();
    await waitFor('an invitation', async () => invited.length > 0);
    expect(invited).toEqual(['second']);
    await letIn(visitor('second'));
  });

  test('who asks when a place becomes free takes it without an invitation', async () => {
    const { invited, visitor, letIn } = roomOfOne({ patienceMs: 60_000 });
    const release = await letIn(visitor('first'));
    const second = letIn(visitor('second'));
    release();
    (await second)();
    expect(invited).toEqual([]);
  });

  test.each([
    ['does not want it any more', { isWanted: false, keptMs: 60_000 }],
    ['does not come in time', { isWanted: true, keptMs: 1 }],
  ])('the place of one that %s is the next one’s', async (_name, { isWanted, keptMs }) => {
    const { invited, visitor, letIn, sentAway } = roomOfOne({ keptMs });
    const release = await letIn(visitor('first'));
    await sentAway(visitor('second', isWanted));
    await sentAway(visitor('third', isWanted));
    release();
    await waitFor('both invitations', async () => invited.length === 2);
    expect(invited).toEqual(['second', 'third']);
  });

  test('the longer the line, the later they are to ask again', async () => {
    const { visitor, letIn, sentAway } = roomOfOne();
    await letIn(visitor('first'));
    const early = await sentAway(visitor('second'));
    const waits = await Promise.all(Array.from({ length: 2_000 }, (_, index) => sentAway(visitor(`v${index}`))));
    expect(early).toBeGreaterThanOrEqual(20_000);
    expect(waits.at(-1)).toBeGreaterThan(300_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(15 * 60_000);
  });
});

test('of two places, none is held while there is no other', async () => {
  const [hosts, all] = [createFairSemaphore({ total: 10, perKey: 1 }), createFairSemaphore({ total: 10, perKey: 2 })];
  const place = (host: string) => bothPlaces(placeOf(hosts, host), placeOf(all, 'a'));
  const first = place('x').tryAcquire();
  expect(place('x').tryAcquire()).toBeUndefined();
  expect(all.inUse('a')).toBe(1);
  place('y').tryAcquire();
  expect(place('z').tryAcquire()).toBeUndefined();
  expect(hosts.inUse('z')).toBe(0);
  const waiting = place('z').acquire(new AbortController().signal);
  first?.();
  (await waiting)();
  expect([hosts.inUse('x'), hosts.inUse('z'), all.inUse('a')]).toEqual([0, 0, 1]);
});
