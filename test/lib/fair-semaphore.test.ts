import { describe, expect, test } from '@jest/globals';
import { createFairSemaphore, type Release } from '../../src/lib/fair-semaphore.ts';

/** Acquires slots until there are none for the key. */
function takeAll(semaphore: ReturnType<typeof createFairSemaphore>, key: string): Release[] {
  const taken: Release[] = [];
  for (let next = semaphore.tryAcquire(key); next !== undefined; next = semaphore.tryAcquire(key)) taken.push(next);
  return taken;
}

describe('a fair semaphore', () => {
  test('gives a key at most its share', () => {
    const semaphore = createFairSemaphore({ total: 200, perKey: 10 });
    expect(takeAll(semaphore, 'a')).toHaveLength(10);
    expect(semaphore.inUse('a')).toBe(10);
  });

  test('leaves a place for a newcomer, however many take all they can', () => {
    const semaphore = createFairSemaphore({ total: 16 });
    const taken = ['a', 'b', 'c', 'd'].map((key) => takeAll(semaphore, key).length);
    expect(taken).toEqual([8, 4, 2, 1]);
    expect(semaphore.tryAcquire('e')).toBeDefined();
  });

  test('one place is enough', async () => {
    const semaphore = createFairSemaphore({ total: 1 });
    const order: string[] = [];
    await Promise.all(
      ['a', 'b', 'a'].map((key) =>
        semaphore.run(key, async () => {
          order.push(key);
        }),
      ),
    );
    expect(order).toEqual(['a', 'b', 'a']);
  });

  test('the keys that wait take turns', async () => {
    const semaphore = createFairSemaphore({ total: 1 });
    const release = await semaphore.acquire('a');
    const order: string[] = [];
    const waits = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) =>
      semaphore.run(name.slice(0, 1), async () => {
        order.push(name);
      }),
    );
    release();
    await Promise.all(waits);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('urgent waiters go first within a key', async () => {
    const semaphore = createFairSemaphore({ total: 1 });
    const release = await semaphore.acquire('a');
    const order: string[] = [];
    const enter = (name: string, urgent: boolean) =>
      semaphore.run(
        'a',
        async () => {
          order.push(name);
        },
        { urgent },
      );
    const waits = [enter('slow', false), enter('quick', true), enter('quick too', true)];
    release();
    await Promise.all(waits);
    expect(order).toEqual(['quick', 'quick too', 'slow']);
  });

  test('within a key, the groups take turns', async () => {
    const semaphore = createFairSemaphore({ total: 1 });
    const release = await semaphore.acquire('a');
    const order: string[] = [];
    const waits = ['x1', 'x2', 'x3', 'y1', 'y2'].map((name) =>
      semaphore.run(
        'a',
        async () => {
          order.push(name);
        },
        { group: name.slice(0, 1) },
      ),
    );
    release();
    await Promise.all(waits);
    expect(order).toEqual(['x1', 'y1', 'x2', 'y2', 'x3']);
  });

  test('a wait that is given up takes no place', async () => {
    const semaphore = createFairSemaphore({ total: 1 });
    const release = await semaphore.acquire('a');
    const giveUp = new AbortController();
    const waiting = semaphore.acquire('a', { signal: giveUp.signal });
    giveUp.abort(new Error('no more'));
    await expect(waiting).rejects.toThrow('no more');
    expect(semaphore.waiting('a')).toBe(0);
    release();
    expect(semaphore.tryAcquire('a')).toBeDefined();
  });

  test('a place released twice is one place', () => {
    const semaphore = createFairSemaphore({ total: 2, perKey: 1 });
    const release = semaphore.tryAcquire('a');
    release?.();
    release?.();
    expect(takeAll(semaphore, 'a')).toHaveLength(1);
    expect(takeAll(semaphore, 'b')).toHaveLength(1);
    expect(takeAll(semaphore, 'c')).toHaveLength(0);
  });

  test('a failure releases its place', async () => {
    const semaphore = createFairSemaphore({ total: 1 });
    await expect(semaphore.run('a', () => Promise.reject(new Error('it broke')))).rejects.toThrow('it broke');
    expect(semaphore.inUse('a')).toBe(0);
  });

  test('shares bytes like places', async () => {
    const semaphore = createFairSemaphore({ total: 100 });
    const first = await semaphore.acquire('a', { amount: 40 });
    expect(semaphore.tryAcquire('a', 40)).toBeUndefined();
    const other = await semaphore.acquire('b', { amount: 30 });
    first(10);
    expect(semaphore.inUse('a')).toBe(10);
    first(20);
    expect(semaphore.inUse('a')).toBe(10);
    const again = await semaphore.acquire('a', { amount: 20 });
    for (const release of [first, other, again]) release();
    expect([semaphore.inUse('a'), semaphore.inUse('b')]).toEqual([0, 0]);
  });

  test('a request beyond the limit of a key takes all of it', async () => {
    const semaphore = createFairSemaphore({ total: 100, perKey: 50 });
    const release = await semaphore.acquire('a', { amount: 1000 });
    expect(semaphore.inUse('a')).toBe(50);
    expect(semaphore.tryAcquire('a')).toBeUndefined();
    release();
    expect(semaphore.inUse('a')).toBe(0);
  });

  test('small ones do not block a large one for ever', async () => {
    const semaphore = createFairSemaphore({ total: 100 });
    const small = await semaphore.acquire('small', { amount: 10 });
    const order: string[] = [];
    const large = semaphore.run('large', async () => void order.push('large'), { amount: 95 });
    const others = ['small', 'other'].map((key) =>
      semaphore.run(key, async () => void order.push(key), { amount: 10 }),
    );
    await Promise.resolve();
    expect(order).toEqual([]);
    small();
    await Promise.all([large, ...others]);
    expect(order).toEqual(['large', 'small', 'other']);
  });

  test('those behind a large one proceed if it gives up', async () => {
    const semaphore = createFairSemaphore({ total: 100 });
    await semaphore.acquire('small', { amount: 10 });
    const givenUp = new AbortController();
    const large = semaphore.acquire('large', { amount: 95, signal: givenUp.signal });
    const other = semaphore.acquire('other', { amount: 10 });
    givenUp.abort();
    await expect(large).rejects.toThrow();
    await other;
    expect(semaphore.inUse('other')).toBe(10);
  });
});
