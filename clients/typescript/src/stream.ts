import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type CallOptions, toRequest } from './call.ts';
import { ConnectionError, PmsError } from './errors.ts';
import type { CreateExecution, Evaluation, Execution, Improvement, ToolCall } from './generated/types.gen.ts';
import { randomKey } from './platform.ts';
import { createPatience, isTemporary, type Request, sleep, type Transport } from './transport.ts';

/** An event of an execution in progress. */
export type StreamEvent =
  /** The first event; not repeated after a broken connection. */
  | { type: 'execution.started'; execution: Execution }
  /** Text to append. */
  | { type: 'output_text.delta'; delta: string }
  /** A tool call that the model requested. */
  | { type: 'tool_call'; tool_call: ToolCall }
  /** The response restarts: discard all deltas and tool calls so far. */
  | { type: 'execution.restarted' }
  /** The last event. */
  | { type: 'execution.completed' | 'execution.failed' | 'execution.canceled'; execution: Execution };

/** An event of an evaluation in progress: its progress after each change, and its end. */
export interface EvaluationEvent {
  type: 'evaluation.progress' | 'evaluation.completed' | 'evaluation.failed' | 'evaluation.canceled';
  evaluation: Evaluation;
}

/** An event of an improvement in progress, in the same way. */
export interface ImprovementEvent {
  type: 'improvement.progress' | 'improvement.completed' | 'improvement.failed' | 'improvement.canceled';
  improvement: Improvement;
}

/**
 * The changes since the last event: types of resources as in the audit log, such as `execution`. Empty at the start of a stream.
 */
export interface ChangesEvent {
  type: 'changes';
  resources: string[];
}

export interface StreamOptions {
  signal?: AbortSignal | undefined;
  idempotencyKey?: string | undefined;
  /** How long connections can fail in a row without a new event, in milliseconds. Default: the client's */
  retryForMs?: number | undefined;
  /** Maximum number of reconnections. Default: limited only by `retryForMs` */
  maxReconnects?: number | undefined;
}

/** The service sends something every 15 s. */
const SILENCE_MS = 45_000;

const isEnd = ({ type }: { type: string }) => /\.(completed|failed|canceled)$/.test(type);

/**
 * Runs a prompt and yields its events until the end of the execution. After a broken connection, the stream reconnects and
 * resumes. Leaving the loop closes the connection and cancels nothing.
 * @throws PmsError if the request is rejected, or the service can't be reached
 */
export async function* streamExecution(
  transport: Transport,
  what: { body: CreateExecution } | { id: string },
  { idempotencyKey = randomKey(), ...options }: StreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  let id = 'id' in what ? what.id : undefined;
  const request = (sent: CallOptions) =>
    id === undefined && 'body' in what
      ? toRequest('createExecution', what, { ...sent, idempotencyKey })
      : toRequest('streamExecution', { path: { id } }, { ...sent, idempotencyKey });
  for await (const event of follow<StreamEvent>(transport, request, options)) {
    if (event.type === 'execution.started') id = event.execution.id;
    yield event;
  }
}

/** Yields the progress of an evaluation or an improvement until its end, in the same way. @throws PmsError */
export const streamRun = <Event extends EvaluationEvent | ImprovementEvent>(
  transport: Transport,
  operation: 'streamEvaluation' | 'streamImprovement',
  id: string,
  options: StreamOptions,
): AsyncGenerator<Event, void, undefined> =>
  follow(transport, (sent) => toRequest(operation, { path: { id } }, sent), options);

/** Yields the types of resources that change, at most once a second, without end. @throws PmsError */
export function streamChanges(
  transport: Transport,
  options: StreamOptions = {},
): AsyncGenerator<ChangesEvent, void, undefined> {
  return follow(transport, (sent) => toRequest('streamChanges', {}, sent), options);
}

/** The events of a stream, over as many connections as necessary. @param request opens one for the remaining events */
async function* follow<Event extends { type: string }>(
  transport: Transport,
  request: (options: CallOptions) => Request,
  { signal, retryForMs, maxReconnects }: StreamOptions,
): AsyncGenerator<Event, void, undefined> {
  let lastEventId: string | undefined;
  const patience = createPatience({
    ...(retryForMs !== undefined && { retryForMs }),
    ...(maxReconnects !== undefined && { maxRetries: maxReconnects }),
  });
  for (;;) {
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': lastEventId };
    const sent = request({ signal, headers, maxRetries: 0 });
    try {
      for await (const { event, message } of eventsOf<Event>(transport, sent)) {
        patience.reset();
        lastEventId = message.id ?? lastEventId;
        yield event;
        if (isEnd(event)) return;
      }
      // Adds what is known so far.
      throw new ConnectionError('connection_failed', 'The stream was interrupted.', request({}).about);
    } catch (error) {
      if (!(error instanceof PmsError) || !isTemporary(error)) throw error;
      const pauseMs = patience.pauseAfter(error);
      if (pauseMs === undefined) throw error;
      await sleep(pauseMs, signal);
    }
  }
}

/** The events of one connection. */
async function* eventsOf<Event>(
  transport: Transport,
  request: Request,
): AsyncGenerator<{ event: Event; message: EventSourceMessage }, void, undefined> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  const body = await transport({ ...request, isStreamed: true }, async (response) => response.body);
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { value, done } = await read(reader, request);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const message of messages.splice(0)) yield { event: JSON.parse(message.data), message };
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** @throws ConnectionError if the connection breaks or stalls */
async function read(reader: ReadableStreamDefaultReader<Uint8Array>, { signal, about }: Request) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no data for ${SILENCE_MS} ms`)), SILENCE_MS);
    });
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw new ConnectionError('connection_failed', `The stream was interrupted: ${String(error)}`, {
      ...about,
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
