import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Api,
  BY_MEMBER,
  BY_SESSION,
  bodySteps,
  createResources,
  type Operation,
  type Resources,
  readApi,
} from '../api/operations.ts';
import {
  HOSTILE_BODIES,
  HOSTILE_HEADERS,
  HOSTILE_QUERY_VALUES,
  HOSTILE_SEGMENTS,
  HOSTILE_VALUES,
  type Place,
  placesIn,
  valuesFor,
  withValueAt,
} from '../api/robustness/hostile.ts';
import { browserHeaders } from '../support/members.ts';
import { type Answer, type Call, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let api: Api;
let resources: Resources;
let feedbackToken: string;
let byBrowser: Record<string, string>;
beforeAll(async () => {
  // No workspace could send this many concurrent uploads, but here only their content should be rejected.
  service = await startTestService({ QUOTA_UPLOADS: String(2 * AT_ONCE) }, { workers: false });
  api = await readApi(service.origin);
  resources = await createResources(service, api);
  const createToken = api.operations.find(({ operationId }) => operationId === 'createFeedbackToken');
  if (createToken === undefined) throw new Error('Nothing makes feedback tokens.');
  const { body } = await service.call('POST', resources.fill(createToken), { body: createToken.example });
  feedbackToken = body.token;
  const session = await service.call('POST', '/session', { key: null, body: { key: service.key } });
  byBrowser = browserHeaders(/pms_session=([^;]+)/.exec(session.headers.get('Set-Cookie') ?? '')?.[1] ?? '');
});
afterAll(() => service?.stop());

/**
 * Calls the API. Reads only the head of a stream: no worker runs here that would end it. Feedback uses a token instead of the key, and
 * device approval a session.
 */
const call: Call = (method, path, options) =>
  service.call(method, path, {
    ...(/^\/feedback(?!-)/.test(path) && { key: feedbackToken }),
    ...(BY_MEMBER.test(path) && { key: resources.memberKey }),
    ...options,
    ...(/^\/device\/authorizations\/./.test(path) && { key: null, headers: { ...byBrowser, ...options?.headers } }),
    leavesStreams: true,
  });

const STATUSES = [200, 201, 400, 401, 404, 429];
const INTERNALS =
  /node_modules|\.[jt]s:\d|\bat \w+ \(|SQLSTATE|syntax error at|relation "|ECONN|ENOENT|grpc|127\.0\.0\.1|Cannot read|is not a function|Invalid (regular|input|option|key)|Too (big|small): |expected \w+, received/i;
const MAX_ERROR_CHARS = 20_000;

/** The problem with the response to a bad request; undefined if there is none. */
function problemOf({ status, headers, body }: Answer): string | undefined {
  const text = JSON.stringify(body);
  // It was accepted; OpenAI's format has no other way to say so.
  if (body.error?.message?.includes('is still running')) return undefined;
  if (!STATUSES.includes(status)) return `status ${status}: ${text.slice(0, 300)}`;
  if (headers.get('X-Request-Id') === null) return 'no X-Request-Id';
  if (status < 400) return undefined;
  if (headers.get('Content-Type') !== 'application/json; charset=utf-8') return `type ${headers.get('Content-Type')}`;
  if (typeof body.error?.code !== 'string' || typeof body.error.message !== 'string')
    return `form ${text.slice(0, 300)}`;
  if (INTERNALS.test(text)) return `shows ${text.slice(0, 300)}`;
  if (text.length > MAX_ERROR_CHARS) return `an error of ${text.length} characters`;
  return undefined;
}

/** One bad request. `refused`: nothing but 400 will do. `isKnown`: another operation refused the same, with the same code. */
interface Attempt {
  what: string;
  refused: boolean;
  isKnown?: () => boolean;
  send: () => Promise<Answer>;
}

/** Many: each accepted execution waits up to a second for its start, because no worker starts those before it. */
const AT_ONCE = 64;

/** Makes all attempts with limited concurrency. @returns the problems */
async function problemsOf(attempts: Attempt[]): Promise<string[]> {
  const problems: string[] = [];
  const waiting = attempts.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const { what, refused, isKnown, send } of waiting) {
        if (isKnown?.()) continue;
        const answer = await send();
        const problem =
          problemOf(answer) ?? (refused && answer.status !== 400 ? `was taken: ${answer.status}` : undefined);
        if (problem !== undefined) problems.push(`${what}: ${problem}`);
      }
    }),
  );
  return problems;
}

/** A HEAD request, whose response has no body. */
async function head(path: string): Promise<Answer> {
  const { status, headers } = await fetch(`${service.origin}/v1${path}`, {
    method: 'HEAD',
    headers: { Authorization: `Bearer ${service.key}` },
  });
  return { status, headers, body: { error: { code: '', message: '' } } };
}

/** Whether a path is one of a path with parameters. */
function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/{}]+');
  return new RegExp(`^${pattern}$`).test(path);
}

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
/** By the rules of OTLP, unknown fields are ignored, and errors have another form: `api/traces/ingest.test.ts`. */
const OTLP = 'ingestTraces';
const takesJson = () =>
  api.operations.filter(
    ({ requestBody, operationId }) => requestBody?.content['application/json'] !== undefined && operationId !== OTLP,
  );
/** Nothing waits for a model here. */
const ASYNC = { Prefer: 'respond-async' };

/** What was tested, by position in a named schema. */
const asked = new Set<string>();
/**
 * Refusals are tested once for each field of the same name and schema, and below the fields once for each named schema: operations that
 * share it parse it with the same code.
 */
function isAsked({ steps, within, schemas }: Place, name: string, isRefused: () => boolean): boolean {
  const keys =
    steps.length === 1 ? [`${steps[0]} ${schemas.join(' ')}: ${name}`] : within.map((place) => `${place}: ${name}`);
  const isNew = keys.some((key) => !asked.has(key));
  for (const key of keys) asked.add(key);
  return !isNew && isRefused();
}

describe('bodies', () => {
  test('with any value in any field are taken or refused, by the documented schema', async () => {
    const attempts = takesJson().flatMap((operation) =>
      placesIn(api.document, operation.requestBody?.content['application/json']?.schema).flatMap((place) =>
        valuesFor(place.steps).flatMap(([name, value]): Attempt[] => {
          // Created lazily because there are many large ones.
          const body = () => withValueAt(operation.example, place.steps, value);
          const isRefused = () => api.faultOf(bodySteps(operation), JSON.parse(JSON.stringify(body()))) !== null;
          if (isAsked(place, name, isRefused)) return [];
          return [
            {
              what: `${nameOf(operation)} with ${name} as ${place.steps.join('.')}`,
              get refused() {
                return isRefused();
              },
              send: () => call(operation.method, resources.fill(operation), { body: body(), headers: ASYNC }),
            },
          ];
        }),
      ),
    );
    expect(attempts.length).toBeGreaterThan(500);
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test('with NUL, half a surrogate pair or deep nesting anywhere are refused', async () => {
    const attempts = takesJson().flatMap((operation) =>
      placesIn(api.document, operation.requestBody?.content['application/json']?.schema).flatMap((place) =>
        HOSTILE_VALUES.filter(
          ([name]) =>
            ['NUL', 'half a surrogate pair', 'deep nesting'].includes(name) &&
            !isAsked(place, `${name} everywhere`, () => true),
        ).map(
          ([name, value]): Attempt => ({
            what: `${nameOf(operation)} with ${name} as ${place.steps.join('.')}`,
            refused: true,
            send: () =>
              call(operation.method, resources.fill(operation), {
                body: withValueAt(operation.example, place.steps, value),
                headers: ASYNC,
              }),
          }),
        ),
      ),
    );
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test('with __proto__ or an unknown name in any object are refused, naming it', async () => {
    const attempts = takesJson().flatMap((operation) =>
      ['"__proto__":{"a":1}', '"no_such_field":1'].map((field): Attempt => {
        const json = JSON.stringify(operation.example);
        return {
          what: `${nameOf(operation)} with ${field}`,
          refused: true,
          async send() {
            const raw = json === '{}' ? `{${field}}` : `{${field},${json.slice(1)}`;
            const answer = await call(operation.method, resources.fill(operation), {
              raw,
              headers: { 'Content-Type': 'application/json' },
            });
            expect(answer.body.error.details.map(({ path }: { path: string }) => path)).toEqual([field.split('"')[1]]);
            return answer;
          },
        };
      }),
    );
    expect(attempts.length).toBeGreaterThan(10);
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test('without a JSON object are refused', async () => {
    const attempts = takesJson().flatMap((operation) =>
      HOSTILE_BODIES.map(
        ([name, raw]): Attempt => ({
          what: `${nameOf(operation)} with ${name}`,
          refused: raw !== '' || operation.requestBody?.required === true,
          send: () =>
            call(operation.method, resources.fill(operation), {
              raw,
              headers: { 'Content-Type': 'application/json', ...ASYNC },
            }),
        }),
      ),
    );
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test('without the type JSON are refused', async () => {
    const attempts = takesJson().flatMap((operation) =>
      HOSTILE_HEADERS.map(
        ([name, headers]): Attempt => ({
          what: `${nameOf(operation)} as ${name}`,
          refused: true,
          send: () =>
            call(operation.method, resources.fill(operation), {
              raw: JSON.stringify(operation.example),
              headers,
            }),
        }),
      ),
    );
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test('that are streamed are taken or refused, whatever they are', async () => {
    const streamed = api.operations.filter(
      ({ requestBody, example }) => requestBody !== undefined && example === undefined,
    );
    const attempts = streamed.flatMap((operation) =>
      Object.keys(operation.requestBody?.content ?? {}).flatMap((type) => [
        ...HOSTILE_BODIES.map(
          ([name, raw]): Attempt => ({
            what: `${nameOf(operation)} with ${name} as ${type}`,
            refused: false,
            send: () => call(operation.method, resources.fill(operation), { raw, headers: { 'Content-Type': type } }),
          }),
        ),
        ...HOSTILE_VALUES.map(
          ([name, value]): Attempt => ({
            what: `${nameOf(operation)} with ${name} as a variable as ${type}`,
            refused: false,
            send: () =>
              call(operation.method, resources.fill(operation), {
                raw: `${JSON.stringify({ variables: { x: value } })}\n`,
                headers: { 'Content-Type': type },
              }),
          }),
        ),
      ]),
    );
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test('are refused if none is expected, unless empty', async () => {
    const bodiless = api.operations.filter(({ requestBody, method }) => requestBody === undefined && method !== 'GET');
    const attempts = bodiless.map(
      (operation): Attempt => ({
        what: nameOf(operation),
        refused: true,
        send: () => call(operation.method, resources.fill(operation), { body: { force: true } }),
      }),
    );
    expect(attempts.length).toBeGreaterThan(4);
    expect(await problemsOf(attempts)).toEqual([]);
    expect((await call('POST', '/prompts/support/greeting/restore', { body: {} })).status).toBe(200);
    expect((await call('POST', '/prompts/support/greeting/restore', { raw: '' })).status).toBe(200);
  });

  test('too large are refused as such', async () => {
    for (const operation of takesJson()) {
      const body = { ...Object(operation.example), padding: 'x'.repeat(5 * 1024 * 1024) };
      const answer = await call(operation.method, resources.fill(operation), { body });
      expect([nameOf(operation), answer.status, answer.body.error.code]).toEqual([
        nameOf(operation),
        400,
        'payload_too_large',
      ]);
    }
  });
});

describe('queries', () => {
  const queryOf = ({ parameters }: Operation) =>
    parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);

  test('with any value in any parameter are taken or refused', async () => {
    const refused = new Set<string>();
    const attempts = api.operations.flatMap((operation) =>
      operation.parameters
        .filter((parameter) => parameter.in === 'query')
        .flatMap((parameter) =>
          HOSTILE_QUERY_VALUES.map((value): Attempt => {
            const { name, schema } = parameter;
            const asked = `${name} ${JSON.stringify(schema)} ${value}`;
            return {
              what: `${nameOf(operation)}?${name}=${value.slice(0, 40)}`,
              refused: name === 'limit',
              isKnown: () => refused.has(asked),
              async send() {
                const answer = await call(operation.method, `${resources.fill(operation)}?${name}=${value}`, {
                  body: operation.example,
                });
                if (answer.status === 400) refused.add(asked);
                return answer;
              },
            };
          }),
        ),
    );
    expect(attempts.length).toBeGreaterThan(300);
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test('with unknown or repeated parameters are refused, naming them', async () => {
    const attempts = api.operations.flatMap((operation) =>
      operation.operationId === OTLP
        ? []
        : [
            ...['no_such', '__proto__', 'constructor', 'toString', 'limit[]', 'a.b'].map((name) => [name, `${name}=1`]),
            ...queryOf(operation)
              // Conditions on scores and metadata are repeatable.
              .filter((name) => name !== 'score' && name !== 'metadata')
              .map((name) => [name, `${name}=1&${name}=1`]),
          ].map(
            ([name = '', query]): Attempt => ({
              what: `${nameOf(operation)}?${query}`,
              refused: true,
              async send() {
                const answer = await call(operation.method, `${resources.fill(operation)}?${query}`, {
                  body: operation.example,
                });
                // A required parameter may be invalid, too.
                const details: { path: string }[] = answer.body.error?.details ?? [];
                if (!details.some(({ path }) => path === name)) return { ...answer, status: 999 };
                return answer;
              },
            }),
          ),
    );
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test.each(['0', '1001', '-1', 'abc', '1e2', '1.0', '0x10', '%205', '5%20', '+5', '05', ''])(
    'a limit of "%s" is refused',
    async (limit) => {
      // A page of steps has up to 10,000.
      const lists = api.operations.filter(
        (operation) =>
          queryOf(operation).includes('limit') && !(operation.operationId === 'listTraceSteps' && limit === '1001'),
      );
      for (const operation of lists) {
        const answer = await call('GET', `${resources.fill(operation)}?limit=${limit}`);
        expect([operation.path, answer.status, answer.body.error?.details?.[0].path]).toEqual([
          operation.path,
          400,
          'limit',
        ]);
      }
    },
  );

  test('limits of 1 and 1000 are taken', async () => {
    for (const limit of ['1', '1000']) expect((await call('GET', `/prompts?limit=${limit}`)).status).toBe(200);
  });
});

describe('paths', () => {
  test('with anything in them are taken or refused', async () => {
    const named = api.operations.filter(({ path }) => path.includes('{'));
    const attempts = named.flatMap((operation) =>
      HOSTILE_SEGMENTS.map(
        (segment): Attempt => ({
          what: `${nameOf(operation)} with ${segment.slice(0, 40)}`,
          // An invalid id refers to nothing.
          refused: /^%(00|ff|zz|ED.*)?$/.test(segment) && /\{name\}(?!.*\{id\})/.test(operation.path),
          send: () =>
            call(
              operation.method,
              resources.fill(operation, () => segment),
              { body: operation.example },
            ),
        }),
      ),
    );
    expect(attempts.length).toBeGreaterThan(300);
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test.each([
    '',
    '/',
    '//prompts',
    '/prompts/',
    '/Prompts',
    '/prompts//',
    '/nothing',
    '/prompt',
    '/prompts%2Fx%2F',
    '/..%2fhealthz',
    '/\u00e9',
    '/%E2%98%83',
  ])('are unknown: /v1%s', async (path) => {
    const answer = await call('GET', path);
    expect(problemOf(answer)).toBeUndefined();
    expect([400, 404]).toContain(answer.status);
  });

  test('support only the documented methods, and HEAD if there is GET', async () => {
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    const byPath = Map.groupBy(api.operations, ({ path }) => path);
    const attempts = [...byPath].flatMap(([path, [operation, ...others]]) => {
      if (operation === undefined) return [];
      // `/prompts/resolve` is also the path of a prompt of that name.
      const alike = api.operations.filter((other) => matches(other.path, path));
      const known = [operation, ...others, ...alike].map(({ method }) => method);
      return methods
        .filter((method) => !known.includes(method) && !(method === 'HEAD' && known.includes('GET')))
        .map(
          (method): Attempt => ({
            what: `${method} ${path}`,
            refused: true,
            send: () => (method === 'HEAD' ? head(resources.fill(operation)) : call(method, resources.fill(operation))),
          }),
        );
    });
    expect(attempts.length).toBeGreaterThan(50);
    expect(await problemsOf(attempts)).toEqual([]);
  });

  test('answer HEAD like GET, without the body', async () => {
    const readable = api.operations.filter(
      ({ method, operationId }) => method === 'GET' && !BY_SESSION.has(operationId),
    );
    for (const operation of readable) {
      const path = resources.fill(operation);
      const get = await service.call('GET', path, { leavesStreams: true });
      const without = await head(path);
      expect([path, without.status, without.headers.get('Content-Type')]).toEqual([
        path,
        get.status,
        get.headers.get('Content-Type'),
      ]);
    }
  });
});

describe('headers', () => {
  test('a valid X-Request-Id is returned, others are replaced', async () => {
    const idOf = async (id: string) =>
      (await call('GET', '/prompts', { headers: { 'X-Request-Id': id } })).headers.get('X-Request-Id');
    expect(await idOf('trace-1/a.b:c_d=')).toBe('trace-1/a.b:c_d=');
    for (const id of ['', 'a b', '<script>', 'x'.repeat(129), '\u00e9', '"', 'a,b'])
      expect(await idOf(id)).toMatch(/^req_[0-9a-f-]{36}$/);
  });

  test('odd ones change nothing', async () => {
    const odd: Record<string, string>[] = [
      { Accept: 'text/html' },
      { 'Accept-Encoding': 'nonsense' },
      { 'If-None-Match': '*' },
      { Range: 'bytes=0-1' },
      { Origin: 'https://elsewhere.test' },
      { Cookie: 'a=b' },
      { 'X-HTTP-Method-Override': 'DELETE' },
      { 'X-Forwarded-For': 'x'.repeat(5_000) },
      { Prefer: ',;=,,wait' },
    ];
    for (const headers of odd) {
      const answer = await call('GET', '/prompts/support/greeting', { headers });
      expect([headers, answer.status, answer.body.name]).toEqual([headers, 200, 'support/greeting']);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
    }
  });

  test('no proxy may store what a key has read', async () => {
    const answer = await call('GET', '/prompts');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
  });
});
