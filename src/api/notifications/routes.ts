import { z } from 'zod';
import { decodeCursor, PageQuery, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { listNotifications } from '../../services/notifications/list-notifications.ts';
import { presentNotification } from './presenter.ts';
import { notificationSample } from './samples.ts';
import { NotificationPage } from './schema.ts';

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
        const page = await listNotifications(db, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, presentNotification, (row) => row.id);
      },
    }),
  ];
}
