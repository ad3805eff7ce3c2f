import { PostgreSqlConnection, type SqlEntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { WORKSPACE_FILTER, type WorkspaceScope } from './entities/workspace-owned.ts';
import { classifyDatabaseError } from './errors.ts';
import { openOrm } from './orm.ts';

/** A statement with a name is prepared once per connection; hot ones have one. */
export interface Statement {
  name?: string | undefined;
  text: string;
}

/** Runs one statement with `$1`, `$2` … as real parameters and gives its rows. */
export type Query = <Row extends pg.QueryResultRow>(statement: Statement, values?: unknown[]) => Promise<Row[]>;

/** Everything of one workspace and nothing of another. */
export interface WorkspaceDatabase {
  readonly workspaceId: string;
  /** A fresh EntityManager whose filter adds the workspace to every query. */
  em(): SqlEntityManager;
  /**
   * A hand-written statement: `$1` is always the workspace, `values` start at `$2`.
   * @throws Error where the statement does not mention `workspace_id` and `$1`
   */
  query: Query;
  /** Several such statements in one transaction; an error rolls it back. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/** What spans workspaces: authentication, the command line, the relay, and activities that were given an id of ours. */
export interface SystemDatabase {
  em(): SqlEntityManager;
  query: Query;
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/** The database. Requests get at it through {@link Database.workspace} only. */
export interface Database {
  workspace(workspaceId: string): WorkspaceDatabase;
  readonly system: SystemDatabase;
  close(): Promise<void>;
}

/** Transactions are short; the slowest step inside one is a call of Temporal's API. */
const IDLE_TRANSACTION_MS = 60_000;

type Queryable = Pick<pg.Pool, 'query'>;

function queryOn(queryable: Queryable): Query {
  return async <Row extends pg.QueryResultRow>({ name, text }: Statement, values: unknown[] = []) => {
    // MikroORM's pool leaves timestamps and the like as text; our own statements want the driver's types.
    const config = { text, values, types: pg.types, ...(name === undefined ? {} : { name }) };
    try {
      return (await queryable.query<Row>(config)).rows;
    } catch (error) {
      throw classifyDatabaseError(error);
    }
  };
}

/**
 * Binds a query function to one workspace: the one place where hand-written statements get theirs. For code that works
 * across workspaces and, having found a row, goes on in its workspace.
 */
export function bindWorkspace(query: Query, workspaceId: string): Query {
  return (statement, values = []) => {
    if (!statement.text.includes('workspace_id') || !/\$1\b/.test(statement.text))
      throw new Error(`This statement is not bound to a workspace: ${statement.text}`);
    return query(statement, [workspaceId, ...values]);
  };
}

async function inTransaction<T>(pool: pg.Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw classifyDatabaseError(error);
  });
  let broken: Error | undefined;
  try {
    const query = queryOn(client);
    await query({ text: 'begin' });
    const result = await work(query);
    await query({ text: 'commit' });
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Opens the database; connects at the first query.
 * @param databaseUrl `postgresql://…`
 */
export async function openDatabase(databaseUrl: string, options: { poolSize: number }): Promise<Database> {
  const orm = await openOrm(databaseUrl, { ...options, idleTransactionMs: IDLE_TRANSACTION_MS });
  const connection = orm.em.getConnection();
  if (!(connection instanceof PostgreSqlConnection)) throw new Error('MikroORM is not on PostgreSQL.');
  const pool = await connection.getNativeClient();
  const query = queryOn(pool);

  const scopedEm = (scope: WorkspaceScope) => {
    const em = orm.em.fork();
    em.setFilterParams(WORKSPACE_FILTER, scope);
    return em;
  };

  return {
    workspace: (workspaceId) => ({
      workspaceId,
      em: () => scopedEm({ everyWorkspace: false, workspaceId }),
      query: bindWorkspace(query, workspaceId),
      transaction: (work) => inTransaction(pool, (inner) => work(bindWorkspace(inner, workspaceId))),
    }),
    system: {
      em: () => scopedEm({ everyWorkspace: true }),
      query,
      transaction: (work) => inTransaction(pool, work),
    },
    async close() {
      await orm.close(true);
      // MikroORM leaves a pool alone that only hand-written statements have used.
      if (!pool.ended) await pool.end();
    },
  };
}
