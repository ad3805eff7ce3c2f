import { hash, randomBytes, randomInt } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { bindWorkspace, type Query, type SystemDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { ago, milliseconds, now } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { allows, type Scope } from '../../domain/scopes.ts';
import { type ApiKeyRow, createApiKey, generateApiKey, holdKey, type NewApiKey } from '../access/api-keys.ts';
import { type AuthenticatedKey, keyOfSession } from '../access/authenticate.ts';
import { createPersonalKey, ownMemberOf } from '../access/personal-keys.ts';
import { actAs, currentActor, OPERATOR } from '../audit/acting.ts';
import type { Quotas } from '../workspaces/quotas.ts';

/** Consonants except Y: no ambiguous letters, and no words (RFC 8628, 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_LETTERS = 8;

/** The code that a program shows to a person: `ABCD-EFGH`, one of 20^8. */
function newUserCode(): string {
  const letters = Array.from({ length: USER_CODE_LETTERS }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** The code that a program keeps secret: 256 random bits. */
const newDeviceCode = (): string => randomBytes(32).toString('base64url');

const hashDeviceCode = (code: string): Buffer => hash('sha256', code, 'buffer');

/** Ignores how a person types the code: lowercase, or without the dash. */
const hashUserCode = (code: string): Buffer => hash('sha256', code.toUpperCase().replaceAll(/[\s-]/g, ''), 'buffer');

/** How long a person has to decide, and the program to fetch its key. */
export const OPEN_SECONDS = 600;
/** The interval between two polls. Each early poll adds as much, up to the maximum. */
export const POLL_SECONDS = 5;
const MAX_POLL_SECONDS = 60;
/** The maximum number of undecided requests: from one address, and in total. */
export const MAX_OPEN_PER_CALLER = 100;
const MAX_OPEN = 10_000;
const DAY_MS = 24 * 60 * 60_000;

const SHOWN = [
  'client',
  'address',
  'decision',
  'session_id',
  'scopes',
  'key_expires_at',
  'created_at',
  'expires_at',
] as const;
export type DeviceAuthorizationRow = Pick<Selectable<Tables['device_authorizations']>, (typeof SHOWN)[number]>;

/** The person who decides: a key with one of its sessions. */
export type Approver = AuthenticatedKey & { sessionId: string };

/** The most that the program's key can have if this session approves it. */
export interface Grant {
  kind: 'personal' | 'service';
  scopes: Scope[];
  /** Null for no expiry. */
  expiresAt: Date | null;
  /** The key whose end also ends this one. */
  madeFrom: string | null;
}

const tooManyOpen = (whose: string) =>
  new ApiError('rate_limited', `Too many programs are waiting for a decision ${whose}. Try again later.`, {
    retryAfterSeconds: 60,
  });

/**
 * Stores a program's request for a key.
 * @param caller counted instead of the address
 * @returns the codes, which are never stored
 * @throws ApiError `rate_limited` if too many are open
 */
export async function beginDeviceAuthorization(
  system: SystemDatabase,
  { client, address, caller }: { client: string; address: string; caller: string },
): Promise<{ deviceCode: string; userCode: string }> {
  const deviceCode = newDeviceCode();
  return system.transaction(async (query) => {
    // One after the other, so that the limits hold.
    await query((all) => all.selectNoFrom(sql`pg_advisory_xact_lock(hashtext('device authorizations'))`.as('locked')));
    const [open] = await query((all) =>
      all
        .selectFrom('device_authorizations')
        .select(({ fn }) => fn.countAll<number>().as('all'))
        .select(({ fn, eb }) =>
          fn
            .countAll<number>()
            .filterWhere(eb('caller', '=', caller))
            .as('ofCaller'),
        )
        .where('expires_at', '>', now)
        .where('decision', 'is', null),
    );
    if ((open?.ofCaller ?? 0) >= MAX_OPEN_PER_CALLER) throw tooManyOpen('at this address');
    if ((open?.all ?? 0) >= MAX_OPEN) throw tooManyOpen('at this service');
    for (;;) {
      const userCode = newUserCode();
      const inserted = await query((all) =>
        all
          .insertInto('device_authorizations')
          .values({
            id: newId(),
            device_code_hash: hashDeviceCode(deviceCode),
            user_code_hash: hashUserCode(userCode),
            client,
            address,
            caller,
            poll_seconds: POLL_SECONDS,
            created_at: now,
            expires_at: sql<Date>`now() + ${milliseconds(OPEN_SECONDS * 1000)}`,
          })
          // Very rarely, another request has the same code.
          .onConflict((conflict) => conflict.column('user_code_hash').doNothing())
          .returning('id'),
      );
      if (inserted.length > 0) return { deviceCode, userCode };
    }
  });
}

const unknownCode = () =>
  new ApiError(
    'not_found',
    'There is no such code, or it was used or has expired. Request a new code where you got it from.',
  );

/**
 * The program that requests a key under this code.
 * @throws ApiError `not_found` also if another session has decided
 */
export async function findDeviceAuthorization(
  system: SystemDatabase,
  userCode: string,
  { sessionId }: Approver,
): Promise<DeviceAuthorizationRow> {
  const [row] = await system.query((all) =>
    all
      .selectFrom('device_authorizations')
      .select(SHOWN)
      .where('user_code_hash', '=', hashUserCode(userCode))
      .where('expires_at', '>', now)
      .where((eb) => eb.or([eb('decision', 'is', null), eb('session_id', '=', sessionId)])),
  );
  if (row === undefined) throw unknownCode();
  return row;
}

/**
 * The most that an approval by this session can grant: a member's own key, or a key like the workspace key that started the
 * session, which ends with it. So no key outlives the one it depends on.
 * @param query of the workspace
 * @throws ApiError `invalid_state` if the key of the session was itself created this way
 */
export async function grantOf(query: Query, { id, kind, scopes }: Approver): Promise<Grant> {
  if (kind === 'sign_in') return { kind: 'personal', scopes, expiresAt: null, madeFrom: null };
  const [own] = await query((db) => db.selectFrom('api_keys').select(['made_from', 'expires_at']).where('id', '=', id));
  if (own === undefined || own.made_from !== null)
    throw new ApiError(
      'invalid_state',
      'This session was started with a key issued to a program, which cannot approve other programs. Sign in another way.',
    );
  return { kind: kind === 'personal' ? 'personal' : 'service', scopes, expiresAt: own.expires_at, madeFrom: id };
}

/** The key to create. */
export interface Approval {
  /** Default: the scopes of the session. */
  scopes: Scope[] | undefined;
  expiresInDays: number;
}

/**
 * Approves or denies, once.
 * @param approval null: deny
 * @throws ApiError `not_found`, `invalid_state`, `insufficient_scope`
 */
export async function decideDeviceAuthorization(
  system: SystemDatabase,
  userCode: string,
  approver: Approver,
  approval: (Approval & { grant: Grant }) | null,
): Promise<DeviceAuthorizationRow> {
  const wanted = approval && (approval.scopes ?? approval.grant.scopes);
  const beyond = wanted?.find((scope) => !allows(approver.scopes, scope));
  if (beyond !== undefined)
    throw new ApiError('insufficient_scope', `This session lacks the scope "${beyond}", so it cannot grant it.`);
  const [row] = await system.query((all) =>
    all
      .updateTable('device_authorizations')
      .set({
        decision: approval === null ? 'denied' : 'approved',
        session_id: approver.sessionId,
        scopes: wanted && [...new Set(wanted)],
        key_expires_at: approval && keyEnd(approval),
      })
      .where('user_code_hash', '=', hashUserCode(userCode))
      .where('expires_at', '>', now)
      .where('decision', 'is', null)
      .returning(SHOWN),
  );
  if (row !== undefined) return row;
  const { decision } = await findDeviceAuthorization(system, userCode, approver);
  throw new ApiError('invalid_state', `This code was ${decision} already: request a new one.`);
}

const keyEnd = ({ expiresInDays, grant }: Approval & { grant: Grant }): Date =>
  new Date(Math.min(Date.now() + expiresInDays * DAY_MS, grant.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY));

/** The outcome of a poll. */
export type Polled =
  | { outcome: 'authorization_pending' | 'denied' | 'expired' }
  | { outcome: 'slow_down'; pollSeconds: number }
  | { outcome: 'key'; key: string; record: ApiKeyRow; workspaceName: string };

/**
 * Hands a program its key, once, and deletes the request. The key is recorded as created by the approving session, which must still be valid.
 * @throws ApiError `quota_exceeded`
 */
export async function pollDeviceAuthorization(
  system: SystemDatabase,
  quotas: Quotas,
  deviceCode: string,
): Promise<Polled> {
  return system.transaction(async (query) => {
    const [row] = await query((all) =>
      all
        .selectFrom('device_authorizations')
        .selectAll()
        .select((eb) => eb('polled_at', '>', ago(sql<number>`${eb.ref('poll_seconds')} * 1000`)).as('isTooSoon'))
        .where('device_code_hash', '=', hashDeviceCode(deviceCode))
        .where('expires_at', '>', now)
        .forUpdate(),
    );
    if (row === undefined) return { outcome: 'expired' };
    if (row.decision === 'denied') return { outcome: 'denied' };
    if (row.decision === 'approved') {
      await query((all) => all.deleteFrom('device_authorizations').where('id', '=', row.id));
      return makeKey(query, quotas, row);
    }
    const pollSeconds = row.isTooSoon ? Math.min(row.poll_seconds + POLL_SECONDS, MAX_POLL_SECONDS) : row.poll_seconds;
    await query((all) =>
      all
        .updateTable('device_authorizations')
        .set({ polled_at: now, poll_seconds: pollSeconds })
        .where('id', '=', row.id),
    );
    return row.isTooSoon ? { outcome: 'slow_down', pollSeconds } : { outcome: 'authorization_pending' };
  });
}

async function makeKey(query: Query, quotas: Quotas, row: DeviceAuthorizationRow): Promise<Polled> {
  const approver = row.session_id === null ? undefined : await keyOfSession(query, row.session_id);
  const scopes = (row.scopes ?? []).filter((scope) => approver && allows(approver.scopes, scope));
  if (approver === undefined || scopes.length === 0) return { outcome: 'expired' };
  const own = bindWorkspace(query, approver.workspaceId);
  const key = generateApiKey();
  const wanted = { name: row.client, scopes, expiresAt: row.key_expires_at };
  const make = () =>
    ownMemberOf(approver) === undefined
      ? createKeyLike(own, approver, key, wanted)
      : createPersonalKey(own, approver, key, wanted);
  try {
    const record = await actAs({ ...(currentActor() ?? OPERATOR), key: approver }, make);
    await quotas.require(own, 'apiKeys');
    return { outcome: 'key', key, record, workspaceName: approver.workspaceName };
  } catch (error) {
    // The session or its key has ended since.
    if (error instanceof ApiError && error.code === 'unauthorized') return { outcome: 'expired' };
    throw error;
  }
}

/** The maximum number of valid keys derived from one key of the workspace. */
const MAX_DERIVED_KEYS = 20;

/** Creates a key of the workspace that ends with the key that started the session. @throws ApiError `unauthorized` if that key has ended */
async function createKeyLike(
  own: Query,
  { id, memberId }: AuthenticatedKey,
  key: string,
  wanted: Pick<NewApiKey, 'name' | 'scopes' | 'expiresAt'>,
): Promise<ApiKeyRow> {
  await holdKey(own, id);
  await lockInWorkspace(own, 'derived keys');
  const valid = await own((db) =>
    db
      .selectFrom('api_keys')
      .select('id')
      .where('made_from', '=', id)
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
  );
  if (valid.length >= MAX_DERIVED_KEYS)
    throw new ApiError(
      'quota_exceeded',
      `A key can have at most ${MAX_DERIVED_KEYS} keys made from it. Revoke a key that is no longer needed.`,
    );
  return createApiKey(own, key, { ...wanted, madeBy: memberId, madeFrom: id });
}

/** The response to a poll that returns no key. */
export function pollError(polled: Exclude<Polled, { outcome: 'key' }>): ApiError {
  switch (polled.outcome) {
    case 'authorization_pending':
      return new ApiError(polled.outcome, 'No decision yet. Poll again after the interval.');
    case 'slow_down':
      return new ApiError(
        polled.outcome,
        `Polling too fast: wait ${polled.pollSeconds} seconds between requests from now on.`,
        { retryAfterSeconds: polled.pollSeconds },
      );
    case 'denied':
      return new ApiError(polled.outcome, 'The request was denied.');
    case 'expired':
      return new ApiError(polled.outcome, 'This device code is unknown, used or expired. Start again.');
  }
}
