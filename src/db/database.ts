import { PostgreSqlConnection } from '@mikro-orm/postgresql';
import pg from 'pg';
import { createFairSemaphore } from '../lib/fair-semaphore.ts';
import { inTransactionScope } from '../lib/transaction-scope.ts';
import { classifyDatabaseError, classifyHeavyReadError, ReadGivenUpError } from './errors.ts';
import { CONNECTION_OPTIONS, openOrm } from './orm.ts';
import { bindWorkspace, createQuery, type Query } from './query.ts';

export { bindWorkspace, type Query, type Statement } from './query.ts';

export interface TransactionOptions {
  /** The time limit of its statements, in milliseconds; 0: none, for background work on many rows. Default: the limit of any other statement. */
  statementTimeoutMs?: number;
}

/** Several statements in one transaction; an error rolls it back. */
export type Transaction = <T>(work: (query: Query) => Promise<T>, options?: TransactionOptions) => Promise<T>;

/** Access to the data of one workspace only. */
export interface WorkspaceDatabase {
  readonly workspaceId: string;
  /** @throws UnboundStatementError if a statement can't be bound to the workspace */
  query: Query;
  transaction: Transaction;
  /**
   * For reads that may examine many rows (sums, exports, comparisons): separate connections, which workspaces take turns to use,
   * so that many such reads delay only each other. A `transaction` only reads, and keeps one connection until its end.
   * @throws ReadTimeoutError if a statement takes too long; ReadGivenUpError
   */
  heavy: { query: Query; transaction: Transaction };
  /**
   * For statements that select their rows themselves, such as those that requests and workers share. They count against the
   * workspace's share of connections, so that its requests leave connections to others.
   */
  unbound: SystemDatabase;
}

/** Access across workspaces: for authentication, the command line, the relay, and activities that receive the id of a row. */
export interface SystemDatabase {
  query: Query;
  transaction: Transaction;
}

/** The use of the connections of a pool of this process. */
export interface PoolUse {
  /** In use by a statement or a transaction. */
  used: number;
  idle: number;
  /** The maximum number of connections. */
  max: number;
  /** Statements and transactions waiting for one. */
  waiting: number;
}

/** The database. Requests access it only through {@link Database.workspace}. */
export interface Database {
  /** @param givenUp ends the wait for a heavy read. Default: waits until it runs */
  workspace(workspaceId: string, givenUp?: () => AbortSignal): WorkspaceDatabase;
  readonly system: SystemDatabase;
  /** The current use of its connections. */
  pools(): Record<'main' | 'heavy', PoolUse>;
  close(): Promise<void>;
}

/** Inside a transaction nothing but the database is waited for (`refuseInTransaction`); this leaves time for a busy process. */
const IDLE_TRANSACTION_MS = 10_000;
/** Statements for a request take milliseconds; slow ones must not keep their connection from others for long. */
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * PostgreSQL cancels statements that take too long, and reports it. If nothing arrives by then, the connection is dead although
 * it was never closed, for example because a machine in between has forgotten it. The kernel would retry for a quarter of an hour.
 */
const ANSWER_MS = 5_000;

const useOf = ({ totalCount, idleCount, waitingCount }: pg.Pool, max: number): PoolUse => ({
  used: totalCount - idleCount,
  idle: idleCount,
  max,
  waiting: waitingCount,
});

type Queryable = Pick<pg.Pool, 'query'>;
type Classify = (error: unknown) => unknown;

/** The driver's types, and `bigint` as a number: counts stay far below 2^53. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
};

/** The driver also accepts this with a statement; its types have it only for connections. */
const answerWithin = (ms: number) => ({ query_timeout: ms });

/** @param statementTimeoutMs of the server; 0: none */
function queryOn(queryable: Queryable, statementTimeoutMs: number, classify: Classify = classifyDatabaseError): Query {
  const limit = statementTimeoutMs === 0 ? {} : answerWithin(statementTimeoutMs + ANSWER_MS);
  return createQuery(async ({ name, text }, values) => {
    // MikroORM's pool leaves timestamps and the like as text; our own statements want the driver's types.
    const config = { text, values, types: TYPES, ...limit, ...(name === undefined ? {} : { name }) };
    try {
      return (await queryable.query(config)).rows;
    } catch (error) {
      throw classify(error);
    }
  });
}

interface TransactionKind {
  begin: string;
  classify: Classify;
}

const WRITING: TransactionKind = { begin: 'begin', classify: classifyDatabaseError };
/** All statements see the same rows. */
const HEAVY_READ: TransactionKind = {
  begin: 'begin isolation level repeatable read read only',
  classify: classifyHeavyReadError,
};

async function inTransaction<T>(
  pool: pg.Pool,
  { begin, classify }: TransactionKind,
  work: (query: Query) => Promise<T>,
  defaultTimeoutMs: number,
  { statementTimeoutMs }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw classifyDatabaseError(error);
  });
  let broken: Error | undefined;
  try {
    const control = queryOn(client, defaultTimeoutMs, classify);
    const query = statementTimeoutMs === undefined ? control : queryOn(client, statementTimeoutMs, classify);
    await control({ text: begin });
    if (statementTimeoutMs !== undefined)
      await control({ text: `set local statement_timeout = ${statementTimeoutMs}` });
    const result = await inTransactionScope(() => work(query));
    await query({ text: 'commit' });
    return result;
  } catch (error) {
    const text = 'rollback';
    await client.query({ text, ...answerWithin(ANSWER_MS) }).catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The connections for heavy reads, and the queue for them. */
function openHeavyReads(databaseUrl: string, size: number, statementTimeoutMs: number) {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    ...CONNECTION_OPTIONS,
    max: size,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    statement_timeout: statementTimeoutMs,
  });
  // A broken connection fails its statement, or the next one of its transaction; without a listener it would also end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  const turns = createFairSemaphore({ total: size });
  const query = queryOn(pool, statementTimeoutMs, classifyHeavyReadError);

  function ofWorkspace(workspaceId: string, givenUp: (() => AbortSignal) | undefined): WorkspaceDatabase['heavy'] {
    async function inTurn<T>(read: () => Promise<T>): Promise<T> {
      const release = await turns.acquire(workspaceId, { signal: givenUp?.() }).catch((reason: unknown) => {
        throw new ReadGivenUpError(reason);
      });
      try {
        return await read();
      } finally {
        release();
      }
    }
    return {
      query: bindWorkspace((statement, values) => inTurn(() => query(statement, values)), workspaceId),
      transaction: (work, options) =>
        inTurn(() =>
          inTransaction(
            pool,
            HEAVY_READ,
            (inner) => work(bindWorkspace(inner, workspaceId)),
            statementTimeoutMs,
            options,
          ),
        ),
    };
  }

  return {
    ofWorkspace,
    use: () => useOf(pool, size),
    close: () => pool.end(),
  };
}

export interface DatabaseOptions {
  /** The number of connections. A quarter as many again, at least 2, are for heavy reads. */
  poolSize: number;
  /** The time limit of a statement, in milliseconds. Default: 30 s. */
  statementTimeoutMs?: number;
}

/**
 * Opens the database; connects at the first query.
 * @param databaseUrl `postgresql://…`
 */
export async function openDatabase(
  databaseUrl: string,
  { poolSize, statementTimeoutMs = STATEMENT_TIMEOUT_MS }: DatabaseOptions,
): Promise<Database> {
  const orm = await openOrm(databaseUrl, { poolSize, idleTransactionMs: IDLE_TRANSACTION_MS, statementTimeoutMs });
  const connection = orm.em.getConnection();
  if (!(connection instanceof PostgreSqlConnection)) throw new Error('MikroORM is not on PostgreSQL.');
  const pool = await connection.getNativeClient();
  const query = queryOn(pool, statementTimeoutMs);
  // A single workspace gets at most half of the connections, however many requests it sends.
  const turns = createFairSemaphore({ total: poolSize });
  const heavyReads = openHeavyReads(databaseUrl, Math.max(2, Math.ceil(poolSize / 4)), statementTimeoutMs);

  return {
    workspace: (workspaceId, givenUp) => ({
      workspaceId,
      query: bindWorkspace((statement, values) => turns.run(workspaceId, () => query(statement, values)), workspaceId),
      transaction: (work, options) =>
        turns.run(workspaceId, () =>
          inTransaction(pool, WRITING, (inner) => work(bindWorkspace(inner, workspaceId)), statementTimeoutMs, options),
        ),
      heavy: heavyReads.ofWorkspace(workspaceId, givenUp),
      unbound: {
        query: createQuery((statement, values) => turns.run(workspaceId, () => query(statement, values))),
        transaction: (work, options) =>
          turns.run(workspaceId, () => inTransaction(pool, WRITING, work, statementTimeoutMs, options)),
      },
    }),
    system: {
      query,
      transaction: (work, options) => inTransaction(pool, WRITING, work, statementTimeoutMs, options),
    },
    pools: () => ({ main: useOf(pool, poolSize), heavy: heavyReads.use() }),
    async close() {
      await orm.close(true);
      // MikroORM does not close a pool that only hand-written statements have used.
      if (!pool.ended) await pool.end();
      await heavyReads.close();
    },
  };
}
