import { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { EVENT_DATA, SAMPLE_DATA } from '../../domain/webhooks/events.ts';
import { CreationTime, idParams, Timestamp } from '../../http/fields.ts';
import { decodeCursor, PageQuery, pageOf, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { type EventRow, getEvent, listEvents } from '../../services/events/list-events.ts';
import { EventName, SentEvent } from '../webhooks/schema.ts';

const ListQuery = z.strictObject({
  ...PageQuery,
  event: EventName.optional(),
  ...CreationTime,
});

const Event = z
  .object({
    id: z.string().meta({ description: 'The `X-Event-Id` of its deliveries.' }),
    event: SentEvent,
    data: z.union([...new Set(Object.values(EVENT_DATA))]).meta({ description: 'The payload of the event type.' }),
    timestamp: Timestamp,
  })
  .meta({ id: 'Event' });

const EventPage = pageOf(Event).meta({ id: 'EventPage' });

function presentEvent({ id, type, data, created_at: createdAt }: EventRow): z.input<typeof Event> {
  return { id: publicId('event', id), event: type, data, timestamp: createdAt.toISOString() };
}

const eventSample = {
  id: 'evt_0198f0ab-13c8-7a1e-b7d0-41c9a2f36e58',
  event: 'evaluation.completed',
  data: SAMPLE_DATA['evaluation.completed'],
  timestamp: '2026-01-31T12:00:38.344Z',
};

const tag = 'Events';

/** `/events`: what happened, with or without a subscribed webhook. */
export function eventRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/events',
      operationId: 'listEvents',
      tag,
      summary: 'List events, newest first',
      description:
        'Lists all events of the workspace, whether or not a webhook subscribes to them. Test events are excluded.',
      scope: 'read',
      query: ListQuery,
      response: EventPage,
      responseExample: { data: [eventSample], next_cursor: null },
      async handler({ db, query: { limit, cursor, ...filter } }) {
        const page = await listEvents(db, filter, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, presentEvent, (row) => row.id);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/events/{id}',
      operationId: 'getEvent',
      tag,
      summary: 'Retrieve an event',
      scope: 'read',
      params: idParams('event'),
      response: Event,
      responseExample: eventSample,
      handler: async ({ db, params }) => presentEvent(await getEvent(db, params.id)),
    }),
  ];
}
