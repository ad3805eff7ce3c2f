import { z } from 'zod';
import { EVENT_DATA } from '../../domain/events.ts';
import { Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { EventName } from '../webhooks/schema.ts';

export const ListQuery = z.strictObject({
  ...PageQuery,
  event: EventName.optional(),
  since: TimestampInput.optional().meta({ description: 'Created at or after this time.' }),
  until: TimestampInput.optional().meta({ description: 'Created before this time.' }),
});

export const Event = z
  .object({
    id: z.string().meta({ description: 'The `X-Event-Id` of its deliveries.' }),
    event: EventName,
    data: z.union([...new Set(Object.values(EVENT_DATA))]).meta({ description: 'The payload of the event type.' }),
    timestamp: Timestamp,
  })
  .meta({ id: 'Event' });

export const EventPage = pageOf(Event).meta({ id: 'EventPage' });
