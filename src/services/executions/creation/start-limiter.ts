import { CHANNELS, type Listener } from '../../../db/listener.ts';
import { onExecutionFinished } from '../run/execution-finished.ts';

/**
 * Spreads out the starts of a workspace that begins many executions at once: hundreds of workflows would be in front of what
 * others start. Rows wait at no cost.
 *
 * Few executions of a workspace are between their start and their call; the next one waits until the call of one of these has
 * begun, so starts are as fast as workers take them. While few go on, those that come at the same moment are also spread out by
 * some milliseconds: each is faster alone, and callers that go on when they are answered then stay apart. While `many` go on, the
 * next one also waits until one of them has ended, or for a pause: so their number grows slowly.
 */
export interface StartLimiter {
  /**
   * Waits until the workflow of an execution may be started.
   * @returns false where the execution has ended meanwhile
   */
  mayStart(workspaceId: string, id: string): Promise<boolean>;
  /**
   * Says that the call of an execution begins.
   * @returns false where this process did not start it: the one that did is to be notified
   */
  callBegan(id: string): boolean;
  /**
   * For work that nobody waits for: until no execution of any workspace is between its start and its call, or the time is up.
   * @param maxMs milliseconds
   */
  untilQuiet(maxMs: number): Promise<void>;
  /** How many wait now, of all workspaces. */
  waiting(): number;
}

export interface StartLimiterOptions {
  /** Executions of a workspace between their start and their call. */
  beginning?: number;
  /** After so long, an execution whose call has not begun no longer keeps others from their start. */
  maxWaitMs?: number;
  /** Starts are spread out while fewer executions of a workspace go on; with more, their rate counts. */
  few?: number;
  /** The time between two starts then, divided by those that wait and one more. */
  spreadMs?: number;
  /** So many executions of a workspace go on before their growth is slowed down. */
  many?: number;
  /** The pause between two starts from then on, where none ends meanwhile. */
  pauseMs?: number;
  /** For how long an execution counts that has not ended, or of whose end nothing was heard. */
  countedMs?: number;
}

interface WorkspaceStarts {
  /** Executions that were started and go on, and when they count no more; the oldest first. */
  open: Map<string, number>;
  /** Those whose call has not begun, and the end of the patience with each. */
  beginning: Map<string, NodeJS.Timeout>;
  /** Those that wait, in order, and what lets them go. */
  queue: Map<string, (isTurn: boolean) => void>;
  /** When the last start was made, in milliseconds of `performance.now()`. */
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

  /** What ends the waits of `untilQuiet`. */
  const waitingForQuiet = new Set<() => void>();

  const isQuiet = () => workspaces.values().every(({ beginning }) => beginning.size === 0);

  function noteQuiet(): void {
    if (waitingForQuiet.size > 0 && isQuiet()) for (const go of waitingForQuiet) go();
  }

  /** @returns whether its call had not begun */
  function endBeginning({ beginning }: WorkspaceStarts, id: string): boolean {
    clearTimeout(beginning.get(id));
    return beginning.delete(id);
  }

  function forget({ open }: WorkspaceStarts, id: string): void {
    open.delete(id);
    workspaceOf.delete(id);
  }

  /** How long there has to be between the last start and the next one, in milliseconds. */
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
    // One that was canceled while it waited must not take up the time of a start.
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
