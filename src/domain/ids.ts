import { v7 } from 'uuid';

/** Prefixes of public ids. The body is a UUIDv7 (RFC 9562), so ids sort by creation time. */
export const ID_PREFIXES = {
  execution: 'exec',
  evaluation: 'eval',
  event: 'evt',
  apiKey: 'key',
  session: 'sess',
  user: 'usr',
  userGroup: 'grp',
  member: 'mem',
  auditEntry: 'aud',
  workspace: 'ws',
  schedule: 'sched',
  webhook: 'wh',
  delivery: 'dlv',
  notification: 'ntf',
  release: 'rel',
  score: 'score',
  queueItem: 'item',
  rule: 'rule',
  backfill: 'bf',
  providerBatch: 'batch',
  improvement: 'imp',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** The names of the kinds in messages. */
export const ID_NAMES: Record<IdKind, string> = {
  execution: 'execution',
  evaluation: 'evaluation',
  event: 'event',
  apiKey: 'key',
  session: 'session',
  user: 'user',
  userGroup: 'group',
  member: 'member',
  auditEntry: 'entry of the audit log',
  workspace: 'workspace',
  schedule: 'schedule',
  webhook: 'webhook',
  delivery: 'delivery',
  notification: 'notification',
  release: 'release',
  score: 'score',
  queueItem: 'item of the queue',
  rule: 'rule',
  backfill: 'backfill',
  providerBatch: 'batch',
  improvement: 'improvement',
};

/**
 * A new UUIDv7, in the stored form.
 * @param at the time that it starts with. Default: now
 */
export function newId(at?: Date): string {
  return at === undefined ? v7() : v7({ msecs: at.getTime() });
}

/** The UUID under which an OpenTelemetry trace id is stored. */
export const traceUuid = (id: string): string =>
  `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20)}`;
/** The trace id of a UUID. */
export const traceIdOf = (uuid: string): string => uuid.replaceAll('-', '');

/** The span id of a run without another one: the last 8 bytes of its UUID, of which all but two bits are random. */
export const spanIdOf = (uuid: string): string => traceIdOf(uuid).slice(16);

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether a stored UUID has version 7 and was created at about that time, so that spans of ids find it. */
export function isIdOf(uuid: string, at: Date): boolean {
  const made = Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
  return UUID_V7.test(uuid) && Math.abs(made - at.getTime()) <= CLOCK_SLACK_MS;
}

/** The start of every public id of a kind. */
export const publicIdPattern = (kind: IdKind): RegExp => new RegExp(`^${ID_PREFIXES[kind]}_`);

/** `exec_0190…`: the id as shown to callers. */
export function publicId(kind: IdKind, uuid: string): string {
  return `${ID_PREFIXES[kind]}_${uuid}`;
}

/** Like `publicId`, in SQL, for a column or an expression of type `uuid`. */
export function publicIdSql(kind: IdKind, uuid: string): string {
  return `'${ID_PREFIXES[kind]}_' || ${uuid}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The stored UUID of a public id; undefined if the text is not an id of that kind. */
export function parsePublicId(kind: IdKind, text: string): string | undefined {
  const prefix = `${ID_PREFIXES[kind]}_`;
  const body = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  return UUID.test(body) ? body : undefined;
}

const FIRST_UUID = '00000000-0000-0000-0000-000000000000';
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The range of UUIDs whose public ids start with a text; undefined if none or all of the kind do. */
export function idsOfPrefix(kind: IdKind, text: string): { from: string; to: string } | undefined {
  const prefix = `${ID_PREFIXES[kind]}_`;
  const body = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  const from = body + FIRST_UUID.slice(body.length);
  return body === '' || !UUID.test(from) ? undefined : { from, to: body + LAST_UUID.slice(body.length) };
}

/** The maximum difference between the clock that made an id and the database's clock. */
const CLOCK_SLACK_MS = 60 * 60_000;

/**
 * The range of ids of everything created in a time span, and little else: an id starts with its creation time, so the primary key
 * can be used to search by time.
 */
export function idsOfSpan(since: Date | undefined, until: Date | undefined): { from: string; to: string } {
  return {
    from: firstIdAt(since === undefined ? 0 : since.getTime() - CLOCK_SLACK_MS),
    to: until === undefined ? 'ffffffff-ffff-7fff-bfff-ffffffffffff' : firstIdAt(until.getTime() + CLOCK_SLACK_MS),
  };
}

/** The smallest id that can be created at this time. */
function firstIdAt(time: number): string {
  const hex = Math.max(time, 0).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
