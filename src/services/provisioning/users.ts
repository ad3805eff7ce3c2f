import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Database, Query } from '../../db/database.ts';
import type { ProvisionedUser } from '../../db/entities/member.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { lockInSystem } from '../../db/lock.ts';
import { anyOf, now } from '../../db/sql.ts';
import { asJson } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { newId, parsePublicId, publicId } from '../../domain/ids.ts';
import { findUser, type GroupGrants, syncMembersOf, type UserRow } from '../members/sync-members.ts';
import { notThere, type ScimError, taken } from './scim-error.ts';

/** The identity provider whose people are provisioned, and the grants of their groups. */
export interface Provisioning {
  db: Database;
  /** The issuer of the identity provider: together with a subject, it identifies a person. */
  issuer: string;
  ofGroup: GroupGrants;
}

/** The attributes of a person from the identity provider. */
export interface UserAttributes {
  userName: string;
  active: boolean;
  more: ProvisionedUser;
}

/** The filters of a list; all must match. */
export interface UserFilter {
  id?: string;
  userName?: string;
  externalId?: string;
  email?: string;
  active?: boolean;
}

/** Part of a list: skips `offset` rows and returns at most `limit`. */
export interface Part {
  offset: number;
  limit: number;
}

/** A provisioned person, with their groups. */
export type ProvisionedRow = UserRow & { groups: { id: string; display: string }[] };

export const attributesOf = ({ user_name, is_active, provisioned }: UserRow): UserAttributes => ({
  userName: user_name ?? '',
  active: is_active,
  more: provisioned ?? {},
});

/** Provisioned people: excludes people who have only signed in, and people deleted by the provisioning. */
const isProvisioned = (eb: ExpressionBuilder<Tables, 'users'>, issuer: string): Expression<SqlBool> =>
  eb.and([eb('issuer', '=', issuer), eb('user_name', 'is not', null)]);

/** The UUID of an id; a UUID that matches nothing if the id is invalid. */
export const uuidOf = (kind: 'user' | 'userGroup', id: string): string =>
  parsePublicId(kind, id) ?? '00000000-0000-0000-0000-000000000000';

function matching(eb: ExpressionBuilder<Tables, 'users'>, filter: UserFilter): Expression<SqlBool>[] {
  const { id, userName, externalId, email, active } = filter;
  const conditions: Expression<SqlBool>[] = [];
  if (id !== undefined) conditions.push(eb('id', '=', uuidOf('user', id)));
  if (userName !== undefined) conditions.push(sql<SqlBool>`lower(user_name) = lower(${userName})`);
  if (externalId !== undefined) conditions.push(sql<SqlBool>`provisioned->>'externalId' = ${externalId}`);
  if (email !== undefined) conditions.push(sql<SqlBool>`lower(email) = lower(${email})`);
  if (active !== undefined) conditions.push(eb('is_active', '=', active));
  return conditions;
}

async function withGroups(query: Query, users: UserRow[]): Promise<ProvisionedRow[]> {
  const rows = await query((all) =>
    all
      .selectFrom('user_group_members as m')
      .innerJoin('user_groups as g', 'g.id', 'm.group_id')
      .select(['m.user_id', 'g.id', 'g.display_name as display'])
      .where('m.user_id', '=', anyOf(users.map(({ id }) => id)))
      .orderBy('g.id'),
  );
  const byUser = Map.groupBy(rows, (row) => row.user_id);
  return users.map((user) => ({ ...user, groups: byUser.get(user.id) ?? [] }));
}

/** Provisioned people, oldest first, and their total number. */
export async function listUsers(
  { db: { system }, issuer }: Provisioning,
  filter: UserFilter,
  { offset, limit }: Part,
): Promise<{ total: number; rows: ProvisionedRow[] }> {
  const { query } = system;
  const [count] = await query((all) =>
    all
      .selectFrom('users')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where((eb) => eb.and([isProvisioned(eb, issuer), ...matching(eb, filter)])),
  );
  const rows = await query((all) =>
    all
      .selectFrom('users')
      .selectAll()
      .where((eb) => eb.and([isProvisioned(eb, issuer), ...matching(eb, filter)]))
      .orderBy('id')
      .offset(offset)
      .limit(limit),
  );
  return { total: count?.total ?? 0, rows: await withGroups(query, rows) };
}

/** @throws ScimError 404 */
export async function getUser({ db: { system }, issuer }: Provisioning, id: string): Promise<ProvisionedRow> {
  const rows = await system.query((all) =>
    all
      .selectFrom('users')
      .selectAll()
      .where((eb) => eb.and([isProvisioned(eb, issuer), eb('id', '=', uuidOf('user', id))])),
  );
  const [user] = await withGroups(system.query, rows);
  if (user === undefined) throw notThere('User', id);
  return user;
}

/** The names for display: as set by the provider, otherwise composed, otherwise the provider's user name. */
function columnsOf({ userName, active, more }: UserAttributes) {
  const { displayName, name, emails = [] } = more;
  const whole = [name?.givenName, name?.familyName].filter((part) => part !== undefined).join(' ');
  return {
    user_name: userName,
    is_active: active,
    // A person who returns gets new grants, not those of the last sign-in.
    ...(!active && { grants: asJson([]) }),
    provisioned: asJson(more),
    name: [displayName, name?.formatted, whole].find((text) => text !== undefined && text !== '') ?? userName,
    email: (emails.find(({ primary }) => primary === true) ?? emails[0])?.value ?? null,
    updated_at: now,
  };
}

/** The subject of the person's future sign-ins: the claim `sub`. */
const subjectOf = ({ userName, more }: UserAttributes) => more.externalId ?? userName;

const USER_TAKEN =
  'There is a user with this userName or externalId already, or a user who signed in with this externalId.';

/**
 * Refuses an `externalId` that another person has. Concurrent requests for the same one run one after the other.
 * @throws ScimError 409
 */
async function refuseTaken(
  query: Query,
  issuer: string,
  { id, externalId }: { id: string; externalId?: string | undefined },
) {
  if (externalId === undefined) return;
  await lockExternalId(query, externalId);
  const [other] = await query((all) =>
    all
      .selectFrom('users')
      .select('id')
      .where((eb) => eb.and([isProvisioned(eb, issuer), ...matching(eb, { externalId })]))
      .where('id', '<>', id)
      .limit(1),
  );
  if (other !== undefined) throw taken(USER_TAKEN);
}

/** The id cannot be taken until the end of the transaction. */
export const lockExternalId = (query: Query, externalId: string) =>
  lockInSystem(query, `SCIM externalId ${externalId}`);

/** Changes people or groups in a transaction. @throws ScimError 409 with `conflict`, if there is already such a one */
export async function inOne<T>({ db }: Provisioning, conflict: string, work: (query: Query) => Promise<T>): Promise<T> {
  try {
    return await db.system.transaction(work);
  } catch (error) {
    throw isUniqueViolation(error) ? taken(conflict, error) : error;
  }
}

/**
 * Provisions a person. A person who has signed in before, or was deleted by the provisioning, is recognized if the `externalId`
 * is the subject.
 * @throws ScimError 409
 */
export async function createUser(provisioning: Provisioning, attributes: UserAttributes): Promise<ProvisionedRow> {
  const { issuer, ofGroup } = provisioning;
  const subject = subjectOf(attributes);
  const id = await inOne(provisioning, USER_TAKEN, async (query) => {
    const known = await findUser(query, issuer, subject);
    if (known !== undefined && known.user_name !== null) throw alreadyThereAs(known.id);
    const columns = columnsOf(attributes);
    const [user] = await query((all) =>
      known === undefined
        ? all
            .insertInto('users')
            .values({ id: newId(), issuer, subject, grants: asJson([]), created_at: now, ...columns })
            .returningAll()
        : all.updateTable('users').set(columns).where('id', '=', known.id).returningAll(),
    );
    if (user === undefined) throw new Error('The new user was not returned.');
    await refuseTaken(query, issuer, { id: user.id, externalId: attributes.more.externalId });
    await syncMembersOf(query, [user], ofGroup);
    return user.id;
  });
  return getUser(provisioning, publicId('user', id));
}

const alreadyThereAs = (id: string): ScimError => taken(`This user already exists as ${publicId('user', id)}.`);

/** @throws ScimError 404 */
async function lockUser(query: Query, issuer: string, id: string): Promise<UserRow> {
  const [user] = await query((all) =>
    all
      .selectFrom('users')
      .selectAll()
      .where((eb) => eb.and([isProvisioned(eb, issuer), eb('id', '=', uuidOf('user', id))]))
      .forUpdate(),
  );
  if (user === undefined) throw notThere('User', id);
  return user;
}

/**
 * Changes a person, and their memberships accordingly: an inactive person loses all of them, with keys and sessions, in the same transaction.
 * @param change may throw
 * @throws ScimError 404, 409
 */
export async function changeUser(
  provisioning: Provisioning,
  id: string,
  change: (before: UserAttributes) => UserAttributes,
): Promise<ProvisionedRow> {
  const { issuer, ofGroup } = provisioning;
  await inOne(provisioning, USER_TAKEN, async (query) => {
    const before = await lockUser(query, issuer, id);
    const after = change(attributesOf(before));
    await refuseTaken(query, issuer, { id: before.id, externalId: after.more.externalId });
    const [user] = await query((all) =>
      all
        .updateTable('users')
        // A person who has signed in keeps the subject.
        .set({ ...columnsOf(after), ...(before.last_sign_in_at === null && { subject: subjectOf(after) }) })
        .where('id', '=', before.id)
        .returningAll(),
    );
    if (user !== undefined) await syncMembersOf(query, [user], ofGroup);
  });
  return getUser(provisioning, id);
}

/**
 * Deletes the person from the provisioning. They have no access until they are provisioned again.
 * @throws ScimError 404
 */
export async function deleteUser(provisioning: Provisioning, id: string): Promise<void> {
  const { issuer, ofGroup } = provisioning;
  await inOne(provisioning, USER_TAKEN, async (query) => {
    const before = await lockUser(query, issuer, id);
    await query((all) => all.deleteFrom('user_group_members').where('user_id', '=', before.id));
    const [user] = await query((all) =>
      all
        .updateTable('users')
        .set({ user_name: null, provisioned: null, is_active: false, grants: asJson([]), updated_at: now })
        .where('id', '=', before.id)
        .returningAll(),
    );
    if (user !== undefined) await syncMembersOf(query, [user], ofGroup);
  });
}

/** Whether the person is provisioned. */
export const isKnown = (user: UserRow, issuer: string) => user.issuer === issuer && user.user_name !== null;

/** Locks people in the order of their ids, as everywhere. Missing ones are omitted. */
export function lockUsers(query: Query, uuids: readonly string[]): Promise<UserRow[]> {
  return query((all) => all.selectFrom('users').selectAll().where('id', '=', anyOf(uuids)).orderBy('id').forUpdate());
}
