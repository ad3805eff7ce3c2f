import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { type RunningApi, startApi } from '../../../src/api/server.ts';
import { expiredBy } from '../../../src/capabilities.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { openListener } from '../../../src/db/listener.ts';
import { cleanUp } from '../../../src/jobs/clean-up.ts';
import { generateApiKey } from '../../../src/services/access/api-keys.ts';
import { MAX_SESSIONS_PER_KEY } from '../../../src/services/access/sessions.ts';
import { type Answer, type Call, createCall, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
const servers: RunningApi[] = [];
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0);
});
afterAll(() => service?.stop());

/** Another API process on the same database. */
async function startAnother(changes: { rateLimitPerMinute?: number; trustProxy?: boolean } = {}): Promise<Call> {
  const { dependencies } = service;
  const settings = { ...dependencies.settings, ...changes };
  const server = await startApi({ ...dependencies, settings, registry: new Registry() }, { eager: false });
  servers.push(server);
  return createCall(`http://127.0.0.1:${server.port}`, service.key);
}

const setCookieOf = ({ headers }: Answer) => headers.get('Set-Cookie') ?? '';
/** `name=value`, as the browser sends it back. */
const cookieOf = (answer: Answer) => setCookieOf(answer).split(';', 1).join('');
const ours = (cookie: string) => ({ Cookie: cookie, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' });

const signIn = (key: string, call: Call = service.call, headers: Record<string, string> = {}) =>
  call('POST', '/session', { key: null, body: { key }, headers });
const by = (
  cookie: string,
  method: string,
  path: string,
  {
    body,
    headers = ours(cookie),
    call = service.call,
  }: { body?: unknown; headers?: Record<string, string>; call?: Call } = {},
) => call(method, path, { key: null, headers, ...(body === undefined ? {} : { body }) });

async function cookieFor(key: string): Promise<string> {
  const answer = await signIn(key);
  expect(answer.status).toBe(201);
  return cookieOf(answer);
}

const PROMPT = { name: 'from/console', template: 'Hello.', model: 'sandbox/echo' };

describe('signing in', () => {
  test('gives a session, and a cookie hidden from scripts and stored as a hash', async () => {
    const { id, key } = await createKey(service, 'read', 'write');
    const answer = await signIn(key, service.call, { 'User-Agent': `Browser ${'x'.repeat(600)}` });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^sess_[0-9a-f-]{36}$/),
        key: { id, name: 'read write', scopes: ['read', 'write'] },
        workspace: { name: 'default' },
        member: null,
        provider: null,
        workspaces: [],
        is_current: true,
        address: '127.0.0.1',
        user_agent: expect.stringMatching(/^Browser x{492}$/),
        created_at: expect.any(String),
        last_used_at: answer.body.created_at,
        expires_at: expect.any(String),
        drafts_key: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      },
    ]);
    expect(Date.parse(answer.body.expires_at) - Date.parse(answer.body.created_at)).toBe(12 * 3_600_000);
    const [cookie, ...attributes] = setCookieOf(answer).split('; ');
    expect(cookie).toMatch(/^pms_session=[A-Za-z0-9_-]{43}$/);
    expect(attributes).toEqual(['Path=/', 'Max-Age=604800', 'HttpOnly', 'SameSite=Strict']);
    expect(JSON.stringify(answer.body)).not.toContain(cookie?.split('=')[1]);
    const rows = await service.dependencies.db.system.query<{ row: string }>({
      text: 'select sessions::text as row from sessions',
    });
    expect(JSON.stringify(rows)).not.toContain(cookie?.split('=')[1]);
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
  });

  test.each([
    ['unknown', generateApiKey()],
    ['malformed', 'not a key'],
    ['very long', 'k'.repeat(255)],
  ])('with an %s key is refused, without a cookie', async (_, key) => {
    const answer = await signIn(key);
    expect([answer.status, answer.body.error.code, setCookieOf(answer)]).toEqual([401, 'unauthorized', '']);
  });

  test.each([
    ['key', {}],
    ['key', { key: '' }],
    ['key', { key: 7 }],
    ['key', { key: 'k'.repeat(256) }],
    ['remember', { key: generateApiKey(), remember: true }],
  ])('with a wrong %s is refused by name', async (path, body) => {
    const answer = await service.call('POST', '/session', { key: null, body });
    expect([answer.status, answer.body.error.details?.map((detail: { path: string }) => detail.path)]).toEqual([
      400,
      [path],
    ]);
  });

  test.each([
    [{ 'Sec-Fetch-Site': 'cross-site' }],
    [{ 'Sec-Fetch-Site': 'same-site' }],
    [{ 'Sec-Fetch-Site': 'none' }],
    [{ Origin: 'https://elsewhere.example' }],
    [{ Origin: 'null' }],
  ])('from a page of another origin is refused: %p', async (headers) => {
    const answer = await signIn(service.key, service.call, headers as Record<string, string>);
    expect([answer.status, answer.body.error.code, setCookieOf(answer)]).toEqual([401, 'unauthorized', '']);
  });

  test('gives the key for encrypting drafts: the same for all sessions of a key, different for other keys, and not public', async () => {
    const [mine, next] = await Promise.all([createKey(service, 'read'), createKey(service, 'admin')]);
    const [first, second, other] = [await signIn(mine.key), await signIn(mine.key), await signIn(next.key)];
    const { drafts_key } = first.body;
    expect(Buffer.from(drafts_key, 'base64')).toHaveLength(32);
    expect(second.body.drafts_key).toBe(drafts_key);
    expect(other.body.drafts_key).not.toBe(drafts_key);
    expect((await by(cookieOf(second), 'GET', '/session')).body.drafts_key).toBe(drafts_key);
    const { body: sessions } = await by(cookieOf(other), 'GET', '/sessions');
    expect(sessions.data.length).toBeGreaterThan(2);
    expect(JSON.stringify(sessions)).not.toContain('drafts_key');
  });

  test('from a page of this service is accepted, whatever its cookie', async () => {
    const old = { Cookie: `pms_session=${'x'.repeat(43)}` };
    expect((await signIn(service.key, service.call, { ...old, Origin: service.origin })).status).toBe(201);
    expect((await signIn(service.key, service.call, { ...old, 'Sec-Fetch-Site': 'same-origin' })).status).toBe(201);
  });

  test('fifty times at once gives fifty sessions', async () => {
    const { key } = await createKey(service, 'read');
    const answers = await Promise.all(Array.from({ length: 50 }, () => signIn(key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const cookies = answers.map(cookieOf);
    expect(new Set(cookies).size).toBe(50);
    const last = await Promise.all(cookies.map((cookie) => by(cookie, 'GET', '/session')));
    expect(last.map(({ body }) => body.id)).toEqual(answers.map(({ body }) => body.id));
  });

  test('too often ends the least recently used sessions', async () => {
    const { id, key } = await createKey(service, 'read');
    const cookies: string[] = [];
    for (let count = 0; count <= MAX_SESSIONS_PER_KEY; count += 1) cookies.push(await cookieFor(key));
    const [first = '', second = ''] = cookies;
    expect((await by(first, 'GET', '/session')).status).toBe(401);
    expect((await by(second, 'GET', '/session')).status).toBe(200);
    const { body } = await by(second, 'GET', '/sessions?limit=1000');
    expect(body.data).toHaveLength(MAX_SESSIONS_PER_KEY);
    const { body: log } = await service.call('GET', `/audit-log?actor=${id}&limit=1000`);
    const entries: { action: string; resource: { id: string }; details: object }[] = log.data;
    const began = entries.filter(({ action }) => action === 'session.created');
    const ended = entries.filter(({ action }) => action === 'session.ended');
    expect(began).toHaveLength(MAX_SESSIONS_PER_KEY + 1);
    // The one that started first.
    expect(ended).toMatchObject([
      { resource: began.at(-1)?.resource, details: { key_id: id, reason: 'too many sessions of the key' } },
    ]);
  });
});

describe('with a session', () => {
  test('a request is made with the key, its scopes and its workspace', async () => {
    const { key } = await createKey(service, 'read');
    const reader = await cookieFor(key);
    expect((await by(reader, 'GET', '/prompts')).status).toBe(200);
    const refused = await by(reader, 'POST', '/prompts', { body: PROMPT });
    expect([refused.status, refused.body.error.code]).toEqual([401, 'insufficient_scope']);
    const other = await createOtherWorkspace(service, 'other');
    const theirs = await cookieFor(other.key);
    expect((await by(theirs, 'POST', '/prompts', { body: PROMPT })).status).toBe(201);
    expect((await by(theirs, 'GET', `/prompts/${PROMPT.name}`)).status).toBe(200);
    expect((await service.call('GET', `/prompts/${PROMPT.name}`)).status).toBe(404);
    expect((await by(theirs, 'GET', '/session')).body).toMatchObject({
      workspace: { name: 'other' },
      is_current: true,
    });
  });

  test('and a key together, the key is used', async () => {
    const cookie = await cookieFor(service.key);
    const reader = await service.call('POST', '/api-keys', { body: { name: 'reader', scopes: ['read'] } });
    const asReader = (method: string, path: string, body?: object) =>
      service.call(method, path, { key: reader.body.key, headers: ours(cookie), ...(body && { body }) });
    expect((await asReader('GET', '/prompts')).status).toBe(200);
    const refused = await asReader('POST', '/prompts', PROMPT);
    expect([refused.status, refused.body.error.code]).toEqual([401, 'insufficient_scope']);
    expect((await asReader('GET', '/session')).body.error.message).toContain('it has no session');
    const wrong = await service.call('GET', '/prompts', { key: `${service.key}x`, headers: ours(cookie) });
    expect(wrong.status).toBe(401);
  });

  test('a key is not taken from the cookie, nor a session from the header', async () => {
    const cookie = await cookieFor(service.key);
    const token = cookie.split('=')[1] ?? '';
    expect((await service.call('GET', '/prompts', { key: token })).status).toBe(401);
    // Both are in the memory of the process.
    expect((await by(cookie, 'GET', '/prompts')).status).toBe(200);
    expect((await service.call('GET', '/prompts', { key: token })).status).toBe(401);
    expect((await by(`pms_session=${service.key}`, 'GET', '/prompts')).status).toBe(401);
  });

  test.each(['', 'x', 'x'.repeat(43), 'x'.repeat(4_000), '%00', '"quoted"'])(
    'that is not one (%p), nothing opens',
    async (token) => {
      expect((await by(`pms_session=${token}`, 'GET', '/prompts')).status).toBe(401);
    },
  );

  describe('a change', () => {
    const origin = () => service.origin;
    test.each<[string, (cookie: string) => Record<string, string>, boolean]>([
      ['with all that it needs', ours, true],
      ['of an older browser, by its Origin', (Cookie) => ({ Cookie, 'X-Console': '1', Origin: origin() }), true],
      ['without the header of the console', (Cookie) => ({ Cookie, 'Sec-Fetch-Site': 'same-origin' }), false],
      ['with another value in it', (Cookie) => ({ ...ours(Cookie), 'X-Console': 'yes' }), false],
      ['without a word about its origin', (Cookie) => ({ Cookie, 'X-Console': '1' }), false],
      ['of another site', (Cookie) => ({ ...ours(Cookie), 'Sec-Fetch-Site': 'cross-site' }), false],
      ['of another host of the site', (Cookie) => ({ ...ours(Cookie), 'Sec-Fetch-Site': 'same-site' }), false],
      ['of the address bar', (Cookie) => ({ ...ours(Cookie), 'Sec-Fetch-Site': 'none' }), false],
      [
        'of another site that names our Origin',
        (Cookie) => ({ ...ours(Cookie), 'Sec-Fetch-Site': 'cross-site', Origin: origin() }),
        false,
      ],
      ['of another Origin', (Cookie) => ({ Cookie, 'X-Console': '1', Origin: 'http://127.0.0.1' }), false],
      [
        'of another scheme',
        (Cookie) => ({ Cookie, 'X-Console': '1', Origin: origin().replace('http', 'https') }),
        false,
      ],
      ['of no Origin', (Cookie) => ({ Cookie, 'X-Console': '1', Origin: 'null' }), false],
    ])('%s', async (_, headersOf, isTaken) => {
      const cookie = await cookieFor(service.key);
      const name = 'csrf';
      const before = (await service.call('GET', `/prompts/${name}`)).body.version ?? 0;
      const answer = await by(cookie, 'POST', '/prompts', { body: { ...PROMPT, name }, headers: headersOf(cookie) });
      expect([answer.status, answer.body.error?.code]).toEqual(isTaken ? [201, undefined] : [401, 'unauthorized']);
      expect((await service.call('GET', `/prompts/${name}`)).body.version ?? 0).toBe(before + Number(isTaken));
      for (const [method, path] of [
        ['PUT', '/prompts/none'],
        ['DELETE', '/prompts/none'],
      ] as const)
        expect((await by(cookie, method, path, { headers: headersOf(cookie) })).status).not.toBe(200);
      // Reading needs none of it.
      expect((await by(cookie, 'GET', '/prompts', { headers: { Cookie: cookie } })).status).toBe(200);
    });
  });
});

describe('the end of a session', () => {
  test('by signing out: the cookie is cleared and opens nothing', async () => {
    const cookie = await cookieFor(service.key);
    const { body } = await by(cookie, 'GET', '/session');
    // It can no longer read anything.
    const { drafts_key: _, workspaces: __, ...session } = body;
    const ended = await by(cookie, 'DELETE', '/session');
    // The previous use may be recorded in between.
    const times = { last_used_at: expect.any(String), expires_at: expect.any(String) };
    expect([ended.status, ended.body]).toEqual([200, { ...session, ...times, end_session_url: null }]);
    expect(setCookieOf(ended)).toBe('pms_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
    expect((await by(cookie, 'GET', '/session')).status).toBe(401);
    expect((await service.call('DELETE', `/sessions/${session.id}`)).status).toBe(404);
  });

  test('needs a session: a key has none', async () => {
    for (const method of ['GET', 'DELETE'])
      expect((await service.call(method, '/session')).body.error.code).toBe('unauthorized');
  });

  test('by its key: at once, in this process and in another', async () => {
    const { log, ...rest } = service.dependencies;
    const [db, listener] = [
      await openDatabase(service.databaseUrl, { poolSize: 2 }),
      openListener(service.databaseUrl, log),
    ];
    const api = await startApi({ ...rest, log, db, listener, registry: new Registry() }, { eager: false });
    try {
      const { id, key } = await createKey(service, 'read');
      const cookie = await cookieFor(key);
      const elsewhere = createCall(`http://127.0.0.1:${api.port}`, key);
      await waitFor('the listener', async () => listener.connected());
      expect((await by(cookie, 'GET', '/session', { call: elsewhere })).status).toBe(200);
      expect((await by(cookie, 'GET', '/session')).status).toBe(200);
      await service.call('DELETE', `/api-keys/${id}`);
      expect((await by(cookie, 'GET', '/session')).status).toBe(401);
      await waitFor('the session to end', async () => {
        return (await by(cookie, 'GET', '/session', { call: elsewhere })).status === 401;
      });
      expect((await signIn(key)).status).toBe(401);
    } finally {
      await api.close(0);
      await listener.close();
      await db.close();
    }
  });

  test('by an admin, or by another session of the key, and no one else', async () => {
    const [mine, theirs] = [await createKey(service, 'read'), await createKey(service, 'read')];
    const [one, two, other] = [await cookieFor(mine.key), await cookieFor(mine.key), await cookieFor(theirs.key)];
    const idOf = async (cookie: string) => (await by(cookie, 'GET', '/session')).body.id;
    const listed = (await by(one, 'GET', '/sessions')).body.data;
    expect(listed.map(({ id, is_current }: { id: string; is_current: boolean }) => [id, is_current])).toEqual([
      [await idOf(two), false],
      [await idOf(one), true],
    ]);
    const everyone = (await service.call('GET', '/sessions?limit=1000')).body.data.map(({ id }: { id: string }) => id);
    for (const cookie of [one, two, other]) expect(everyone).toContain(await idOf(cookie));
    const path = `/sessions/${await idOf(two)}`;
    expect((await by(other, 'DELETE', path)).status).toBe(404);
    expect((await by(one, 'DELETE', path)).status).toBe(200);
    expect((await by(two, 'GET', '/session')).status).toBe(401);
    expect((await service.call('DELETE', `/sessions/${await idOf(other)}`)).status).toBe(200);
    expect((await by(other, 'GET', '/session')).status).toBe(401);
    expect((await by(one, 'GET', '/session')).status).toBe(200);
  });

  const setTimes = (id: string, times: string) =>
    service.dependencies.db.system.query({ text: `update sessions set ${times} where id = $1` }, [id.slice(5)]);

  test('by time: it is refused, not listed, and cleaned up', async () => {
    const { key } = await createKey(service, 'read');
    const cookie = cookieOf(await signIn(key));
    const call = await startAnother();
    const { id } = (await by(cookie, 'GET', '/session', { call })).body;
    await setTimes(id, `expires_at = now() - interval '1 second'`);
    // A process that has not remembered it.
    const fresh = await startAnother();
    expect((await by(cookie, 'GET', '/session', { call: fresh })).status).toBe(401);
    const listed = (await service.call('GET', '/sessions?limit=1000')).body.data.map((row: { id: string }) => row.id);
    expect(listed).not.toContain(id);
    await cleanUp(service.dependencies.db.system, expiredBy({ events: 86_400_000 }));
    const rows = await service.dependencies.db.system.query({ text: 'select id from sessions where id = $1' }, [
      id.slice(5),
    ]);
    expect(rows).toEqual([]);
  });

  test('moves with its use, up to seven days', async () => {
    const { key } = await createKey(service, 'read');
    const answer = await signIn(key);
    const { id } = answer.body;
    await setTimes(
      id,
      `created_at = now() - interval '6 days 23 hours', last_used_at = now() - interval '11 hours', expires_at = now() + interval '1 minute'`,
    );
    const call = await startAnother();
    expect((await by(cookieOf(answer), 'GET', '/prompts', { call })).status).toBe(200);
    const session = await waitFor('its use to be noted', async () => {
      const { body } = await by(cookieOf(answer), 'GET', '/session', { call });
      return Date.now() - Date.parse(body.last_used_at) < 3_600_000 && body;
    });
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(7 * 24 * 3_600_000);
  });

  test('is not after the end of its key', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await service.call('POST', '/api-keys', {
      body: { name: 'brief', scopes: ['read'], expires_at: expiresAt },
    });
    expect((await signIn(body.key)).body.expires_at).toBe(expiresAt);
  });
});

describe('behind a proxy that ends TLS', () => {
  test('the cookie is Secure and prefixed, and others are ignored', async () => {
    const call = await startAnother({ trustProxy: true });
    const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.1, 192.0.2.9' };
    const answer = await signIn(service.key, call, headers);
    expect(answer.body.address).toBe('192.0.2.9');
    expect(setCookieOf(answer)).toMatch(
      /^__Host-pms_session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
    );
    const cookie = cookieOf(answer);
    expect((await by(cookie, 'GET', '/session', { call, headers: { ...headers, Cookie: cookie } })).status).toBe(200);
    const bare = cookie.replace('__Host-', '');
    expect((await by(bare, 'GET', '/session', { call, headers: { ...headers, Cookie: bare } })).status).toBe(401);
    // Neither over https nor through a trusted proxy.
    expect((await by(cookie, 'GET', '/session', { call, headers: { Cookie: cookie } })).status).toBe(401);
    expect((await by(cookie, 'GET', '/session', { headers: { ...headers, Cookie: cookie } })).status).toBe(401);
  });

  test('its own Origin uses https', async () => {
    const call = await startAnother({ trustProxy: true });
    const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'prompts.example.com' };
    const cookie = cookieOf(await signIn(service.key, call, { ...headers, Origin: 'https://prompts.example.com' }));
    const change = (Origin: string) =>
      by(cookie, 'POST', '/prompts', {
        call,
        body: { ...PROMPT, name: 'proxied' },
        headers: { ...headers, Cookie: cookie, 'X-Console': '1', Origin },
      });
    expect((await change('https://prompts.example.com')).status).toBe(201);
    expect((await change('http://prompts.example.com')).status).toBe(401);
    expect((await change('https://other.example.com')).status).toBe(401);
  });
});

describe('limits', () => {
  const statuses = (answers: Answer[]) =>
    Object.fromEntries(
      Map.groupBy(answers, ({ status }) => status)
        .entries()
        .map(([status, all]) => [status, all.length]),
    );

  test('failed sign-ins count as failed authentications of the address', async () => {
    const call = await startAnother({ rateLimitPerMinute: 1_000, trustProxy: true });
    const headers = { 'X-Forwarded-For': '192.0.2.60' };
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, index) =>
        index % 2
          ? signIn(`pms_wrong_${index}`, call, headers)
          : call('GET', '/prompts', { key: `wrong-${index}`, headers }),
      ),
    );
    expect(statuses(answers)).toEqual({ 401: 60, 429: 20 });
    const refused = await signIn('pms_wrong', call, headers);
    expect([refused.status, setCookieOf(refused)]).toEqual([429, '']);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    // A valid key can still sign in from there.
    const { key } = await createKey(service, 'read');
    expect((await signIn(key, call, headers)).status).toBe(201);
  });

  test('a key and its sessions share the limit of the key', async () => {
    const call = await startAnother({ rateLimitPerMinute: 5 });
    const { key } = await createKey(service, 'read');
    const cookie = cookieOf(await signIn(key, call));
    const answers = [];
    for (let used = 0; used < 6; used += 1)
      answers.push(used % 2 ? await call('GET', '/prompts', { key }) : await by(cookie, 'GET', '/prompts', { call }));
    expect(statuses(answers)).toEqual({ 200: 4, 429: 2 });
  });
});
