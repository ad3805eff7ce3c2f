import { defineEntity, p } from '@mikro-orm/core';
import type { NotificationType } from '../../domain/notifications.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A message for the owner of a workspace. */
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
    /** The delivery that caused it; at most once. */
    deliveryId: p.uuid().nullable().unique(),
    /** The name of the monitor that caused it. */
    monitor: p.text().nullable(),
    /** When the e-mail was accepted by the mail server. */
    emailedAt: timestamp().nullable(),
    /** Why the last attempt to send it failed. */
    emailError: p.text().nullable(),
    /** The e-mail is still to be sent: it was neither accepted nor abandoned. */
    emailPending: p.boolean().default(false),
    /** The number of attempts to send it. */
    emailAttempts: p.integer().default(0),
    /** When to try next. While a process tries, no other one does before this time. */
    checkAt: timestamp().defaultRaw('now()'),
    createdAt: timestamp(),
  },
});
