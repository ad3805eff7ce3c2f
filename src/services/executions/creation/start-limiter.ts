import { CHANNELS, type Listener } from '../../../db/listener.ts';
import { onExecutionFinished } from '../run/execution-finished.ts';

/**
 * Spreads out the starts of a workspace that creates many executions at once; otherwise hundreds of workflows would delay those
 * of other workspaces. Waiting rows cost nothing.
 *
 * Only a few executions of a workspace are between their start and their call; the next one waits until one of these calls has
 * started, so starts are as fast as workers accept them. While few executions are running, simultaneous ones are also spread out
 * by some milliseconds: each is faster on its own, and callers that continue when they get a response then stay apart. While
 * `many` are running, the next one also waits until one of them has ended, or for a pause, so that their number grows slowly.
 */
export interface StartLimiter {
  /**
   * Waits until the workflow of an execution may be started.
   * @returns false if the execution has ended in the meantime
   */
  mayStart(workspaceId: string, id: string): Promise<boolean>;
  /**
   * Reports that the call of an execution has started.
   * @returns false if this process did not start it: the process that did has to be notified
   */
  callBegan(id: string): boolean;
  /**
   * For background work: waits until no execution of any workspace is between its start and its call, or the time is up.
   * @param maxMs milliseconds
   */
  untilQuiet(maxMs: number): Promise<void>;
  /** The number of executions waiting now, of all workspaces. */
  waiting(): number;
}

export interface StartLimiterOptions {
  /** The maximum number of executions of a workspace between their start and their call. */
  beginning?: number;
  /** After this time, an execution whose call has not started no longer blocks the start of others. */
  maxWaitMs?: number;
  /** Starts are spread out while fewer executions of a workspace are running; with more, their rate is limited instead. */
  few?: number;
  /** The time between two such starts, divided by the number waiting plus one. */
  spreadMs?: number;
  /** The number of running executions of a workspace from which their growth is slowed down. */
  many?: number;
  /** The pause between two starts above that number, if no execution ends in the meantime. */
  pauseMs?: number;
  /** How long an execution counts as running if its end is not reported. */
  countedMs?: number;
}

interface WorkspaceStarts {
  /** Started executions that have not ended, and when they stop counting; oldest first. */
  open: Map<string, number>;
  /** Executions whose call has not started, each with the timer after which it no longer blocks others. */
  beginning: Map<string, NodeJS.Timeout>;
  /** The waiting executions, in order, with the function that releases each. */
  queue: Map<string, (isTurn: boolean) => void>;
  /** The time of the last start, in milliseconds of `performance.now()`. */
  startedAt: number;
  /** Whether an execution has ended since. */
  hasEnded: boolean;
  timer: NodeJS.Timeout | undefined;
}

export function createStartLimiter(
  listener: Pick<Listener, 'on'>,
  {
    beginning: maxBeginning = 6,
    maxWaitMs = 1_000,
    few = 32,
    spreadMs = 16,
    many = 100,
    pauseMs = 40,
    countedMs = 60_000,
  }: StartLimiterOptions = {},
): StartLimiter {
  const workspaces = new Map<string, WorkspaceStarts>();
  const workspaceOf = new Map<string, string>();

  /** The functions that end the waits of `untilQuiet`. */
  const waitingForQuiet = new Set<() => void>();

  const isQuiet = () => workspaces.values().every(({ beginning }) => beginning.size === 0);

  function noteQuiet(): void {
    if (waitingForQuiet.size > 0 && isQuiet()) for (const go of waitingForQuiet) go();
  }

  /** @returns whether its call had not started */
  function endBeginning({ beginning }: WorkspaceStarts, id: string): boolean {
    clearTimeout(beginning.get(id));
    return beginning.delete(id);
  }

  function forget({ open }: WorkspaceStarts, id: string): void {
    open.delete(id);
    workspaceOf.delete(id);
  }

  /** The minimum time between the last start and the next one, in milliseconds. */
  function pauseOf({ open, beginning, queue, hasEnded }: WorkspaceStarts): number {
    if (open.size >= many) return hasEnded ? 0 : pauseMs;
    return open.size < few && beginning.size > 0 ? spreadMs / (queue.size + 1) : 0;
  }

  function pauseLeft(starts: WorkspaceStarts): number {
    for (const [id, until] of starts.open) {
      if (until > Date.now()) break;
      forget(starts, id);
    }
    return starts.startedAt + pauseOf(starts) - performance.now();
  }

  function start(workspaceId: string, starts: WorkspaceStarts, id: string, go: (isTurn: boolean) => void): void {
    starts.queue.delete(id);
    starts.open.set(id, Date.now() + countedMs);
    starts.beginning.set(id, setTimeout(() => hasStarted(workspaceId, id), maxWaitMs).unref());
    starts.startedAt = performance.now();
    starts.hasEnded = false;
    go(true);
  }

  function startNext(workspaceId: string, starts: WorkspaceStarts): void {
    clearTimeout(starts.timer);
    for (const [id, go] of starts.queue) {
      if (starts.beginning.size >= maxBeginning) return;
      const ms = pauseLeft(starts);
      if (ms > 0) {
        starts.timer = setTimeout(() => startNext(workspaceId, starts), ms).unref();
        return;
      }
      start(workspaceId, starts, id, go);
    }
    if (starts.beginning.size === 0 && starts.open.size === 0) workspaces.delete(workspaceId);
  }

  function hasStarted(workspaceId: string, id: string): void {
    const starts = workspaces.get(workspaceId);
    if (starts === undefined || !endBeginning(starts, id)) return;
    startNext(workspaceId, starts);
    noteQuiet();
  }

  function callBegan(id: string): boolean {
    const workspaceId = workspaceOf.get(id);
    if (workspaceId !== undefined) hasStarted(workspaceId, id);
    return workspaceId !== undefined;
  }

  listener.on(CHANNELS.executionBegun, callBegan);
  onExecutionFinished(listener, (id) => {
    const workspaceId = workspaceOf.get(id);
    const starts = workspaces.get(workspaceId ?? '');
    if (workspaceId === undefined || starts === undefined) return;
    // An execution canceled while it waited must not use up a start.
    starts.queue.get(id)?.(false);
    if (!starts.queue.delete(id)) starts.hasEnded = true;
    forget(starts, id);
    endBeginning(starts, id);
    startNext(workspaceId, starts);
    noteQuiet();
  });

  return {
    mayStart: (workspaceId, id) =>
      new Promise((go) => {
        const starts: WorkspaceStarts = workspaces.get(workspaceId) ?? {
          open: new Map(),
          beginning: new Map(),
          queue: new Map(),
          startedAt: 0,
          hasEnded: true,
          timer: undefined,
        };
        workspaces.set(workspaceId, starts);
        starts.queue.set(id, go);
        workspaceOf.set(id, workspaceId);
        startNext(workspaceId, starts);
      }),
    callBegan,
    async untilQuiet(maxMs) {
      if (isQuiet()) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(go, maxMs);
        function go() {
          clearTimeout(timer);
          waitingForQuiet.delete(go);
          resolve();
        }
        waitingForQuiet.add(go);
      });
    },
    waiting: () => [...workspaces.values()].reduce((sum, { queue }) => sum + queue.size, 0),
  };
}
