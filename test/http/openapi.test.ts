import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { STATUS_OF_CODE } from '../../src/http/status.ts';
import { serveMetrics } from '../../src/metrics.ts';
import {
  type Api,
  answerSteps,
  BY_MEMBER,
  bodySteps,
  createResources,
  NOT_BY_KEY,
  type Operation,
  type Resources,
  readApi,
} from '../api/operations.ts';
import { createKey } from '../api/workspace.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

/** Its errors and statuses are those of the protocol: `api/traces/ingest.test.ts`. */
const OTLP = 'ingestTraces';

let service: TestService;
let api: Api;
let resources: Resources;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  api = await readApi(service.origin);
  resources = await createResources(service, api);
});
afterAll(() => service?.stop());

/** Runs a check on every operation; a failure names the operation. */
const onEvery = (check: (operation: Operation) => void) => {
  for (const operation of api.operations)
    try {
      check(operation);
    } catch (error) {
      throw new Error(`${operation.method} ${operation.path}`, { cause: error });
    }
};

describe('the document', () => {
  test('is OpenAPI 3.1, with every operation of the specification in it', () => {
    expect(api.document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(api.document.servers).toEqual([{ url: '/v1' }]);
    const operations = api.operations.map(({ method, path }) => `${method} ${path}`);
    expect(operations).toEqual(
      expect.arrayContaining([
        'GET /prompts',
        'POST /prompts',
        'GET /prompts/{name}',
        'PUT /prompts/{name}',
        'DELETE /prompts/{name}',
        'POST /executions',
        'GET /executions/{id}',
        'POST /evaluations',
        'GET /evaluations/{id}',
        'POST /webhooks',
        'DELETE /webhooks/{id}',
      ]),
    );
    const ids = api.operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has no broken reference', () => {
    const references = [...JSON.stringify(api.document).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(10);
    for (const reference of new Set(references)) {
      let at: unknown = api.document;
      for (const step of reference.split('/').slice(1)) at = Object(at)[step];
      expect([reference, typeof at]).toEqual([reference, 'object']);
    }
  });

  test('is small: shared parts appear once, under a name made of words', async () => {
    const served = await (await fetch(`${service.origin}/openapi.json`)).text();
    expect(Buffer.byteLength(served) / api.operations.length).toBeLessThan(3_600);
    const { components, paths } = JSON.parse(served);
    for (const kind of ['schemas', 'responses', 'parameters', 'headers'])
      expect(Object.keys(components[kind]).filter((name) => /^_|\d$/.test(name))).toEqual([]);
    for (const operations of Object.values<Record<string, { responses: object }>>(paths))
      for (const { responses } of Object.values(operations))
        for (const [status, response] of Object.entries(responses))
          if (status >= '400') expect(Object.keys(response)).toEqual(['$ref']);
    const samples: string[] = [];
    JSON.stringify(paths, (key, value) => {
      if (key === 'responses')
        for (const { content = {} } of Object.values<{ content?: Record<string, { example?: unknown }> }>(value))
          for (const { example } of Object.values(content)) if (example) samples.push(JSON.stringify(example));
      return value;
    });
    expect(samples.length).toBeGreaterThan(20);
    expect(new Set(samples).size).toBe(samples.length);
  });

  test('declares the parameters of every path, each once', () => {
    onEvery(({ path, parameters }) => {
      const inPath = parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`).toSorted()).toEqual((path.match(/\{\w+\}/g) ?? []).toSorted());
      for (const { required } of inPath) expect(required).toBe(true);
      const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(names).size).toBe(names.length);
    });
  });

  test('has no examples of optional parameters, which its page would insert', () => {
    onEvery(({ parameters }) => {
      for (const parameter of parameters)
        if (parameter.in !== 'path')
          expect([parameter.name, JSON.stringify(parameter)]).toEqual([
            parameter.name,
            expect.not.stringContaining('"example"'),
          ]);
    });
  });

  test('gives every operation one success response, and its errors', () => {
    onEvery(({ responses, path, method, requestBody, operationId }) => {
      // OTLP has one more.
      const statuses = Object.keys(responses).filter((status) => operationId !== OTLP || status !== '503');
      expect(statuses.filter((status) => status < '300')).toHaveLength(1);
      expect(['200', '201', '400', '401', '404', '429', '500']).toEqual(expect.arrayContaining(statuses));
      expect(statuses).toEqual(expect.arrayContaining(['400', '401', '429', '500']));
      if (path.includes('{')) expect(statuses).toContain('404');
      if (method === 'GET') expect(requestBody).toBeUndefined();
    });
  });

  test('says that a message has a role and a content', () => {
    const steps = ['components', 'schemas', 'Message'];
    expect(api.faultOf(steps, { role: 'user', content: 'Hello.' })).toBeNull();
    for (const message of [{ role: 'user' }, { role: 'tool' }, { content: 'Hello.' }])
      expect(api.faultOf(steps, message)).not.toBeNull();
  });

  test('has examples that fit their schemas', () => {
    onEvery((operation) => {
      const json = operation.requestBody?.content['application/json'];
      if (json !== undefined) expect(Object.keys(json.examples ?? {})).not.toEqual([]);
      for (const { value } of Object.values(json?.examples ?? {}))
        expect(api.faultOf(bodySteps(operation), value)).toBeNull();
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const answer = content['application/json'];
        if (answer === undefined) continue;
        const examples = [
          ...('example' in answer ? [answer.example] : []),
          ...Object.values(answer?.examples ?? {}).map(({ value }) => value),
        ];
        expect(examples).not.toEqual([]);
        for (const example of examples) expect(api.faultOf(answerSteps(operation, status), example)).toBeNull();
      }
    });
  });

  test('documents Idempotency-Key on every POST that creates', () => {
    onEvery(({ method, status, path, parameters, operationId }) => {
      // Each sign-in returns a new token, which is not stored, and each program new codes and a key. Submitting a score again replaces
      // it.
      const creates = method === 'POST' && status === '201' && !path.includes('{') && !NOT_BY_KEY.has(operationId);
      if (creates) expect(parameters.map(({ name }) => name)).toContain('Idempotency-Key');
    });
  });

  test('has a part for each tag, whole in itself', async () => {
    const paths = new Set<string>();
    for (const name of new Set(api.operations.flatMap(({ tags }) => tags))) {
      const tag = name.toLowerCase().replaceAll("'", '').replaceAll(' ', '-');
      const response = await fetch(`${service.origin}/openapi.json?tag=${tag}`);
      const text = await response.text();
      const part = JSON.parse(text);
      expect(part.tags).toEqual([expect.objectContaining({ name })]);
      for (const [path, methods] of Object.entries<Record<string, { tags: string[] }>>(part.paths))
        for (const [method, { tags }] of Object.entries(methods)) {
          expect(tags).toEqual([name]);
          paths.add(`${method} ${path}`);
        }
      for (const [, kind = '', component = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"/]+)/g))
        expect(part.components[kind]).toHaveProperty([component]);
    }
    expect(paths.size).toBe(api.operations.length);
    for (const query of ['tag=nothing', 'tag=prompts,datasets', 'tag=']) {
      const refused = await fetch(`${service.origin}/openapi.json?${query}`);
      expect([query, refused.status]).toEqual([query, 400]);
      expect(await refused.text()).toContain('invalid_request');
    }
  });

  test('is the committed openapi.json: npm run openapi makes it again', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/openapi.ts'], { maxBuffer: 2 ** 26 });
    expect(JSON.parse(stdout)).toEqual(await (await fetch(`${service.origin}/openapi.json`)).json());
    const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
    expect(committed === stdout).toBe(true);
  });
});

/** Checks a response against the document. */
function checkAnswer(operation: Operation, { status, body, headers }: Answer) {
  const where = `${operation.method} ${operation.path} ${status}`;
  expect([where, Object.keys(operation.responses)]).toEqual([where, expect.arrayContaining([String(status)])]);
  const type = (headers.get('Content-Type') ?? '').split(';', 1).join('');
  expect([where, Object.keys(operation.responses[String(status)]?.content ?? {})]).toEqual([
    where,
    expect.arrayContaining([type]),
  ]);
  if (type === 'application/json')
    expect([where, api.faultOf(answerSteps(operation, status), body)]).toEqual([where, null]);
  expect(headers.get('X-Request-Id')).not.toBeNull();
  if (status < 400) return;
  if (operation.operationId === OTLP) return expect(body).toMatchObject({ code: expect.any(Number) });
  const documented = Object.keys(operation.responses[String(status)]?.content['application/json']?.examples ?? {});
  expect([where, documented]).toEqual([where, expect.arrayContaining([body.error.code])]);
  expect(Object.entries(STATUS_OF_CODE)).toContainEqual([body.error.code, status]);
}

test('the answer of every operation fits the document', async () => {
  const deletionsLast = api.operations.toSorted(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  );
  const worked: string[] = [];
  for (const operation of deletionsLast) {
    const { method, example, operationId, requestBody } = operation;
    const stream = requestBody !== undefined && example === undefined;
    const body = stream
      ? { raw: '{"variables":{"name":"Bo"}}\n', headers: { 'Content-Type': 'application/x-ndjson' } }
      : // No worker runs here that would end a stream.
        { body: example, headers: { Prefer: 'respond-async' }, leavesStreams: true };
    const path = resources.fill(operation);
    // It ends the key that it is called with.
    const own = operationId === 'revokeCurrentApiKey' ? (await createKey(service, 'read')).key : service.key;
    const key = BY_MEMBER.test(path) ? resources.memberKey : own;
    const answer = await service.call(method, path, { ...body, key });
    checkAnswer(operation, answer);
    if (answer.status < 400) {
      expect([operationId, answer.status]).toEqual([operationId, Number(operation.status)]);
      worked.push(operationId);
    }
    checkAnswer(operation, await service.call(method, path, { ...body, key: null }));
    checkAnswer(operation, await service.call(method, `${path}?no_such_parameter=1`, { ...body, key }));
  }
  expect(worked).toEqual(
    expect.arrayContaining([
      'listPrompts',
      'createPrompt',
      'listPromptVersions',
      'setPromptLabel',
      'removePromptLabel',
      'getPrompt',
      'updatePrompt',
      'archivePrompt',
      'createExecution',
      'listExecutions',
      'getExecution',
      'cancelExecution',
      'getUsage',
      'listApiKeys',
      'listSessions',
      'createApiKey',
      'createMyApiKey',
      'updateMember',
      'getMe',
      'revokeApiKey',
      'createWebhook',
      'listWebhooks',
      'getWebhook',
      'updateWebhook',
      'deleteWebhook',
      'disableWebhook',
      'enableWebhook',
      'rotateWebhookSecret',
      'testWebhook',
      'replayEvents',
      'listDeliveries',
      'getDelivery',
      'listEvents',
      'getEvent',
      'listNotifications',
    ]),
  );
});

describe('outside /v1, without a key', () => {
  const fetchAt = (path: string, init: RequestInit = {}) => fetch(`${service.origin}${path}`, init);

  test('the documentation needs no external resources', async () => {
    const page = await fetchAt('/docs');
    const html = await page.text();
    expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    const references = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, reference = '']) => reference);
    expect(references.length).toBeGreaterThan(2);
    expect(html).not.toMatch(/https?:|\/\/[a-z]/);
    const types: Record<string, string> = { css: 'text/css', js: 'text/javascript' };
    for (const reference of references) {
      const asset = await fetchAt(reference);
      expect([reference, asset.status]).toEqual([reference, 200]);
      expect(asset.headers.get('Content-Type')).toContain(types[reference.split('.').at(-1) ?? '']);
      expect((await asset.text()).length).toBeGreaterThan(50);
    }
    expect(await (await fetchAt('/docs/start.js')).text()).toContain(`'/openapi.json'`);
    expect((await fetchAt('/openapi.json')).headers.get('Content-Type')).toContain('application/json');
  });

  test.each([
    '/docs/package.json',
    '/docs/..%2fpackage.json',
    '/docs/../package.json',
    '/docs/constructor',
    '/docs/__proto__',
    '/v2',
    '/metrics',
    '/%00',
  ])('nothing else exists: %s', async (path) => {
    const answer = await fetchAt(path);
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });

  test.each(['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/swagger-ui.css'])(
    '%s has only GET and HEAD',
    async (path) => {
      expect((await fetchAt(path)).status).toBe(200);
      const head = await fetchAt(path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await fetchAt(path, { method });
        expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
      }
    },
  );

  test('the service says that it is up and ready', async () => {
    expect(await (await fetchAt('/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await fetchAt('/readyz')).json()).toEqual({ status: 'ok', database: 'ok', temporal: 'ok' });
  });

  test('metrics have their own port, and count requests by operation', async () => {
    await service.call('GET', '/prompts/a/b/c');
    const metrics = await serveMetrics(service.dependencies);
    try {
      const answer = await fetch(`http://127.0.0.1:${metrics.port}/metrics`);
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, expect.stringContaining('text/plain')]);
      const text = await answer.text();
      expect(text).toMatch(/pms_http_requests_total\{method="GET",route="[^"]*prompts[^"]*name",status="404"\} [1-9]/);
      expect(text).not.toContain('a/b/c');
      expect(text).toContain('process_cpu_seconds_total');
      const elsewhere = await fetch(`http://127.0.0.1:${metrics.port}/v1/prompts`);
      expect(elsewhere.status).toBe(404);
    } finally {
      await metrics.close(0);
    }
  });
});
