import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Database } from '../../src/db/database.ts';
import { newId } from '../../src/domain/ids.ts';
import { createFirstAttempts } from '../../src/jobs/first-attempts.ts';
import type { AttemptMaker, AttemptOutcome } from '../../src/services/webhooks/deliveries/make-attempt.ts';
import type { DeliveryStarter, StoredDelivery } from '../../src/services/webhooks/deliveries/start-delivery.ts';
import { testSlots } from '../support/slots.ts';

/** First attempts that end on command; nothing is stored. */
function setUp() {
  const made: string[] = [];
  const ends = new Map<string, () => void>();
  const attempts: AttemptMaker = {
    make: ({ deliveryId }) => {
      made.push(deliveryId);
      return new Promise<AttemptOutcome>((resolve) => {
        ends.set(deliveryId, () => resolve({ state: 'delivered' }));
      });
    },
  };
  let rooms = 0;
  const firstAttempts = createFirstAttempts(
    {
      db: { system: { query: async () => [] } } as unknown as Database,
      attempts,
      slots: testSlots(),
      starter: { retryWaitsMs: [] } as unknown as DeliveryStarter,
      log: pino({ level: 'silent' }),
    },
    () => {
      rooms += 1;
    },
  );
  const deliveryOf = (workspaceId: string): StoredDelivery => ({
    id: newId(),
    workspaceId,
    eventId: newId(),
    webhookId: newId(),
    trigger: 'event',
    event: 'prompt.created',
    url: 'http://127.0.0.1:9/',
    attemptsMade: 0,
  });
  /** Like the relay: ten of each workspace below its limit, until all have reached it. */
  function beginAll(workspaces: readonly string[]): void {
    for (;;) {
      const busy = new Set(firstAttempts.saturated());
      const free = workspaces.filter((id) => !busy.has(id));
      if (firstAttempts.isFull() || free.length === 0) return;
      for (const id of free) for (let n = 0; n < 10; n += 1) firstAttempts.begin(deliveryOf(id));
    }
  }
  const endAll = async () => {
    for (const end of ends.values()) end();
    ends.clear();
    await new Promise(setImmediate);
  };
  return { firstAttempts, deliveryOf, beginAll, endAll, made, ends, rooms: () => rooms };
}

test('a workspace can have a hundred in progress', async () => {
  const { firstAttempts, beginAll, endAll, made } = setUp();
  const workspace = newId();
  beginAll([workspace]);
  expect(made).toHaveLength(100);
  expect(firstAttempts.saturated()).toEqual([workspace]);
  expect(firstAttempts.isFull()).toBe(false);
  await endAll();
  expect(firstAttempts.saturated()).toEqual([]);
  await firstAttempts.stop();
});

test('however many workspaces have hanging receivers, there is a slot for one without any in progress', async () => {
  const { firstAttempts, beginAll, endAll, made } = setUp();
  beginAll(Array.from({ length: 9 }, newId));
  expect(made.length).toBeLessThan(400);
  expect(firstAttempts.isFull()).toBe(false);
  const before = made.length;
  const newcomer = newId();
  expect(firstAttempts.saturated()).not.toContain(newcomer);
  beginAll([newcomer]);
  expect(made.length).toBeGreaterThan(before);
  await endAll();
  await firstAttempts.stop();
});

test('a caller that found no slot is notified of a free one', async () => {
  const { firstAttempts, beginAll, endAll, ends, rooms } = setUp();
  beginAll([newId()]);
  const [first] = ends.values();
  first?.();
  await new Promise(setImmediate);
  expect(rooms()).toBe(0);
  await endAll();
  expect(rooms()).toBe(1);
  await firstAttempts.stop();
});

test('an attempt claimed again while in progress is not repeated; stopping waits for it', async () => {
  const { firstAttempts, deliveryOf, endAll, made } = setUp();
  const delivery = deliveryOf(newId());
  firstAttempts.begin(delivery);
  firstAttempts.begin(delivery);
  expect(made).toEqual([delivery.id]);
  let stopped = false;
  const stopping = firstAttempts.stop().then(() => {
    stopped = true;
  });
  await new Promise(setImmediate);
  expect(stopped).toBe(false);
  await endAll();
  await stopping;
});
