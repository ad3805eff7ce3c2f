import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { startApi } from '../../src/api/server.ts';
import { createQuery } from '../../src/db/query.ts';
import type { RunningServer } from '../../src/http/http-server.ts';
import { createRateLimiter } from '../../src/services/access/rate-limiter.ts';
import { createOtherWorkspace } from '../api/workspace.ts';
import { type Answer, createCall, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
const servers: RunningServer[] = [];
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close(0)));
  await service.dependencies.db.system.query({ text: 'delete from rate_limits' });
});
afterAll(() => service?.stop());

/** One more API process's worth of service with this limit; all share the database. */
async function originOfLimited(
  rateLimitPerMinute: number,
  more: { trustProxy?: boolean; workspaceRateLimitPerMinute?: number } = {},
) {
  const settings = { ...service.dependencies.settings, rateLimitPerMinute, ...more };
  const server = await startApi({ ...service.dependencies, settings, registry: new Registry() }, { eager: false });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}
const startLimited = async (...given: Parameters<typeof originOfLimited>) =>
  createCall(await originOfLimited(...given), service.key);
const statuses = (answers: Answer[]) =>
  Object.fromEntries(
    Map.groupBy(answers, ({ status }) => status)
      .entries()
      .map(([status, { length }]) => [status, length]),
  );

describe('the limit of a key', () => {
  test('is exact over two processes at once, and shows what is left', async () => {
    const [one, two] = [await startLimited(60), await startLimited(60)];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 ? one : two)('GET', '/prompts')),
    );
    expect(statuses(answers)).toEqual({ 200: 60, 429: 40 });
    for (const { headers } of answers) {
      expect(headers.get('RateLimit-Limit')).toBe('60');
      expect(Number(headers.get('RateLimit-Remaining'))).toBeGreaterThanOrEqual(0);
      expect(Number(headers.get('RateLimit-Reset'))).toBeGreaterThan(0);
      expect(Number(headers.get('RateLimit-Reset'))).toBeLessThanOrEqual(60);
    }
    const refused = await one('GET', '/prompts');
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('Retry-After'))).toBeLessThanOrEqual(60);
    expect(refused.headers.get('RateLimit-Remaining')).toBe('0');
  });

  test('is exact if processes take many at once from it', async () => {
    const limiters = [1, 2, 3].map(() => createRateLimiter(service.dependencies.db.system, 'many', 1_000));
    const states = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 500 }, () => limiter.take('caller'))),
    );
    expect(states.filter(({ allowed }) => allowed)).toHaveLength(1_000);
  });

  test('applies only to the key', async () => {
    const call = await startLimited(5);
    for (let used = 0; used < 6; used++) await call('GET', '/prompts');
    expect((await call('GET', '/prompts')).status).toBe(429);
    const other = await service.call('POST', '/api-keys', { body: { name: 'other', scopes: ['read'] } });
    expect((await call('GET', '/prompts', { key: other.body.key })).status).toBe(200);
  });

  test('counts down, and ends with its minute', async () => {
    const call = await startLimited(3);
    const left = [];
    for (let used = 0; used < 3; used++) left.push((await call('GET', '/prompts')).headers.get('RateLimit-Remaining'));
    expect(left).toEqual(['2', '1', '0']);
    expect((await call('GET', '/prompts')).status).toBe(429);
    // The minute is over: another process has nothing to remember.
    await service.dependencies.db.system.query({ text: 'update rate_limits set expire = $1' }, [Date.now() - 1]);
    expect((await (await startLimited(3))('GET', '/prompts')).status).toBe(200);
  });

  test('is off at 0', async () => {
    const call = await startLimited(0);
    const answers = await Promise.all(Array.from({ length: 100 }, () => call('GET', '/prompts')));
    expect(statuses(answers)).toEqual({ 200: 100 });
    expect(answers[0]?.headers.get('RateLimit-Limit')).toBeNull();
  });
});

describe('the limit of a workspace', () => {
  test('covers all of its keys, and a key beyond its own limit takes nothing from the others', async () => {
    const call = await startLimited(6, { workspaceRateLimitPerMinute: 10 });
    const other = await service.call('POST', '/api-keys', { body: { name: 'other of many', scopes: ['read'] } });
    const third = await service.call('POST', '/api-keys', { body: { name: 'third of many', scopes: ['read'] } });
    const first = await Promise.all(Array.from({ length: 20 }, () => call('GET', '/prompts')));
    expect(statuses(first)).toEqual({ 200: 6, 429: 14 });
    for (let used = 0; used < 4; used++)
      expect((await call('GET', '/prompts', { key: other.body.key })).status).toBe(200);
    const refused = await call('GET', '/prompts', { key: third.body.key });
    expect(refused.status).toBe(429);
    expect(refused.body.error.message).toContain('This workspace has used up its 10 requests a minute.');
    expect(refused.headers.get('RateLimit-Limit')).toBe('10');
    const neighbour = await createOtherWorkspace(service, 'limited-neighbour');
    expect((await call('GET', '/prompts', { key: neighbour.key })).status).toBe(200);
  });
});

describe('public pages', () => {
  test('are limited by address, and health is not', async () => {
    const origin = await originOfLimited(1_000);
    const get = async (path: string) => {
      const response = await fetch(`${origin}${path}`);
      await response.arrayBuffer();
      return response.status;
    };
    const paths = ['/docs/guides.css', '/docs', '/nothing', '/console/config.json'];
    const seen = new Set<number>();
    while (!seen.has(429)) for (const path of paths) seen.add(await get(path));
    for (const path of [...paths, '/openapi.json', '/docs/search?q=prompt', '/docs/guides'])
      expect([path, await get(path)]).toEqual([path, 429]);
    expect([await get('/healthz'), await get('/readyz')]).toEqual([200, 200]);
    // Requests with a key have their own limits.
    expect((await createCall(origin, service.key)('GET', '/prompts')).status).toBe(200);
  });
});

describe('failed authentications', () => {
  test('are limited per address over all processes, and a key that worked there still does', async () => {
    const [one, two] = [await startLimited(1_000), await startLimited(1_000)];
    expect((await one('GET', '/prompts')).status).toBe(200);
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, index) => (index % 2 ? one : two)('GET', '/prompts', { key: `wrong-${index}` })),
    );
    expect(statuses(answers)).toEqual({ 401: 60, 429: 20 });
    const refused = await one('GET', '/prompts', { key: null });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await one('GET', '/prompts')).status).toBe(200);
  });

  test('make only a few database look-ups at once when the address is limited, and a valid key passes', async () => {
    const { dependencies } = service;
    let asking = 0;
    let most = 0;
    let isSlow = false;
    const slow = new Set<() => void>();
    const system = {
      ...dependencies.db.system,
      query: createQuery(async (statement, values) => {
        if (!/from "api_keys"/.test(statement.text)) return dependencies.db.system.query(statement, values);
        asking += 1;
        most = Math.max(most, asking);
        if (isSlow) await new Promise<void>((resolve) => slow.add(resolve));
        try {
          return await dependencies.db.system.query(statement, values);
        } finally {
          asking -= 1;
        }
      }),
    };
    const settings = { ...dependencies.settings, rateLimitPerMinute: 1_000 };
    const watched = { ...dependencies, settings, db: { ...dependencies.db, system }, registry: new Registry() };
    const server = await startApi(watched, { eager: false });
    servers.push(server);
    const call = createCall(`http://127.0.0.1:${server.port}`, service.key);
    for (let index = 0; index < 61; index++) await call('GET', '/prompts', { key: `wrong-${index}` });
    for (const key of ['pms_unknown', null, 'x'.repeat(400)])
      expect((await call('GET', '/prompts', { key })).status).toBe(429);

    most = 0;
    isSlow = true;
    let refused = 0;
    const guesses = Array.from({ length: 150 }, async (_, index) => {
      const { status } = await call('GET', '/prompts', { key: `guess-${index}` });
      refused += 1;
      return status;
    });
    // Requests that cannot wait for a slot are rejected immediately.
    while (refused < 40) await setTimeout(10);
    expect(most).toBe(2);
    isSlow = false;
    for (const release of slow) release();
    // Until there is a waiting slot again.
    while (refused < 60) await setTimeout(10);
    // This process has never seen it.
    expect((await call('GET', '/prompts')).status).toBe(200);
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([429]));
    expect(most).toBe(2);
  });

  test('are counted for a whole /64 network of IPv6', async () => {
    const call = await startLimited(1_000, { trustProxy: true });
    const from = (forwarded: string) =>
      call('GET', '/prompts', { key: null, headers: { 'X-Forwarded-For': forwarded } });
    const answers = [];
    for (let index = 0; index < 61; index++) answers.push(await from(`2001:db8:1:2::${index.toString(16)}`));
    expect(statuses(answers)).toEqual({ 401: 60, 429: 1 });
    expect((await from('2001:db8:1:3::1')).status).toBe(401);
  });

  test('are counted by the address that the proxy saw, whatever the caller sends', async () => {
    const call = await startLimited(1_000, { trustProxy: true });
    const from = (forwarded: string) =>
      call('GET', '/prompts', { key: null, headers: { 'X-Forwarded-For': forwarded } });
    const answers = [];
    for (let index = 0; index < 61; index++) answers.push(await from(`10.0.0.${index}, 192.0.2.7`));
    expect(statuses(answers)).toEqual({ 401: 60, 429: 1 });
    expect((await from('192.0.2.7, 192.0.2.8')).status).toBe(401);
    expect((await from('x'.repeat(2_000))).status).toBe(401);
  });
});
