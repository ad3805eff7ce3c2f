import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const create = (name: string, more: object = {}) =>
  service.call('POST', '/prompts', { body: { name, template: 'Hello {{ name }}.', model: 'sandbox/echo', ...more } });
const get = (path: string) => service.call('GET', path);
const put = (path: string, body: unknown) => service.call('PUT', path, { body });
const post = (path: string) => service.call('POST', path);
const remove = (path: string) => service.call('DELETE', path);
const namesOf = async (path: string) => (await get(path)).body.data.map(({ name }: { name: string }) => name);

async function eventsOf(name: string) {
  return service.dependencies.db.system.query<{ type: string; data: unknown }>(
    { text: `select type, data from events where workspace_id = $1 and data->>'prompt_name' = $2 order by id` },
    [service.workspaceId, name],
  );
}

describe('creating and updating', () => {
  test('a new prompt has version 1 and lists its variables', async () => {
    const { status, body } = await create('new/one', {
      template: '{{ b }} {{a}} {{ b }} \\{{ c }} {1x}',
      parameters: { temperature: 0.5, stop: ['END'] },
      description: 'What it is for.',
      commit_message: 'First.',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      name: 'new/one',
      version: 1,
      template: '{{ b }} {{a}} {{ b }} \\{{ c }} {1x}',
      messages: null,
      tools: null,
      tool_choice: null,
      inputs: null,
      model: 'sandbox/echo',
      fallback_models: [],
      parameters: { temperature: 0.5, stop: ['END'] },
      config: null,
      variables: ['b', 'a'],
      labels: [],
      archived: false,
      description: 'What it is for.',
      commit_message: 'First.',
      created_by: { key_id: expect.stringMatching(/^key_/), member_id: null, name: expect.any(String) },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
      version_created_at: expect.any(String),
    });
    expect((await get('/prompts/new/one')).body).toEqual(body);
  });

  test('tags of other template languages are stored as text, with a warning', async () => {
    const created = await create('warned', { template: '{{#if x}}{{ user.name }}{{/if}}' });
    expect(created.status).toBe(201);
    expect(created.body.warnings).toEqual([
      { path: 'template', message: expect.stringContaining('"{{ user.name }}"') },
    ]);
    expect((await get('/prompts/warned')).body).not.toHaveProperty('warnings');
    // Existing problems cause warnings, too.
    expect((await put('/prompts/warned', { description: 'Other.' })).body.warnings).toHaveLength(1);
    const messages = [{ role: 'user', content: [{ type: 'text', text: '{% for a in b %}' }] }];
    expect((await put('/prompts/warned', { messages })).body.warnings).toEqual([
      { path: 'messages.0.content.0.text', message: expect.stringContaining('{% for a in b %}') },
    ]);
    expect((await put('/prompts/warned', { template: 'Fine {{ name }}.' })).body).not.toHaveProperty('warnings');
  });

  test('posting an existing name makes its next version', async () => {
    await create('again');
    const second = await create('again', { template: 'Other.' });
    expect(second).toMatchObject({ status: 201, body: { version: 2, template: 'Other.', variables: [] } });
    expect((await get('/prompts/again?version=1')).body.template).toBe('Hello {{ name }}.');
  });

  test('an update keeps omitted fields and replaces parameters whole', async () => {
    await create('partial', { parameters: { temperature: 1, top_p: 0.5 }, description: 'Kept.' });
    const texted = await put('/prompts/partial', { template: 'New.' });
    expect(texted).toMatchObject({
      status: 200,
      body: { version: 2, model: 'sandbox/echo', parameters: { temperature: 1, top_p: 0.5 }, description: 'Kept.' },
    });
    const { body } = await put('/prompts/partial', { parameters: { seed: 7 }, model: 'sandbox/fixed' });
    expect(body).toMatchObject({ version: 3, template: 'New.', model: 'sandbox/fixed', commit_message: null });
    expect(body.parameters).toEqual({ seed: 7 });
    expect((await put('/prompts/partial', { description: null })).body).toMatchObject({
      version: 4,
      description: null,
    });
    expect((await put('/prompts/partial', {})).body).toMatchObject({ version: 5, template: 'New.' });
  });

  test('updating an unknown prompt is 404', async () => {
    expect(await put('/prompts/nobody', { template: 'x' })).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  });

  test('fifty writers get fifty versions without gap or loss', async () => {
    await create('busy');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0
          ? create('busy', { template: `text ${index}` })
          : put('/prompts/busy', { template: `text ${index}` }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
    const byVersion = new Map(answers.map(({ body }) => [body.version, body.template]));
    expect([...byVersion.keys()].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 2),
    );
    expect(answers.map(({ body }) => body.template)).toEqual(answers.map((_, index) => `text ${index}`));
    const { body } = await get('/prompts/busy/versions?limit=1000');
    expect(body.data.map(({ version }: { version: number }) => version)).toEqual(
      Array.from({ length: 51 }, (_, index) => 51 - index),
    );
    for (const { version, template } of body.data.slice(0, -1)) expect(template).toBe(byVersion.get(version));
  });

  test('fifty creators of one new name get fifty versions', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => create('race', { template: `${index}` })),
    );
    expect(answers.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    expect(answers.map(({ body }) => body.template)).toEqual(answers.map((_, index) => `${index}`));
  });

  test('every version sends prompt.created, and a changed template also prompt.updated', async () => {
    await create('told', { commit_message: 'one' });
    await put('/prompts/told', { model: 'sandbox/fixed' });
    await put('/prompts/told', { template: 'Changed.' });
    await create('told', { template: 'Changed.' });
    expect((await put('/prompts/told', { template: 5 })).status).toBe(400);
    const data = (version: number, previous: number | null, model: string, message: string | null = null) => ({
      prompt_name: 'told',
      version,
      previous_version: previous,
      model,
      commit_message: message,
    });
    expect(await eventsOf('told')).toEqual([
      { type: 'prompt.created', data: data(1, null, 'sandbox/echo', 'one') },
      { type: 'prompt.created', data: data(2, 1, 'sandbox/fixed') },
      { type: 'prompt.created', data: data(3, 2, 'sandbox/fixed') },
      { type: 'prompt.updated', data: data(3, 2, 'sandbox/fixed') },
      { type: 'prompt.created', data: data(4, 3, 'sandbox/echo') },
    ]);
  });
});

describe('names', () => {
  test('a slash can be sent as it is or as %2F, on every route', async () => {
    const name = 'team/a.b/C_d-1';
    await create(name);
    await create(name, { template: 'Two.' });
    for (const path of [name, name.replaceAll('/', '%2F'), name.replaceAll('/', '%2f'), name.replace('/', '%2F')]) {
      const prompt = `/prompts/${path}`;
      expect((await get(prompt)).body).toMatchObject({ name, version: 2 });
      expect((await get(`${prompt}?version=1`)).body).toMatchObject({ name, version: 1 });
      expect((await get(`${prompt}/versions`)).body.data).toHaveLength(2);
      expect((await get(`${prompt}%2Fversions`)).body.data).toHaveLength(2);
      expect((await put(`${prompt}/labels/live`, { version: 1 })).body).toMatchObject({ name, labels: ['live'] });
      expect((await get(`${prompt}?label=live`)).body).toMatchObject({ version: 1 });
      expect((await remove(`${prompt}/labels/live`)).body).toMatchObject({ name, labels: [] });
      expect((await remove(prompt)).body).toMatchObject({ name, archived: true });
      expect((await post(`${prompt}/restore`)).body).toMatchObject({ name, archived: false });
    }
    expect((await put(`/prompts/${encodeURIComponent(name)}`, { template: 'Three.' })).body).toMatchObject({
      version: 3,
    });
  });

  test.each([
    'versions',
    'labels',
    'restore',
    'versions/x',
    'a/Versions',
    'a/Labels/b',
    '...',
    'constructor',
    '__proto__',
  ])('a prompt can be called %s', async (name) => {
    expect((await create(name)).status).toBe(201);
    expect((await get(`/prompts/${name}`)).body.name).toBe(name);
    expect((await get(`/prompts/${name}/versions`)).body.data[0].name).toBe(name);
    expect((await put(`/prompts/${name}/labels/production`, { version: 1 })).body.labels).toEqual(['production']);
    expect((await remove(`/prompts/${name}`)).body).toMatchObject({ name, archived: true });
    expect((await post(`/prompts/${name}/restore`)).body).toMatchObject({ name, archived: false });
  });

  test('the longest name works on every route', async () => {
    const name = `${'x'.repeat(99)}/${'y'.repeat(100)}`;
    expect((await create(name)).body.name).toBe(name);
    expect((await get(`/prompts/${name}`)).body.name).toBe(name);
    expect((await create(`${name}z`)).body.error.details).toEqual([
      { path: 'name', message: 'must be at most 200 characters' },
    ]);
    expect((await get(`/prompts/${name}z`)).status).toBe(400);
  });

  test.each([
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/..',
    'a/./b',
    'a/versions',
    'a/labels/b',
    'a/restore',
    'a b',
    'é',
    'a\\b',
    'a%2Fb',
    'a\n',
    'a?b',
  ])('no prompt may be called %j', async (name) => {
    const { status, body } = await create(name);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_request', details: [{ path: 'name' }] });
  });
});

describe('archiving', () => {
  test('an archived prompt is readable, refuses writing, and can return', async () => {
    await create('old');
    await put('/prompts/old/labels/live', { version: 1 });
    const archived = await remove('/prompts/old');
    expect(archived).toMatchObject({ status: 200, body: { name: 'old', archived: true } });
    expect((await remove('/prompts/old')).body).toEqual(archived.body);
    expect((await get('/prompts/old')).body).toEqual(archived.body);
    const writes = [
      await create('old'),
      await put('/prompts/old', { template: 'x' }),
      await put('/prompts/old/labels/live', { version: 1 }),
      await remove('/prompts/old/labels/live'),
    ];
    for (const { status, body } of writes) expect([status, body.error.code]).toEqual([400, 'prompt_archived']);
    const restored = await post('/prompts/old/restore');
    expect(restored).toMatchObject({ status: 200, body: { archived: false, version: 1, labels: ['live'] } });
    expect((await post('/prompts/old/restore')).body).toEqual(restored.body);
    expect((await put('/prompts/old', { template: 'x' })).body.version).toBe(2);
  });

  test('archiving or restoring an unknown prompt is 404', async () => {
    expect((await remove('/prompts/none')).status).toBe(404);
    expect((await post('/prompts/none/restore')).status).toBe(404);
  });
});

describe('labels and versions', () => {
  test('a label points at one version and can be moved and removed', async () => {
    await create('labelled');
    await create('labelled', { template: 'Two.' });
    expect((await put('/prompts/labelled/labels/live', { version: 1 })).body).toMatchObject({
      version: 1,
      labels: ['live'],
    });
    expect((await put('/prompts/labelled/labels/beta', { version: 1 })).body.labels).toEqual(['beta', 'live']);
    expect((await put('/prompts/labelled/labels/live', { version: 2 })).body).toMatchObject({
      version: 2,
      labels: ['live'],
    });
    expect((await get('/prompts/labelled?version=1')).body.labels).toEqual(['beta']);
    expect((await get('/prompts/labelled?label=live')).body.version).toBe(2);
    expect((await get('/prompts/labelled?label=latest')).body.version).toBe(2);
    expect((await remove('/prompts/labelled/labels/live')).body).toMatchObject({ version: 2, labels: [] });
    expect((await remove('/prompts/labelled/labels/live')).status).toBe(404);
    expect((await get('/prompts/labelled?label=live')).body.error.message).toContain('The label "live"');
  });

  test('latest is reserved', async () => {
    await create('reserved');
    expect((await put('/prompts/reserved/labels/latest', { version: 1 })).status).toBe(400);
    expect((await remove('/prompts/reserved/labels/latest')).status).toBe(400);
  });

  test('a label on an unknown version or prompt is 404', async () => {
    await create('short');
    expect((await put('/prompts/short/labels/live', { version: 2 })).body.error.message).toContain('Version 2');
    expect((await put('/prompts/unknown/labels/live', { version: 1 })).status).toBe(404);
  });

  test('an unknown version, and version with label, are refused', async () => {
    await create('few');
    expect((await get('/prompts/few?version=2')).status).toBe(404);
    expect((await get('/prompts/few?version=2147483648')).status).toBe(400);
    expect((await get('/prompts/few?version=0')).status).toBe(400);
    expect((await get('/prompts/few?version=1&label=x')).body.error.details).toMatchObject([{ path: 'label' }]);
  });

  test('versions are listed newest first, page by page', async () => {
    for (let version = 1; version <= 5; version++) await create('many', { template: `${version}` });
    const first = await get('/prompts/many/versions?limit=2');
    expect(first.body.data.map(({ version }: { version: number }) => version)).toEqual([5, 4]);
    await create('many', { template: '6' });
    const second = await get(`/prompts/many/versions?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body.data.map(({ version }: { version: number }) => version)).toEqual([3, 2]);
    const third = await get(`/prompts/many/versions?limit=2&cursor=${second.body.next_cursor}`);
    expect(third.body).toMatchObject({ data: [{ version: 1 }], next_cursor: null });
    expect((await get('/prompts/none/versions')).status).toBe(404);
  });
});

describe('the list', () => {
  test('filters by group, text, model, label and archive, and sorts both ways', async () => {
    await create('list/b', { description: 'A 100% sure_thing' });
    await create('list/a', { model: 'sandbox/fixed' });
    await create('list/sub/c');
    await create('listing');
    await create('list/z');
    await remove('/prompts/list/z');
    await create('list/b', { template: 'Two.', description: 'A 100% sure_thing' });
    await put('/prompts/list/b/labels/live', { version: 1 });
    expect(await namesOf('/prompts?group=list')).toEqual(['list/a', 'list/b', 'list/sub/c']);
    expect(await namesOf('/prompts?group=list/sub')).toEqual(['list/sub/c']);
    expect(await namesOf('/prompts?group=list&sort=-name')).toEqual(['list/sub/c', 'list/b', 'list/a']);
    expect(await namesOf('/prompts?group=list&sort=created_at')).toEqual(['list/b', 'list/a', 'list/sub/c']);
    expect(await namesOf('/prompts?group=list&sort=-created_at')).toEqual(['list/sub/c', 'list/a', 'list/b']);
    expect(await namesOf('/prompts?group=list&sort=updated_at')).toEqual(['list/a', 'list/sub/c', 'list/b']);
    expect(await namesOf('/prompts?group=list&sort=-updated_at')).toEqual(['list/b', 'list/sub/c', 'list/a']);
    expect(await namesOf('/prompts?group=list&archived=true')).toEqual(['list/z']);
    expect(await namesOf('/prompts?group=list&archived=all')).toEqual(['list/a', 'list/b', 'list/sub/c', 'list/z']);
    expect(await namesOf('/prompts?group=list&model=sandbox/fixed')).toEqual(['list/a']);
    expect(await namesOf('/prompts?q=100%25%20SURE_')).toEqual(['list/b']);
    expect(await namesOf('/prompts?q=sure-')).toEqual([]);
    expect(await namesOf('/prompts?q=LIST/SUB')).toEqual(['list/sub/c']);
    expect(await namesOf('/prompts?q=%5C')).toEqual([]);
    expect((await get('/prompts?group=list&label=live')).body.data).toMatchObject([
      { name: 'list/b', version: 1, labels: ['live'] },
    ]);
    expect(await namesOf('/prompts?group=list&label=latest')).toEqual(['list/a', 'list/b', 'list/sub/c']);
  });

  test('has all labels of each prompt, with their versions', async () => {
    await create('marked/none');
    await create('marked/some');
    for (const text of ['Two.', 'Three.']) await create('marked/some', { template: text });
    for (const [label, version] of [
      ['production', 1],
      ['staging', 3],
      ['beta', 1],
    ] as const)
      await put(`/prompts/marked/some/labels/${label}`, { version });
    const all = [
      { label: 'beta', version: 1 },
      { label: 'production', version: 1 },
      { label: 'staging', version: 3 },
    ];
    expect((await get('/prompts?group=marked')).body.data).toMatchObject([
      { name: 'marked/none', labels: [], all_labels: [] },
      { name: 'marked/some', version: 3, labels: ['staging'], all_labels: all },
    ]);
    expect((await get('/prompts?group=marked&label=production')).body.data).toMatchObject([
      { version: 1, labels: ['beta', 'production'], all_labels: all },
    ]);
    const other = await createOtherWorkspace(service, 'marked');
    await other.call('POST', '/prompts', { body: { name: 'marked/some', template: 'x', model: 'sandbox/echo' } });
    expect((await other.call('GET', '/prompts')).body.data).toMatchObject([{ all_labels: [] }]);
  });

  test.each(['name', '-name', 'created_at', '-created_at', 'updated_at', '-updated_at'])(
    'pages by %s lose and repeat nothing while prompts are added',
    async (sort) => {
      const group = `pages${sort}`.replaceAll(/\W/g, '-');
      const before = Array.from({ length: 7 }, (_, index) => `${group}/m${index}`);
      for (const name of before) await create(name);
      const seen: string[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < 20; page++) {
        const query = new URLSearchParams({ group, sort, limit: '2', ...(cursor === null ? {} : { cursor }) });
        const { body } = await get(`/prompts?${query.toString()}`);
        seen.push(...body.data.map(({ name }: { name: string }) => name));
        cursor = body.next_cursor;
        if (cursor === null) break;
        if (page < 3) await create(`${group}/${page % 2 ? 'a' : 'z'}${page}`);
      }
      expect(cursor).toBeNull();
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((name) => before.includes(name)).toSorted()).toEqual(before);
    },
  );

  const cursorOf = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('base64url');
  test.each([
    ['words', 'nonsense'],
    ['nothing', ''],
    ['a number', cursorOf([5])],
    ['an object', cursorOf({ a: 1 })],
    ['NUL', cursorOf(['a\0 b'])],
    ['half a surrogate pair', Buffer.from('["\\ud800 b"]').toString('base64url')],
    ['no position', cursorOf(['x'])],
  ])('a cursor of %s is 400', async (_, cursor) => {
    for (const path of ['/prompts', '/executions', '/api-keys', '/prompts/paged/versions']) {
      const { status, body } = await get(`${path}?cursor=${encodeURIComponent(cursor)}`);
      expect([path, status, body.error.details[0].path]).toEqual([path, 400, 'cursor']);
    }
  });

  test.each(['0000-01-01T00:00:00.000Z', '2026-13-01T00:00:00.000Z', 'x', '+010000-01-01T00:00:00.000Z'])(
    'a cursor with the time %s is 400',
    async (time) => {
      expect((await get(`/prompts?sort=created_at&cursor=${cursorOf([`${time} a`])}`)).status).toBe(400);
    },
  );
});
