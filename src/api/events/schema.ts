import { z } from 'zod';
import { EVENT_DATA } from '../../domain/webhooks/events.ts';
import { CreationTime, Timestamp } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { EventName, SentEvent } from '../webhooks/schema.ts';

export const ListQuery = z.strictObject({
  ...PageQuery,
  event: EventName.optional(),
  ...CreationTime,
});

export const Event = z
  .object({
    id: z.string().meta({ description: 'The `X-Event-Id` of its deliveries.' }),
    event: SentEvent,
    data: z.union([...new Set(Object.values(EVENT_DATA))]).meta({ description: 'The payload of the event type.' }),
    timestamp: Timestamp,
  })
  .meta({ id: 'Event' });

export const EventPage = pageOf(Event).meta({ id: 'EventPage' });
