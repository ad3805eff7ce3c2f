import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const model = 'sandbox/echo';
const create = (name: string, body: object) => service.call('POST', '/prompts', { body: { name, model, ...body } });
const diff = (name: string, query = '') => service.call('GET', `/prompts/${name}/diff${query}`);
const changesOf = async (name: string, query = '') => (await diff(name, query)).body.changes;
const lines = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}${n}\n`).join('');

test('texts are shown as a unified diff, everything else before and after', async () => {
  await create('team/a', { template: 'one\ntwo\nthree\n', parameters: { temperature: 0.2, seed: 1, stop: 'x' } });
  await create('team/a', {
    template: 'one\n2\nthree\n',
    model: 'sandbox/fixed',
    parameters: { seed: 1, temperature: 0.5, top_p: 1 },
    config: { a: 1 },
  });
  expect((await diff('team/a')).body).toEqual({
    name: 'team/a',
    from: 1,
    to: 2,
    changes: [
      { path: 'template', diff: '--- template@1\n+++ template@2\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n' },
      { path: 'model', before: 'sandbox/echo', after: 'sandbox/fixed' },
      { path: 'parameters.stop', before: 'x' },
      { path: 'parameters.temperature', before: 0.2, after: 0.5 },
      { path: 'parameters.top_p', after: 1 },
      { path: 'config', after: { a: 1 } },
    ],
  });
  expect((await diff('team%2Fa', '?from=2&to=1')).body).toMatchObject({ from: 2, to: 1 });
  expect(await changesOf('team/a', '?from=2')).toEqual([]);
});

test('messages, tools and inputs are compared one by one, wherever they moved', async () => {
  const tool = { name: 't', input_schema: { type: 'object' } };
  const system = { role: 'system', content: 'Be kind.' };
  await create('b', {
    messages: [system, { role: 'user', content: 'one' }, { placeholder: 'h' }],
    tools: [tool],
    inputs: { x: { type: 'string' } },
  });
  await create('b', {
    messages: [
      { role: 'system', content: 'New.' },
      system,
      { role: 'user', content: 'two' },
      { placeholder: 'h', required: false },
    ],
    tools: [{ ...tool, name: 'u' }],
    inputs: { x: { type: 'number' }, y: { type: 'json' } },
  });
  await create('b', { template: 'x' });
  expect(await changesOf('b', '?to=2')).toEqual([
    { path: 'messages.0', after: { role: 'system', content: 'New.' } },
    {
      path: 'messages.2.content',
      diff: expect.stringContaining('-one\n\\ No newline at end of file\n+two\n'),
    },
    { path: 'messages.3.required', after: false },
    { path: 'tools.0.name', before: 't', after: 'u' },
    { path: 'inputs.x.type', before: 'string', after: 'number' },
    { path: 'inputs.y', after: { type: 'json' } },
  ]);
  expect(await changesOf('b')).toEqual([
    { path: 'template', after: 'x' },
    { path: 'messages', before: expect.any(Array) },
    { path: 'tools', before: expect.any(Array) },
    { path: 'inputs', before: expect.any(Object) },
  ]);
});

test('missing versions are named', async () => {
  await create('c', { template: 'x' });
  expect((await diff('nobody')).status).toBe(404);
  expect((await diff('c', '?to=2')).status).toBe(404);
  expect((await diff('c', '?from=2')).status).toBe(404);
  expect((await diff('c')).body.error.details).toMatchObject([{ path: 'from' }]);
  for (const query of ['?from=0', '?to=x', '?from=latest', '?version=1'])
    expect((await diff('c', query)).status).toBe(400);
});

test.each<[string, string, string]>([
  ['of many lines, all different', lines(9_000, 'a'), lines(9_000, 'b')],
  ['of more lines than are compared', '\n'.repeat(100_000), `x${'\n'.repeat(100_000)}`],
  ['with many changes', lines(2_000, 'a'), lines(2_000, 'a').replaceAll('5', 'x')],
])('texts %s are replaced as a whole', async (kind, before, after) => {
  const name = kind.replaceAll(/\W/g, '');
  await create(name, { template: before });
  await create(name, { template: after });
  const [change] = await changesOf(name);
  const count = (text: string) => text.split('\n').length - 1;
  expect(change.diff.split('\n')[2]).toBe(`@@ -1,${count(before)} +1,${count(after)} @@`);
});

test('many hostile messages are compared', async () => {
  const messages = (prefix: string) =>
    Array.from({ length: 190 }, (_, n) => ({ role: 'user', content: `${n}\n${lines(150, prefix)}` }));
  await create('many', { messages: messages('a') });
  await create('many', { messages: messages('b') });
  const changes = await changesOf('many');
  expect(changes).toHaveLength(190);
  for (const change of changes) expect(change.diff).toContain('+b149\n');
});
