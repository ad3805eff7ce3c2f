import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey } from '../workspace.ts';

let service: TestService;
let writer: string;
let publisher: string;
let round = 0;
/** For this test only. */
let main: string;
let frame: string;
let tone: string;
let label: string;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  writer = (await createKey(service, 'write')).key;
  publisher = (await createKey(service, 'write', 'publish')).key;
});
afterAll(() => service?.stop());
beforeEach(() => {
  round += 1;
  [main, frame, tone, label] = [`main${round}`, `frame${round}`, `tone${round}`, `live${round}`];
});

const save = async (name: string, template: string, key = service.key) => {
  const { status, body } = await service.call('POST', '/prompts', {
    key,
    body: { name, template, model: 'sandbox/echo' },
  });
  expect(status).toBe(201);
  return body.version as number;
};
const protect = (name = label, isProtected = true) =>
  service.call('PUT', `/labels/${name}`, { body: { protected: isProtected } });
const move = (name: string, version: number, { key = service.key, to = label } = {}) =>
  service.call('PUT', `/prompts/${name}/labels/${to}`, { key, body: { version } });
const archive = (name: string, key: string) => service.call('DELETE', `/prompts/${name}`, { key });
const restore = (name: string, key: string) => service.call('POST', `/prompts/${name}/restore`, { key });
const whatIsLive = async (name = main) =>
  (await service.call('GET', `/prompts/${name}?label=${label}`)).body.version as number | undefined;

test.each([
  ['the latest version', () => `{{> ${tone} }}`, () => [main, tone]],
  ['the latest version, by name', () => `{{> ${tone}@latest }}`, () => [main, `${tone}@latest`]],
  ['a label that is not protected', () => `{{> ${tone}@open }}`, () => [main, `${tone}@open`]],
  ['a version that includes the latest version', () => `{{> ${frame}@1 }}`, () => [frame, tone]],
  ['a protected label, and an unpinned include', () => `{{> ${tone}@${label} }} {{> ${tone} }}`, () => [main, tone]],
])('a protected label takes no version that includes %s', async (_, template, named) => {
  await save(tone, 'Calm.');
  await move(tone, 1, { to: 'open' });
  await save(frame, `{{> ${tone} }}`);
  await save(main, 'One.');
  await protect();
  for (const name of [tone, main]) expect((await move(name, 1)).status).toBe(200);
  await save(main, template());
  const { status, body } = await move(main, 2);
  expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'invalid_request', 'version']);
  const [includer, ref] = named();
  expect(body.error.message).toContain(`version ${includer === main ? 2 : 1} of "${includer}" includes "${ref}"`);
  expect(await whatIsLive()).toBe(1);
  // If it is not protected, it is allowed.
  expect((await move(main, 2, { to: 'open' })).status).toBe(200);
});

test('a protected label takes references pinned to a version or to a protected label at all levels', async () => {
  await save(tone, 'Calm.');
  await save(frame, `{{> ${tone}@1 }}`);
  await save(main, 'One.');
  await protect();
  expect((await move(tone, 1)).status).toBe(200);
  await save(main, `{{> ${frame}@1 }} {{> ${tone}@${label} }}`);
  expect((await move(main, 2)).status).toBe(200);
  // A writer changes nothing that is live.
  await save(tone, 'Rude.', writer);
  for (const [name, version] of [
    [tone, 2],
    [main, 1],
  ] as const)
    expect((await move(name, version, { key: writer })).status).toBe(401);
  // Prompts that a publisher puts under the included label are checked in turn.
  await save(tone, `{{> ${frame} }}`);
  const refused = await move(tone, 3, { key: publisher });
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining(`includes "${frame}"`)]);
  expect((await move(tone, 2, { key: publisher })).status).toBe(200);
});

test('a label can be protected once its versions are pinned, also if archived', async () => {
  await save(tone, 'Calm.');
  for (const name of [main, frame]) {
    await save(name, `{{> ${tone} }}`);
    await save(name, `{{> ${tone}@1 }}`);
    await move(name, 1);
  }
  await archive(frame, service.key);
  const refused = await protect();
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'protected']);
  for (const name of [main, frame])
    expect(refused.body.error.message).toContain(`version 1 of "${name}" includes "${tone}"`);
  expect((await service.call('GET', `/labels?limit=1000`)).body.data).toContainEqual({
    label,
    protected: false,
    release: null,
    prompts: 2,
  });
  await restore(frame, service.key);
  for (const name of [main, frame]) await move(name, 2);
  expect((await protect()).status).toBe(200);
});

test('the protection of a label stays while another protected label relies on it', async () => {
  const other = `${label}.b`;
  await save(tone, 'Calm.');
  await Promise.all([protect(), protect(other)]);
  await move(tone, 1, { to: other });
  await save(main, `{{> ${tone}@${other} }}`);
  await move(main, 1);
  const refused = await protect(other, false);
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'protected']);
  expect(refused.body.error.message).toContain(`version 1 of "${main}" includes "${tone}@${other}"`);
  expect((await move(tone, 1, { key: writer, to: other })).status).toBe(401);
  await protect(label, false);
  expect((await protect(other, false)).status).toBe(200);
});

test('includes of a protected label are archived and restored only with publish', async () => {
  await save(tone, 'Calm.');
  await save(frame, `{{> ${tone}@1 }}`);
  await save(main, `{{> ${frame}@1 }}`);
  await protect();
  await move(main, 1);
  for (const name of [tone, frame]) {
    const refused = await archive(name, writer);
    expect([refused.status, refused.body.error.code]).toEqual([401, 'insufficient_scope']);
    expect(refused.body.error.message).toContain('publish');
    expect((await archive(name, publisher)).body.archived).toBe(true);
    expect((await restore(name, writer)).status).toBe(401);
    expect((await restore(name, publisher)).body.archived).toBe(false);
  }
  // It is no longer included.
  await save(main, 'Alone.');
  await move(main, 2);
  expect((await archive(frame, writer)).body.archived).toBe(true);
});

test('nothing bypasses the protection at the moment it begins', async () => {
  for (let time = 0; time < 5; time += 1) {
    const [a, b, c, at] = [`${main}.${time}`, `${frame}.${time}`, `${tone}.${time}`, `${label}.${time}`];
    await save(c, 'Calm.');
    await save(b, `{{> ${c} }}`);
    await save(a, 'One.');
    await save(a, `{{> ${b}@1 }}`);
    await save(a, `{{> ${c}@1 }}`);
    await move(a, 1, { to: at });
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        if (n === 20) return protect(at);
        if (n % 10 === 5) return archive(c, writer);
        return move(a, (n % 3) + 1, { key: publisher, to: at });
      }),
    );
    // Either it is protected, with everything pinned and in use; or it is not, because something was not pinned.
    const { data } = (await service.call('GET', '/labels?limit=1000')).body;
    const isProtected = data.find((row: { label: string }) => row.label === at).protected;
    const live = (await service.call('GET', `/prompts/${a}?label=${at}`)).body.version;
    if (isProtected) expect([1, 3]).toContain(live);
    if (!isProtected) expect((await protect(at)).status).toBe(live === 2 ? 400 : 200);
  }
});

test('moving a label and archiving what it would include at the same time cannot both succeed', async () => {
  for (let time = 0; time < 10; time += 1) {
    const [a, c, at] = [`${main}.${time}`, `${tone}.${time}`, `${label}.${time}`];
    await save(c, 'Calm.');
    await save(a, `{{> ${c}@1 }}`);
    await protect(at);
    const [moved, ...archived] = await Promise.all([
      move(a, 1, { key: publisher, to: at }),
      ...Array.from({ length: 10 }, () => archive(c, writer)),
    ]);
    const isArchived = (await service.call('GET', `/prompts/${c}`)).body.archived;
    expect(moved.status).toBe(isArchived ? 400 : 200);
    for (const { status } of archived) expect(status).toBe(isArchived ? 200 : 401);
  }
});

test('a label that would close a cycle stays in place, and live prompts continue', async () => {
  await save(tone, 'Calm.');
  await move(tone, 1);
  await save(main, `{{> ${tone}@${label} }}`);
  await move(main, 1);
  await save(tone, `{{> ${main}@${label} }}`);
  const refused = await move(tone, 2);
  expect([refused.status, refused.body.error.code, refused.body.error.details[0].path]).toEqual([
    400,
    'invalid_request',
    'version',
  ]);
  expect(refused.body.error.message).toContain('are circular');
  expect(await whatIsLive(tone)).toBe(1);
});
