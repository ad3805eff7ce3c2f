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
 * Builds the response of a streamed completion. It starts only when there is something to send, so that an execution that fails
 * immediately becomes an error status, which SDKs handle well.
 * @param events encoded as chunks
 * @param signal aborted when the caller disconnects or stops waiting
 * @returns the execution, if it ended before that without a completion
 */
async function streamCompletion(
  events: Readable,
  chunks: OpenAiStream,
  signal: AbortSignal,
): Promise<RawResponse | ExecutionRow> {
  const response = new PassThrough({
    // If the process stops, the last event is missing. Without it a caller must not treat the output as complete.
    flush: (done) => done(null, chunks.close()),
  });
  pipeline(events, response, () => {});
  try {
    // A keep-alive comment arrives eventually.
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

/** The response to a request whose execution did not complete. */
export function failed(row: ExecutionRow, request: RouteRequest<unknown, unknown, unknown>): RawResponse {
  const { status, headers, body } = failureOf(row, request.header('Idempotency-Key') !== undefined);
  return new RawResponse('application/json', JSON.stringify(body), headers, status);
}

/**
 * Runs an execution and streams it.
 * @param open creates the stream of an execution from its UUID
 */
export async function respondWithStream(
  deps: RunExecutionDeps,
  request: RouteRequest<unknown, unknown, unknown>,
  execution: ExecutionToRun,
  open: (id: string) => OpenAiStream,
): Promise<RawResponse> {
  const { events, format } = await streamExecution(deps, request, execution, open);
  // From here on a failure undoes nothing: the execution is running.
  const response = await streamCompletion(events, format, request.signal);
  return response instanceof RawResponse ? response : failed(response, request);
}
