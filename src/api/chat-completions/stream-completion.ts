import { once } from 'node:events';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { eventStream } from '../../http/event-stream.ts';
import { RawResponse, type RouteRequest } from '../../http/route.ts';
import type { ExecutionToRun } from '../../services/executions/creation/store-execution.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import { type RunExecutionDeps, streamExecution } from '../executions/run-execution.ts';
import { failureOf } from './errors.ts';
import type { OpenAiStream } from './openai-stream.ts';

/**
 * The response of a streamed completion. It begins when there is something to send, so that an execution that fails at once is an
 * error with a status, which SDKs know what to do with.
 * @param events what the chunks encode
 * @param signal aborted when the caller has gone away, or waits no longer
 * @returns the execution, where it ended without a completion before that
 */
async function streamCompletion(
  events: Readable,
  chunks: OpenAiStream,
  signal: AbortSignal,
): Promise<RawResponse | ExecutionRow> {
  const response = new PassThrough({
    // The last event is missing where the process stops. Nobody may take what there is for the whole.
    flush: (done) => done(null, chunks.close()),
  });
  pipeline(events, response, () => {});
  try {
    // At the latest a comment that keeps the connection open.
    await once(response, 'readable', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (chunks.failed !== undefined) {
    response.destroy();
    return chunks.failed;
  }
  chunks.hasStatus = true;
  return eventStream(response);
}

/** The response to a request whose execution is not completed. */
export function failed(row: ExecutionRow, request: RouteRequest<unknown, unknown, unknown>): RawResponse {
  const { status, headers, body } = failureOf(row, request.header('Idempotency-Key') !== undefined);
  return new RawResponse('application/json', JSON.stringify(body), headers, status);
}

/**
 * Runs an execution and streams it.
 * @param open makes the stream of an execution, by its UUID
 */
export async function respondWithStream(
  deps: RunExecutionDeps,
  request: RouteRequest<unknown, unknown, unknown>,
  execution: ExecutionToRun,
  open: (id: string) => OpenAiStream,
): Promise<RawResponse> {
  const { events, format } = await streamExecution(deps, request, execution, open);
  // What goes wrong from now on takes nothing back: the execution runs.
  const response = await streamCompletion(events, format, request.signal);
  return response instanceof RawResponse ? response : failed(response, request);
}
