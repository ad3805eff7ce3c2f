import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { z } from 'zod';
import { memberOf } from '../support/members.ts';
import type { TestService } from '../support/service.ts';
import { newSpanId, newTraceId, send, span } from './traces/traces-support.ts';

const Content = z.record(
  z.string(),
  z.looseObject({
    schema: z.unknown().optional(),
    example: z.unknown().optional(),
    examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
  }),
);
const Operation = z.looseObject({
  operationId: z.string(),
  summary: z.string().min(1),
  description: z.string().min(1),
  tags: z.array(z.string()).min(1),
  parameters: z
    .array(
      z.looseObject({ name: z.string(), in: z.enum(['path', 'query', 'header']), required: z.boolean().optional() }),
    )
    .default([]),
  requestBody: z.object({ required: z.boolean(), content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string().min(1), content: Content })),
});
const Document = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  servers: z.array(z.object({ url: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
});

/** One operation of the document the service serves. */
export interface Operation extends z.infer<typeof Operation> {
  method: string;
  path: string;
  /** Its JSON body: the first example. */
  example: unknown;
  status: '200' | '201';
}

/** The document and everything to hold calls against it. */
export interface Api {
  document: z.infer<typeof Document>;
  operations: Operation[];
  /** The schema violation of a JSON value at these steps of the document; null if there is none. */
  faultOf(steps: string[], value: unknown): string | null;
}

/** JSON pointers write `~` and `/` in other ways. */
const pointer = (steps: string[]) =>
  steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

/** The document with references to shared parameters, responses and headers resolved; schemas stay references. */
function expand(value: unknown, document: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => expand(item, document));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value && /^#\/components\/(?!schemas\/)/.test(String(value.$ref))) {
    const steps = String(value.$ref).split('/').slice(1);
    return expand(
      steps.reduce<unknown>((at, step) => Object(at)[step], document),
      document,
    );
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item, document)]));
}

/** Reads the document that the service serves. */
export async function readApi(origin: string): Promise<Api> {
  const served: unknown = await (await fetch(`${origin}/openapi.json`)).json();
  const json = expand(served, served);
  const document = Document.parse(json);
  // There are many schemas, each used only a few times: compiling them takes most of the time.
  const quickToCompile = { inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, ...quickToCompile });
  ajvFormats.default(ajv);
  ajv.addSchema({ $id: 'api:document', ...z.record(z.string(), z.unknown()).parse(json) });
  return {
    document,
    operations: Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
        example: Object.values(operation.requestBody?.content['application/json']?.examples ?? {})[0]?.value,
        status: '201' in operation.responses ? '201' : '200',
      })),
    ),
    faultOf(steps, value) {
      const reference = `api:document#${pointer(steps)}`;
      const validate = ajv.getSchema(reference) ?? ajv.compile({ $ref: reference });
      return validate(value) === true ? null : ajv.errorsText(validate.errors);
    },
  };
}

/** The location of an operation's JSON body in the document. */
export const bodySteps = ({ path, method }: Operation) => [
  'paths',
  path,
  method.toLowerCase(),
  'requestBody',
  'content',
  'application/json',
  'schema',
];

/** The location of an operation's JSON response with a status in the document. */
export const answerSteps = ({ path, method }: Operation, status: number | string) => [
  'paths',
  path,
  method.toLowerCase(),
  'responses',
  String(status),
  'content',
  'application/json',
  'schema',
];

/** A resource of the first workspace for every path parameter, created through the API with the documented examples. */
export interface Resources {
  /** The operation's path with its parameters filled in. */
  fill(operation: Operation, encode?: (value: string) => string): string;
  /** Ids that no other workspace may ever see. */
  ids: string[];
  /** A personal key, for the operations of {@link BY_MEMBER}. */
  memberKey: string;
}

/** Operations with a credential other than a key in `Authorization`. */
export const NOT_BY_KEY: ReadonlySet<string> = new Set([
  'createSession',
  'createFeedback',
  'createDeviceAuthorization',
  'createDeviceKey',
]);

/** Operations that require a session: a key gets a 400 that says so. */
export const BY_SESSION: ReadonlySet<string> = new Set([
  'getDeviceAuthorization',
  'approveDeviceAuthorization',
  'denyDeviceAuthorization',
]);

/** Paths of operations that are only for members. */
export const BY_MEMBER = /^\/me\/api-keys/;

/** The meaning of a name in the path of a collection, if it is not the prompt's. */
const NAMES: Record<string, string> = {
  '/datasets': 'support/questions',
  '/views': 'What failed',
  '/saved-evaluators': 'tone',
  '/conversations': 'chat-17',
  '/providers': 'nowhere',
};

/** Creates one of everything that a path can name: the result of `POST /things` is used for `/things/{id}`. */
export async function createResources(service: TestService, api: Api): Promise<Resources> {
  const nameIn = (collection: string) => NAMES[collection] ?? 'support/greeting';
  const ids = new Map<string, string>();
  const prompt = api.operations.find(({ operationId }) => operationId === 'createPrompt')?.example;
  // The examples speak of version 3.
  for (let version = 1; version <= 3; version++) await service.call('POST', '/prompts', { body: prompt });
  await service.call('PUT', `/prompts/${nameIn('/prompts')}/labels/production`, { body: { version: 1 } });
  await service.call('PUT', `/prompts/${nameIn('/prompts')}/labels/live`, { body: { version: 1 } });
  for (const { method, path, requestBody } of api.operations) {
    const type = Object.keys(requestBody?.content ?? {})[0];
    if (method !== 'PUT' || type === undefined || type === 'application/json') continue;
    const raw = '{"id":"greeting-1","variables":{"name":"Ada"},"expected":"Hello Ada!"}\n';
    await service.call('PUT', path.replace('{name}', nameIn(path.replace(/\/\{.*$/, ''))), {
      raw,
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
  }
  await service.call('PUT', '/datasets/support/tickets', {
    raw: Array.from({ length: 160 }, (_, at) => `{"variables":{"name":"${at}"},"expected":"Hello ${at}!"}`).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  // As the examples are, too.
  const monitor = api.operations.find(({ operationId }) => operationId === 'setMonitor')?.example;
  await service.call('PUT', `/monitors/${nameIn('/monitors')}`, { body: monitor });
  // A sign-in needs a key that there is.
  const session = await service.call('POST', '/session', { body: { key: service.key }, key: null });
  ids.set('/sessions', session.body.id);
  const device = await service.call('POST', '/device/authorizations', { body: { client: 'pms' }, key: null });
  ids.set('/device/authorizations', device.body.user_code);
  ids.set('/members', (await memberOf(service, 'viewer')).id);
  const { key: memberKey } = await memberOf(service, 'admin');
  for (const { method, path, example, operationId, status: created } of api.operations) {
    if (
      NOT_BY_KEY.has(operationId) ||
      method !== 'POST' ||
      created !== '201' ||
      path.includes('{') ||
      path === '/prompts'
    )
      continue;
    // Examples about an execution use the one that was created.
    const ownExample: unknown = JSON.parse(
      JSON.stringify(example)
        .replaceAll(/exec_[0-9a-f-]{36}/g, ids.get('/executions') ?? '')
        // There are no providers.
        .replaceAll('openai/gpt-4.1', 'sandbox/echo'),
    );
    const { status, body } = await service.call('POST', path, {
      body: ownExample,
      headers: { Prefer: 'respond-async' },
      ...(BY_MEMBER.test(path) && { key: memberKey }),
    });
    if (status !== 201) throw new Error(`The example of ${operationId} does not work: ${JSON.stringify(body)}`);
    const made = body.id ?? body.ids?.[0] ?? body.token;
    // A suggestion is not a resource.
    if (made !== undefined) ids.set(path, made);
  }
  await service.call('PUT', `/queues/${nameIn('/queues')}`, { body: { score_names: ['helpful'] } });
  await service.call('POST', `/queues/${nameIn('/queues')}/items`, {
    body: { execution_ids: [ids.get('/executions')] },
  });
  const items = await service.call('GET', `/queues/${nameIn('/queues')}/items`);
  ids.set('/queues', items.body.data[0].id);
  // Resources without a collection to post to are created by name.
  const example = (id: string) => api.operations.find(({ operationId }) => operationId === id)?.example;
  const rule = `/rules/${encodeURIComponent(nameIn('/rules'))}`;
  await service.call('PUT', rule, { body: example('setRule') });
  const backfill = await service.call('POST', `${rule}/backfill`, { body: example('createBackfill') });
  ids.set('/rules', backfill.body.id);
  // These are not created by a POST: an event, and a delivery.
  const [events, test] = [
    await service.call('GET', '/events?limit=1'),
    await service.call('POST', `/webhooks/${ids.get('/webhooks')}/test`, { headers: { Prefer: 'respond-async' } }),
  ];
  ids.set('/events', events.body.data[0].id);
  ids.set('/deliveries', test.body.id);
  const [traceId, spanId] = [newTraceId(), newSpanId()];
  const step = span({ traceId, id: spanId, attributes: { 'session.id': nameIn('/conversations'), 'user.id': 'ada' } });
  await send(service.call, [step]);
  ids.set('/traces', traceId);
  return {
    fill({ path }, encode = encodeURIComponent) {
      const collection = path.replace(/\/\{.*$/, '');
      const values: Record<string, string | undefined> = {
        name: nameIn(collection),
        label: 'production',
        seq: '0',
        number: '1',
        version: '2',
        span_id: spanId,
      };
      return path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
        const value = values[parameter] ?? ids.get(collection);
        if (value === undefined) throw new Error(`Nothing was made for {${parameter}} of ${path}.`);
        return encode(value);
      });
    },
    ids: [...ids.values()],
    memberKey,
  };
}
