import { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { decodeCursor, PageQuery, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { NOTIFICATIONS, type NotificationRow } from '../../services/notifications/list-notifications.ts';
import { type Notification, NotificationPage } from './schema.ts';

/** Presents a notification. */
function presentNotification(row: NotificationRow): z.input<typeof Notification> {
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

/** A sample for the documentation. */
const notificationSample = {
  id: 'ntf_0198f2c7-5d0e-7b4a-a3c1-92d7e80f4416',
  type: 'webhook.disabled',
  message:
    'The webhook wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11 to example.com was disabled because a delivery has failed 6 times: ' +
    'the first attempt and 5 retries, the last one with "connection refused".',
  webhook_id: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  monitor: null,
  email: { sent_at: '2026-01-31T20:41:12.904Z', error: null },
  created_at: '2026-01-31T20:41:11.380Z',
};

/** `/notifications`: messages to the owner of the workspace. */
export function notificationRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/notifications',
      operationId: 'listNotifications',
      tag: 'Notifications',
      summary: 'List notifications to the workspace owner, newest first',
      scope: 'read',
      query: z.strictObject(PageQuery),
      response: NotificationPage,
      responseExample: { data: [notificationSample], next_cursor: null },
      async handler({ db, query: { limit, cursor } }) {
        const page = await NOTIFICATIONS.list(db.query, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, presentNotification, (row) => row.id);
      },
    }),
  ];
}
