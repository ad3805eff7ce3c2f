import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { allRoutes, startApi } from '../../../src/api/server.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { CHANNELS, type Listener, openListener } from '../../../src/db/listener.ts';
import { type Route, scopesOf } from '../../../src/http/route.ts';
import { generateApiKey, SCOPES, type Scope } from '../../../src/services/access/api-keys.ts';
import { createAuthenticator } from '../../../src/services/access/authenticate.ts';
import { ensureFirstKey } from '../../../src/services/workspaces/bootstrap.ts';
import { createCall, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const withAuthorization = (value: string) =>
  service.call('GET', '/prompts', { key: null, headers: { Authorization: value } });

describe('a request', () => {
  test.each([
    ['no key', undefined],
    ['an empty header', ''],
    ['another scheme', 'Basic dTpw'],
    ['no text after Bearer', 'Bearer '],
    ['two words', 'Bearer a b'],
    ['an unknown key', `Bearer ${generateApiKey()}`],
    ['a very long key', `Bearer ${'k'.repeat(5_000)}`],
    ['non-ASCII', 'Bearer \u00e9'],
  ])('with %s is unauthorized, with a hint to sign in', async (_, value) => {
    const answer =
      value === undefined ? await service.call('GET', '/prompts', { key: null }) : await withAuthorization(value);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(answer.headers.get('X-Request-Id')).toMatch(/^req_/);
  });

  test('can write Bearer in any case', async () => {
    expect((await withAuthorization(`bearer ${service.key}`)).status).toBe(200);
  });

  test('needs a key before it learns about a route', async () => {
    for (const path of ['/nothing', '/prompts/%zz', '/api-keys/x'])
      expect([path, (await service.call('GET', path, { key: null })).status]).toEqual([
        path,
        path.includes('%') ? 400 : 401,
      ]);
  });
});

describe('each operation', () => {
  /** A key with these scopes, shared by all that need it. */
  const keyWith = (() => {
    const keys = new Map<string, Promise<string>>();
    return (scopes: readonly Scope[]) => {
      const name = scopes.join(' ');
      const key = keys.get(name) ?? createKey(service, ...scopes).then((made) => made.key);
      keys.set(name, key);
      return key;
    };
  })();
  /** Requests something that does not exist. */
  async function isRefused({ method, path }: Route, scopes: readonly Scope[]): Promise<boolean> {
    const key = await keyWith(scopes);
    const answer = await service.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'none'), {
      key,
      leavesStreams: true,
    });
    const lacks = /This key lacks the scope .*, which this operation needs( in addition to .*)?\./.test(
      JSON.stringify(answer.body),
    );
    if (lacks) expect([method, path, answer.status]).toEqual([method, path, 401]);
    return lacks;
  }

  test('is refused to a key without the scopes that it needs, and not for its scopes to one that has just these, or admin', async () => {
    const { routes } = allRoutes(service.dependencies, { eager: false });
    const limited = routes.filter(
      (route) =>
        route.withoutKey !== true &&
        route.bySession !== true &&
        route.workspaceOfToken === undefined &&
        route.keyOf === undefined &&
        // Others accept any key.
        scopesOf(route).length < SCOPES.length,
    );
    expect(limited.length).toBeGreaterThan(140);
    const limits = SCOPES.filter((scope) => scope !== 'admin');
    for (const route of limited) {
      const needed = scopesOf(route);
      const others = limits.filter((scope) => !needed.includes(scope));
      expect([route.operationId, await isRefused(route, others)]).toEqual([route.operationId, true]);
      expect([route.operationId, await isRefused(route, ['admin'])]).toEqual([route.operationId, false]);
      for (const scope of needed) {
        const { alsoScope = scope } = route;
        const enough = [...new Set([scope, alsoScope])];
        expect([route.operationId, await isRefused(route, enough)]).toEqual([route.operationId, false]);
        if (alsoScope === scope) continue;
        const without = limits.filter((each) => each !== alsoScope);
        expect([route.operationId, await isRefused(route, without)]).toEqual([route.operationId, true]);
      }
    }
  });
});

describe('keys', () => {
  test('are shown once, listed without their text and stored only as a hash', async () => {
    const { status, body } = await service.call('POST', '/api-keys', {
      body: { name: 'one', scopes: ['read', 'read', 'execute'], expires_at: '2999-01-01T01:00:00+01:00' },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f-]{36}$/),
      key: expect.stringMatching(/^pms_[A-Za-z0-9]{43}$/),
      name: 'one',
      kind: 'service',
      member_id: null,
      scopes: ['read', 'execute'],
      expires_at: '2999-01-01T00:00:00.000Z',
      revoked_at: null,
      last_used_at: null,
      created_at: expect.any(String),
    });
    const { key, ...record } = body;
    const list = await service.call('GET', '/api-keys?limit=1');
    expect(list.body.data).toEqual([record]);
    const [row] = await service.dependencies.db.system.query<{ hash: Buffer; row: string }>(
      { text: `select hash, api_keys::text as row from api_keys where workspace_id = $1 and name = 'one'` },
      [service.workspaceId],
    );
    expect(row?.hash.equals(createHash('sha256').update(key).digest())).toBe(true);
    expect(row?.row).not.toContain(key);
  });

  test('show when they were last used', async () => {
    const { id, key } = await createKey(service, 'read');
    await service.call('GET', '/prompts', { key });
    let lastUsed: string | null = null;
    while (lastUsed === null) {
      const { body } = await service.call('GET', '/api-keys');
      lastUsed = body.data.find((entry: { id: string }) => entry.id === id).last_used_at;
    }
    expect(Math.abs(Date.parse(lastUsed) - Date.now())).toBeLessThan(60_000);
  });

  test('do not work after they expire', async () => {
    const { id, key } = await createKey(service, 'read');
    expect((await service.call('GET', '/prompts', { key })).status).toBe(200);
    const use = (brief: string) => service.call('GET', '/prompts', { key: brief });
    // Doubles the validity until the key can be used before it expires, however slow this machine is.
    for (let spanMs = 300; ; spanMs *= 2) {
      const soon = new Date(Date.now() + spanMs).toISOString();
      const made = await service.call('POST', '/api-keys', {
        body: { name: 'brief', scopes: ['read'], expires_at: soon },
      });
      if (made.status !== 201 || (await use(made.body.key)).status !== 200) continue;
      // It is cached as valid, and still expires on time.
      while (Date.now() <= Date.parse(soon)) await service.call('GET', '/prompts');
      expect((await use(made.body.key)).body.error.code).toBe('unauthorized');
      break;
    }
    expect((await service.call('DELETE', `/api-keys/${id}`)).status).toBe(200);
  });

  test.each(SCOPES)('with only the scope %s show themselves, and no other key', async (scope) => {
    const { id, key } = await createKey(service, scope);
    const { body: listed } = await service.call('GET', '/api-keys');
    const { last_used_at: _, ...record } = listed.data.find((each: { id: string }) => each.id === id);
    const answer = await service.call('GET', '/api-keys/current', { key });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ ...record, scopes: [scope], workspace: { name: 'default' } });
    expect(JSON.stringify(answer.body)).not.toContain(key);
    await service.call('DELETE', `/api-keys/${id}`);
    const revoked = await service.call('GET', '/api-keys/current', { key });
    expect([revoked.status, revoked.body.error.code]).toEqual([401, 'unauthorized']);
  });

  test('show themselves in another workspace and to a session, with their end', async () => {
    const other = await createOtherWorkspace(service, 'current key');
    expect((await other.call('GET', '/api-keys/current')).body).toMatchObject({
      name: 'current key',
      workspace: { name: 'current key' },
      expires_at: null,
    });
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { body: made } = await service.call('POST', '/api-keys', {
      body: { name: 'signed in', scopes: ['read'], expires_at },
    });
    const { headers } = await service.call('POST', '/session', { key: null, body: { key: made.key } });
    const cookie = headers.get('Set-Cookie')?.split(';')[0] ?? '';
    const { body } = await service.call('GET', '/api-keys/current', { key: null, headers: { Cookie: cookie } });
    expect(body).toMatchObject({ id: made.id, name: 'signed in', scopes: ['read'], expires_at });
    const none = await service.call('GET', '/api-keys/current', { key: null });
    expect([none.status, none.body.error.code]).toEqual([401, 'unauthorized']);
  });

  test('that were revoked end immediately, stay listed, and can be revoked again', async () => {
    const { id, key } = await createKey(service, 'read');
    expect((await service.call('GET', '/prompts', { key })).status).toBe(200);
    const revoked = await service.call('DELETE', `/api-keys/${id}`);
    expect(revoked).toMatchObject({ status: 200, body: { id, revoked_at: expect.any(String) } });
    expect((await service.call('GET', '/prompts', { key })).body.error.code).toBe('unauthorized');
    const again = await service.call('DELETE', `/api-keys/${id}`);
    expect(again.body.revoked_at).toBe(revoked.body.revoked_at);
    expect((await service.call('GET', '/api-keys')).body.data.map((entry: { id: string }) => entry.id)).toContain(id);
  });

  test.each([
    ['name', { scopes: ['read'] }],
    ['name', { name: '', scopes: ['read'] }],
    ['name', { name: 'x'.repeat(101), scopes: ['read'] }],
    ['scopes', { name: 'x' }],
    ['scopes', { name: 'x', scopes: [] }],
    ['scopes.0', { name: 'x', scopes: ['root'] }],
    ['scopes', { name: 'x', scopes: Array.from({ length: 20 }, () => 'read') }],
    ['expires_at', { name: 'x', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { name: 'x', scopes: ['read'], expires_at: 'tomorrow' }],
    ['expire_at', { name: 'x', scopes: ['read'], expire_at: null }],
  ])('with a wrong %s are refused', async (path, body) => {
    const answer = await service.call('POST', '/api-keys', { body });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  test('the first key is made once, and stays revoked', async () => {
    const first = generateApiKey();
    await Promise.all([1, 2, 3].map(() => ensureFirstKey(service.dependencies.db, first)));
    const bootstrap = (await service.call('GET', '/api-keys', { key: first })).body.data;
    const mine = bootstrap.filter(({ name }: { name: string }) => name === 'bootstrap');
    expect(mine).toHaveLength(2);
    await service.call('DELETE', `/api-keys/${mine[0].id}`);
    await ensureFirstKey(service.dependencies.db, first);
    expect((await service.call('GET', '/prompts', { key: first })).status).toBe(401);
  });
});

test('a key revoked while it is read is not cached', async () => {
  const { db, log } = service.dependencies;
  const { key } = await createKey(service, 'read');
  let revoked = () => {};
  const listener: Listener = {
    on: (channel, heard) => {
      if (channel === CHANNELS.apiKeyRevoked) revoked = () => heard(createHash('sha256').update(key).digest('hex'));
    },
    onReconnected() {},
    connected: () => true,
    close: async () => {},
  };
  const authenticator = createAuthenticator(db, listener, log);
  const credential = { kind: 'key', token: key } as const;
  const reading = authenticator.authenticate(credential);
  revoked();
  await reading;
  await db.system.query({ text: `update api_keys set revoked_at = now() where hash = $1` }, [
    createHash('sha256').update(key).digest(),
  ]);
  await expect(authenticator.authenticate(credential)).rejects.toThrow('revoked');
});

test('a key revoked in one process ends in another', async () => {
  const { db: own, log, ...rest } = service.dependencies;
  const [row] = await own.system.query<{ name: string }>({ text: 'select current_database() as name' });
  const url = `${process.env['TEST_POSTGRES_URL']}${row?.name}`;
  const [db, listener] = [await openDatabase(url, { poolSize: 2 }), openListener(url, log)];
  const api = await startApi({ ...rest, log, db, listener, registry: new Registry() }, { eager: false });
  try {
    const { id, key } = await createKey(service, 'read');
    const elsewhere = createCall(`http://127.0.0.1:${api.port}`, key);
    while (!listener.connected()) await elsewhere('GET', '/prompts');
    expect((await elsewhere('GET', '/prompts')).status).toBe(200);
    await service.call('DELETE', `/api-keys/${id}`);
    const started = Date.now();
    await waitFor('the key to be refused', async () => (await elsewhere('GET', '/prompts')).status === 401);
    // Without the notification, the key would be cached for 30 s.
    expect(Date.now() - started).toBeLessThan(25_000);
  } finally {
    await api.close(0);
    await listener.close();
    await db.close();
  }
});
