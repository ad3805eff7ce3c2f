import type { WorkspaceDatabase } from '../../db/database.ts';
import type { NotificationType } from '../../db/entities/notification.ts';
import { type Page, readPage } from '../../db/read-page.ts';

/** A row of `notifications`. */
export interface NotificationRow {
  id: string;
  type: NotificationType;
  message: string;
  webhook_id: string | null;
  emailed_at: Date | null;
  email_error: string | null;
  created_at: Date;
}

/** What the owner of the workspace was told, newest first: a page of at most `limit` before the id `before`. */
export function listNotifications(
  db: WorkspaceDatabase,
  limit: number,
  before: string | undefined,
): Promise<Page<NotificationRow>> {
  const list = {
    select: `select id, type, message, webhook_id, emailed_at, email_error, created_at from notifications
             where workspace_id = $1 and ($2::uuid is null or id < $2)`,
    orderBy: 'id desc',
    bytes: 'octet_length(message)',
  };
  return readPage<NotificationRow>(db.query, list, [before ?? null], limit);
}
