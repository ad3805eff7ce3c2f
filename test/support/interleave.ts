import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Query } from '../../src/db/database.ts';
import { createQuery } from '../../src/db/query.ts';

/** A transaction whose statements run one at a time, on command. */
export interface Session {
  /** Starts the next statement. Resolves when it has ended or waits for a lock. */
  step(): Promise<void>;
  /** Resolves when all statements have ended. */
  ended(): Promise<void>;
  close(): void;
}

type End = 'commit' | 'rollback';

/**
 * Runs `work` in a transaction on a connection of `pool`, with `end` as its last statement.
 * @param work can fail, for example because a row that it needs is gone: the transaction is then rolled back
 */
export async function openSession(pool: pg.Pool, work: (query: Query) => Promise<unknown>, end: End): Promise<Session> {
  const client = await pool.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  await client.query('begin');
  /** Lets the next statement run; there may be none yet. */
  let allow = () => {};
  let allowed = new Promise<void>((resolve) => {
    allow = resolve;
  });
  let busy = false;
  let done = false;
  async function inTurn<T>(statement: () => Promise<T>): Promise<T> {
    await allowed;
    allowed = new Promise((resolve) => {
      allow = resolve;
    });
    try {
      return await statement();
    } finally {
      busy = false;
    }
  }
  const query = createQuery(<Row extends pg.QueryResultRow>({ text }: { text: string }, values: unknown[]) =>
    inTurn(async () => (await client.query<Row>(text, values)).rows),
  );
  const finished = work(query)
    .then(
      () => inTurn(() => client.query(end)),
      () => client.query('rollback'),
    )
    .finally(() => {
      busy = false;
      done = true;
    });

  async function isBlocked(): Promise<boolean> {
    const { rows: found } = await pool.query('select cardinality(pg_blocking_pids($1)) > 0 as blocked', [rows[0]?.pid]);
    return found[0].blocked;
  }

  async function step(): Promise<void> {
    // A call that waits for a lock is already at its statement; an ended call has none left.
    if (done || busy) return;
    busy = true;
    allow();
    while (busy && !(await isBlocked())) await delay(1);
  }

  return {
    step,
    async ended() {
      while (!done) {
        await step();
        await delay(1);
      }
      await finished;
    },
    close: () => client.release(),
  };
}

/** Every possible order of the steps of two sessions. */
export function ordersOf(first: number, second: number): (0 | 1)[][] {
  if (first === 0) return [Array<0 | 1>(second).fill(1)];
  if (second === 0) return [Array<0 | 1>(first).fill(0)];
  return [
    ...ordersOf(first - 1, second).map((rest): (0 | 1)[] => [0, ...rest]),
    ...ordersOf(first, second - 1).map((rest): (0 | 1)[] => [1, ...rest]),
  ];
}
