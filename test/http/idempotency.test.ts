import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createKey, createOtherWorkspace } from '../api/workspace.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', { body: { name: 'echo', template: '{{ text }}', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

const post = (path: string, key: string, body: unknown) =>
  service.call('POST', path, { body, headers: { 'Idempotency-Key': key } });
const run = (key: string, text: string, more: object = {}) =>
  post('/executions', key, { prompt_name: 'echo', variables: { text }, ...more });
const count = async (text: string, ...values: unknown[]) =>
  Number((await service.dependencies.db.system.query<{ count: string }>({ text }, values))[0]?.count);

/** Bodies that create something, by path; each uses `tag` so that the results can be counted. */
const creations: { path: string; body: (tag: string) => object; made: (tag: string) => Promise<number> }[] = [
  {
    path: '/prompts',
    body: (tag) => ({ name: tag, template: 'x', model: 'sandbox/echo' }),
    made: (tag) =>
      count('select count(*) from prompt_versions v join prompts p on p.id = v.prompt_id where p.name = $1', tag),
  },
  {
    path: '/executions',
    body: (tag) => ({ prompt_name: 'echo', variables: { text: tag } }),
    made: (tag) => count('select count(*) from executions where input = $1', tag),
  },
  {
    path: '/api-keys',
    body: (tag) => ({ name: tag, scopes: ['read'] }),
    made: (tag) => count('select count(*) from api_keys where name = $1', tag),
  },
];

describe.each(creations)('POST $path', ({ path, body, made }) => {
  test('with the same key and body returns the first answer', async () => {
    const first = await post(path, `again ${path}`.replace(' ', '-'), body('again'));
    expect([first.status, first.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
    const second = await post(path, `again-${path}`, body('again'));
    expect([second.status, second.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
    expect(second.body).toEqual(first.body);
    expect(await made('again')).toBe(1);
  });

  test('twenty times at once creates once, and all get the same answer', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(path, `twenty-${path}`, body('twenty'))));
    for (const answer of answers) {
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual(answers[0]?.body);
    }
    expect(answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
    expect(await made('twenty')).toBe(1);
  });

  test('with the same key and another body is refused', async () => {
    await post(path, `other-${path}`, body('other'));
    const answer = await post(path, `other-${path}`, body('else'));
    expect([answer.status, answer.body.error.code]).toEqual([400, 'idempotency_key_reused']);
    expect(await made('else')).toBe(0);
  });

  test('after a 400 the key is free', async () => {
    expect((await post(path, `free-${path}`, { ...body('free'), typo: 1 })).status).toBe(400);
    expect((await post(path, `free-${path}`, body('free'))).status).toBe(201);
  });

  test.each(['with space', 'é', '', 'x'.repeat(256)])('refuses the key %j', async (key) => {
    const answer = await post(path, key, body('bad-key'));
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(await made('bad-key')).toBe(0);
  });

  test('takes the longest key', async () => {
    expect((await post(path, `${path}${'~'.repeat(255 - path.length)}`, body('long'))).status).toBe(201);
  });
});

test('one key is good for only one operation', async () => {
  await run('shared', 'shared');
  expect((await post('/api-keys', 'shared', { name: 'x', scopes: ['read'] })).body.error.code).toBe(
    'idempotency_key_reused',
  );
});

test("another workspace's key is another key", async () => {
  const other = await createOtherWorkspace(service, 'idempotent');
  const body = { name: 'both', template: 'x', model: 'sandbox/echo' };
  await post('/prompts', 'both', body);
  const answer = await other.call('POST', '/prompts', {
    body: { ...body, template: 'y' },
    headers: { 'Idempotency-Key': 'both' },
  });
  expect([answer.status, answer.headers.get('Idempotent-Replayed'), answer.body.template]).toEqual([201, null, 'y']);
});

test('a key whose creation was refused later is free too', async () => {
  expect((await run('late', 'late', { model: 'openai/gpt-4o' })).status).toBe(400);
  expect((await run('late', 'late')).status).toBe(201);
});

test('a replay of an open run waits for its end', async () => {
  const first = run('slow', 'slow', { model: 'sandbox/slow-700' });
  const second = run('slow', 'slow', { model: 'sandbox/slow-700' });
  const [one, two] = await Promise.all([first, second]);
  expect(one.body).toMatchObject({ status: 'completed' });
  expect(two.body).toEqual(one.body);
});

test('a caller that did not wait gets the answer', async () => {
  const headers = { 'Idempotency-Key': 'async', Prefer: 'respond-async' };
  const body = { prompt_name: 'echo', variables: { text: 'async' }, model: 'sandbox/slow-700' };
  const first = await service.call('POST', '/executions', { body, headers });
  const second = await service.call('POST', '/executions', { body, headers: { 'Idempotency-Key': 'async' } });
  expect(second.body).toEqual(first.body);
  // As it was then: it may have started, but not ended.
  expect(['queued', 'running']).toContain(second.body.status);
});

test('a caller that lost the connection gets the end at the next try', async () => {
  const body = JSON.stringify({ prompt_name: 'echo', variables: { text: 'lost' }, model: 'sandbox/slow-2000' });
  const headers = {
    Authorization: `Bearer ${service.key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': 'lost',
  };
  const gone = new AbortController();
  const lost = fetch(`${service.origin}/v1/executions`, { method: 'POST', headers, body, signal: gone.signal });
  await waitFor('the execution', async () => count(`select count(*) from executions where input = 'lost'`));
  gone.abort();
  await expect(lost).rejects.toThrow();
  const answer = await service.call('POST', '/executions', { raw: body, headers });
  expect(answer.headers.get('Idempotent-Replayed')).toBe('true');
  expect(answer.body).toMatchObject({ status: 'completed', output: 'lost' });
});

const SCORER = { type: 'http', url: 'http://127.0.0.1:65000/' };
const SCORED = { prompt_name: 'echo', examples: [{ variables: { text: 'x' } }], evaluators: [SCORER] };

test.each<[string, (idOf: (path: string, body: object) => Promise<string>) => Promise<string>, object]>([
  ['a key', async () => '/api-keys', { name: 'mine', scopes: ['read'] }],
  ['a webhook', async () => '/webhooks', { url: 'http://127.0.0.1:65000/' }],
  [
    'a new secret of a webhook',
    async (idOf) => `/webhooks/${await idOf('/webhooks', { url: 'http://127.0.0.1:65000/' })}/rotate-secret`,
    {},
  ],
  ['a scorer', async () => '/evaluations', SCORED],
  ['a scorer of a schedule', async () => '/schedules', { name: 's', cron: '@yearly', evaluation: SCORED }],
])('a secret is shown again only to the key that made it: %s', async (what, at, body) => {
  const path = await at(async (made, request) => (await service.call('POST', made, { body: request })).body.id);
  const [mine, other] = [await createKey(service, 'admin'), await createKey(service, 'admin')];
  const idempotencyKey = `secret-of-${what.replaceAll(' ', '-')}`;
  const ask = (key: string, headers: Record<string, string> = {}) =>
    service.call('POST', path, { key, body, headers: { 'Idempotency-Key': idempotencyKey, ...headers } });
  const first = await ask(mine.key);
  expect(JSON.stringify(first.body)).toMatch(/pms_|whsec_/);
  const refused = await ask(other.key);
  expect([refused.status, refused.body.error.code]).toEqual([400, 'idempotency_key_reused']);
  expect(refused.body.error.message).toContain('another API key');
  expect((await ask(mine.key)).body).toEqual(first.body);
  // A session of the same key repeats the request.
  const session = await service.call('POST', '/session', { key: null, body: { key: mine.key } });
  const Cookie = (session.headers.get('Set-Cookie') ?? '').split(';', 1).join('');
  const again = await service.call('POST', path, {
    key: null,
    body,
    headers: { 'Idempotency-Key': idempotencyKey, Cookie, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' },
  });
  expect(again.body).toEqual(first.body);
});

test('a response without a secret is repeated to any authorized key', async () => {
  const body = { prompt_name: 'echo', variables: { text: 'shared' } };
  const first = await post('/executions', 'between-keys', body);
  const { key } = await createKey(service, 'execute');
  const second = await service.call('POST', '/executions', {
    key,
    body,
    headers: { 'Idempotency-Key': 'between-keys' },
  });
  expect(second.body).toEqual(first.body);
});

test('the key text shown by a replay is encrypted at rest', async () => {
  const { body } = await post('/api-keys', 'secret', { name: 'secret', scopes: ['read'] });
  expect(body.key).toMatch(/^pms_[A-Za-z0-9]{43}$/);
  const rows = await service.dependencies.db.system.query<{ answer: Buffer }>(
    { text: 'select answer from idempotency_keys where workspace_id = $1' },
    [service.workspaceId],
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const { answer } of rows) expect(answer.includes(body.key)).toBe(false);
});

test('a key is forgotten after a day', async () => {
  await run('day', 'day');
  await service.dependencies.db.system.query(
    {
      text: `update idempotency_keys set created_at = now() - interval '25 hours' where workspace_id = $1 and key = 'day'`,
    },
    [service.workspaceId],
  );
  const again = await run('day', 'another');
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
});
