import { z } from 'zod';
import { NOTIFICATION_TYPES } from '../../domain/notifications.ts';
import { Timestamp } from '../../http/fields.ts';
import { pageOf } from '../../http/pagination.ts';

export const Notification = z
  .object({
    id: z.string(),
    type: z.enum(NOTIFICATION_TYPES),
    message: z.string(),
    webhook_id: z.string().nullable(),
    monitor: z.string().nullable().meta({ description: 'The monitor that the notification is about.' }),
    email: z.object({
      sent_at: Timestamp.nullable().meta({ description: 'When the mail server accepted it; null until then.' }),
      error: z.string().nullable().meta({ description: 'Why the last attempt to send it failed.' }),
    }),
    created_at: Timestamp,
  })
  .meta({ id: 'Notification' });

export const NotificationPage = pageOf(Notification).meta({ id: 'NotificationPage' });
