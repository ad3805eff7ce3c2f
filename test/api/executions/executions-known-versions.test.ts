import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKnownVersions } from '../../../src/services/prompts/known-versions.ts';
import { type Call, startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
let other: Call;
let name: string;
let count = 0;
beforeAll(async () => {
  service = await startTestService();
  ({ call: other } = await createOtherWorkspace(service, 'other'));
});
afterAll(() => service?.stop());

const store = (template: string, call = service.call) =>
  call('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } });
const run = (more: object = {}, headers: Record<string, string> = {}, call = service.call) =>
  call('POST', '/executions', { body: { prompt_name: name, ...more }, headers });
const label = (version: number) => service.call('PUT', `/prompts/${name}/labels/live`, { body: { version } });

/** A prompt whose version has been run, so that it is cached: as the latest, by label and by number. */
beforeEach(async () => {
  count += 1;
  name = `known-${count}`;
  await store('One.');
  await label(1);
  for (const selector of [{}, { label: 'live' }, { version: 1 }, { label: 'latest' }])
    for (let time = 1; time <= 2; time += 1)
      expect((await run(selector)).body).toMatchObject({ status: 'completed', prompt_version: 1, input: 'One.' });
});

test('a known version is not read again', async () => {
  const db = service.dependencies.db.workspace(
    String(
      (
        await service.dependencies.db.system.query<{ id: string }>({
          text: `select id from workspaces where name = 'default'`,
        })
      )[0]?.id,
    ),
  );
  const { find, read } = createKnownVersions().of(db.workspaceId);
  const first = await find(db.query, name, {});
  const unread = () => Promise.reject(new Error('It was read.'));
  const second = await find(unread, name, {});
  expect(first.assumption).toBeUndefined();
  expect(first.prompt).toMatchObject(second.prompt);
  expect(second.prompt).toMatchObject({ template: 'One.', parameters: {}, fallback_models: [], archived_at: null });
  const noRelease = { releaseId: null, percent: null };
  expect(second.assumption).toEqual({
    promptId: first.prompt.id,
    version: 1,
    pinned: null,
    label: null,
    ...noRelease,
  });
  await expect(find(unread, name, { label: 'live' })).rejects.toThrow('It was read.');
  await expect(read(unread, name, {})).rejects.toThrow('It was read.');
  await expect(find(unread, name, {})).rejects.toThrow('It was read.');
});

describe('an execution runs what the request means on arrival, even if another version is known:', () => {
  test('a new version', async () => {
    await store('Two.');
    expect((await run()).body).toMatchObject({
      prompt_version: 2,
      input: 'Two.',
      output: expect.stringContaining('Two.'),
    });
    expect((await run({ label: 'latest' })).body).toMatchObject({ prompt_version: 2, input: 'Two.' });
    expect((await run({ label: 'live' })).body).toMatchObject({ prompt_version: 1, input: 'One.' });
    expect((await run({ version: 1 })).body).toMatchObject({ prompt_version: 1, input: 'One.' });
  });

  test('a moved label, and a removed one', async () => {
    await store('Two.');
    await label(2);
    expect((await run({ label: 'live' })).body).toMatchObject({ prompt_version: 2, input: 'Two.' });
    await label(1);
    expect((await run({ label: 'live' })).body).toMatchObject({ prompt_version: 1, input: 'One.' });
    await service.call('DELETE', `/prompts/${name}/labels/live`);
    expect((await run({ label: 'live' })).status).toBe(404);
    expect((await run()).body).toMatchObject({ prompt_version: 2 });
  });

  test('an archived prompt, and a restored one', async () => {
    await service.call('DELETE', `/prompts/${name}`);
    for (const selector of [{}, { label: 'live' }, { version: 1 }])
      expect((await run(selector)).body).toMatchObject({ error: { code: 'prompt_archived' } });
    await service.call('POST', `/prompts/${name}/restore`);
    expect((await run()).body).toMatchObject({ status: 'completed', prompt_version: 1 });
  });

  test('a version with other variables, other tools and another model', async () => {
    await service.call('POST', '/prompts', {
      body: {
        name,
        template: 'Say {{ a }}.',
        model: 'sandbox/slow-1',
        tools: [{ name: 'f', input_schema: { type: 'object' } }],
        tool_choice: 'auto',
      },
    });
    const more = { variables: { a: 'A' } };
    expect((await run(more)).body).toMatchObject({ prompt_version: 2, input: 'Say A.', tool_choice: 'auto' });
    expect((await store('Say {{ b }}.')).status).toBe(201);
    expect((await run({ variables: { a: 'A' } })).body.error.message).toContain('b');
    expect((await run({ variables: { b: 'B' } })).body).toMatchObject({ prompt_version: 3, input: 'Say B.' });
    await store('Nothing.');
    expect((await run()).body).toMatchObject({ prompt_version: 4, input: 'Nothing.' });
    expect((await run({ version: 3 })).status).toBe(400);
    expect((await run({ label: 'live' })).body).toMatchObject({ prompt_version: 1, input: 'One.' });
  });

  test('with an Idempotency-Key, and with reuse of responses', async () => {
    await store('Two.');
    const headers = { 'Idempotency-Key': name };
    const first = await run({}, headers);
    expect(first.body).toMatchObject({ prompt_version: 2, input: 'Two.' });
    await store('Three.');
    expect((await run({}, headers)).body).toEqual(first.body);
    const reuse = { reuse: { max_age: 3600 } };
    expect((await run(reuse)).body).toMatchObject({ prompt_version: 3, input: 'Three.', reused_from: null });
    expect((await run(reuse)).body).toMatchObject({ prompt_version: 3, reused_from: expect.any(String) });
  });

  test('under a draft', async () => {
    const draft = { parameters: { temperature: 0.5 } };
    expect((await run({ draft })).body).toMatchObject({ prompt_version: null, input: 'One.', ...draft });
    await store('Two.');
    expect((await run({ draft })).body).toMatchObject({ prompt_version: null, input: 'Two.', ...draft });
    expect((await run({ draft, label: 'live' })).body).toMatchObject({ prompt_version: null, input: 'One.' });
    await service.call('DELETE', `/prompts/${name}`);
    expect((await run({ draft })).body).toMatchObject({ error: { code: 'prompt_archived' } });
  });

  test('with overrides of the request', async () => {
    const more = {
      parameters: { temperature: 0.5 },
      model: 'sandbox/echo-2',
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    };
    await run(more);
    expect((await run()).body).toMatchObject({ parameters: {}, model: 'sandbox/echo', tools: null });
  });

  test('an include, which changes by itself', async () => {
    const including = `${name}-including`;
    await service.call('POST', '/prompts', {
      body: { name: including, template: `{{> ${name}}} Two.`, model: 'sandbox/echo' },
    });
    const input = async () =>
      (await service.call('POST', '/executions', { body: { prompt_name: including } })).body.input;
    expect([await input(), await input()]).toEqual(['One. Two.', 'One. Two.']);
    await store('Zero.');
    expect(await input()).toBe('Zero. Two.');
  });
});

test('a workspace runs its own prompt of the same name', async () => {
  expect((await run({}, {}, other)).status).toBe(404);
  await store('Mine.', other);
  expect((await run({}, {}, other)).body).toMatchObject({ status: 'completed', input: 'Mine.' });
  expect((await run()).body).toMatchObject({ input: 'One.' });
  expect((await run({}, {}, other)).body).toMatchObject({ input: 'Mine.' });
});

test('no run has an older version than the latest at its request, while versions change', async () => {
  let latest = 1;
  const runs: { least: number; version: Promise<number> }[] = [];
  for (let version = 2; version <= 12; version += 1) {
    for (let each = 0; each < 4; each += 1)
      runs.push({ least: latest, version: run().then(({ body }) => body.prompt_version) });
    await store(`Version ${version}.`);
    latest = version;
  }
  const versions = await Promise.all(runs.map(async ({ least, version }) => ({ least, version: await version })));
  for (const { least, version } of versions) expect(version).toBeGreaterThanOrEqual(least);
  expect((await run()).body).toMatchObject({ prompt_version: 12, input: 'Version 12.' });
});
