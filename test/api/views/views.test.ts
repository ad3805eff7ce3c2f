import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_OWN_VIEWS } from '../../../src/services/views/saved-views.ts';
import { type Call, createCall, startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
let colleague: Call;
beforeAll(async () => {
  service = await startTestService();
  colleague = createCall(service.origin, (await createKey(service, 'read')).key);
});
afterAll(() => service?.stop());

const put = (name: string, more: object = {}, call: Call = service.call) =>
  call('PUT', `/views/${encodeURIComponent(name)}`, { body: { page: 'executions', ...more } });
const namesOf = async (call: Call = service.call): Promise<string[]> =>
  (await call('GET', '/views?page=executions')).body.data.map(({ name }: { name: string }) => name);

test('a view is stored, replaced, listed page by page, and deleted', async () => {
  const created = await put('Slow & costly ü', { query: { min_cost: '0.5' }, columns: ['created', 'cost'] });
  expect([created.status, created.body]).toEqual([
    200,
    {
      name: 'Slow & costly ü',
      page: 'executions',
      query: { min_cost: '0.5' },
      columns: ['created', 'cost'],
      shared: false,
      owner: expect.stringMatching(/^key_/),
      own: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
  await put('Failed', { query: { status: 'failed' } });
  const replaced = await put('Slow & costly ü', { query: { q: 'x' } });
  expect(replaced.body).toMatchObject({ query: { q: 'x' }, columns: [], created_at: created.body.created_at });
  expect(await namesOf()).toEqual(['Slow & costly ü', 'Failed']);
  const first = await service.call('GET', '/views?limit=1');
  const second = await service.call('GET', `/views?limit=1&cursor=${first.body.next_cursor}`);
  expect([first.body.data[0].name, second.body.data[0].name, second.body.next_cursor]).toEqual([
    'Slow & costly ü',
    'Failed',
    null,
  ]);
  expect((await service.call('DELETE', '/views/Failed')).body).toMatchObject({ name: 'Failed', own: true });
  expect((await service.call('DELETE', '/views/Failed')).status).toBe(404);
  expect(await namesOf()).toEqual(['Slow & costly ü']);
});

test('an identical view is left unchanged', async () => {
  const body = { query: { b: '2', a: '1' }, columns: ['cost'] };
  const first = await put('Same', body);
  expect((await put('Same', { ...body, query: { a: '1', b: '2' } })).body).toEqual(first.body);
  await service.call('DELETE', '/views/Same');
});

test('others see only the shared ones, and change none of them', async () => {
  await put('Private');
  const shared = await put('Shared', { shared: true });
  const [seen] = (await colleague('GET', '/views')).body.data;
  expect(seen).toEqual({ ...shared.body, own: false });
  expect(await namesOf(colleague)).toEqual(['Shared']);
  expect((await colleague('DELETE', '/views/Shared')).status).toBe(404);
  // One's own of the same name is another one.
  expect((await put('Shared', { query: { model: 'm' } }, colleague)).body).toMatchObject({ own: true, shared: false });
  expect(await namesOf(colleague)).toEqual(['Shared', 'Shared']);
  expect((await service.call('GET', '/views')).body.data).toContainEqual(shared.body);
  const other = await createOtherWorkspace(service, 'other');
  expect(await namesOf(other.call)).toEqual([]);
  expect((await other.call('DELETE', '/views/Shared')).status).toBe(404);
});

test('an admin deletes the shared views of others, also of a deleted key, and nothing else', async () => {
  const { id, key } = await createKey(service, 'read', 'write');
  const leaver = createCall(service.origin, key);
  await put('Left behind', { shared: true }, leaver);
  await put('Theirs alone', {}, leaver);
  const remove = (name: string, call: Call = service.call) => call('DELETE', `/views/${name}?owner=${id}`);
  const refused = await remove('Left%20behind', colleague);
  expect([refused.status, refused.body.error.code]).toEqual([401, 'insufficient_scope']);
  await service.call('DELETE', `/api-keys/${id}`);
  expect((await remove('Theirs%20alone')).status).toBe(404);
  const other = await createOtherWorkspace(service, 'nosy');
  expect((await remove('Left%20behind', other.call)).status).toBe(404);
  expect((await remove('Left%20behind')).body).toMatchObject({ name: 'Left behind', owner: id, own: false });
  expect(await namesOf()).not.toContain('Left behind');
  const { data } = (await service.call('GET', '/audit-log?resource=view')).body;
  const details = { owner: id, page: 'executions' };
  expect(data).toMatchObject([{ action: 'view.deleted', resource: { type: 'view', id: 'Left behind' }, details }]);
});

test('sharing needs the scope write, and a view the scope read', async () => {
  const { status, body } = await put('Mine', { shared: true }, colleague);
  expect([status, body.error.code]).toEqual([401, 'insufficient_scope']);
  const executes = createCall(service.origin, (await createKey(service, 'execute')).key);
  expect((await put('Mine', {}, executes)).status).toBe(401);
  expect((await executes('GET', '/views')).status).toBe(401);
});

test.each([
  ['no page', {}, 'page'],
  ['another page', { page: 'prompts' }, 'page'],
  [
    'too many filters',
    { page: 'executions', query: Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`f${n}`, ''])) },
    'query',
  ],
  ['a filter that is not a text', { page: 'executions', query: { a: 1 } }, 'query.a'],
  ['too many columns', { page: 'executions', columns: Array.from({ length: 51 }, () => 'a') }, 'columns'],
  ['a column without a name', { page: 'executions', columns: [''] }, 'columns.0'],
  [
    'too many bytes',
    { page: 'executions', query: Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`f${n}`, 'é'.repeat(1000)])) },
    '',
  ],
  ['an unknown field', { page: 'executions', colour: 'red' }, 'colour'],
])('a view with %s is refused', async (_, body, path) => {
  const { status, body: answer } = await service.call('PUT', '/views/wrong', { body });
  expect([status, answer.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
});

test.each([
  ['a slash', 'a/b'],
  ['a space at its end', 'a '],
  ['a control character', 'a\u0007'],
  ['81 characters', 'x'.repeat(81)],
])('a name with %s is refused', async (_, name) => {
  expect((await put(name)).status).toBe(400);
});

test('an owner has a limit of views', async () => {
  const busy = createCall(service.origin, (await createKey(service, 'read')).key);
  for (let index = 0; index < MAX_OWN_VIEWS; index += 1) expect((await put(`v${index}`, {}, busy)).status).toBe(200);
  const { status, body } = await put('one more', {}, busy);
  expect([status, body.error.code]).toEqual([429, 'quota_exceeded']);
  expect((await put('v7', { query: { q: 'x' } }, busy)).status).toBe(200);
  await busy('DELETE', '/views/v7');
  const eager = createCall(service.origin, (await createKey(service, 'read')).key);
  const names = Array.from({ length: MAX_OWN_VIEWS + 10 }, (_, index) => `at-once-${index}`);
  const statuses = await Promise.all(names.map(async (name) => (await put(name, {}, eager)).status));
  expect(statuses.filter((code) => code === 200)).toHaveLength(MAX_OWN_VIEWS);
  expect((await put('one more', {}, busy)).status).toBe(200);
});
