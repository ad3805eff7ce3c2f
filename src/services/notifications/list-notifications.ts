import type { WorkspaceDatabase } from '../../db/database.ts';
import type { NotificationType } from '../../db/entities/notification.ts';

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

/** What the owner of the workspace was told, newest first: `limit + 1` before the id `before`. */
export function listNotifications(
  db: WorkspaceDatabase,
  limit: number,
  before: string | undefined,
): Promise<NotificationRow[]> {
  return db.query<NotificationRow>(
    {
      text: `select id, type, message, webhook_id, emailed_at, email_error, created_at from notifications
             where workspace_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    },
    [before ?? null, limit + 1],
  );
}
