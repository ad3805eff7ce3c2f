import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Scope } from '../../../src/services/access/api-keys.ts';
import { MAX_PROTECTED_LABELS } from '../../../src/services/prompts/labels.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  for (const template of ['One.', 'Two.'])
    for (const name of ['shop/a', 'shop/b'])
      await service.call('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

const protect = (label: string, isProtected = true, call = service.call) =>
  call('PUT', `/labels/${label}`, { body: { protected: isProtected } });
const move = (label: string, version: number, key = service.key, name = 'shop/a') =>
  service.call('PUT', `/prompts/${name}/labels/${label}`, { key, body: { version } });
const remove = (label: string, key = service.key, name = 'shop/a') =>
  service.call('DELETE', `/prompts/${name}/labels/${label}`, { key });

describe('a label', () => {
  // The permissions of each key on an unprotected and a protected label.
  test.each<[Scope[], boolean, boolean]>([
    [['read', 'execute'], false, false],
    [['write'], true, false],
    [['publish'], false, true],
    [['write', 'publish'], true, true],
    [['admin'], true, true],
  ])('is moved and removed by %p: open %p, protected %p', async (scopes, open, guarded) => {
    const { key } = await createKey(service, ...scopes);
    for (const isProtected of [false, true]) {
      const label = isProtected ? 'guarded' : 'open';
      expect((await protect(label, isProtected)).status).toBe(200);
      expect((await move(label, 1)).status).toBe(200);
      const allowed = isProtected ? guarded : open;
      for (const answer of [
        await move(label, 2, key),
        // On a prompt that does not have it yet, too.
        await move(label, 1, key, 'shop/b'),
        await remove(label, key),
      ]) {
        expect([label, answer.status, answer.body.error?.code]).toEqual([
          label,
          ...(allowed ? [200, undefined] : [401, 'insufficient_scope']),
        ]);
        if (!allowed && isProtected && scopes.includes('write')) expect(answer.body.error.message).toContain('publish');
      }
      const labels = (await service.call('GET', '/prompts/shop/a?version=1')).body.labels;
      expect(labels.includes(label)).toBe(!allowed);
      await remove(label);
      await remove(label, service.key, 'shop/b');
    }
  });

  test('keeps its prompt out of the archive if protected, unless a key can move it', async () => {
    const [writer, publisher, both] = await Promise.all([
      createKey(service, 'write'),
      createKey(service, 'publish'),
      createKey(service, 'write', 'publish'),
    ]);
    await service.call('POST', '/prompts', { body: { name: 'shop/served', template: 'One.', model: 'sandbox/echo' } });
    const archive = (key: string) => service.call('DELETE', '/prompts/shop/served', { key });
    const restore = (key = writer.key) => service.call('POST', '/prompts/shop/served/restore', { key });
    await move('serving', 1, service.key, 'shop/served');
    expect((await archive(writer.key)).status).toBe(200);
    // It is already archived: nothing changes.
    await protect('serving');
    expect((await archive(writer.key)).body).toMatchObject({ archived: true });
    const refused = await restore();
    expect([refused.status, refused.body.error.code]).toEqual([401, 'insufficient_scope']);
    expect(refused.body.error.message).toContain('to restore it');
    expect((await restore(both.key)).body).toMatchObject({ archived: false, labels: ['serving'] });
    // It is already in use.
    expect((await restore()).body).toMatchObject({ archived: false });
    for (const { key } of [writer, publisher]) {
      const { status, body } = await archive(key);
      expect([status, body.error.code]).toEqual([401, 'insufficient_scope']);
    }
    expect((await archive(writer.key)).body.error.message).toContain('protected label "serving"');
    expect((await service.call('GET', '/prompts/shop/served')).body.archived).toBe(false);
    expect((await archive(both.key)).body).toMatchObject({ archived: true });
    expect((await restore(both.key)).status).toBe(200);
    await protect('serving', false);
    expect((await archive(writer.key)).status).toBe(200);
  });

  test('is free again when its protection ends; protecting it again changes nothing', async () => {
    const { key } = await createKey(service, 'write');
    for (let time = 0; time < 2; time += 1)
      expect((await protect('passing')).body).toEqual({ label: 'passing', protected: true, release: null, prompts: 0 });
    expect((await move('passing', 1, key)).status).toBe(401);
    for (let time = 0; time < 2; time += 1)
      expect((await protect('passing', false)).body).toEqual({
        label: 'passing',
        protected: false,
        release: null,
        prompts: 0,
      });
    expect((await move('passing', 1, key)).status).toBe(200);
    expect((await protect('passing')).body).toEqual({ label: 'passing', protected: true, release: null, prompts: 1 });
    expect((await remove('passing', key)).status).toBe(401);
  });

  test('stays in place when its prompt is archived and restored', async () => {
    const { key } = await createKey(service, 'write', 'publish');
    await protect('steady');
    await move('steady', 1);
    for (const [method, path] of [
      ['DELETE', '/prompts/shop/a'],
      ['POST', '/prompts/shop/a/restore'],
    ] as const)
      expect((await service.call(method, path, { key })).status).toBe(200);
    expect((await service.call('GET', '/prompts/shop/a?label=steady')).body.version).toBe(1);
  });

  test.each([
    ['latest', { protected: true }, 'label'],
    ['a%20b', { protected: true }, 'label'],
    ['live', {}, ''],
    ['live', { protected: 'yes' }, 'protected'],
    ['live', { protected: true, since: 1 }, 'since'],
  ])('%s with %p is refused', async (label, body, path) => {
    const answer = await service.call('PUT', `/labels/${label}`, { body });
    expect([answer.status, answer.body.error.details?.[0].path]).toEqual([400, path]);
  });
});

test('labels are listed by name, with their prompt counts, of one workspace', async () => {
  const { call } = await createOtherWorkspace(service, 'lists');
  for (const name of ['x', 'y', 'z'])
    await call('POST', '/prompts', { body: { name, template: 'Hi.', model: 'sandbox/echo' } });
  for (const [name, label] of [
    ['x', 'beta'],
    ['y', 'beta'],
    ['z', 'alpha'],
    ['z', 'production'],
  ])
    await call('PUT', `/prompts/${name}/labels/${label}`, { body: { version: 1 } });
  await protect('production', true, call);
  await protect('canary', true, call);
  const expected = [
    { label: 'alpha', protected: false, release: null, prompts: 1 },
    { label: 'beta', protected: false, release: null, prompts: 2 },
    { label: 'canary', protected: true, release: null, prompts: 0 },
    { label: 'production', protected: true, release: null, prompts: 1 },
  ];
  expect((await call('GET', '/labels')).body).toEqual({ data: expected, next_cursor: null });
  const pages = [];
  for (let cursor = ''; ; ) {
    const { body } = await call('GET', `/labels?limit=1${cursor}`);
    pages.push(...body.data);
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(pages).toEqual(expected);
  const key = (await call('POST', '/api-keys', { body: { name: 'w', scopes: ['write'] } })).body.key;
  // A label protected in one workspace is open in another.
  expect((await call('PUT', '/prompts/z/labels/guarded', { key, body: { version: 1 } })).status).toBe(200);
});

test('the labels of a prompt are listed, with their versions', async () => {
  const call = service.call;
  for (const template of ['One', 'Two'])
    await call('POST', '/prompts', { body: { name: 'pointed/at', template, model: 'sandbox/echo' } });
  const labels = async () => (await call('GET', '/prompts/pointed/at/labels')).body;
  expect(await labels()).toEqual({ data: [], next_cursor: null });
  await call('PUT', '/prompts/pointed/at/labels/staging', { body: { version: 2 } });
  await call('PUT', '/prompts/pointed/at/labels/production', { body: { version: 1 } });
  expect((await labels()).data).toEqual([
    { label: 'production', version: 1 },
    { label: 'staging', version: 2 },
  ]);
  expect((await call('GET', '/prompts/pointed/nowhere/labels')).status).toBe(404);
});

test('a workspace protects a limited number of labels, also at once', async () => {
  const { call } = await createOtherWorkspace(service, 'many');
  for (let count = 3; count < MAX_PROTECTED_LABELS; count += 1) await protect(`l${count}`, true, call);
  const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((label) => protect(label, true, call)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  expect((await call('GET', '/labels?limit=1000')).body.data).toHaveLength(MAX_PROTECTED_LABELS);
});
