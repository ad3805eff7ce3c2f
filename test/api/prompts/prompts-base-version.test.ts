import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const create = (name: string, more: object = {}, headers: Record<string, string> = {}) =>
  service.call('POST', '/prompts', { body: { name, template: 'One.', model: 'sandbox/echo', ...more }, headers });
const put = (name: string, body: unknown) => service.call('PUT', `/prompts/${name}`, { body });
const latest = async (name: string) => (await service.call('GET', `/prompts/${name}`)).body;

test('a change of the newest version is made; one of an older version is refused with advice', async () => {
  await create('told/one');
  expect(await put('told/one', { template: 'Two.', base_version: 1 })).toMatchObject({
    status: 200,
    body: { version: 2 },
  });
  const refused = await put('told/one', { template: 'Mine.', base_version: 1 });
  expect([refused.status, refused.body.error.code]).toEqual([400, 'version_conflict']);
  expect(refused.body.error.message).toContain('is now at version 2, but this change is based on version 1');
  expect(refused.body.error.message).toContain('"base_version": 2');
  expect(await latest('told/one')).toMatchObject({ version: 2, template: 'Two.' });
  expect((await put('told/one', { template: 'Mine.', base_version: 2 })).body).toMatchObject({ version: 3 });
  // Without the field, every change is applied, also if it changes nothing.
  expect((await put('told/one', { template: 'Mine.' })).body).toMatchObject({ version: 4 });
  expect((await put('told/one', { base_version: 4 })).body).toMatchObject({ version: 5, template: 'Mine.' });
  const { body: events } = await service.call('GET', '/audit-log?resource=prompt:told/one');
  expect(events.data).toHaveLength(5);
});

test.each(['PUT', 'POST'])(
  'of twenty simultaneous %s from the same version, exactly one makes a version',
  async (method) => {
    const name = `busy/${method}`;
    await create(name);
    const save = (template: string) =>
      method === 'PUT' ? put(name, { template, base_version: 1 }) : create(name, { template, base_version: 1 });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => save(`${index}`)));
    const made = answers.filter(({ status }) => status < 400);
    expect(made).toHaveLength(1);
    expect(await latest(name)).toMatchObject({ version: 2, template: made[0]?.body.template });
    for (const { status, body } of answers.filter((answer) => answer !== made[0]))
      expect([status, body.error.code]).toEqual([400, 'version_conflict']);
  },
);

test('a prompt that must be new is made once', async () => {
  const answers = await Promise.all([create('new', { base_version: 0 }), create('new', { base_version: 0 })]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400]);
  const refused = answers.find(({ status }) => status === 400);
  expect(refused?.body.error).toMatchObject({
    code: 'version_conflict',
    message: expect.stringContaining('already exists at version 1'),
  });
  expect((await latest('new')).version).toBe(1);
});

test('a missing version is not a base', async () => {
  await create('early');
  for (const [answer, message] of [
    [await put('early', { base_version: 2 }), 'is 2, but the newest version is 1'],
    [await create('early/other', { base_version: 1 }), 'is 1, but the prompt does not exist yet'],
  ] as const) {
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.details).toEqual([{ path: 'base_version', message }]);
  }
  expect((await service.call('GET', '/prompts/early/other')).status).toBe(404);
});

test.each([0, -1, 1.5, '1', null, true, [1], 2_147_483_648])('a PUT refuses %p as a base version', async (base) => {
  await create('nonsense');
  const { status, body } = await put('nonsense', { template: 'x', base_version: base });
  expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'invalid_request', 'base_version']);
});

test.each([-1, '0', null])('a POST refuses %p as a base version', async (base) => {
  const { status, body } = await create('nonsense', { base_version: base });
  expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'invalid_request', 'base_version']);
});

test('an idempotent repeat gets the version that it made', async () => {
  await create('repeated');
  const repeat = () => create('repeated', { template: 'Two.', base_version: 1 }, { 'Idempotency-Key': 'repeated-2' });
  const first = await repeat();
  await put('repeated', { template: 'Three.' });
  const again = await repeat();
  expect([again.status, again.body]).toEqual([201, first.body]);
  // The rejected request left no key behind.
  const refused = await create('repeated', { base_version: 1 }, { 'Idempotency-Key': 'repeated-3' });
  expect(refused.body.error.code).toBe('version_conflict');
  expect((await create('repeated', { base_version: 3 }, { 'Idempotency-Key': 'repeated-3' })).status).toBe(201);
});

test('an archived prompt is reported as archived, and an unknown one as unknown, also to another workspace', async () => {
  await create('away');
  await service.call('DELETE', '/prompts/away');
  expect((await put('away', { base_version: 7 })).body.error.code).toBe('prompt_archived');
  const other = await createOtherWorkspace(service, 'base-version');
  await create('ours');
  const body = { template: 'x', base_version: 1 };
  expect((await other.call('PUT', '/prompts/ours', { body })).status).toBe(404);
  const own = await other.call('POST', '/prompts', {
    body: { name: 'ours', template: 'Theirs.', model: 'sandbox/echo', base_version: 0 },
  });
  expect(own).toMatchObject({ status: 201, body: { version: 1 } });
  expect((await latest('ours')).template).toBe('One.');
});
