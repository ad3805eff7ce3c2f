import { hash, timingSafeEqual } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { AuditAction } from '../../domain/audit.ts';
import { addressGroup, callerAddress } from '../../http/client-address.ts';
import { parseJson, readJsonBytes } from '../../http/json-body.ts';
import { tooMany } from '../../http/middleware/authentication.ts';
import { toApiError } from '../../http/middleware/error-responses.ts';
import { tokenIn } from '../../http/middleware/token-check.ts';
import type { AppState } from '../../http/state.ts';
import { createFairSemaphore } from '../../lib/fair-semaphore.ts';
import type { RateLimiter } from '../../services/access/rate-limiter.ts';
import { actAs } from '../../services/audit/acting.ts';
import {
  changeGroup,
  createGroup,
  deleteGroup,
  type GroupFilter,
  getGroup,
  listGroups,
} from '../../services/provisioning/groups.ts';
import { invalidValue, ScimError } from '../../services/provisioning/scim-error.ts';
import {
  changeUser,
  createUser,
  deleteUser,
  getUser,
  listUsers,
  type Provisioning,
  type UserFilter,
} from '../../services/provisioning/users.ts';
import { discover, MAX_RESULTS } from './discovery.ts';
import { changeOfSteps } from './group-changes.ts';
import { type JsonObject, requireObject, stepsOf, stepsOfPatch } from './operations.ts';
import { type Condition, parseFilter } from './paths.ts';
import { listOf, presentError, presentGroup, presentUser, projected } from './resources.ts';
import { changedUser } from './user-changes.ts';

const ROOT = '/scim/v2';
const DEFAULT_RESULTS = 100;
/** Concurrent requests: heavy provisioning must leave connections to the rest of the service. */
const MAX_AT_A_TIME = 4;
const RETRY_AFTER_SECONDS = 5;
const RECORDED: AuditAction[] = ['member.joined', 'member.role_changed', 'member.removed'];

interface Answer {
  status: 200 | 201 | 204;
  body?: object;
  location?: string;
}

interface Request {
  /** The id of a resource; undefined for the collection. */
  id: string | undefined;
  query: Context['query'];
  body(): Promise<JsonObject>;
}

type Handler = (request: Request) => Promise<Answer>;

export interface ScimDeps extends Provisioning {
  /** `SCIM_TOKEN` */
  token: string;
  /** The public address of the service, without a trailing slash. */
  publicUrl: string;
  /** Failed authentications per address; undefined for no limit. */
  failureLimiter: RateLimiter | undefined;
}

const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** @throws ScimError `invalidValue` */
function numberIn(query: Context['query'], name: string, byDefault: number): number {
  const text = one(query[name]);
  if (text === undefined || text === '') return byDefault;
  if (!/^-?\d{1,9}$/.test(text)) throw invalidValue(`${name} must be a whole number.`);
  return Number(text);
}

const namesIn = (query: Context['query'], name: string): string[] =>
  (one(query[name]) ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== '');

const conditionsOf = (query: Context['query']): Condition[] => {
  const filter = one(query['filter']);
  return filter === undefined || filter === '' ? [] : parseFilter(filter);
};

/** @throws ScimError `invalidFilter` */
function textOf({ attribute, value }: Condition): string {
  if (typeof value !== 'string')
    throw new ScimError(400, 'invalidFilter', `${attribute} must be compared with a string.`);
  return value;
}

const unfilterable = ({ attribute }: Condition) =>
  new ScimError(400, 'invalidFilter', `Filtering by ${attribute.slice(0, 100)} is not supported.`);

function userFilter(conditions: readonly Condition[]): UserFilter {
  const filter: UserFilter = {};
  for (const condition of conditions) {
    const { attribute, value } = condition;
    if (attribute === 'id') filter.id = textOf(condition);
    else if (attribute === 'username') filter.userName = textOf(condition);
    else if (attribute === 'externalid') filter.externalId = textOf(condition);
    else if (attribute === 'emails') filter.email = textOf(condition);
    else if (attribute === 'active' && typeof value === 'boolean') filter.active = value;
    else throw unfilterable(condition);
  }
  return filter;
}

function groupFilter(conditions: readonly Condition[]): GroupFilter {
  const filter: GroupFilter = {};
  for (const condition of conditions) {
    const { attribute } = condition;
    if (attribute === 'id') filter.id = textOf(condition);
    else if (attribute === 'displayname') filter.displayName = textOf(condition);
    else if (attribute === 'externalid') filter.externalId = textOf(condition);
    else if (attribute === 'members') filter.member = textOf(condition);
    else throw unfilterable(condition);
  }
  return filter;
}

/** The requested part of a list; `startIndex` counts from 1. */
function partOf(query: Context['query']) {
  const startIndex = Math.max(1, numberIn(query, 'startIndex', 1));
  const limit = Math.min(MAX_RESULTS, Math.max(0, numberIn(query, 'count', DEFAULT_RESULTS)));
  return { startIndex, part: { offset: startIndex - 1, limit } };
}

const EMPTY_USER = { userName: '', active: true, more: {} };

function userHandlers(deps: ScimDeps, base: string): Record<string, Handler> {
  const shown = (row: Parameters<typeof presentUser>[0], query: Context['query']) =>
    projected(presentUser(row, base), {
      attributes: namesIn(query, 'attributes'),
      excluded: namesIn(query, 'excludedAttributes'),
    });
  const answer = (row: Parameters<typeof presentUser>[0], { query }: Request, status: 200 | 201 = 200): Answer => ({
    status,
    body: shown(row, query),
    location: presentUser(row, base).meta.location,
  });
  return {
    async 'GET all'({ query }) {
      const { startIndex, part } = partOf(query);
      const { total, rows } = await listUsers(deps, userFilter(conditionsOf(query)), part);
      return {
        status: 200,
        body: listOf(
          total,
          startIndex,
          rows.map((row) => shown(row, query)),
        ),
      };
    },
    async 'POST all'(request) {
      const attributes = changedUser(EMPTY_USER, stepsOf(await request.body(), 'add'));
      return answer(await createUser(deps, attributes), request, 201);
    },
    'GET one': async (request) => answer(await getUser(deps, request.id ?? ''), request),
    async 'PUT one'(request) {
      const steps = stepsOf(await request.body(), 'add');
      // Omitting `active` does not reactivate an inactive user.
      const change: Parameters<typeof changeUser>[2] = ({ active }) => changedUser({ ...EMPTY_USER, active }, steps);
      return answer(await changeUser(deps, request.id ?? '', change), request);
    },
    async 'PATCH one'(request) {
      const steps = stepsOfPatch(await request.body());
      return answer(await changeUser(deps, request.id ?? '', (before) => changedUser(before, steps)), request);
    },
    async 'DELETE one'({ id = '' }) {
      await deleteUser(deps, id);
      return { status: 204 };
    },
  };
}

function groupHandlers(deps: ScimDeps, base: string): Record<string, Handler> {
  const optionsOf = (query: Context['query']) => {
    const [attributes, excluded] = [namesIn(query, 'attributes'), namesIn(query, 'excludedAttributes')];
    const members = attributes.length > 0 ? attributes.includes('members') : !excluded.includes('members');
    return { members, names: { attributes, excluded } };
  };
  const answer = async (id: string, { query }: Request, status: 200 | 201): Promise<Answer> => {
    const { members, names } = optionsOf(query);
    const group = presentGroup(await getGroup(deps, id, { members }), base);
    return { status, body: projected(group, names), location: group.meta.location };
  };
  return {
    async 'GET all'({ query }) {
      const { startIndex, part } = partOf(query);
      const { members, names } = optionsOf(query);
      const { total, rows } = await listGroups(deps, groupFilter(conditionsOf(query)), part, { members });
      return {
        status: 200,
        body: listOf(
          total,
          startIndex,
          rows.map((row) => projected(presentGroup(row, base), names)),
        ),
      };
    },
    async 'POST all'(request) {
      const { displayName, ...change } = changeOfSteps(stepsOf(await request.body(), 'add'));
      if (displayName === undefined) throw invalidValue('displayName is required.');
      return answer(await createGroup(deps, { ...change, displayName }), request, 201);
    },
    'GET one': (request) => answer(request.id ?? '', request, 200),
    async 'PUT one'(request) {
      const { id = '' } = request;
      await changeGroup(deps, id, changeOfSteps(stepsOf(await request.body(), 'replace')));
      return answer(id, request, 200);
    },
    async 'PATCH one'(request) {
      await changeGroup(deps, request.id ?? '', changeOfSteps(stepsOfPatch(await request.body())));
      // A group can have very many members, so they are returned only on request.
      return { status: 204 };
    },
    async 'DELETE one'({ id = '' }) {
      await deleteGroup(deps, id);
      return { status: 204 };
    },
  };
}

/** Converts to an error of the standard. */
function toScimError(thrown: unknown): { error: ScimError; retryAfterSeconds?: number | undefined } {
  if (thrown instanceof ScimError) return { error: thrown };
  const known = toApiError(thrown);
  const { code, message, retryAfterSeconds } = known;
  if (code === 'payload_too_large') return { error: new ScimError(413, undefined, message) };
  if (code === 'invalid_request') return { error: new ScimError(400, 'invalidSyntax', message) };
  if (code === 'rate_limited') return { error: new ScimError(429, undefined, message), retryAfterSeconds };
  if (code === 'temporarily_unavailable')
    return { error: new ScimError(503, undefined, message, known.cause), retryAfterSeconds: RETRY_AFTER_SECONDS };
  return { error: new ScimError(500, undefined, message, known.cause) };
}

function send(ctx: Context, { status, body, location }: Answer): void {
  ctx.status = status;
  if (location !== undefined) ctx.set(status === 201 ? 'Location' : 'Content-Location', location);
  if (body === undefined) return;
  ctx.body = JSON.stringify(body);
  ctx.type = 'application/scim+json; charset=utf-8';
}

/**
 * `/scim/v2`: the identity provider determines who has access, and their groups (RFC 7643, RFC 7644, as far as Okta and
 * Microsoft Entra ID use them). It has its own token, statuses and errors.
 */
export function scimRoutes(deps: ScimDeps): Middleware<AppState> {
  const base = `${deps.publicUrl}${ROOT}`;
  const handlers = new Map([
    ['Users', userHandlers(deps, base)],
    ['Groups', groupHandlers(deps, base)],
  ]);
  const digest = hash('sha256', deps.token, 'buffer');
  const turns = createFairSemaphore({ total: 2 * MAX_AT_A_TIME, perKey: MAX_AT_A_TIME });

  async function authenticate(ctx: Context): Promise<void> {
    if (timingSafeEqual(hash('sha256', tokenIn(ctx.get('Authorization')), 'buffer'), digest)) return;
    const state = await deps.failureLimiter?.take(addressGroup(callerAddress(ctx)));
    if (state !== undefined && !state.allowed)
      throw tooMany(state, 'Too many failed authentications from this address. Try again later.');
    ctx.set('WWW-Authenticate', 'Bearer');
    throw new ScimError(401, undefined, 'The token is not SCIM_TOKEN of this service.');
  }

  async function handle(ctx: Context): Promise<Answer> {
    await authenticate(ctx);
    const [endpoint = '', id, ...rest] = ctx.path.slice(ROOT.length + 1).split('/');
    const missing = () => new ScimError(404, undefined, `There is no ${ctx.path.slice(0, 200)} here.`);
    if (rest.length > 0) throw missing();
    const found = ctx.method === 'GET' ? discover(endpoint, id, base) : undefined;
    if (found !== undefined)
      return { status: 200, body: Array.isArray(found) ? listOf(found.length, 1, found) : found };
    const handler = handlers.get(endpoint)?.[`${ctx.method} ${id === undefined || id === '' ? 'all' : 'one'}`];
    if (handler === undefined) throw missing();
    const request: Request = {
      id,
      query: ctx.query,
      body: async () => requireObject(await parseJson(await readJsonBytes(ctx.req))),
    };
    const who = {
      key: undefined,
      by: 'provisioning',
      address: callerAddress(ctx),
      requestId: ctx.state['requestId'],
      actions: RECORDED,
    } as const;
    return actAs(who, () => turns.run('scim', () => handler(request)));
  }

  return async (ctx, next) => {
    if (ctx.path !== ROOT && !ctx.path.startsWith(`${ROOT}/`)) return next();
    try {
      send(ctx, await handle(ctx));
    } catch (thrown) {
      const { error, retryAfterSeconds } = toScimError(thrown);
      if (error.status === 500)
        ctx.state.log.error({ request_id: ctx.state.requestId, err: error.cause ?? error }, error.message);
      if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(retryAfterSeconds));
      ctx.status = error.status;
      ctx.body = JSON.stringify(presentError(error));
      ctx.type = 'application/scim+json; charset=utf-8';
    }
  };
}
