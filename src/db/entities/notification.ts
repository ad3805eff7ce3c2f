import { defineEntity, p } from '@mikro-orm/core';
import type { NotificationType } from '../../domain/notifications.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** Something that the owner of a workspace has to know. */
export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  indexes: [
    { properties: ['workspaceId', 'id'] },
    {
      name: 'notifications_unsent_index',
      expression: `create index "notifications_unsent_index" on "notifications" ("check_at") where "email_pending"`,
    },
  ],
  properties: {
    ...workspaceOwned,
    type: p.text().$type<NotificationType>(),
    message: p.text(),
    webhookId: p.uuid().nullable(),
    /** The delivery that caused it, once. */
    deliveryId: p.uuid().nullable().unique(),
    /** The name of the monitor that caused it. */
    monitor: p.text().nullable(),
    /** When the e-mail was accepted by the mail server. */
    emailedAt: timestamp().nullable(),
    /** Why it could not be sent at the last try. */
    emailError: p.text().nullable(),
    /** An e-mail is still to be sent: it was neither accepted nor given up. */
    emailPending: p.boolean().default(false),
    /** Tries to send it so far. */
    emailAttempts: p.integer().default(0),
    /** When it is next tried; while one process tries, no other does before this. */
    checkAt: timestamp().defaultRaw('now()'),
    createdAt: timestamp(),
  },
});
