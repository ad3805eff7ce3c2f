import { ApiError, NetworkError, pathOf, post, readEvents, type StreamEvent, send } from '../../api.ts';
import type { CreateExecution, Execution } from '../../api-types.ts';

export type ToolCall = Execution['tool_calls'][number];

/** The state of a run. */
export interface Run {
  /**
   * `waiting` for its turn, or `stopped` before that; `starting` until the API has created the execution. `earlier`: not run here,
   * the result of an evaluation.
   */
  state: 'waiting' | 'stopped' | 'starting' | 'running' | 'ended' | 'refused' | 'earlier';
  output: string;
  toolCalls: ToolCall[];
  execution: Execution | undefined;
  /** Why there is no execution, or why it can't be followed. */
  error: unknown;
  /** From the request to the first output, in milliseconds. */
  firstTokenMs: number | undefined;
  /** From the request to the end, as measured in this browser; for an earlier run, by the service. */
  totalMs: number | undefined;
}

export const NEW_RUN: Run = {
  state: 'starting',
  output: '',
  toolCalls: [],
  execution: undefined,
  error: undefined,
  firstTokenMs: undefined,
  totalMs: undefined,
};

export const isBusy = ({ state }: Pick<Run, 'state'>) =>
  state === 'waiting' || state === 'starting' || state === 'running';

/** The state of an earlier run. */
export const runOf = (execution: Execution): Run => ({
  ...NEW_RUN,
  state: 'ended',
  execution,
  output: execution.output ?? '',
  toolCalls: execution.tool_calls,
  totalMs: execution.latency.total_ms ?? undefined,
});

const MAX_TRIES = 30;
const RETRY_MS = 1_000;

/** Applies an event of an execution's stream. */
export function afterEvent(run: Run, { type, data }: StreamEvent): Run {
  const event = data as { execution?: Execution; delta?: string; tool_call?: ToolCall };
  switch (type) {
    case 'execution.started':
      return { ...run, state: 'running', execution: event.execution };
    case 'output_text.delta':
      return { ...run, output: run.output + (event.delta ?? '') };
    case 'tool_call':
      return { ...run, toolCalls: [...run.toolCalls, ...(event.tool_call ? [event.tool_call] : [])] };
    case 'execution.restarted':
      return { ...run, output: '', toolCalls: [] };
    case 'execution.completed':
    case 'execution.failed':
    case 'execution.canceled': {
      const { execution } = event;
      return {
        ...run,
        state: 'ended',
        execution,
        output: execution?.output ?? run.output,
        toolCalls: execution?.tool_calls ?? run.toolCalls,
      };
    }
    default:
      return run;
  }
}

/**
 * Starts a run with `body` and follows its stream; reconnects if that breaks off.
 * @param onChange receives the run after changes, at most once per frame
 */
export async function followRun(
  body: CreateExecution,
  signal: AbortSignal,
  onChange: (run: Run) => void,
): Promise<void> {
  const startedAt = performance.now();
  let run = NEW_RUN;
  let lastId: string | undefined;
  let frame = 0;
  const show = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    onChange(run);
  };
  const onEvent = (event: StreamEvent) => {
    lastId = event.id ?? lastId;
    run = afterEvent(run, event);
    if (run.firstTokenMs === undefined && (event.type === 'output_text.delta' || event.type === 'tool_call'))
      run = { ...run, firstTokenMs: performance.now() - startedAt };
    if (run.state === 'ended') run = { ...run, totalMs: performance.now() - startedAt };
    // Background windows get no frames, but their runs end, too.
    if (run.state === 'ended') show();
    else if (frame === 0) frame = requestAnimationFrame(show);
  };
  const hasEnded = () => run.state === 'ended';
  const headers = { Accept: 'text/event-stream' };
  show();
  try {
    for (let tries = 1; !hasEnded(); tries++) {
      try {
        const id = run.execution?.id;
        const response =
          id === undefined
            ? await send('POST', '/executions', { body, headers, signal })
            : await send('GET', `${pathOf('executions', id)}/stream`, {
                headers: { ...headers, ...(lastId !== undefined && { 'Last-Event-ID': lastId }) },
                signal,
              });
        await readEvents(response, onEvent);
      } catch (error) {
        const mayPass = error instanceof NetworkError || (error instanceof ApiError && error.status >= 429);
        if (!mayPass || run.execution === undefined) throw error;
      }
      if (hasEnded()) return;
      // Without an id the run cannot be resumed, and running it again would cost twice.
      if (run.execution === undefined || tries === MAX_TRIES)
        throw new Error('The response was interrupted. Run it again.');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  } catch (error) {
    if (signal.aborted) return;
    run = { ...run, state: 'refused', error };
    show();
  } finally {
    cancelAnimationFrame(frame);
  }
}

/** Requests the cancellation of a run; its stream reports the end. */
export const cancelRun = (id: string) => post<Execution>(`${pathOf('executions', id)}/cancel`);

/** The sent input, with the names of files instead of their content. */
export const withoutFiles = (input: Execution['input']) =>
  typeof input === 'string'
    ? input
    : input.map((message) => ({
        ...message,
        content:
          typeof message.content === 'string'
            ? message.content
            : message.content.map((part) =>
                part.type === 'file' ? { type: 'text', text: `[${part.filename ?? part.media_type}]` } : part,
              ),
      }));
