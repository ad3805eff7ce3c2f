import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Cli, startCli } from './support.ts';

const PROMPT = {
  name: 'greeting',
  version: 1,
  description: null,
  template: 'Hi',
  messages: null,
  tools: null,
  tool_choice: null,
  inputs: null,
  model: 'sandbox/echo',
  fallback_models: [],
  parameters: {},
  config: null,
  variables: [],
  includes: [],
  labels: [],
  all_labels: [],
  archived: false,
  commit_message: null,
  created_by: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  version_created_at: '2026-01-01T00:00:00.000Z',
};
const DATASET = { name: 'data', version: 1, description: null, examples_total: 1, created_at: PROMPT.created_at };

let answers: Record<string, unknown>;
let server: Server;
let cli: Cli;
beforeEach(async () => {
  answers = {};
  // Responds by the end of a path: names in it can be anything.
  server = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://service.example');
    const found = Object.entries(answers).find(([end]) => pathname.endsWith(end))?.[1];
    if (typeof found === 'string') response.setHeader('Content-Type', 'application/x-ndjson').end(found);
    else
      response
        .setHeader('Content-Type', 'application/json')
        .end(JSON.stringify(found ?? { data: [], next_cursor: null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  cli = await startCli({ origin: `http://127.0.0.1:${port}`, key: 'pms_x' });
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await cli.remove();
});

const page = (...data: unknown[]) => ({ data, next_cursor: null });
/** The content of the program's folders, and of the parent folder. */
const written = async () =>
  (await readdir(cli.folder, { recursive: true })).filter((name) => name.includes('written')).sort();

const NAMES = ['../written', '../../written', '/tmp/pms-written', 'a/../../written', '..\\written', 'a/./written', ''];

test.each(NAMES)('pms export writes nothing for a prompt named %j', async (name) => {
  answers = { '/prompts': page({ ...PROMPT, name }), '/versions': page({ ...PROMPT, name }) };
  const { status, stderr } = await cli.pms(['export', 'inner/all']);
  expect([status, stderr]).toEqual([3, expect.stringContaining('as the name of a prompt')]);
  expect(await written()).toEqual([]);
});

test.each(NAMES)('nor for a dataset named %j', async (name) => {
  answers = { '/datasets': page({ ...DATASET, name }), '/export': '{"id":"1","variables":{}}\n' };
  const { status, stderr } = await cli.pms(['export', 'inner/all']);
  expect([status, stderr]).toEqual([3, expect.stringContaining('as the name of a dataset')]);
  expect(await written()).toEqual([]);
});

test('nor for a version that is a path', async () => {
  answers = {
    '/datasets': page({ ...DATASET, version: '/../../../../written' }),
    '/export': '{"id":"1","variables":{}}\n',
  };
  const { status, stderr } = await cli.pms(['export', 'inner/all']);
  expect([status, stderr]).toEqual([3, expect.stringContaining('not inside')]);
  expect(await written()).toEqual([]);
});

test.each(NAMES)('pms prompts pull writes and reads nothing for a prompt named %j', async (name) => {
  answers = { '/prompts': page({ ...PROMPT, name }) };
  const { status, stderr } = await cli.pms(['prompts', 'pull', '--dir', path.join('inner', 'prompts'), '--force']);
  expect([status, stderr]).toEqual([3, expect.stringContaining('as the name of a prompt')]);
  expect(await written()).toEqual([]);
});
