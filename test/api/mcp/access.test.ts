import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { startApi } from '../../../src/api/server.ts';
import type { RunningServer } from '../../../src/http/http-server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { connect, type McpStage, message, post } from './mcp-support.ts';

const PAGE = 'https://app.example.test';
let service: TestService;
const servers: RunningServer[] = [];
const open: McpStage[] = [];
beforeAll(async () => {
  service = await startTestService({ CORS_ORIGINS: PAGE });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  await Promise.all(servers.splice(0).map((server) => server.close(0)));
});
afterAll(() => service?.stop());

async function connected(key: string, origin = service.origin): Promise<McpStage> {
  const stage = await connect({ origin, key });
  open.push(stage);
  return stage;
}

const RpcError = z.object({ error: z.object({ code: z.number(), message: z.string() }) });
const errorOf = async (response: Response) => RpcError.parse(await response.json()).error;

/** Another API process of the service. */
async function startOther(more: Partial<TestService['dependencies']['settings']>): Promise<string> {
  const settings = { ...service.dependencies.settings, ...more };
  const server = await startApi({ ...service.dependencies, settings, registry: new Registry() }, { eager: false });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

describe('the caller', () => {
  test('needs a key: without one, or with another, the answer says how to sign in', async () => {
    for (const headers of [
      { Authorization: '' },
      { Authorization: 'Bearer pms_unknown' },
      { Authorization: 'Basic eDp5' },
    ]) {
      const response = await post(service, message('tools/list'), headers);
      expect([response.status, response.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
      expect(await response.json()).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { data: { code: 'unauthorized' } },
      });
    }
  });

  test('gets tool lists in answer to its message, in each revision', async () => {
    for (const id of [7, 'seven', 'the "id" $& of the message', 8]) {
      const texts = await Promise.all([
        post(service, message('tools/list', {}, id)).then((response) => response.text()),
        post(service, message('tools/list', {}, id), { 'MCP-Protocol-Version': '2025-06-18' }).then((response) =>
          response.text(),
        ),
      ]);
      for (const text of texts) {
        const { id: answered, result } = JSON.parse(text.slice(text.indexOf('{')));
        expect(answered).toBe(id);
        expect(result.tools.length).toBeGreaterThan(15);
      }
    }
  });

  test('can ask for the tools of some groups, and has no others', async () => {
    const ask = async (query: string, what = message('tools/list')) => {
      const text = await (await post(service, what, {}, query)).text();
      return JSON.parse(text.slice(text.indexOf('{')));
    };
    const namesOf = async (query: string): Promise<string[]> =>
      (await ask(query)).result.tools.map(({ name }: { name: string }) => name);
    const all = await namesOf('');
    const some = await namesOf('?tools=prompts,labels');
    expect(some).toEqual(expect.arrayContaining(['get_prompt', 'move_label']));
    expect(some).not.toContain('run_prompt');
    expect(some.length).toBeLessThan(all.length / 3);
    expect(await namesOf('?tools=labels&tools=prompts')).toEqual(some);
    expect(await namesOf('')).toEqual(all);
    const call = message('tools/call', { name: 'list_datasets', arguments: {} });
    expect((await ask('?tools=prompts', call)).error.message).toBe('There is no tool "list_datasets".');
    expect((await ask('?tools=prompts,datasets', call)).result.isError).toBeUndefined();
    const unknown = await post(service, message('tools/list'), {}, '?tools=prompts,secrets');
    expect(unknown.status).toBe(400);
    expect(await unknown.text()).toMatch(/"tools: [^"]*known are [^"]*prompts/);
  });

  test('needs more than a console session: its cookie gives no access', async () => {
    const session = await fetch(`${service.origin}/v1/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ key: service.key }),
    });
    const cookie = session.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    expect(cookie).toMatch(/=./);
    const headers = { Cookie: cookie, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin', Authorization: '' };
    const asked = await fetch(`${service.origin}/v1/session`, { headers: { Cookie: cookie } });
    expect(asked.status).toBe(200);
    expect((await post(service, message('tools/list'), headers)).status).toBe(401);
  });

  test('needs a live key', async () => {
    const { id, key } = await createKey(service, 'read');
    const mcp = await connected(key);
    await mcp.result('search_prompts');
    await service.call('DELETE', `/api-keys/${id}`);
    await expect(mcp.tool('search_prompts')).rejects.toThrow();
    expect((await post({ ...service, key }, message('tools/list'))).status).toBe(401);
  });

  test('loses even a running tool within 5 s after its key ends', async () => {
    await service.call('POST', '/prompts', { body: { name: 'mcp/stalls', template: 'x', model: 'sandbox/stall' } });
    const { id, key } = await createKey(service, 'execute');
    const given = { prompt_name: 'mcp/stalls', wait_seconds: 55 };
    const response = await post({ ...service, key }, message('tools/call', { name: 'run_prompt', arguments: given }));
    expect(response.headers.get('Content-Type')).toContain('text/event-stream');
    const begun = performance.now();
    await service.call('DELETE', `/api-keys/${id}`);
    await expect(response.text()).rejects.toThrow();
    // Within 5 s, and as many for a busy machine.
    expect(performance.now() - begun).toBeLessThan(10_000);
    const { data } = (await service.call('GET', '/executions?prompt_name=mcp/stalls')).body;
    for (const run of data) await service.call('POST', `/executions/${run.id}/cancel`);
  });

  test('sees only tools that the scopes of its key allow, and is refused the others', async () => {
    const names = async (...scopes: Parameters<typeof createKey>[1][]) => {
      const mcp = await connected((await createKey(service, ...scopes)).key);
      return new Set((await mcp.client.listTools()).tools.map(({ name }) => name));
    };
    const [reads, scores, publishes, all] = [
      await names('read'),
      await names('score'),
      await names('publish'),
      await names('admin'),
    ];
    expect(reads).toContain('get_prompt');
    for (const name of ['create_prompt', 'run_prompt', 'move_label', 'create_score']) expect(reads).not.toContain(name);
    expect(scores).toEqual(
      new Set(['next_queue_item', 'complete_queue_item', 'skip_queue_item', 'return_queue_item', 'create_score']),
    );
    expect(publishes).toContain('approve_release');
    expect(publishes).not.toContain('create_prompt');
    for (const name of [...reads, ...publishes]) expect(all).toContain(name);
    // Lists are cached: callers with the same scopes share one, and others do not.
    expect([await names('read'), await names('admin'), await names('score')]).toEqual([reads, all, scores]);

    const mcp = await connected((await createKey(service, 'read')).key);
    const refused = await mcp.tool('create_prompt', { name: 'mcp/refused', template: 'x', model: 'sandbox/echo' });
    expect(refused).toMatchObject({ isError: true, body: { error: { code: 'insufficient_scope' } } });
    expect(refused.text).toContain('\\"write\\"');
    expect((await service.call('GET', '/prompts/mcp/refused')).status).toBe(404);
  });

  test('sees nothing of another workspace, in tools, prompts and resources', async () => {
    const name = 'mcp/secret';
    await service.call('POST', '/prompts', { body: { name, template: 'The secret {{ x }}', model: 'sandbox/echo' } });
    const run = await service.call('POST', '/executions', { body: { prompt_name: name, variables: { x: '1' } } });
    const mcp = await connected((await createOtherWorkspace(service, 'neighbour')).key);
    expect((await mcp.result('search_prompts')).data).toEqual([]);
    expect((await mcp.result('search_executions')).data).toEqual([]);
    expect((await mcp.client.listPrompts()).prompts).toEqual([]);
    for (const answer of [
      await mcp.tool('get_prompt', { name }),
      await mcp.tool('get_execution', { id: run.body.id }),
      await mcp.tool('run_prompt', { prompt_name: name, variables: { x: '1' } }),
      await mcp.tool('create_prompt_version', { name, template: 'Taken' }),
    ]) {
      expect(answer).toMatchObject({ isError: true, body: { error: { code: 'not_found' } } });
    }
    await expect(mcp.client.getPrompt({ name, arguments: { x: '1' } })).rejects.toThrow('not_found');
    await expect(mcp.client.readResource({ uri: `prompt://${name}` })).rejects.toThrow('not_found');
  });
});

describe('limits and records', () => {
  test('each message is one request of the key', async () => {
    const origin = await startOther({ rateLimitPerMinute: 5 });
    const { key } = await createKey(service, 'read');
    const call = message('tools/call', { name: 'search_prompts', arguments: {} });
    const statuses: number[] = [];
    for (let n = 0; n < 7; n++) {
      const response = await post({ origin, key }, call);
      statuses.push(response.status);
      expect(response.headers.get('RateLimit-Limit')).toBe('5');
      if (response.status === 429) {
        expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
        expect(await response.json()).toMatchObject({ error: { data: { code: 'rate_limited' } } });
      } else await response.text();
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    // The API counts the same requests.
    const api = await fetch(`${origin}/v1/prompts`, { headers: { Authorization: `Bearer ${key}` } });
    expect(api.status).toBe(429);
  });

  test('changes are in the audit log under the key; reads and refusals are not', async () => {
    const { id, key } = await createKey(service, 'read', 'write');
    const mcp = await connected(key);
    const name = 'mcp/audited';
    await mcp.result('create_prompt', { name, template: 'x', model: 'sandbox/echo' });
    await mcp.result('move_label', { name, label: 'staging', version: 1 });
    await mcp.result('get_prompt', { name });
    await mcp.tool('create_prompt_version', { name, template: 'y', base_version: 7 });
    const { data } = (await service.call('GET', `/audit-log?actor=${id}`)).body;
    expect(data.map(({ action }: { action: string }) => action)).toEqual(['label.moved', 'prompt.created']);
    expect(data[0]).toMatchObject({
      actor: { key_id: id },
      address: expect.stringMatching(/./),
      request_id: expect.stringMatching(/^req_/),
    });
  });

  test('a body has the usual limits of size and values, and is JSON', async () => {
    const big = message('tools/call', { name: 'get_prompt', arguments: { name: 'x'.repeat(1024 * 1024) } });
    expect((await post(service, big)).status).toBe(413);
    const many = message('tools/call', {
      name: 'get_prompt',
      arguments: { name: Array.from({ length: 110_000 }, () => 1) },
    });
    const tooMany = await post(service, many);
    expect([tooMany.status, (await errorOf(tooMany)).message]).toEqual([
      400,
      expect.stringContaining('too many JSON values'),
    ]);
    const broken = await post(service, '{"jsonrpc": "2.0"');
    expect([broken.status, (await errorOf(broken)).code]).toEqual([400, -32_700]);
    expect((await post(service, message('tools/list'), { 'Content-Type': 'text/plain' })).status).toBe(415);
    const batch = await post(service, `[${message('tools/list')},${message('tools/list')}]`);
    expect([batch.status, (await errorOf(batch)).code]).toEqual([400, -32_600]);
  });

  test('there are no sessions and no streams, only POST', async () => {
    const headers = { Authorization: `Bearer ${service.key}`, Accept: 'text/event-stream' };
    for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
      const response = await fetch(`${service.origin}/mcp`, { method, headers });
      expect([method, response.status, response.headers.get('Allow')]).toEqual([method, 405, 'POST']);
    }
    const response = await post(service, message('tools/list'));
    expect(response.headers.get('Mcp-Session-Id')).toBeNull();
    await response.text();
    // Negotiation with another process is not required.
    const elsewhere = await startOther({});
    expect((await post({ ...service, origin: elsewhere }, message('tools/list'))).status).toBe(200);
  });
});

/** With a custom Host, which fetch does not allow. */
function statusWith(origin: string, headers: Record<string, string>, method = 'POST'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${origin}/mcp`,
      {
        method,
        headers: {
          Authorization: `Bearer ${service.key}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on('error', reject);
    sent.end(message('tools/list'));
  });
}

describe('pages of browsers', () => {
  test('of other origins are refused, those allowed to call the API are not', async () => {
    const own = service.origin;
    const { port } = new URL(own);
    expect(await statusWith(own, { Origin: 'https://evil.example.test' })).toBe(403);
    expect(await statusWith(own, { Origin: 'null' })).toBe(403);
    expect(await statusWith(own, { Origin: `http://127.0.0.1:${Number(port) + 1}` })).toBe(403);
    expect(await statusWith(own, { Origin: own })).toBe(200);
    expect(await statusWith(own, { Origin: PAGE })).toBe(200);
    const preflight = await fetch(`${own}/mcp`, {
      method: 'OPTIONS',
      headers: {
        Origin: PAGE,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type,mcp-protocol-version',
      },
    });
    expect([preflight.status, preflight.headers.get('Access-Control-Allow-Origin')]).toEqual([200, PAGE]);
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain('mcp-protocol-version');
  });

  test('that point their name at this machine (DNS rebinding) are refused', async () => {
    const { port } = new URL(service.origin);
    const rebound = `evil.example.test:${port}`;
    expect(await statusWith(service.origin, { Host: rebound })).toBe(403);
    expect(await statusWith(service.origin, { Host: rebound, Origin: `http://${rebound}` })).toBe(403);
    for (const host of ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect([host, await statusWith(service.origin, { Host: host })]).toEqual([host, 200]);
    // Behind a proxy, or on an address of the network, the service has names that it does not know.
    const behind = await startOther({ trustProxy: true });
    expect(await statusWith(behind, { Host: 'prompts.example.test' })).toBe(200);
    const outside = await startOther({ host: '0.0.0.0' });
    expect(await statusWith(outside, { Host: 'prompts.example.test' })).toBe(200);
  });
});
