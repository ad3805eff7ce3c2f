import type { WorkspaceDatabase } from '../db/database.ts';
import { notFound } from '../domain/errors.ts';
import type { EventContent, EventType } from '../domain/events.ts';
import { idsOfSpan } from '../domain/ids.ts';

/** A row of `events`. */
export interface EventRow {
  id: string;
  type: EventType;
  data: EventContent['data'];
  created_at: Date;
}

export interface EventFilter {
  event?: EventType | undefined;
  /** At this time or later. */
  since?: Date | undefined;
  /** Before this time. */
  until?: Date | undefined;
}

/** What has happened, newest first, without the examples of tests: `limit + 1` events before the id `before`. */
export function listEvents(
  db: WorkspaceDatabase,
  { event, since, until }: EventFilter,
  limit: number,
  before: string | undefined,
): Promise<EventRow[]> {
  const { from, to } = idsOfSpan(since, until);
  return db.query<EventRow>(
    {
      text: `select id, type, data, created_at from events
             where workspace_id = $1 and id >= $7 and id < $8 and not test and ($2::text is null or type = $2)
               and ($3::timestamptz is null or created_at >= $3) and ($4::timestamptz is null or created_at < $4)
               and ($5::uuid is null or id < $5)
             order by id desc limit $6`,
    },
    [event ?? null, since ?? null, until ?? null, before ?? null, limit + 1, from, to],
  );
}

/** An event by its id, also one that a test of a webhook sent. @throws ApiError `not_found` */
export async function getEvent(db: WorkspaceDatabase, id: string | undefined): Promise<EventRow> {
  const [row] =
    id === undefined
      ? []
      : await db.query<EventRow>(
          { text: 'select id, type, data, created_at from events where workspace_id = $1 and id = $2' },
          [id],
        );
  if (row === undefined) throw notFound('This event');
  return row;
}
