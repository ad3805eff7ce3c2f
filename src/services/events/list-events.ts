import type { WorkspaceDatabase } from '../../db/database.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import { notFound } from '../../domain/errors.ts';
import type { EventData, EventType } from '../../domain/events.ts';
import { idsOfSpan } from '../../domain/ids.ts';

/** A row of `events`. */
export interface EventRow {
  id: string;
  type: EventType;
  data: EventData;
  created_at: Date;
}

export interface EventFilter {
  event?: EventType | undefined;
  /** At this time or later. */
  since?: Date | undefined;
  /** Before this time. */
  until?: Date | undefined;
}

/** What has happened, newest first, without the examples of tests: a page of at most `limit` events before the id `before`. */
export function listEvents(
  db: WorkspaceDatabase,
  { event, since, until }: EventFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<EventRow>> {
  const { from, to } = idsOfSpan(since, until);
  const list = {
    select: `select id, type, data, created_at from events
             where workspace_id = $1 and id >= $6 and id < $7 and not test and ($2::text is null or type = $2)
               and ($3::timestamptz is null or created_at >= $3) and ($4::timestamptz is null or created_at < $4)
               and ($5::uuid is null or id < $5)`,
    orderBy: 'id desc',
    // Kept as text, and small: an event names things, and holds none of their texts.
    bytes: 'octet_length(data::text)',
  };
  const values = [event ?? null, since ?? null, until ?? null, before ?? null, from, to];
  return readPage<EventRow>(db.query, list, values, limit);
}

/** An event by its id, also one that a test of a webhook sent. @throws ApiError `not_found` */
export async function getEvent(db: WorkspaceDatabase, id: string): Promise<EventRow> {
  const [row] = await db.query<EventRow>(
    { text: 'select id, type, data, created_at from events where workspace_id = $1 and id = $2' },
    [id],
  );
  if (row === undefined) throw notFound('This event');
  return row;
}
