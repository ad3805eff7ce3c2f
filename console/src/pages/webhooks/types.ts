import type { z } from 'zod';
import type * as deliveries from '../../../../src/api/deliveries/schema.ts';
import type * as notifications from '../../../../src/api/notifications/schema.ts';
import type * as webhooks from '../../../../src/api/webhooks/schema.ts';

export type Webhook = z.output<typeof webhooks.Webhook>;
export type WebhookWithSecret = z.output<typeof webhooks.WebhookWithSecret>;
export type CreateWebhook = z.input<typeof webhooks.CreateWebhook>;
export type UpdateWebhook = z.input<typeof webhooks.UpdateWebhook>;
export type Delivery = z.output<typeof deliveries.Delivery>;
export type DeliveryWithAttempts = z.output<typeof deliveries.DeliveryWithAttempts>;
export type Notification = z.output<typeof notifications.Notification>;
