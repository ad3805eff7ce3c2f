import type { Load } from './load.ts';

/** A request that one workspace, or an address without a key, sends repeatedly. */
export type Attack = Pick<Load, 'method' | 'headers' | 'body'> & { name: string; path: string };

interface Parameter {
  $ref?: string;
  in: string;
  name: string;
  required?: boolean;
  schema?: { type?: string; maximum?: number; enum?: string[] };
}

interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
}

/** The part of the OpenAPI document that is used here. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const JSON_TYPE = 'application/json';
const ROWS = '{"id": "a", "variables": {"name": "Ada"}, "expected": "Hello Ada!"}';

/** Operations that end the attacker's key, or are not work of the service itself. */
const LEFT_OUT = /^(DELETE \/(api-keys\/current|session)|POST \/providers)/;

function pathOf(path: string, parameters: Parameter[], ids: Record<string, string>): string {
  const [, collection = ''] = path.split('/');
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[`${collection}.${name}`] ?? ids[name] ?? 'none');
  const query = parameters.flatMap(({ in: place, name, required, schema }) => {
    if (place !== 'query') return [];
    if (name === 'limit') return [`limit=${schema?.maximum ?? 100}`];
    return required ? [`${name}=${ids[name] ?? schema?.enum?.[0] ?? 'helpful'}`] : [];
  });
  return `/v1${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}

function bodyOf({ requestBody }: Operation): { type: string; body: string } | undefined {
  const [first] = Object.entries(requestBody?.content ?? {});
  if (first === undefined) return undefined;
  const [type, content] = first;
  if (type !== JSON_TYPE) return { type, body: ROWS };
  const [example] = Object.values(content.examples ?? {});
  return { type, body: JSON.stringify(example?.value ?? {}) };
}

/**
 * Every operation with its documented sample body and the largest page; deletions come last.
 * @param ids by collection and parameter (`evaluations.id`), or by parameter
 */
export function attacksByKey({ paths }: Document, key: string, ids: Record<string, string>): Attack[] {
  const authorization = `Bearer ${key}`;
  return METHODS.flatMap((method) =>
    Object.entries(paths).flatMap(([path, operations]): Attack[] => {
      const operation = operations[method.toLowerCase()];
      const name = `${method} ${path}`;
      if (operation === undefined || LEFT_OUT.test(name)) return [];
      const given = bodyOf(operation);
      return [
        {
          name,
          method,
          path: pathOf(path, operation.parameters ?? [], ids),
          headers: { authorization, ...(given && { 'content-type': given.type }) },
          ...(given && { body: given.body }),
        },
      ];
    }),
  );
}

/** Requests of agents to `/mcp`. */
export function attacksByMcp(key: string): Attack[] {
  const version = '2025-11-25';
  const messages: [string, object][] = [
    ['initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'bench', version: '1' } }],
    ['tools/list', {}],
    ['tools/call', { name: 'search_prompts', arguments: {} }],
    ['prompts/list', {}],
    ['resources/list', {}],
    ['resources/read', { uri: 'prompts://guides/how-to' }],
  ];
  return messages.map(([method, params]) => ({
    name: `MCP ${method}`,
    method: 'POST',
    path: '/mcp',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': JSON_TYPE,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }));
}

/** Requests without a key. */
export function attacksByStrangers(): Attack[] {
  const paths = [
    '/openapi.json',
    '/docs',
    '/docs/swagger-ui-bundle.js',
    '/docs/guides',
    '/docs/guides/specification',
    '/docs/guides/none',
    '/docs/search?q={random} {random}',
    '/docs/search?q=prompt evaluation release webhook {random}',
    '/console/',
    '/console/config.json',
    '/nothing/{random}',
    '/readyz',
    '/v1/prompts',
  ];
  const anonymous = paths.map(
    (path): Attack => ({
      name: `GET ${path} without a key`,
      method: 'GET',
      path: path.replaceAll(' ', '+'),
      headers: { 'accept-encoding': 'br' },
    }),
  );
  const guess = { authorization: 'Bearer pms_{random}' };
  return [
    ...anonymous,
    { name: 'GET /v1/prompts with a false key', method: 'GET', path: '/v1/prompts', headers: guess },
    {
      name: 'POST /v1/device/authorizations without a key',
      method: 'POST',
      path: '/v1/device/authorizations',
      headers: { 'content-type': JSON_TYPE },
      body: '{"client_name": "bench", "scopes": ["read"]}',
    },
  ];
}
