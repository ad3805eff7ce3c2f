import { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { SAMPLE_DATA } from '../../domain/webhooks/events.ts';
import { idParams } from '../../http/fields.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { type EventRow, getEvent, listEvents } from '../../services/events/list-events.ts';
import { Event, EventPage, ListQuery } from './schema.ts';

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
