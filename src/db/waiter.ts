import type { WorkspaceDatabase } from './database.ts';
import { isDatabaseUnavailable } from './errors.ts';
import type { Listener } from './listener.ts';

/** Lets requests wait for the end of something without polling the database. */
export interface Waiter<Row> {
  /** From now on its end is not missed. Call `done` when it is no longer of interest. */
  expect(id: string): Expectation<Row>;
}

export interface Expectation<Row> {
  /**
   * Returns the row when it has ended, the time is up or the signal is aborted, whichever comes first; the last known row if the
   * database is down by then.
   * @throws DatabaseUnavailableError if it was never read
   */
  wait(db: WorkspaceDatabase, timeoutMs: number, signal: AbortSignal): Promise<Row>;
  done(): void;
}

/** What to wait for. */
export interface WaitedFor<Row> {
  /** Passes on the UUID of whatever has ended, and possibly its row. */
  listen: (heard: (id: string, told?: () => Row | undefined) => void) => void;
  read: (db: WorkspaceDatabase, id: string) => Promise<Row>;
  isFinished: (row: Row) => boolean;
}

/** A notification may be lost while the connection is down: also poll at this interval. */
const POLL_AGAIN_MS = 3_000;

export function createWaiter<Row>(listener: Listener, { listen, read, isFinished }: WaitedFor<Row>): Waiter<Row> {
  const waiting = new Map<string, Set<(told?: Row) => void>>();
  listen((id, told) => {
    for (const wake of waiting.get(id) ?? []) wake(told?.());
  });
  listener.onReconnected(() => {
    for (const wakes of waiting.values()) for (const wake of wakes) wake();
  });

  return {
    expect(id) {
      let heard: { told: Row | undefined } | undefined;
      let wakeUp = () => {};
      const wake = (told?: Row) => {
        heard = { told };
        wakeUp();
      };
      const others = waiting.get(id) ?? new Set();
      waiting.set(id, others.add(wake));

      async function sleep(ms: number, signal: AbortSignal): Promise<void> {
        if (heard !== undefined || signal.aborted) return;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(finish, ms);
          function finish() {
            clearTimeout(timer);
            signal.removeEventListener('abort', finish);
            resolve();
          }
          wakeUp = finish;
          signal.addEventListener('abort', finish, { once: true });
        });
      }

      return {
        async wait(db, timeoutMs, signal) {
          const until = Date.now() + timeoutMs;
          let seen: Row | undefined;
          for (;;) {
            const left = until - Date.now();
            if (left > 0) await sleep(Math.min(left, POLL_AGAIN_MS), signal);
            const { told } = heard ?? {};
            heard = undefined;
            try {
              seen = told ?? (await read(db, id));
              if (isFinished(seen) || Date.now() >= until || signal.aborted) return seen;
            } catch (error) {
              // The work continues through an outage of the database, so the wait does, too.
              const isOver = Date.now() >= until || signal.aborted;
              if (isDatabaseUnavailable(error) && isOver && seen !== undefined) return seen;
              if (!isDatabaseUnavailable(error) || isOver) throw error;
            }
          }
        },
        done() {
          others.delete(wake);
          if (others.size === 0 && waiting.get(id) === others) waiting.delete(id);
        },
      };
    },
  };
}
