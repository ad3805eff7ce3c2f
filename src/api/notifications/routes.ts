import { z } from 'zod';
import { NOTIFICATION_TYPES } from '../../db/entities/notification.ts';
import { publicId } from '../../domain/ids.ts';
import { Timestamp } from '../../http/fields.ts';
import { decodeCursor, PageQuery, pageOf, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { listNotifications, type NotificationRow } from '../../services/notifications/list-notifications.ts';

const Notification = z
  .object({
    id: z.string(),
    type: z.enum(NOTIFICATION_TYPES),
    message: z.string(),
    webhook_id: z.string().nullable(),
    email: z.object({
      sent_at: Timestamp.nullable().meta({ description: 'When the mail server took it; null until then.' }),
      error: z.string().nullable().meta({ description: 'Why it could not be sent at the last try.' }),
    }),
    created_at: Timestamp,
  })
  .meta({ id: 'Notification' });

const example = {
  id: 'ntf_0198f2c7-5d0e-7b4a-a3c1-92d7e80f4416',
  type: 'webhook.disabled',
  message:
    'The webhook wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11 to example.com was disabled, since a delivery has failed 6 times: ' +
    'the first attempt and 5 retries, the last one with "connection refused".',
  webhook_id: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  email: { sent_at: '2026-01-31T20:41:12.904Z', error: null },
  created_at: '2026-01-31T20:41:11.380Z',
};

function presentNotification(row: NotificationRow): z.input<typeof Notification> {
  return {
    id: publicId('notification', row.id),
    type: row.type,
    message: row.message,
    webhook_id: row.webhook_id === null ? null : publicId('webhook', row.webhook_id),
    email: { sent_at: row.emailed_at?.toISOString() ?? null, error: row.email_error },
    created_at: row.created_at.toISOString(),
  };
}

/** `/notifications`: what the owner of the workspace was told. */
export function notificationRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/notifications',
      operationId: 'listNotifications',
      tag: 'Notifications',
      summary: 'List what the owner of the workspace was told, newest first',
      scope: 'read',
      query: z.strictObject(PageQuery),
      response: pageOf(Notification).meta({ id: 'NotificationPage' }),
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, query: { limit, cursor } }) {
        const page = await listNotifications(db, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, presentNotification, (row) => row.id);
      },
    }),
  ];
}
