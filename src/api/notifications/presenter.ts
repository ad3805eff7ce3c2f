import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import type { NotificationRow } from '../../services/notifications/list-notifications.ts';
import type { Notification } from './schema.ts';

/** A notification as callers see it. */
export function presentNotification(row: NotificationRow): z.input<typeof Notification> {
  return {
    id: publicId('notification', row.id),
    type: row.type,
    message: row.message,
    webhook_id: row.webhook_id === null ? null : publicId('webhook', row.webhook_id),
    monitor: row.monitor,
    email: { sent_at: row.emailed_at?.toISOString() ?? null, error: row.email_error },
    created_at: row.created_at.toISOString(),
  };
}
