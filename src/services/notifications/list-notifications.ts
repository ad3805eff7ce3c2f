import { sql } from 'kysely';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { selectPage } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';

/** Notifications to the owner of the workspace, newest first: a page of at most `limit` before the id `before`. */
export function listNotifications({ query }: WorkspaceDatabase, limit: number, before: string | undefined) {
  const select = (db: Builder) =>
    db
      .selectFrom('notifications')
      .select(['id', 'type', 'message', 'webhook_id', 'monitor', 'emailed_at', 'email_error', 'created_at'])
      .where((eb) => eb.and(given(before, (value) => eb('id', '<', value))));
  return selectPage(
    query,
    { select, orderBy: [['id', 'desc']], bytes: () => sql<number>`octet_length(message)` },
    limit,
  );
}

export type NotificationRow = Awaited<ReturnType<typeof listNotifications>>['rows'][number];
