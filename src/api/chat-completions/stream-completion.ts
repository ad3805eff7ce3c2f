import { once } from 'node:events';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { eventStream } from '../../http/event-stream.ts';
import type { RawResponse } from '../../http/route.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import type { CompletionChunks } from './chunks.ts';

/**
 * The response of a streamed completion. It begins when there is something to send, so that an execution that fails at once is an
 * error with a status, which SDKs know what to do with.
 * @param events what the chunks encode
 * @param signal aborted when the caller has gone away, or waits no longer
 * @returns the execution, where it ended without a completion before that
 */
export async function streamCompletion(
  events: Readable,
  chunks: CompletionChunks,
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
