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
      summary: 'Stream the types of resources that change, as server-sent events',
      description:
        'For pages that show live data. Sends `changes` with `resources`, the types (as in the audit log) of the resources that changed in the workspace, at most once a ' +
        'second. The first one is empty: load the data that you show, and reload it when its type is named. It covers events (ends of ' +
        'executions and evaluations, releases, monitors, prompts) and changes by people and programs, not each step of a run. ' +
        'If the stream ends, it was interrupted: reconnect.',
      scope: 'read',
      response: z.string(),
      responseContentType: EVENT_STREAM,
      responseExample: changesStream.encode([]) + changesStream.encode(['execution', 'release']),
      errors: ['quota_exceeded'],
      handler: async ({ db }) => eventStream(await quotas.stream(db.workspaceId, async () => changes.open(db))),
    }),
  ];
}
