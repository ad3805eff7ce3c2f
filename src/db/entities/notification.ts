import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ownedByWorkspace, timestamp, workspaceOwned } from './workspace-owned.ts';

/** What the owner of a workspace is told. */
export const NOTIFICATION_TYPES = ['webhook.disabled'] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

/** Something that the owner of a workspace has to know. */
export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  filters: ownedByWorkspace,
  indexes: [{ properties: ['workspaceId', 'id'] }],
  properties: {
    ...workspaceOwned,
    type: p.text().$type<NotificationType>(),
    message: p.text(),
    webhookId: p.uuid().nullable(),
    /** The delivery that was the reason: it tells of it once. */
    deliveryId: p.uuid().nullable().unique(),
    /** When the e-mail was accepted by the mail server. */
    emailedAt: timestamp().nullable(),
    /** Why it could not be sent at the last try. */
    emailError: p.text().nullable(),
    createdAt: timestamp(),
  },
});

export type Notification = InferEntity<typeof Notification>;
