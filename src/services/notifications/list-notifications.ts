import { sql } from 'kysely';
import type { Builder } from '../../db/statement.ts';
import { type RowIn, rowsBy } from '../named-rows.ts';

const select = (db: Builder) =>
  db
    .selectFrom('notifications')
    .select(['id', 'type', 'message', 'webhook_id', 'monitor', 'emailed_at', 'email_error', 'created_at']);

/** Notifications to the owner of the workspace. */
export const NOTIFICATIONS = rowsBy({
  select,
  keys: ['id'],
  bytes: () => sql<number>`octet_length(message)`,
  what: 'This notification',
});
export type NotificationRow = RowIn<typeof NOTIFICATIONS>;
