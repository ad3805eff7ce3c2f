import { expect, test } from '@jest/globals';
import { createProviderThrottle } from '../../src/activities/provider-throttle.ts';
import { waitFor } from '../support/wait-for.ts';

class Refused extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super('too fast');
    this.waitMs = waitMs;
  }
}

const refusedFor = (error: unknown) => (error instanceof Refused ? error.waitMs : undefined);
const never = new AbortController().signal;

async function refuse(throttle: ReturnType<typeof createProviderThrottle>, waitMs: number): Promise<void> {
  await expect(throttle.run(never, () => Promise.reject(new Refused(waitMs)), refusedFor)).rejects.toThrow('too fast');
}

/** A call that ends on command. */
function held() {
  const gate = Promise.withResolvers<string>();
  const sent = Promise.withResolvers<void>();
  const call = () => {
    sent.resolve();
    return gate.promise;
  };
  return { call, sent: sent.promise, end: () => gate.resolve('answer') };
}

test('a refusal halves the calls in flight, once for all refusals of one pause', async () => {
  const throttle = createProviderThrottle();
  const gate = Promise.withResolvers<never>();
  const calls = Array.from({ length: 8 }, () => throttle.run(never, () => gate.promise, refusedFor));
  gate.reject(new Refused(250));
  await Promise.allSettled(calls);
  expect(throttle.limit).toBe(4);
});

test('nothing is sent before the pause is over', async () => {
  const throttle = createProviderThrottle();
  // Before the refusal, which a busy machine may report late.
  const askedAt = performance.now();
  await refuse(throttle, 400);
  await throttle.run(never, async () => 'answer', refusedFor);
  expect(performance.now() - askedAt).toBeGreaterThanOrEqual(380);
});

test('the limit grows by one for each successful round', async () => {
  const throttle = createProviderThrottle();
  await refuse(throttle, 0);
  expect(throttle.limit).toBe(1);
  for (let call = 0; call < 3; call++) await throttle.run(never, async () => 'answer', refusedFor);
  expect(throttle.limit).toBe(2);
});

test('a call that stops waiting passes its slot on, even if it was already woken', async () => {
  const throttle = createProviderThrottle();
  await refuse(throttle, 0);
  const [first, other] = [held(), held()];
  const running = throttle.run(never, first.call, refusedFor);
  const stopped = new AbortController();
  await first.sent;
  const waiting = throttle.run(stopped.signal, async () => 'unsent', refusedFor);
  const next = throttle.run(never, other.call, refusedFor);
  await waitFor('both to wait', async () => throttle.waiting === 2);
  first.end();
  stopped.abort(new Error('stopped'));
  other.end();
  await expect(running).resolves.toBe('answer');
  await Promise.allSettled([waiting]);
  await expect(next).resolves.toBe('answer');
  expect(throttle.waiting).toBe(0);
});

test('stopping a call in the pause it was woken into wakes the others', async () => {
  const throttle = createProviderThrottle();
  await refuse(throttle, 0);
  const refusal = Promise.withResolvers<never>();
  let sent = false;
  const refused = throttle.run(
    never,
    () => {
      sent = true;
      return refusal.promise;
    },
    refusedFor,
  );
  await waitFor('the call to be sent', async () => sent);
  const stopped = new AbortController();
  const woken = throttle.run(stopped.signal, async () => 'unsent', refusedFor);
  const asleep = throttle.run(never, async () => 'answer', refusedFor);
  await waitFor('both to wait', async () => throttle.waiting === 2);
  refusal.reject(new Refused(500));
  await expect(refused).rejects.toThrow();
  await waitFor('the first to wait for the end of the pause', async () => throttle.waiting === 1);
  stopped.abort();
  await expect(woken).rejects.toThrow();
  await expect(asleep).resolves.toBe('answer');
  expect(throttle.waiting).toBe(0);
});

test('calls that stopped waiting leave nothing', async () => {
  const throttle = createProviderThrottle();
  await refuse(throttle, 0);
  const first = held();
  const running = throttle.run(never, first.call, refusedFor);
  await first.sent;
  const stopped = new AbortController();
  const waiting = Array.from({ length: 50 }, () => throttle.run(stopped.signal, async () => 'unsent', refusedFor));
  await waitFor('all to wait', async () => throttle.waiting === 50);
  stopped.abort();
  const outcomes = await Promise.allSettled(waiting);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(throttle.waiting).toBe(0);
  first.end();
  await running;
});
