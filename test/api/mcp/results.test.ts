import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { connect, type McpStage, message, post } from './mcp-support.ts';

const MAX_BYTES = 40 * 1024;
let service: TestService;
let mcp: McpStage;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  mcp = await connect(service);
});
afterAll(async () => {
  await mcp?.close();
  await service?.stop();
});

const prompt = (name: string, template: string) =>
  service.call('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } });

test('a result is the same as text and as structure, and names only what was cut', async () => {
  await prompt('small/one', 'Say it');
  const { body, text } = await mcp.tool('get_prompt', { name: 'small/one' });
  expect(JSON.parse(text)).toEqual(body);
  expect(body).toEqual({ result: (await service.call('GET', '/prompts/small/one')).body });
});

test('a page has 20 records by default, and its cursor leads to the others', async () => {
  for (let n = 0; n < 45; n++) await prompt(`paged/p${String(n).padStart(2, '0')}`, 'x');
  const names: string[] = [];
  const sizes: number[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await mcp.result('search_prompts', { group: 'paged', ...(cursor && { cursor }) });
    sizes.push(page.data.length);
    names.push(...page.data.map(({ name }: { name: string }) => name));
    cursor = page.next_cursor;
  } while (cursor);
  expect(sizes).toEqual([20, 20, 5]);
  expect(new Set(names).size).toBe(45);
  expect((await mcp.result('search_prompts', { group: 'paged', limit: 1_000 })).data).toHaveLength(45);
});

test('a page of large records fits: it has fewer, cuts their texts, and loses none', async () => {
  const long = 'Long text. '.repeat(9_000);
  for (let n = 0; n < 12; n++) await prompt(`large/p${n}`, `${n} ${long}`);
  const names: string[] = [];
  let cursor: string | null | undefined;
  do {
    const { body, text } = await mcp.tool('search_prompts', { group: 'large', ...(cursor && { cursor }) });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    expect(body.result.data.length).toBeGreaterThan(0);
    expect(body.cut).toContainEqual(expect.objectContaining({ part: '/data/0/template', unit: 'characters' }));
    names.push(...body.result.data.map(({ name }: { name: string }) => name));
    cursor = body.result.next_cursor;
  } while (cursor);
  expect(names).toHaveLength(12);
});

test('a cut text can be read to its end, piece by piece', async () => {
  const text = Array.from({ length: 20_000 }, (_, n) => `${n} 🙂`).join(' ');
  await prompt('long/one', text);
  const { body } = await mcp.tool('get_prompt', { name: 'long/one' });
  const [cut] = body.cut;
  expect(cut).toMatchObject({ part: '/template', of: text.length, unit: 'characters' });
  expect(body.note).toContain('part_from');
  let read = body.result.template.slice(0, cut.shown);
  let from: number | null = cut.shown;
  while (from !== null) {
    const piece = await mcp.tool('get_prompt', { name: 'long/one', part: cut.part, part_from: from });
    expect(Buffer.byteLength(piece.text)).toBeLessThanOrEqual(MAX_BYTES);
    read += piece.body.value;
    from = piece.body.next_part_from;
  }
  expect(read).toBe(text);
  const nowhere = await mcp.tool('get_prompt', { name: 'long/one', part: '/nothing' });
  expect(nowhere.body.error).toMatchObject({ code: 'invalid_request', details: [{ path: 'part' }] });
});

test('an error says what to change, and nothing internal', async () => {
  const cases: [string, object, object][] = [
    ['get_prompt', { name: 'no/such' }, { code: 'not_found', message: expect.stringContaining('no/such') }],
    ['get_prompt', {}, { code: 'invalid_request', details: [{ path: 'name', message: expect.any(String) }] }],
    [
      'get_prompt',
      { name: 'a', version: 'x' },
      { details: [{ path: 'version', message: expect.stringContaining('whole number') }] },
    ],
    [
      'get_prompt',
      { name: 'a', verison: 1 },
      { details: [{ path: 'verison', message: expect.stringContaining('it accepts name, version, label') }] },
    ],
    ['create_prompt', { name: 'a/b', model: 'sandbox/echo' }, { message: expect.stringContaining('template') }],
    ['move_label', { name: 'small/one', label: 'production', version: 99 }, { message: expect.stringContaining('99') }],
    [
      'move_label',
      { name: 'small/one', label: 'production', version: 1, override: true },
      { details: [{ path: 'override' }] },
    ],
    ['search_prompts', { limit: 0 }, { details: [{ path: 'limit' }] }],
    ['search_prompts', { cursor: 'nonsense' }, { code: 'invalid_request' }],
  ];
  for (const [name, given, expected] of cases) {
    const { isError, body, text } = await mcp.tool(name, { ...given });
    expect({ name, given, isError, ...body.error }).toMatchObject({ name, given, isError: true, ...expected });
    expect(text).not.toMatch(/\bat .*\.ts|node_modules|select |stack/);
  }
  // Models often send null for omitted arguments.
  expect((await mcp.result('get_prompt', { name: 'small/one', version: null, label: null })).version).toBe(1);
});

test('an unknown tool or method is an error of the protocol', async () => {
  await expect(mcp.tool('drop_everything')).rejects.toThrow('There is no tool');
  const response = await post(service, message('no/such'));
  const [, json = '{}'] = /data: (.*)/.exec(await response.text()) ?? [];
  expect(JSON.parse(json)).toMatchObject({ error: { code: -32_601 } });
});

test('nothing can be subscribed to', async () => {
  expect(mcp.client.getServerCapabilities()).toEqual({ tools: {}, prompts: {}, resources: {} });
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  };
  const body = message('subscriptions/listen', { _meta: meta, notifications: { toolsListChanged: true } });
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' };
  const response = await post(service, body, headers);
  expect(await response.json()).toMatchObject({ id: 1, error: { code: -32_601 } });
});
