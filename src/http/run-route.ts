import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Query } from '../db/database.ts';
import { MAX_PAGE_BYTES } from '../db/read-page.ts';
import { ApiError, RETRY_AFTER_SECONDS } from '../domain/errors.ts';
import { allows } from '../domain/scopes.ts';
import { JsonText } from '../domain/text/json-text.ts';
import type { FairSemaphore } from '../lib/fair-semaphore.ts';
import type { AuthenticatedKey } from '../services/access/authenticate.ts';
import { actAs } from '../services/audit/acting.ts';
import type { Handling } from './large-work.ts';
import { isCalledUnread, RawResponse, type Route, type RouteRequest, scopesOf } from './route.ts';
import { hideStored } from './unread.ts';
import { validate } from './validate.ts';

// Shared by all calls of an operation, through the API or as a tool of the MCP server.

/** Rejects changes if the audit log is full. @throws ApiError `quota_exceeded` */
export type RequireAuditRoom = (query: Query, isAdmin: boolean) => Promise<void>;

/** The query schema of routes without one: unknown parameters are rejected everywhere. */
const NoQuery = z.strictObject({});

/** @throws ApiError `insufficient_scope`; `invalid_request` for a key if only a session is allowed */
export function requireScope({ scopes, sessionId }: AuthenticatedKey, route: Route): void {
  if (route.bySession && sessionId === undefined)
    throw new ApiError(
      'invalid_request',
      'This requires a person signed in to the console. A key cannot do it, whatever its scopes.',
    );
  const needed = scopesOf(route);
  const names = needed.map((scope) => `"${scope}"`).join(' or ');
  if (!allows(scopes, ...needed))
    throw new ApiError('insufficient_scope', `This key lacks the scope ${names}, which this operation needs.`);
  const also = route.alsoScope;
  if (also !== undefined && !allows(scopes, also))
    throw new ApiError(
      'insufficient_scope',
      `This key lacks the scope "${also}", which this operation needs in addition to ${names}.`,
    );
}

/**
 * Parses the parameters of path and query.
 * @throws ApiError `invalid_request`, `not_found`
 */
export function parseAddress(route: Route, given: { params: unknown; query: unknown }) {
  const params = route.params && validate(route.params, given.params);
  return { params, query: validate<unknown>(route.query ?? NoQuery, given.query) };
}

/**
 * Occupies one of a workspace's request slots until the response has ended.
 * @param inProgress undefined for no limit
 * @throws ApiError `rate_limited` if the workspace has reached its limit of requests in progress
 */
export function takePart(workspaceId: string, res: ServerResponse, inProgress: FairSemaphore | undefined): void {
  if (inProgress === undefined) return;
  const release = inProgress.tryAcquire(workspaceId);
  if (release === undefined)
    throw new ApiError(
      'rate_limited',
      `This workspace has ${inProgress.inUse(workspaceId)} requests in progress, the maximum. ` +
        'Wait for some of them, or run executions with "Prefer: respond-async".',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  res.once('close', () => release());
}

/** Whether a response has pages, each bounded in bytes. */
export function isList({ query }: Route): boolean {
  return query instanceof z.ZodObject && 'cursor' in query.shape;
}

/** Runs a route's handler as its caller, whose scopes were checked: records changes, and hides what the key must not see. */
export async function runHandler(
  route: Route,
  request: RouteRequest<unknown, unknown, unknown>,
  handling: Handling,
  requireAuditRoom: RequireAuditRoom,
): Promise<unknown> {
  const { audit } = route;
  const { key, requestId } = request;
  if (isList(route)) await handling.reserve(MAX_PAGE_BYTES);
  const requireRoom = (query: Query) => requireAuditRoom(query, allows(key.scopes, 'admin'));
  // Executions, the most frequent change, are not recorded and so skip this cost.
  const response =
    audit === undefined || audit === 'none'
      ? await route.handler(request)
      : await actAs({ key, address: request.address, requestId, actions: audit, requireRoom }, () =>
          route.handler(request),
        );
  return withoutStored(route, key, response);
}

/** Hides stored content if the key may not read it. */
function withoutStored(route: Route, { scopes }: AuthenticatedKey, response: unknown): unknown {
  const isWhole = !isCalledUnread(route) || allows(scopes, 'read') || response instanceof RawResponse;
  if (isWhole) return response;
  // A repeated request gets the first response as stored, which is a string.
  const parsed: unknown = response instanceof JsonText ? JSON.parse(response.text) : response;
  return hideStored(route, parsed);
}
