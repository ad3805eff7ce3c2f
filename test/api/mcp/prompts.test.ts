import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PROJECT } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { connect, type McpStage, message, post, REVISIONS, type Revision } from './mcp-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  const create = async (body: object) => {
    const answer = await service.call('POST', '/prompts', { body: { model: 'sandbox/echo', ...body } });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  };
  await create({ name: 'tone', template: 'Be kind.' });
  await create({ name: 'support/deep/reply', template: '{{> tone }} Reply to {{ name }}.', description: 'A reply' });
  await create({ name: 'support/deep/reply', template: '{{> tone }} Reply briefly to {{ name }}.' });
  await service.call('PUT', '/prompts/support/deep/reply/labels/production', { body: { version: 1 } });
  await create({
    name: 'chat',
    messages: [
      { role: 'system', content: 'You speak {{ language }}.' },
      { placeholder: 'history', required: false },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look: {{ count }}' },
          { type: 'file', media_type: 'image/png', variable: 'picture' },
        ],
      },
    ],
    inputs: {
      language: { type: 'string', default: 'English', description: 'What to speak' },
      count: { type: 'number' },
      picture: { type: 'file', required: false },
    },
  });
  await create({ name: 'gone', template: 'x' });
  await service.call('DELETE', '/prompts/gone');
  for (let n = 0; n < 60; n++) await create({ name: `many/p${n}`, template: 'x' });
});
afterAll(() => service?.stop());

describe.each(REVISIONS)('by the revision %s of the protocol,', (revision: Revision) => {
  let mcp: McpStage;
  beforeAll(async () => {
    mcp = await connect(service, revision);
  });
  afterAll(() => mcp?.close());

  test('the prompts of the workspace are prompts, with their variables as arguments', async () => {
    const { prompts } = await mcp.client.listPrompts();
    expect(prompts).toHaveLength(63);
    expect(prompts.find(({ name }) => name === 'gone')).toBeUndefined();
    expect(prompts.find(({ name }) => name === 'support/deep/reply')).toMatchObject({
      description: 'A reply',
      arguments: [{ name: 'name', required: true }],
    });
    expect(prompts.find(({ name }) => name === 'chat')?.arguments).toEqual([
      { name: 'language', description: 'What to speak', required: false },
      { name: 'history', required: false },
      { name: 'count', description: 'As JSON: number.', required: true },
      { name: 'picture', description: 'As JSON: file.', required: false },
    ]);
  });

  test('they are filled with includes, labels, defaults and files', async () => {
    const filled = async (name: string, given: Record<string, string>) =>
      (await mcp.client.getPrompt({ name, arguments: given })).messages;
    const user = (text: string) => ({ role: 'user', content: { type: 'text', text } });
    expect(await filled('support/deep/reply', { name: 'Ada' })).toEqual([user('Be kind. Reply briefly to Ada.')]);
    expect(await filled('support/deep/reply@production', { name: 'Ada' })).toEqual([user('Be kind. Reply to Ada.')]);
    expect(await filled('support/deep/reply@1', { name: '3' })).toEqual([user('Be kind. Reply to 3.')]);
    const history = JSON.stringify([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Yes?' },
    ]);
    const picture = JSON.stringify({ media_type: 'image/png', data: 'iVBORw0KGgo=' });
    expect(await filled('chat', { count: '3', history, picture })).toEqual([
      user('You speak English.'),
      user('Hello'),
      { role: 'assistant', content: { type: 'text', text: 'Yes?' } },
      user('Look: 3'),
      { role: 'user', content: { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } },
    ]);
  });

  test('their errors are reported', async () => {
    const refusal = (name: string, given: Record<string, string> = {}) =>
      mcp.client.getPrompt({ name, arguments: given }).then(
        () => 'filled',
        (error: Error) => error.message,
      );
    expect(await refusal('no/such')).toContain('not_found');
    expect(await refusal('gone')).toContain('prompt_archived');
    expect(await refusal('support/deep/reply')).toContain('variables.name');
    expect(await refusal('chat', { count: 'many' })).toContain('must be a number');
    expect(await refusal('support/../reply')).toContain('invalid_request');
    expect(await refusal('tone@9')).toContain('not_found');
  });

  test('guides and versions of prompts are resources', async () => {
    const { resources } = await mcp.client.listResources();
    expect(resources).toContainEqual(expect.objectContaining({ uri: 'docs://releases', mimeType: 'text/markdown' }));
    for (const { uri } of resources) {
      const { contents } = await mcp.client.readResource({ uri });
      const file = path.join(PROJECT, 'docs', `${uri.slice('docs://'.length)}.md`);
      expect(contents).toEqual([{ uri, mimeType: 'text/markdown', text: readFileSync(file, 'utf8') }]);
    }
    const { resourceTemplates } = await mcp.client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'prompt://{+name}{?version,label}' }]);
    const read = async (uri: string) => {
      const [content] = (await mcp.client.readResource({ uri })).contents;
      return JSON.parse(content !== undefined && 'text' in content ? content.text : '{}');
    };
    expect(await read('prompt://support/deep/reply')).toMatchObject({ name: 'support/deep/reply', version: 2 });
    expect(await read('prompt://support/deep/reply?label=production')).toMatchObject({ version: 1 });
    expect(await read('prompt://support%2Fdeep%2Freply?version=1')).toMatchObject({ version: 1 });
    for (const uri of [
      'docs://../package',
      'docs://security%00',
      'file:///etc/passwd',
      'docs://',
      'prompt://',
      'prompt://%zz',
    ])
      await expect(mcp.client.readResource({ uri })).rejects.toThrow();
  });
});

test('prompts are listed page by page', async () => {
  const page = async (params: object) => {
    const response = await post(service, message('prompts/list', params));
    return JSON.parse(/data: (.*)/.exec(await response.text())?.[1] ?? '{}').result;
  };
  const first = await page({});
  expect([first.prompts.length, typeof first.nextCursor]).toEqual([50, 'string']);
  const second = await page({ cursor: first.nextCursor });
  expect([second.prompts.length, second.nextCursor]).toEqual([13, undefined]);
});
