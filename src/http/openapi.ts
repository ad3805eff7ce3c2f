import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { DECLARATIONS } from '../domain/capabilities.ts';
import { merge } from '../domain/capability.ts';
import { ApiError, ERROR_CODES, type ErrorCode } from '../domain/errors.ts';
import { SCOPES } from '../domain/scopes.ts';
import { CONSOLE_HEADER } from './credentials.ts';
import { MAX_BODY_BYTES } from './json-body.ts';
import { errorBody } from './middleware/error-responses.ts';
import { adaptForGenerators } from './openapi-generators.ts';
import { type ErrorFormat, type Route, scopesOf } from './route.ts';
import { SESSION_COOKIE } from './session-cookie.ts';
import { STATUS_OF_CODE } from './status.ts';

const ErrorResponse = z
  .object({
    error: z.object({
      code: z.enum(ERROR_CODES),
      message: z.string().meta({ description: 'A description of the error and of how to fix it.' }),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .meta({ description: 'The invalid fields.' }),
    }),
  })
  .meta({ id: 'Error' });
const OWN_FORMAT: ErrorFormat = { name: '', schema: ErrorResponse, present: errorBody };

const ALWAYS: ErrorCode[] = [
  'unauthorized',
  'insufficient_scope',
  'rate_limited',
  'internal_error',
  'temporarily_unavailable',
];

const EXAMPLE_MESSAGES: Record<ErrorCode, string> = {
  invalid_request: 'variables.name: is missing: the template needs it',
  payload_too_large: `The body is too large: send at most ${MAX_BODY_BYTES} bytes.`,
  prompt_archived: 'The prompt "support/greeting" is archived. Restore it to run it.',
  version_conflict: 'The prompt "support/greeting" is now at version 4, but this change is based on version 3.',
  idempotency_key_reused: 'This Idempotency-Key was used for another request.',
  invalid_state: 'This execution has ended as completed: there is nothing to cancel.',
  authorization_pending: 'No decision yet. Poll again after the interval.',
  slow_down: 'Polling too fast: wait 10 seconds between requests from now on.',
  denied: 'The request was denied.',
  expired: 'This device code is unknown, used or expired. Start again.',
  unauthorized: 'This API key is unknown, revoked or expired.',
  insufficient_scope: 'This key lacks the scope "write", which this operation needs.',
  not_found: 'The prompt "support/greeting" does not exist in this workspace.',
  rate_limited: 'This key has used up its 1200 requests a minute. Try again in 12 s.',
  quota_exceeded: 'The quota of this workspace is used up.',
  internal_error: 'Internal error.',
  temporarily_unavailable: 'The service is temporarily unavailable. Try again in a few seconds.',
};

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request is invalid; the message says what to change.',
  401: 'The key is missing, unknown, revoked or expired, or lacks the scope.',
  404: 'Not found in this workspace.',
  429: 'Too many requests; `Retry-After` says when to try again.',
  500: 'An error in the service. Nothing from this request will run.',
  503: 'The service is busy or temporarily unavailable; `Retry-After` says when to try again.',
};

/** Descriptions of the tags. */
const TAGS: Record<string, string> = merge(DECLARATIONS, 'tags');

/** Components that operations share. */
interface Shared {
  /** By name. */
  responses: Map<string, ZodOpenApiResponseObject>;
  /** Example names by JSON. */
  examples: Map<string, string>;
}

/** Names of the components for error responses; codes specific to some operations are appended. */
const NAMES: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  404: 'NotFound',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};
const IN_EVERY_NAME = new Set<ErrorCode>([...ALWAYS, 'invalid_request', 'not_found']);

const WholeNumber = z.int().nonnegative();
const HEADERS = z.object({
  'X-Request-Id': z.string().meta({
    description: 'The id of this request, as in the log.',
    header: { id: 'X-Request-Id' },
  }),
  'RateLimit-Limit': WholeNumber.optional().meta({
    description: 'Requests per minute. The three headers are absent if there is no limit.',
    header: { id: 'RateLimit-Limit' },
  }),
  'RateLimit-Remaining': WholeNumber.optional().meta({
    description: 'The number of requests left.',
    header: { id: 'RateLimit-Remaining' },
  }),
  'RateLimit-Reset': WholeNumber.optional().meta({
    description: 'Seconds until the limit is fully restored.',
    header: { id: 'RateLimit-Reset' },
  }),
});
const WITH_RETRY_AFTER = HEADERS.extend({
  'Retry-After': WholeNumber.meta({ description: 'Seconds to wait.', header: { id: 'Retry-After' } }),
});
const ERROR_HEADERS: Record<number, z.ZodObject> = { 429: WITH_RETRY_AFTER, 503: WITH_RETRY_AFTER };

/** Errors that an operation can return, in the order of `ERROR_CODES`. */
function errorCodesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([...ALWAYS, ...(route.errors ?? [])]);
  codes.add('invalid_request');
  if (route.body !== undefined && route.body !== 'stream') codes.add('payload_too_large');
  if (route.params) codes.add('not_found');
  if (route.idempotent) codes.add('idempotency_key_reused');
  return ERROR_CODES.filter((code) => codes.has(code));
}

function exampleMessage(code: ErrorCode, { maxBodyBytes = MAX_BODY_BYTES }: Route): string {
  return EXAMPLE_MESSAGES[code].replace(String(MAX_BODY_BYTES), String(maxBodyBytes));
}

function nameOf(status: number, codes: ErrorCode[], { errorFormat, maxBodyBytes = MAX_BODY_BYTES }: Route): string {
  const words = (text: string) => text.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const added = codes
    .filter((code) => !IN_EVERY_NAME.has(code))
    .map((code) =>
      code === 'payload_too_large' && maxBodyBytes !== MAX_BODY_BYTES ? `PayloadOver${maxBodyBytes}Bytes` : words(code),
    );
  return [`${(errorFormat ?? OWN_FORMAT).name}${NAMES[status]}`, ...added].join('Or');
}

/** @param shared the components created so far, by name */
function errorResponses(route: Route, shared: Shared['responses']) {
  const { schema, present, statusOf }: ErrorFormat = route.errorFormat ?? OWN_FORMAT;
  const byStatus = Map.groupBy(errorCodesOf(route), (code): number => statusOf?.(code) ?? STATUS_OF_CODE[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const id = nameOf(status, codes, route);
      const response = shared.get(id) ?? {
        id,
        description: DESCRIPTIONS[status] ?? '',
        headers: ERROR_HEADERS[status] ?? HEADERS,
        content: {
          'application/json': {
            schema,
            examples: Object.fromEntries(
              codes.map((code) => [code, { value: present(new ApiError(code, exampleMessage(code, route))) }]),
            ),
          },
        },
      };
      shared.set(id, response);
      return [String(status), response];
    }),
  );
}

function objectOrNone(schema: z.ZodType | undefined): z.ZodObject | undefined {
  return schema instanceof z.ZodObject ? schema : undefined;
}

const IdempotencyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .max(255)
    .optional()
    .meta({
      description: 'A repeated request with the same key returns the first response again, for 24 hours.',
      param: { id: 'Idempotency-Key' },
    }),
});

function accessOf(route: Route): string {
  if (route.keyOf) return 'Send the key in the body: no other credential is needed.';
  if (route.withoutKey) return 'Needs no key. Requests are limited by address.';
  if (route.workspaceOfToken)
    return 'Needs no key, but a token in `Authorization: Bearer <token>`. Pages of any origin can call it.';
  if (route.bySession) return 'Needs a console session with any scopes; a key is not enough.';
  const scopes = scopesOf(route);
  if (scopes.length === SCOPES.length) return 'Needs a key with any scopes.';
  const also = route.alsoScope === undefined ? '' : `, and with \`${route.alsoScope}\``;
  const hidden = Object.keys(route.withoutRead ?? {}).map((field) => `\`${field}\``);
  const shown =
    hidden.length === 0
      ? ''
      : ` Without \`read\`, ${hidden.join(', ')} ${hidden.length === 1 ? 'is' : 'are'} hidden (null or empty).`;
  return `Needs a key with the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}${also}.${shown}`;
}

function auditOf({ audit }: Route): string | undefined {
  if (audit === undefined || audit === 'none') return undefined;
  return `Audited as ${audit.map((action) => `\`${action}\``).join(' or ')}.`;
}

/** Names of the examples shared by several operations, by their JSON: the schema's name, if unused. */
function sharedExamples(routes: Route[]): Shared['examples'] {
  const names = new Map<string, string>();
  for (const [json, [route, another]] of Map.groupBy(routes, jsonExample)) {
    const taken = new Set(names.values());
    const [name] = [route?.response.meta()?.id, route?.operationId].filter((each) => each && !taken.has(each));
    if (another && name) names.set(json, name);
  }
  return names;
}

const jsonExample = ({ responseExample }: Route) => JSON.stringify(responseExample);

function exampleOf(route: Route, shared: Shared['examples']) {
  const name = shared.get(jsonExample(route));
  return name === undefined
    ? { example: route.responseExample }
    : { examples: { [name]: { $ref: `#/components/examples/${name}` } } };
}

/** The content types of a request's body. */
function contentOf({ body, binary, accepts = [], bodyExamples = {} }: Route) {
  const schema = binary ?? (body === 'stream' ? undefined : body);
  const examples = Object.fromEntries(Object.entries(bodyExamples).map(([title, value]) => [title, { value }]));
  return {
    ...(schema && { 'application/json': { schema, examples } }),
    ...Object.fromEntries(
      accepts.filter((type) => type !== 'application/json' || !schema).map((type) => [type, { schema: z.string() }]),
    ),
  };
}

function operationOf(route: Route, shared: Shared): ZodOpenApiOperationObject {
  const path = objectOrNone(route.params);
  const query = objectOrNone(route.query);
  const otherContentTypes = route.otherContentTypes ?? [];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, accessOf(route), auditOf(route)].filter(Boolean).join('\n\n'),
    ...((route.keyOf ?? route.workspaceOfToken ?? route.withoutKey) && { security: [] }),
    ...(route.bySession && { security: [{ session: [] }] }),
    requestParams: {
      ...(path && { path }),
      ...(query && { query }),
      ...((route.idempotent || route.headers) && {
        header: z.object({ ...(route.idempotent ? IdempotencyHeader.shape : {}), ...route.headers?.shape }),
      }),
    },
    ...(route.body !== undefined && {
      requestBody: {
        required: !route.bodyOptional,
        content: contentOf(route),
      },
    }),
    responses: {
      [String(route.status ?? 200)]: {
        description: route.status === 201 ? 'Created.' : 'Done.',
        content: {
          [route.responseContentType ?? 'application/json']: {
            schema: route.response,
            ...exampleOf(route, shared.examples),
          },
          ...Object.fromEntries(otherContentTypes.map((type) => [type, { schema: z.string() }])),
        },
      },
      ...errorResponses(route, shared.responses),
    },
  };
}

type Parameter = NonNullable<NonNullable<ReturnType<typeof createDocument>['components']>['parameters']>[string];

/** Keeps a parameter's description in one place. The page at /docs fills in examples, which would make a filtered list empty. */
function simplify(parameter: Parameter): void {
  if (!('in' in parameter) || typeof parameter.schema !== 'object') return;
  const { schema } = parameter;
  if ('description' in schema && schema.description === parameter.description) delete schema.description;
  if (parameter.in !== 'path' && 'example' in schema) delete schema.example;
}

/** Drops what zod generates but callers cannot use: the bounds of JavaScript integers, and long patterns of formats. */
export const withoutNoise: ZodOpenApiOverride = ({ jsonSchema }) => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
};

/** The OpenAPI 3.1 document, generated from the schemas that validate requests. */
export function openApiDocument(routes: Route[], version: string) {
  const paths: ZodOpenApiPathsObject = {};
  const shared: Shared = { responses: new Map(), examples: sharedExamples(routes) };
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route, shared) };
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Prompt Management Service',
        version,
        description:
          'Named, versioned prompts; runs with their tokens, cost and latency; evaluations. ' +
          'Statuses are only 200, 201, 400, 401, 404, 429 and 500 (and 503 at `POST /traces`). A `/` in a name may be sent as it is or as `%2F`. ' +
          'Every response has the headers `X-Request-Id` and, where a limit applies, `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/v1' }],
      security: [{ apiKey: [] }, { session: [] }],
      components: {
        examples: Object.fromEntries([...shared.examples].map(([json, name]) => [name, { value: JSON.parse(json) }])),
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `pms_…`' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: SESSION_COOKIE,
            description:
              `A session of the console, from \`POST /session\`; under https the cookie is \`__Host-${SESSION_COOKIE}\`. ` +
              `With it, all methods except GET and HEAD require the header \`${CONSOLE_HEADER}: 1\`, sent from a page of this service.`,
          },
        },
      },
      tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: TAGS[name] ?? '' })),
      paths,
    },
    { override: withoutNoise },
  );
  for (const path of Object.values(document.paths ?? {}))
    for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const)
      path[method]?.parameters?.forEach(simplify);
  Object.values(document.components?.parameters ?? {}).forEach(simplify);
  adaptForGenerators(document);
  return document;
}
