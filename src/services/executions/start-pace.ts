import { CHANNELS, type Listener } from '../../db/listener.ts';
import { onExecutionFinished } from './execution-finished.ts';

/**
 * Spreads out the starts of a workspace that begins many executions at once: hundreds of workflows would be in front of what
 * others start. Rows wait at no cost.
 *
 * Few executions of a workspace are between their start and their call; the next one waits until the call of one of these has
 * begun, so starts are as fast as workers take them. While few go on, those that come at the same moment are also spread out by
 * some milliseconds: each is faster alone, and callers that go on when they are answered then stay apart. While `many` go on, the
 * next one also waits until one of them has ended, or for a pause: so their number grows slowly.
 */
export interface StartPace {
  /**
   * Waits until the workflow of an execution may be started.
   * @returns false where the execution has ended meanwhile
   */
  turn(workspaceId: string, id: string): Promise<boolean>;
  /**
   * Says that the call of an execution begins.
   * @returns false where this process did not start it: the one that did is to be notified
   */
  begun(id: string): boolean;
  /**
   * For work that nobody waits for: until no execution of any workspace is between its start and its call, or the time is up.
   * @param atMostMs milliseconds
   */
  calm(atMostMs: number): Promise<void>;
  /** How many wait now, of all workspaces. */
  waiting(): number;
}

export interface StartPaceOptions {
  /** Executions of a workspace between their start and their call. */
  beginning?: number;
  /** After so long, an execution whose call has not begun no longer keeps others from their start. */
  patienceMs?: number;
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

interface Turns {
  /** Executions that were started and go on, and when they count no more; the oldest first. */
  open: Map<string, number>;
  /** Those whose call has not begun, and the end of the patience with each. */
  beginning: Map<string, NodeJS.Timeout>;
  /** Those that wait, in order, and what lets them go. */
  line: Map<string, (isTurn: boolean) => void>;
  /** When the last start was made, in milliseconds of `performance.now()`. */
  startedAt: number;
  /** Whether an execution has ended since. */
  hasEnded: boolean;
  timer: NodeJS.Timeout | undefined;
}

export function createStartPace(
  listener: Pick<Listener, 'on'>,
  {
    beginning: maxBeginning = 6,
    patienceMs = 1_000,
    few = 32,
    spreadMs = 16,
    many = 100,
    pauseMs = 40,
    countedMs = 60_000,
  }: StartPaceOptions = {},
): StartPace {
  const workspaces = new Map<string, Turns>();
  const workspaceOf = new Map<string, string>();

  /** What lets those go that wait for calm. */
  const forCalm = new Set<() => void>();

  const isCalm = () => workspaces.values().every(({ beginning }) => beginning.size === 0);

  function letCalmGo(): void {
    if (forCalm.size > 0 && isCalm()) for (const go of forCalm) go();
  }

  /** @returns whether its call had not begun */
  function endBeginning({ beginning }: Turns, id: string): boolean {
    clearTimeout(beginning.get(id));
    return beginning.delete(id);
  }

  function forget({ open }: Turns, id: string): void {
    open.delete(id);
    workspaceOf.delete(id);
  }

  /** How long there has to be between the last start and the next one, in milliseconds. */
  function pauseOf({ open, beginning, line, hasEnded }: Turns): number {
    if (open.size >= many) return hasEnded ? 0 : pauseMs;
    return open.size < few && beginning.size > 0 ? spreadMs / (line.size + 1) : 0;
  }

  function pauseLeft(turns: Turns): number {
    for (const [id, until] of turns.open) {
      if (until > Date.now()) break;
      forget(turns, id);
    }
    return turns.startedAt + pauseOf(turns) - performance.now();
  }

  function start(workspaceId: string, turns: Turns, id: string, go: (isTurn: boolean) => void): void {
    turns.line.delete(id);
    turns.open.set(id, Date.now() + countedMs);
    turns.beginning.set(id, setTimeout(() => hasBegun(workspaceId, id), patienceMs).unref());
    turns.startedAt = performance.now();
    turns.hasEnded = false;
    go(true);
  }

  function callNext(workspaceId: string, turns: Turns): void {
    clearTimeout(turns.timer);
    for (const [id, go] of turns.line) {
      if (turns.beginning.size >= maxBeginning) return;
      const ms = pauseLeft(turns);
      if (ms > 0) {
        turns.timer = setTimeout(() => callNext(workspaceId, turns), ms).unref();
        return;
      }
      start(workspaceId, turns, id, go);
    }
    if (turns.beginning.size === 0 && turns.open.size === 0) workspaces.delete(workspaceId);
  }

  function hasBegun(workspaceId: string, id: string): void {
    const turns = workspaces.get(workspaceId);
    if (turns === undefined || !endBeginning(turns, id)) return;
    callNext(workspaceId, turns);
    letCalmGo();
  }

  function begun(id: string): boolean {
    const workspaceId = workspaceOf.get(id);
    if (workspaceId !== undefined) hasBegun(workspaceId, id);
    return workspaceId !== undefined;
  }

  listener.on(CHANNELS.executionBegun, begun);
  onExecutionFinished(listener, (id) => {
    const workspaceId = workspaceOf.get(id);
    const turns = workspaces.get(workspaceId ?? '');
    if (workspaceId === undefined || turns === undefined) return;
    // One that was canceled while it waited must not take up the time of a start.
    turns.line.get(id)?.(false);
    if (!turns.line.delete(id)) turns.hasEnded = true;
    forget(turns, id);
    endBeginning(turns, id);
    callNext(workspaceId, turns);
    letCalmGo();
  });

  return {
    turn: (workspaceId, id) =>
      new Promise((go) => {
        const turns: Turns = workspaces.get(workspaceId) ?? {
          open: new Map(),
          beginning: new Map(),
          line: new Map(),
          startedAt: 0,
          hasEnded: true,
          timer: undefined,
        };
        workspaces.set(workspaceId, turns);
        turns.line.set(id, go);
        workspaceOf.set(id, workspaceId);
        callNext(workspaceId, turns);
      }),
    begun,
    async calm(atMostMs) {
      if (isCalm()) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(go, atMostMs);
        function go() {
          clearTimeout(timer);
          forCalm.delete(go);
          resolve();
        }
        forCalm.add(go);
      });
    },
    waiting: () => [...workspaces.values()].reduce((sum, { line }) => sum + line.size, 0),
  };
}
