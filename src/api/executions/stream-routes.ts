import { z } from 'zod';
import { EVENT_STREAM, eventStream } from '../../http/event-stream.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { isFinished, readExecutionView } from '../../services/executions/executions.ts';
import { type EventId, parseEventId } from '../../services/streams/stream-events.ts';
import type { StreamHub } from '../../services/streams/stream-hub.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { streamSample } from './samples.ts';
import { ExecutionParams } from './schema.ts';
import { executionStream } from './stream-format.ts';

/** Where to resume, as sent by `EventSource`. */
const LastEventIdHeader = z.object({
  'Last-Event-ID': z.string().optional().meta({
    description: 'The `id` of the last event that you received. The stream continues after it.',
    example: '1.42',
  }),
});

/** @throws ApiError `invalid_request` */
function lastEventIdOf(request: { header(name: string): string | undefined }): EventId | undefined {
  const text = request.header('Last-Event-ID');
  return text === undefined || text === '' ? undefined : parseEventId(text);
}

/** `/executions/{id}/stream` */
export function streamRoutes({ quotas, streams }: { quotas: Quotas; streams: StreamHub }): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/executions/{id}/stream',
      operationId: 'streamExecution',
      tag: 'Executions',
      summary: 'Stream an execution as server-sent events, during or after the run',
      description:
        '`execution.started` with the execution so far, then `output_text.delta` and `tool_call` as the model sends them, then ' +
        '`execution.completed`, `execution.failed` or `execution.canceled` with the whole execution. `execution.restarted`: a new ' +
        'call started; discard earlier output. Closing the connection cancels nothing; `Last-Event-ID` resumes an interrupted stream.',
      scope: 'read',
      params: ExecutionParams,
      headers: LastEventIdHeader,
      response: z.string(),
      responseContentType: EVENT_STREAM,
      responseExample: streamSample,
      errors: ['quota_exceeded'],
      async handler(request) {
        const { db, params } = request;
        const after = lastEventIdOf(request);
        // A running execution is streamed live.
        const { row, status, bytes } = await readExecutionView(db, params.id);
        if (row === undefined && isFinished(status)) await request.reserve(bytes);
        return eventStream(
          await quotas.stream(db.workspaceId, () => streams.open(db, params.id, executionStream, after)),
        );
      },
    }),
  ];
}
