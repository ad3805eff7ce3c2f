import { CHANNELS, type Listener } from '../../db/listener.ts';

/**
 * Spreads out the starts of a workspace that begins many executions at once: hundreds of workflows would be in front of what
 * others start. Rows wait at no cost.
 *
 * A few starts are in flight at a time. Beyond that a line forms, and until it has gone, one start is made after the other. While
 * `many` executions go on, the next one also waits until one of them has ended, or for a pause: so their number grows slowly.
 */
export interface StartPace {
  /**
   * Waits until the workflow of an execution may be started.
   * @returns what to call once that is done or has failed
   */
  turn(workspaceId: string, id: string): Promise<() => void>;
}

export interface StartPaceOptions {
  /** Starts of a workspace in flight before a line forms. */
  inFlight?: number;
  /** A start that takes longer, since Temporal is far away, does not hold up the next one of the line. */
  patienceMs?: number;
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
  line: { id: string; go: (done: () => void) => void }[];
  inFlight: number;
  /** When the last start was made; 0 where an execution has ended since. */
  lastAt: number;
  /** The start that the line waits for. */
  awaited: string | undefined;
  timer: NodeJS.Timeout | undefined;
}

export function createStartPace(
  listener: Pick<Listener, 'on'>,
  { inFlight = 8, patienceMs = 20, many = 100, pauseMs = 40, countedMs = 60_000 }: StartPaceOptions = {},
): StartPace {
  const workspaces = new Map<string, Turns>();
  const workspaceOf = new Map<string, string>();

  function forget({ open }: Turns, id: string): void {
    open.delete(id);
    workspaceOf.delete(id);
  }

  function begin(workspaceId: string, turns: Turns, { id, go }: Turns['line'][number], done: () => void): void {
    turns.open.set(id, Date.now() + countedMs);
    workspaceOf.set(id, workspaceId);
    turns.lastAt = Date.now();
    turns.inFlight += 1;
    go(() => {
      turns.inFlight -= 1;
      done();
      if (turns.inFlight === 0 && turns.line.length === 0 && turns.open.size === 0) workspaces.delete(workspaceId);
    });
  }

  /** How long the growth has to wait, in milliseconds. */
  function pauseLeft(turns: Turns): number {
    for (const [id, until] of turns.open) {
      if (until > Date.now()) break;
      forget(turns, id);
    }
    return turns.open.size < many ? 0 : turns.lastAt + pauseMs - Date.now();
  }

  function callNext(workspaceId: string, turns: Turns): void {
    if (turns.awaited !== undefined || turns.line.length === 0) return;
    clearTimeout(turns.timer);
    const ms = pauseLeft(turns);
    if (ms > 0) {
      turns.timer = setTimeout(() => callNext(workspaceId, turns), ms).unref();
      return;
    }
    const next = turns.line.shift();
    if (next === undefined) return;
    turns.awaited = next.id;
    const goOn = () => {
      clearTimeout(patience);
      if (turns.awaited !== next.id) return;
      turns.awaited = undefined;
      callNext(workspaceId, turns);
    };
    const patience = setTimeout(goOn, patienceMs).unref();
    begin(workspaceId, turns, next, goOn);
  }

  listener.on(CHANNELS.executionFinished, (id) => {
    const workspaceId = workspaceOf.get(id);
    const turns = workspaces.get(workspaceId ?? '');
    if (workspaceId === undefined || turns === undefined) return;
    forget(turns, id);
    turns.lastAt = 0;
    callNext(workspaceId, turns);
  });

  return {
    turn: (workspaceId, id) =>
      new Promise((go) => {
        const turns: Turns = workspaces.get(workspaceId) ?? {
          open: new Map(),
          line: [],
          inFlight: 0,
          lastAt: 0,
          awaited: undefined,
          timer: undefined,
        };
        workspaces.set(workspaceId, turns);
        if (turns.line.length === 0 && turns.inFlight < inFlight && pauseLeft(turns) <= 0)
          begin(workspaceId, turns, { id, go }, () => {});
        else {
          turns.line.push({ id, go });
          callNext(workspaceId, turns);
        }
      }),
  };
}
