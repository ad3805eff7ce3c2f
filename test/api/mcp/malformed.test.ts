import { Agent, request } from 'node:http';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { connect, message } from './mcp-support.ts';

const MESSAGES = process.env['MCP_AT_FULL_SIZE'] === 'true' ? 100_000 : 2_000;
const AT_ONCE = 16;
/** What no message may take, whatever it says: it would keep others waiting. */
const NEIGHBOUR_MS = 5_000;

let service: TestService;
const faults: unknown[] = [];
const note = (error: unknown) => faults.push(error);
beforeAll(async () => {
  service = await startTestService();
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  process.off('uncaughtException', note);
  await service?.stop();
});

/** Numbers that look random, the same ones in each run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
};
const METHODS = [
  'initialize', 'ping', 'server/discover', 'tools/list', 'tools/call', 'prompts/list', 'prompts/get', 'resources/list', 'resources/read',
  'resources/templates/list', 'notifications/initialized', 'notifications/cancelled', 'subscriptions/listen', 'completion/complete',
  'logging/setLevel', 'tasks/get', '__proto__', 'constructor', '',
]; // biome-ignore format: a list
const ODD: unknown[] = [
  null, true, -1, 0, 1e308, '', 'x', '\u0000', '\ud800', '🙂'.repeat(300), [], {}, [[]], { a: { b: {} } }, '__proto__', '../../etc/passwd',
  "'; drop table prompts; --", 'prompt://', 'docs://..', { toString: 1 }, { length: 5 }, { __proto__: null }, 'exec_0', 'x'.repeat(10_000),
]; // biome-ignore format: a list
const TOOLS = [
  'get_prompt',
  'search_prompts',
  'create_prompt',
  'run_prompt',
  'move_label',
  'list_failures',
  'create_score',
  'hasOwnProperty',
];

/** A message that something is wrong with: its bytes, and headers. */
function malformed(n: number): { body: Buffer; headers: Record<string, string> } {
  const random = createRandom(n + 1);
  const one = <T>(of: readonly T[]): T => of[random(of.length)] as T;
  const params: Record<string, unknown> = {};
  for (let count = random(4); count > 0; count--)
    params[one(['name', 'arguments', 'cursor', 'uri', '_meta', 'protocolVersion', 'capabilities', 'clientInfo'])] =
      one(ODD);
  if (random(3) > 0) params['name'] = one(TOOLS);
  if (random(2) > 0)
    params['arguments'] = Object.fromEntries(
      Array.from({ length: random(5) }, () => [
        one([
          'name',
          'limit',
          'cursor',
          'version',
          'variables',
          'part',
          'part_from',
          'id',
          'subject',
          'template',
          '__proto__',
          '',
        ]),
        one(ODD),
      ]),
    );
  if (random(2) > 0)
    params['_meta'] = one([META, { ...META, 'io.modelcontextprotocol/protocolVersion': one(ODD) }, one(ODD)]);
  const whole: Record<string, unknown> = { jsonrpc: '2.0', id: one([1, 'a', ...ODD]), method: one(METHODS), params };
  for (const field of ['jsonrpc', 'id', 'method', 'params']) {
    if (random(8) === 0) delete whole[field];
    if (random(8) === 0) whole[field] = one(ODD);
  }
  const text = JSON.stringify(one([whole, whole, whole, whole, [whole], [whole, whole], one(ODD)])) ?? '';
  const bytes = Buffer.from(text);
  const kind = random(6);
  if (kind === 0) bytes.subarray(random(bytes.length + 1)).fill(random(256), 0, 3);
  const nested = '['.repeat(random(5_000));
  const body =
    kind === 1
      ? bytes.subarray(0, random(bytes.length + 1))
      : kind === 2 && random(4) === 0
        ? Buffer.from(nested)
        : bytes;
  return {
    body,
    headers: {
      'Content-Type':
        random(12) === 0 ? one(['text/plain', 'application/json; charset=utf-16', 'x', '']) : 'application/json',
      Accept: one(['application/json, text/event-stream', 'application/json', 'text/event-stream', '*/*', 'text/html']),
      ...(random(2) > 0 && {
        'MCP-Protocol-Version': one(['2026-07-28', '2025-11-25', '2024-10-07', '1', 'x'.repeat(300), '__proto__']),
      }),
      ...(random(3) === 0 && { 'Mcp-Method': one(METHODS.slice(0, 8)), 'Mcp-Name': one(TOOLS) }),
      ...(random(5) === 0 && { 'Mcp-Session-Id': 'x', 'Last-Event-ID': '7' }),
    },
  };
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

function send({ body, headers }: ReturnType<typeof malformed>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${service.origin}/mcp`, {
      method: 'POST',
      agent,
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Length': body.length, ...headers },
    });
    sent.on('error', reject);
    sent.on('response', async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    });
    sent.end(body);
  });
}

test(`${MESSAGES} malformed messages end nothing, are each answered, and keep no neighbour waiting`, async () => {
  const neighbour = await connect({ ...service, ...(await createOtherWorkspace(service, 'neighbour')) });
  await neighbour.result('create_prompt', { name: 'mine', template: 'x', model: 'sandbox/echo' });
  const statuses = new Map<number, number>();
  const faulty: object[] = [];
  let next = 0;
  let slowest = 0;
  let isOver = false;
  const senders = Array.from({ length: AT_ONCE }, async () => {
    for (let n = next++; n < MESSAGES; n = next++) {
      const { status, text } = await send(malformed(n));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status >= 500 || /internal_error|-32603|node_modules|\bat .*\.m?[jt]s:/i.test(text))
        faulty.push({ n, status, text });
    }
  });
  const watching = (async () => {
    while (!isOver) {
      const begun = performance.now();
      expect((await neighbour.result('search_prompts')).data).toHaveLength(1);
      slowest = Math.max(slowest, performance.now() - begun);
    }
  })();
  await Promise.all(senders);
  isOver = true;
  await watching;
  await neighbour.close();
  agent.destroy();
  expect(faulty.slice(0, 5)).toEqual([]);
  expect(faults).toEqual([]);
  expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(MESSAGES);
  expect(statuses.get(400)).toBeGreaterThan(MESSAGES / 10);
  expect(slowest).toBeLessThan(NEIGHBOUR_MS);
  expect(
    (
      await send({
        body: Buffer.from(message('ping')),
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      })
    ).status,
  ).toBe(200);
  console.info({ statuses: Object.fromEntries(statuses), slowest: Math.round(slowest) });
});
