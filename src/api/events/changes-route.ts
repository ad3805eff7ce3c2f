import { z } from 'zod';
import { EVENT_STREAM, eventStream } from '../../http/event-stream.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { ChangesHub } from '../../services/streams/changes-hub.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { changesStream } from './changes-format.ts';

/** `/changes` */
export function changesRoutes({ quotas, changes }: { quotas: Quotas; changes: ChangesHub }): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/changes',
      operationId: 'streamChanges',
      tag: 'Events',
      summary: 'Stream which types of resources change, as server-sent events',
      description:
        'For pages that show what is: `changes` with `resources`, the types (as in the audit log) of what has changed in the workspace, once a ' +
        'second at most. The first one is empty: read what you show, and read it again when its type is named. It tells of events (ends of ' +
        'executions and evaluations, releases, monitors, prompts) and of what people and programs have changed, not of each step of a run. ' +
        'A stream that ends was interrupted: open it again.',
      scope: 'read',
      response: z.string(),
      responseContentType: EVENT_STREAM,
      responseExample: changesStream.encode([]) + changesStream.encode(['execution', 'release']),
      errors: ['quota_exceeded'],
      handler: async ({ db }) => eventStream(await quotas.stream(db.workspaceId, async () => changes.open(db))),
    }),
  ];
}
