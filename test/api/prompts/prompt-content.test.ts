import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CREATE_SAMPLES } from '../../../src/api/prompts/samples.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const model = 'sandbox/echo';
const create = (name: string, body: object) => service.call('POST', '/prompts', { body: { name, model, ...body } });
const put = (name: string, body: object) => service.call('PUT', `/prompts/${name}`, { body });
const user = { role: 'user', content: 'Hello {{ name }}.' };
const tool = (name: string) => ({ name, description: 'x', input_schema: { type: 'object', properties: {} } });
const detailsOf = ({ body }: { body: { error?: { details?: { path: string; message: string }[] } } }) =>
  body.error?.details ?? [];

test('every part of a version is kept', async () => {
  const said = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be {{ tone }}.' }] },
      { placeholder: 'history', required: false },
      { role: 'user', content: [{ type: 'file', media_type: 'image/png', variable: 'photo' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'a', name: 'look', input: { deep: [{ '{{ no }}': 1 }] } }],
      },
      { role: 'tool', content: [{ type: 'tool_result', id: 'a', name: 'look', output: null }] },
    ],
    tools: [{ ...tool('look'), strict: true }],
    tool_choice: { name: 'look' },
    inputs: { tone: { type: 'string', default: 'kind', enum: ['kind', 'short'] }, unused: { type: 'json' } },
    fallback_models: ['anthropic/claude-sonnet-4-5', 'gpt-4o-mini'],
    parameters: { response_format: { type: 'json_schema', json_schema: { name: 'r', schema: { type: 'object' } } } },
    config: { any: { thing: [null, 1] } },
  };
  const created = await create('all', said);
  expect(created).toMatchObject({ status: 201, body: { ...said, template: null } });
  expect(created.body.variables).toEqual(['tone', 'history', 'photo', 'unused']);
  expect((await service.call('GET', '/prompts/all')).body).toEqual(created.body);
  expect((await service.call('GET', '/prompts?q=all')).body.data).toContainEqual({ ...created.body, all_labels: [] });
});

test('an update keeps omitted fields, and null removes them', async () => {
  const said = {
    tools: [tool('a')],
    tool_choice: 'required',
    inputs: { name: { type: 'string' } },
    config: { a: 1 },
    fallback_models: [model],
  };
  await create('kept', { messages: [user], ...said });
  const texted = await put('kept', { template: '{{ other }}' });
  expect(texted.body).toMatchObject({ ...said, template: '{{ other }}', messages: null, variables: ['other', 'name'] });
  expect((await put('kept', { messages: [user] })).body).toMatchObject({ ...said, template: null, messages: [user] });
  expect(detailsOf(await put('kept', { tools: null }))).toMatchObject([{ path: 'tool_choice' }]);
  const cleared = await put('kept', {
    tools: null,
    tool_choice: null,
    inputs: null,
    config: null,
    fallback_models: [],
  });
  expect(cleared.body).toMatchObject({
    version: 4,
    messages: [user],
    tools: null,
    tool_choice: null,
    inputs: null,
    config: null,
    fallback_models: [],
  });
});

test('the documented samples work', async () => {
  await create('support/tone', { template: 'Be kind.' });
  await service.call('PUT', '/prompts/support/tone/labels/production', { body: { version: 1 } });
  for (const body of Object.values(CREATE_SAMPLES))
    expect(await service.call('POST', '/prompts', { body })).toMatchObject({ status: 201 });
});

const call = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_call', id, name: 'f', input: {} }] });
const result = (id: string, name = 'f') => ({ role: 'tool', content: [{ type: 'tool_result', id, name, output: 1 }] });

describe('messages', () => {
  test.each<[string, unknown[], string]>([
    ['an empty list', [], 'messages'],
    ['a system message behind a tool call', [call('a'), { role: 'system', content: 'x' }, result('a')], 'messages.1'],
    ['a tool result without its call', [user, result('a')], 'messages.1'],
    ['a tool result of another tool', [call('a'), result('a', 'g')], 'messages.1'],
    ['two results of a call', [call('a'), result('a'), result('a')], 'messages.2'],
    ['a call without its result', [call('a'), user], 'messages.1'],
    ['an unknown role', [{ role: 'robot', content: 'x' }], 'messages.0.role'],
    ['no content', [{ role: 'user' }], 'messages.0.content'],
    ['an unknown field', [{ ...user, nick: 'x' }], 'messages.0.nick'],
    ['a name that is empty', [{ ...user, name: '' }], 'messages.0.name'],
    ['an empty list of parts', [{ role: 'user', content: [] }], 'messages.0.content'],
    ['an unknown part', [{ role: 'user', content: [{ type: 'video' }] }], 'messages.0.content.0.type'],
    [
      'a file in a system message',
      [{ role: 'system', content: [{ type: 'file', media_type: 'image/png', variable: 'x' }] }],
      'messages.0.content.0.type',
    ],
    [
      'a file from two places',
      [{ role: 'user', content: [{ type: 'file', media_type: 'image/png', variable: 'x', url: 'https://a.b/c' }] }],
      'messages.0.content.0',
    ],
    [
      'a file over http',
      [{ role: 'user', content: [{ type: 'file', media_type: 'image/png', url: 'http://a.b/c' }] }],
      'messages.0.content.0.url',
    ],
    [
      'invalid base64',
      [{ role: 'user', content: [{ type: 'file', media_type: 'image/png', data: 'a-b_' }] }],
      'messages.0.content.0.data',
    ],
    ['a placeholder without a name', [{ placeholder: 'a b' }], 'messages.0.placeholder'],
    [
      'one variable as a file and as messages',
      [{ placeholder: 'x' }, { role: 'user', content: [{ type: 'file', media_type: 'image/png', variable: 'x' }] }],
      'messages',
    ],
  ])('%s is refused', async (_, messages, path) => {
    const answer = await create('refused', { messages });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)[0]?.path).toBe(path);
  });

  test.each<[string, unknown[]]>([
    ['a result of a call that a placeholder may hold', [{ placeholder: 'h' }, result('a'), user]],
    ['a call that a placeholder may answer', [call('a'), { placeholder: 'h' }, user]],
    ['a call that a run may answer', [user, call('a')]],
    ['only a system message', [{ role: 'system', content: 'x' }]],
  ])('%s is taken', async (_, messages) => {
    expect((await create('taken', { messages })).status).toBe(201);
  });
});

test.each<[string, object, string]>([
  ['neither template nor messages', {}, 'template'],
  ['both', { template: 'x', messages: [user] }, 'messages'],
  ['a template that is null', { template: null }, 'template'],
  ['a tool of two names', { template: 'x', tools: [tool('a'), tool('a')] }, 'tools.1.name'],
  ['a tool without a schema', { template: 'x', tools: [{ name: 'a' }] }, 'tools.0.input_schema'],
  [
    'a schema that is not an object',
    { template: 'x', tools: [{ name: 'a', input_schema: {} }] },
    'tools.0.input_schema.type',
  ],
  [
    'an invalid schema',
    { template: 'x', tools: [tool('b'), { name: 'a', input_schema: { type: 'object', properties: { x: 5 } } }] },
    'tools.1.input_schema',
  ],
  [
    'an invalid schema of the answer',
    {
      template: 'x',
      parameters: { response_format: { type: 'json_schema', json_schema: { schema: { type: 'thing' } } } },
    },
    'parameters.response_format.json_schema.schema',
  ],
  [
    'a choice of an unknown tool',
    { template: 'x', tools: [tool('a')], tool_choice: { name: 'b' } },
    'tool_choice.name',
  ],
  ['an invalid choice', { template: 'x', tool_choice: { nam: 'b' } }, 'tool_choice'],
  ['a fallback to an unknown model', { template: 'x', fallback_models: [model, 'nobody/x'] }, 'fallback_models.1'],
  ['six fallbacks', { template: 'x', fallback_models: Array(6).fill(model) }, 'fallback_models'],
  ['an invalid config', { template: 'x', config: [] }, 'config'],
  ['a config too large', { template: 'x', config: { a: 'x'.repeat(16_384) } }, 'config'],
  ['an input without a type', { template: 'x', inputs: { a: {} } }, 'inputs.a.type'],
  ['an input of a bad name', { template: 'x', inputs: { 'a b': { type: 'string' } } }, 'inputs.a b'],
  ['a default of another type', { template: 'x', inputs: { a: { type: 'number', default: '1' } } }, 'inputs.a.default'],
  [
    'a default outside of the enum',
    { template: 'x', inputs: { a: { type: 'string', enum: ['b'], default: 'c' } } },
    'inputs.a.default',
  ],
  ['an enum of another type', { template: 'x', inputs: { a: { type: 'number', enum: [1, 'b'] } } }, 'inputs.a.enum.1'],
  ['an enum of files', { template: 'x', inputs: { a: { type: 'file', enum: ['b'] } } }, 'inputs.a.enum'],
  [
    'a default that is not a list of messages',
    { template: 'x', inputs: { a: { type: 'messages', default: [{ role: 'user', content: 5 }] } } },
    'inputs.a.default.0.content',
  ],
  [
    'a placeholder that is declared as a text',
    { messages: [{ placeholder: 'a' }], inputs: { a: { type: 'string' } } },
    'inputs.a.type',
  ],
  ['an unknown include', { template: '{{> nobody }}' }, 'template'],
  ['an unknown include in a message', { messages: [{ role: 'user', content: '{{> nobody }}' }] }, 'messages'],
  ['a version too large', { messages: Array(3).fill({ role: 'user', content: 'x'.repeat(90_000) }) }, 'messages'],
])('%s is refused', async (_, body, path) => {
  const answer = await create('refused', body);
  expect(answer.status).toBe(400);
  expect(detailsOf(answer).map((detail) => detail.path)).toEqual([path]);
  expect((await service.call('GET', '/prompts/refused')).status).toBe(404);
});

test('schemas of tools can have provider-specific parts', async () => {
  const input_schema = {
    type: 'object',
    properties: { mail: { type: 'string', format: 'odd', pattern: String.raw`^(?!\.)[\w\-]+$`, 'x-note': 1 } },
  };
  expect((await create('lenient', { template: 'x', tools: [{ name: 'a', input_schema }] })).status).toBe(201);
});

test('prompt.updated says that the sent content changed', async () => {
  const eventsOf = async (version: number) => {
    const text = `select id from events where workspace_id = $1 and type = 'prompt.updated' and data->>'prompt_name' = 'told' and data->>'version' = $2`;
    return (await service.dependencies.db.system.query({ text }, [service.workspaceId, String(version)])).length;
  };
  await create('told', { messages: [user], tools: [tool('a')] });
  const format = { response_format: { type: 'json_object' } };
  const changes: [object, number][] = [
    [{ messages: [user], tools: [{ input_schema: tool('a').input_schema, description: 'x', name: 'a' }] }, 0],
    [{ config: { a: 1 }, parameters: { temperature: 1 }, fallback_models: [model], model: 'sandbox/fixed' }, 0],
    [{ messages: [user, { placeholder: 'more' }] }, 1],
    [{ tools: [tool('b')] }, 1],
    [{ parameters: format }, 1],
    [{ parameters: { ...format, temperature: 0 } }, 0],
    [{ template: 'x' }, 1],
  ];
  for (const [index, [change, told]] of changes.entries()) {
    expect((await put('told', change)).body).toMatchObject({ version: index + 2 });
    expect({ index, told: await eventsOf(index + 2) }).toEqual({ index, told });
  }
});

test('the inputs check the values of a run', async () => {
  const inputs = {
    count: { type: 'number', default: 3 },
    tone: { type: 'string', enum: ['kind', 'short'] },
    more: { type: 'json', required: false },
  };
  await create('declared', { template: '{{ count }} {{ tone }} {{ more }}.', inputs });
  const run = (variables: object) =>
    service.call('POST', '/executions', {
      body: { prompt_name: 'declared', variables },
      headers: { Prefer: 'respond-async' },
    });
  expect(await run({ tone: 'kind' })).toMatchObject({ status: 201, body: { input: '3 kind .' } });
  expect(await run({ tone: 'short', count: 1, more: [] })).toMatchObject({
    status: 201,
    body: { input: '1 short [].' },
  });
  expect(detailsOf(await run({ count: '1', tone: 'loud', more: null }))).toEqual([
    { path: 'variables.count', message: 'must be a number' },
    { path: 'variables.tone', message: 'must be one of "kind", "short"' },
    { path: 'variables.more', message: expect.stringContaining('null') },
  ]);
});

test('a run has the current includes, and is refused if they can no longer be used', async () => {
  const run = () =>
    service.call('POST', '/executions', {
      body: { prompt_name: 'including', variables: { x: 1 } },
      headers: { Prefer: 'respond-async' },
    });
  await create('included', { template: 'one {{ x }}' });
  expect((await create('including', { template: '<{{> included }}> \\{{> included }}' })).body.variables).toEqual([
    'x',
  ]);
  expect((await run()).body.input).toBe('<one 1> {{> included }}');
  await put('included', { template: 'two' });
  expect((await run()).body.input).toBe('<two> {{> included }}');
  await service.call('DELETE', '/prompts/included');
  expect(await run()).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('archived') } } });
  await service.call('POST', '/prompts/included/restore');
  await put('included', { messages: [user] });
  expect(await run()).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('list of messages') } },
  });
});

describe('hostile content', () => {
  test.each<[string, object]>([
    [
      'many parts',
      { messages: Array(200).fill({ role: 'user', content: Array(100).fill({ type: 'text', text: '' }) }) },
    ],
    ['many wrong parts', { messages: Array(200).fill({ role: 'user', content: Array(100).fill({ type: 'text' }) }) }],
    ['many includes', { template: '{{> hostile/one }}'.repeat(4500) }],
    [
      'many inputs',
      { template: 'x', inputs: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`a${n}`, {}])) },
    ],
    [
      'long base64',
      { messages: [{ role: 'user', content: [{ type: 'file', media_type: 'a/b', data: `${'a'.repeat(900_000)}?` }] }] },
    ],
    [
      'tools that take long to compile',
      {
        template: 'x',
        tools: Array.from({ length: 128 }, (_, n) => ({
          name: `t${n}`,
          input_schema: {
            type: 'object',
            properties: Object.fromEntries(Array.from({ length: 300 }, (_, p) => [`p${p}`, { enum: [p] }])),
          },
        })),
      },
    ],
  ])('of %s gets an answer', async (_, body) => {
    await create('hostile/one', { template: '' });
    const answer = await create('hostile/body', body);
    expect([201, 400]).toContain(answer.status);
    expect(JSON.stringify(answer.body).length).toBeLessThan(1_100_000);
  });
});
