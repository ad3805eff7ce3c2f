import { type ExpressionBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { MemberStatus } from '../../db/entities/member.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { containing, given } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import type { MemberRow } from './members.ts';

/** A member, with the last use of any of their keys and sessions. */
export type ShownMember = MemberRow & { last_seen_at: Date | null };

const lastSeen = (eb: ExpressionBuilder<Tables & { m: Tables['members'] }, 'm'>) =>
  eb
    .selectFrom('api_keys as k')
    .select(sql<Date | null>`max(last_used_at)`.as('last'))
    .whereRef('k.member_id', '=', 'm.id')
    .as('last_seen_at');

const selectMembers = (db: Builder) => db.selectFrom('members as m').selectAll('m').select(lastSeen);

/** @throws ApiError `not_found` */
export async function getMember(query: Query, id: string): Promise<ShownMember> {
  const [row] = await query((own) => selectMembers(own).where('m.id', '=', id));
  if (row === undefined) throw notFound('This member');
  return row;
}

/**
 * The members of a workspace, newest first: a page of at most `limit` before the id `before`.
 * @param filter `search`: part of a name or an e-mail address, ignoring case
 */
export function listMembers(
  query: Query,
  { search, status }: { search?: string | undefined; status?: MemberStatus | undefined },
  limit: number,
  before: string | undefined,
): Promise<Page<ShownMember>> {
  const select = (own: Builder) =>
    selectMembers(own).where((eb) =>
      eb.and([
        ...given(status, (value) => eb('m.status', '=', value)),
        ...given(before, (value) => eb('m.id', '<', value)),
        ...given(search, (value) =>
          eb.or([eb('m.name', 'ilike', containing(value)), eb('m.email', 'ilike', containing(value))]),
        ),
      ]),
    );
  return selectPage(query, { select, orderBy: [['id', 'desc']], bytes: () => sql<number>`500` }, limit);
}
