import { type Expression, expressionBuilder } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import type { EventType } from '../../domain/webhooks/events.ts';

const eb = expressionBuilder<Tables & { w: Tables['webhooks'] }, 'w'>();

/** Whether the webhook `w` subscribes to events of this type. */
export const isSubscribed = (type: Expression<EventType>) =>
  eb.and([eb('w.status', '=', 'enabled'), eb(type, '=', eb.fn.any('w.events'))]);
