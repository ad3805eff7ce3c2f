import type { z } from 'zod';
import type { Page } from '../db/read-page.ts';
import type { AuditAction } from '../domain/audit.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Scope } from '../domain/scopes.ts';
import { decodeCursor, toPage } from './pagination.ts';
import { defineRoute, type Route, type RouteRequest } from './route.ts';

// The operations of every named or numbered resource: list, get, put and delete.

interface Resource<Params extends z.ZodObject, Row extends object> {
  tag: string;
  /** The path of the list: `/queues`. */
  path: string;
  /** The name in operation ids: `getQueue`, `listQueues`. */
  name: string;
  /** Its only parameter is the last segment of the path, by which lists are ordered. */
  params: Params;
  /** The schema of a list cursor: the name or id as in rows. */
  cursor: z.ZodType<string>;
  response: z.ZodType;
  page: z.ZodType;
  sample: object;
  present: (row: Row) => unknown;
}

interface Words {
  summary: string;
  description?: string;
}

interface Change extends Words {
  scope: Scope;
  audit: readonly AuditAction[];
  errors?: ErrorCode[];
}

export function resource<Params extends z.ZodObject, Row extends object>({
  tag,
  path,
  name,
  params,
  cursor,
  response,
  page,
  sample,
  present,
}: Resource<Params, Row>) {
  const [key = ''] = Object.keys(params.shape);
  const one = { tag, path: `${path}/{${key}}`, params, response, responseExample: sample };
  type Of<Body> = RouteRequest<z.output<Params>, undefined, Body>;

  return {
    list: <Query extends z.ZodType<{ limit: number; cursor?: string | undefined }>>({
      read,
      ...words
    }: Words & {
      query: Query;
      read: (
        request: RouteRequest<undefined, z.output<Query>, undefined>,
        after: string | undefined,
      ) => Promise<Page<Row>>;
    }): Route =>
      defineRoute({
        ...words,
        method: 'get',
        path,
        operationId: `list${name}s`,
        tag,
        scope: 'read',
        response: page,
        responseExample: { data: [sample], next_cursor: null },
        handler: async (request) =>
          toPage(await read(request, decodeCursor(request.query.cursor, cursor)), present, (row) =>
            String(Reflect.get(row, key)),
          ),
      }),

    get: ({ read, ...words }: Words & { read: (request: Of<undefined>) => Promise<Row> }): Route =>
      defineRoute({
        ...words,
        ...one,
        method: 'get',
        operationId: `get${name}`,
        scope: 'read',
        handler: async (request) => present(await read(request)),
      }),

    put: <Body extends z.ZodType>({
      store,
      ...words
    }: Change & {
      body: Body;
      bodyExamples: Record<string, unknown>;
      shows?: readonly string[];
      store: (request: Of<z.output<Body>>) => Promise<Row>;
    }): Route =>
      defineRoute({
        ...words,
        ...one,
        method: 'put',
        operationId: `set${name}`,
        handler: async (request) => present(await store(request)),
      }),

    delete: ({ remove, ...words }: Change & { remove: (request: Of<undefined>) => Promise<Row> }): Route =>
      defineRoute({
        ...words,
        ...one,
        method: 'delete',
        operationId: `delete${name}`,
        handler: async (request) => present(await remove(request)),
      }),
  };
}
