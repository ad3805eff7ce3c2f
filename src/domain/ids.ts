import { v7 } from 'uuid';

/** Prefixes of public ids. The body is a UUIDv7 (RFC 9562), so ids sort by time of creation. */
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
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** What messages call them. */
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
};

/**
 * A new UUIDv7, as it is stored.
 * @param at the time that it begins with. Default: now
 */
export function newId(at?: Date): string {
  return at === undefined ? v7() : v7({ msecs: at.getTime() });
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether a stored UUID is one of version 7 that was made at about that time, so that spans of ids find it. */
export function isIdOf(uuid: string, at: Date): boolean {
  const made = Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
  return UUID_V7.test(uuid) && Math.abs(made - at.getTime()) <= CLOCK_SLACK_MS;
}

/** What every public id of a kind begins with. */
export const publicIdPattern = (kind: IdKind): RegExp => new RegExp(`^${ID_PREFIXES[kind]}_`);

/** `exec_0190…`: the id as callers see it. */
export function publicId(kind: IdKind, uuid: string): string {
  return `${ID_PREFIXES[kind]}_${uuid}`;
}

/** The same in SQL, of a column or an expression of type `uuid`. */
export function publicIdSql(kind: IdKind, uuid: string): string {
  return `'${ID_PREFIXES[kind]}_' || ${uuid}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The stored UUID of a public id; undefined where the text is no id of that kind. */
export function parsePublicId(kind: IdKind, text: string): string | undefined {
  const prefix = `${ID_PREFIXES[kind]}_`;
  const body = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  return UUID.test(body) ? body : undefined;
}

const FIRST_UUID = '00000000-0000-0000-0000-000000000000';
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Between which UUIDs the public ids lie that begin with a text; undefined where none does, or all of the kind do. */
export function idsOfPrefix(kind: IdKind, text: string): { from: string; to: string } | undefined {
  const prefix = `${ID_PREFIXES[kind]}_`;
  const body = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  const from = body + FIRST_UUID.slice(body.length);
  return body === '' || !UUID.test(from) ? undefined : { from, to: body + LAST_UUID.slice(body.length) };
}

/** How far the clock by which an id was made may be off from the database's. */
const CLOCK_SLACK_MS = 60 * 60_000;

/**
 * Between which ids everything lies that was created in a span of time, and little else: an id begins with the time at which it
 * was made, so that the primary key leads to what is of a time.
 */
export function idsOfSpan(since: Date | undefined, until: Date | undefined): { from: string; to: string } {
  return {
    from: firstIdAt(since === undefined ? 0 : since.getTime() - CLOCK_SLACK_MS),
    to: until === undefined ? 'ffffffff-ffff-7fff-bfff-ffffffffffff' : firstIdAt(until.getTime() + CLOCK_SLACK_MS),
  };
}

/** An id made then or later is not less. */
function firstIdAt(time: number): string {
  const hex = Math.max(time, 0).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
