import { Agent, request } from 'node:http';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { connect, message } from './mcp-support.ts';

const MESSAGES = process.env['MCP_AT_FULL_SIZE'] === 'true' ? 100_000 : 2_000;
const AT_ONCE = 16;
/** No message may take longer, whatever it contains: it would delay others. */
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

/** Pseudorandom numbers, the same in each run. */
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
const ARGUMENTS = [
  'name',
  'kind',
  'wait_seconds',
  'idempotency_key',
  'prompt_name',
  'limit',
  'cursor',
  'version',
  'variables',
  'part',
  'part_from',
  'id',
  'subject',
  'template',
];
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

interface Sent {
  body: Buffer;
  headers: Record<string, string>;
  isHandshake: boolean;
}

/** A message with a possible error at any depth: some reach a tool. */
function malformed(n: number): Sent {
  const random = createRandom(n + 1);
  const one = <T>(of: readonly T[]): T => of[random(of.length)] as T;
  const oneIn = (many: number) => random(many) === 0;
  const isModern = oneIn(2);
  const params: Record<string, unknown> = {};
  for (let count = random(3); count > 0; count--)
    params[one(['name', 'arguments', 'cursor', 'uri', 'protocolVersion', 'capabilities', 'clientInfo'])] = one(ODD);
  if (!oneIn(4)) params['name'] = one(TOOLS);
  if (!oneIn(4))
    params['arguments'] = Object.fromEntries(
      Array.from({ length: random(5) }, () => [oneIn(12) ? one(['__proto__', '']) : one(ARGUMENTS), one(ODD)]),
    );
  if (isModern) params['_meta'] = oneIn(8) ? { ...META, 'io.modelcontextprotocol/protocolVersion': one(ODD) } : META;
  else if (oneIn(6)) params['_meta'] = one(ODD);
  const named = params['name'];
  const method = oneIn(2) ? 'tools/call' : one(METHODS);
  const whole: Record<string, unknown> = { jsonrpc: '2.0', id: oneIn(8) ? one(ODD) : n, method, params };
  for (const field of ['jsonrpc', 'id', 'method', 'params']) {
    if (oneIn(25)) delete whole[field];
    if (oneIn(25)) whole[field] = one(ODD);
  }
  const text = JSON.stringify(oneIn(12) ? one([[whole], [whole, whole], ...ODD]) : whole) ?? '';
  const bytes = Buffer.from(text);
  if (oneIn(8)) {
    const from = random(bytes.length + 1);
    bytes.subarray(from, from + 3).fill(random(256));
  }
  const nested = Buffer.from('['.repeat(random(5_000)));
  return {
    body: oneIn(12) ? bytes.subarray(0, random(bytes.length + 1)) : oneIn(40) ? nested : bytes,
    isHandshake: method === 'initialize',
    headers: {
      'Content-Type': oneIn(20) ? one(['text/plain', 'application/json; charset=utf-16', 'x', '']) : 'application/json',
      Accept: oneIn(12)
        ? one(['application/json', 'text/event-stream', '*/*', 'text/html'])
        : 'application/json, text/event-stream',
      ...(isModern && {
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': String(method),
        ...(typeof named === 'string' && /^[\x21-\x7e]+$/.test(named) && { 'Mcp-Name': named }),
      }),
      ...(oneIn(8) && { 'MCP-Protocol-Version': one(['2025-11-25', '2024-10-07', '1', 'x'.repeat(300), '__proto__']) }),
      ...(oneIn(8) && { 'Mcp-Session-Id': 'x', 'Last-Event-ID': '7' }),
    },
  };
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

function send({ body, headers }: Pick<Sent, 'body' | 'headers'>): Promise<{ status: number; text: string }> {
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

test(
  `${MESSAGES} malformed messages end nothing, are each answered, and delay no neighbour`,
  async () => {
    const neighbour = await connect({ ...service, ...(await createOtherWorkspace(service, 'neighbour')) });
    await neighbour.result('create_prompt', { name: 'mine', template: 'x', model: 'sandbox/echo' });
    const statuses = new Map<number, number>();
    const faulty: object[] = [];
    let next = 0;
    let slowest = 0;
    let results = 0;
    let isOver = false;
    const senders = Array.from({ length: AT_ONCE }, async () => {
      for (let n = next++; n < MESSAGES; n = next++) {
        const sent = malformed(n);
        const { status, text } = await send(sent);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (text.includes('"result"')) results++;
        // The SDK reports errors in a handshake as internal.
        const internal = sent.isHandshake ? /internal_error|node_modules/ : /internal_error|node_modules|-32603/;
        if (status >= 500 || internal.test(text)) faulty.push({ n, status, text });
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
    // They get to all depths.
    expect(statuses.get(400)).toBeGreaterThan(MESSAGES / 10);
    expect(results).toBeGreaterThan(MESSAGES / 10);
    expect(slowest).toBeLessThan(NEIGHBOUR_MS);
    expect(
      (
        await send({
          body: Buffer.from(message('ping')),
          headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        })
      ).status,
    ).toBe(200);
    if (MESSAGES > 2_000)
      console.info({ statuses: Object.fromEntries(statuses), results, slowest: Math.round(slowest) });
  },
  60 * 60_000,
);
