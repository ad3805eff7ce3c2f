import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import { type Builder, prepared, type RowOf } from '../../db/statement.ts';
import { notFound } from '../../domain/errors.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import type { EventType } from '../../domain/webhooks/events.ts';

const COLUMNS = ['id', 'type', 'data', 'created_at'] as const;

const FIND = prepared<{ id: string }>()((db, { id }) => db.selectFrom('events').select(COLUMNS).where('id', '=', id));

export type EventRow = RowOf<typeof FIND>;

export interface EventFilter {
  event?: EventType | undefined;
  /** Only events created at or after this time. */
  since?: Date | undefined;
  /** Only events created before this time. */
  until?: Date | undefined;
}

/** Events, newest first, without test events: a page of at most `limit` before the id `before`. */
export function listEvents(
  { query }: { query: Query },
  { event, since, until }: EventFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<EventRow>> {
  const { from, to } = idsOfSpan(since, until);
  const select = (db: Builder) =>
    db
      .selectFrom('events')
      .select(COLUMNS)
      .where((eb) =>
        eb.and([
          eb('id', '>=', from),
          eb('id', '<', to),
          eb.not(eb.ref('test')),
          ...given(event, (value) => eb('type', '=', value)),
          ...given(since, (value) => eb('created_at', '>=', value)),
          ...given(until, (value) => eb('created_at', '<', value)),
          ...given(before, (value) => eb('id', '<', value)),
        ]),
      );
  const bytes = () => sql<number>`octet_length(data::text)`;
  return selectPage(query, { select, orderBy: [['id', 'desc']], bytes }, limit);
}

/** An event by its id, including test events. @throws ApiError `not_found` */
export async function getEvent({ query }: { query: Query }, id: string): Promise<EventRow> {
  const [row] = await query(FIND, { id });
  if (row === undefined) throw notFound('This event');
  return row;
}
