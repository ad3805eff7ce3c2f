import { PostgreSqlConnection } from '@mikro-orm/postgresql';
import pg from 'pg';
import { createFairSemaphore } from '../lib/fair-semaphore.ts';
import { inTransactionScope } from '../lib/transaction-scope.ts';
import { classifyDatabaseError, classifyHeavyReadError, ReadGivenUpError } from './errors.ts';
import { CONNECTION_OPTIONS, openOrm } from './orm.ts';
import { bindWorkspace, createQuery, type Query } from './query.ts';

export { bindWorkspace, type Query, type Statement } from './query.ts';

export interface TransactionOptions {
  /**
   * How long a statement of it may take, in milliseconds; 0: as long as it needs, for what works through many rows in the
   * background. Default: as any other statement.
   */
  statementTimeoutMs?: number;
}

/** Several statements in one transaction; an error rolls it back. */
export type Transaction = <T>(work: (query: Query) => Promise<T>, options?: TransactionOptions) => Promise<T>;

/** Everything of one workspace and nothing of another. */
export interface WorkspaceDatabase {
  readonly workspaceId: string;
  /** @throws UnboundStatementError where a statement can't be bound to the workspace */
  query: Query;
  transaction: Transaction;
  /**
   * For reads that may go through many rows (sums, exports, comparisons): connections of their own, which workspaces take turns
   * at, so that many such reads delay nothing but each other. A `transaction` only reads, and holds one of them until its end.
   * @throws ReadTimeoutError where a statement takes too long; ReadGivenUpError
   */
  heavy: { query: Query; transaction: Transaction };
  /**
   * Statements that say themselves which rows they are about, such as those that requests and workers share. They take the turns of
   * the workspace, so that its requests leave connections to others.
   */
  unbound: SystemDatabase;
}

/** What spans workspaces: authentication, the command line, the relay, and activities that were given an id of ours. */
export interface SystemDatabase {
  query: Query;
  transaction: Transaction;
}

/** Connections of a pool of this process. */
export interface PoolUse {
  /** In use by a statement or a transaction. */
  used: number;
  idle: number;
  /** Connections that the pool may have. */
  max: number;
  /** Statements and transactions that wait for one. */
  waiting: number;
}

/** The database. Requests get at it through {@link Database.workspace} only. */
export interface Database {
  /** @param givenUp ends the wait for the turn of a heavy read. Default: it is waited for */
  workspace(workspaceId: string, givenUp?: () => AbortSignal): WorkspaceDatabase;
  readonly system: SystemDatabase;
  /** What its connections do at the moment. */
  pools(): Record<'main' | 'heavy', PoolUse>;
  close(): Promise<void>;
}

/** Nobody but the database is waited for inside a transaction (`refuseInTransaction`); this leaves time for a busy process. */
const IDLE_TRANSACTION_MS = 10_000;
/** Statements on behalf of a request take milliseconds; one that does not must not keep its connection from others for long. */
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * PostgreSQL cancels what takes too long, and says so. Where nothing has come by then, the connection is dead, though nobody has closed
 * it, as where a machine between has forgotten it. The kernel would try for a quarter of an hour.
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

/** The driver takes this with a statement, too; its types have it for connections only. */
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

/** The connections for heavy reads, and whose turn it is. */
function openHeavyReads(databaseUrl: string, size: number, statementTimeoutMs: number) {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    ...CONNECTION_OPTIONS,
    max: size,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    statement_timeout: statementTimeoutMs,
  });
  // A connection that breaks fails its statement, or the next one of its transaction; without listeners it would also end the process.
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
  /** Connections. A quarter as many again, at least 2, are for heavy reads. */
  poolSize: number;
  /** How long a statement may take, in milliseconds. Default: 30 s. */
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
  // One workspace alone has half of the connections at most, however many requests it sends.
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
      // MikroORM leaves a pool alone that only hand-written statements have used.
      if (!pool.ended) await pool.end();
      await heavyReads.close();
    },
  };
}
