import { z } from 'zod';
import { idParams } from '../../http/fields.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { getEvent, listEvents } from '../../services/events/list-events.ts';
import { presentEvent } from './presenter.ts';
import { eventSample } from './samples.ts';
import { Event, EventPage, ListQuery } from './schema.ts';

const tag = 'Events';

/** `/events`: what has happened, whether or not a webhook is subscribed to it. */
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
