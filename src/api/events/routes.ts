import { z } from 'zod';
import { parsePublicId, publicId } from '../../domain/ids.ts';
import { Timestamp, TimestampInput } from '../../http/fields.ts';
import { decodeCursor, PageQuery, pageOf, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { type EventRow, getEvent, listEvents } from '../../services/events/list-events.ts';
import { EXAMPLE_DATA } from '../../services/events/sample-events.ts';
import { IdParams } from '../executions/schema.ts';
import { EventName } from '../webhooks/schema.ts';

const tag = 'Events';

const ListQuery = z.strictObject({
  ...PageQuery,
  event: EventName.optional(),
  since: TimestampInput.optional().meta({ description: 'At this time or later.' }),
  until: TimestampInput.optional().meta({ description: 'Before this time.' }),
});

const Event = z
  .object({
    id: z.string().meta({ description: 'The `X-Event-Id` of requests to webhooks.' }),
    event: EventName,
    data: z.record(z.string(), z.json()).meta({ description: 'What belongs to this kind of event.' }),
    timestamp: Timestamp,
  })
  .meta({ id: 'Event' });

const example = {
  id: 'evt_0198f0ab-13c8-7a1e-b7d0-41c9a2f36e58',
  event: 'evaluation.completed',
  data: EXAMPLE_DATA['evaluation.completed'],
  timestamp: '2026-01-31T12:00:38.344Z',
};

function presentEvent({ id, type, data, created_at: createdAt }: EventRow): z.input<typeof Event> {
  return { id: publicId('event', id), event: type, data, timestamp: createdAt.toISOString() };
}

/** `/events`: what has happened, whether or not a webhook was told. */
export function eventRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/events',
      operationId: 'listEvents',
      tag,
      summary: 'List what has happened, newest first',
      description: 'Whether or not a webhook was told. Tests of webhooks are left out.',
      scope: 'read',
      query: ListQuery,
      response: pageOf(Event).meta({ id: 'EventPage' }),
      responseExample: { data: [example], next_cursor: null },
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
      summary: 'Read an event',
      scope: 'read',
      params: IdParams,
      response: Event,
      responseExample: example,
      handler: async ({ db, params }) => presentEvent(await getEvent(db, parsePublicId('event', params.id))),
    }),
  ];
}
