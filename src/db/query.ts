import type pg from 'pg';
import { type Builder, type BuiltStatement, compileStatement, PreparedStatement, type RowsOf } from './statement.ts';
import { UnboundStatementError } from './statement-sources.ts';

/** SQL as text. A named statement is prepared once per connection. */
export interface Statement {
  name?: string | undefined;
  text: string;
}

/** Runs one statement with `$1`, `$2` … as real parameters and returns its rows. */
export type Run = <Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** Runs one statement and returns its rows. */
export interface Query {
  /** Builds a statement and runs it. */
  <Row>(build: (db: Builder) => BuiltStatement<Row>): Promise<RowsOf<Row>[]>;
  /** Runs a statement from `prepared()`. */
  <Values, Row>(statement: PreparedStatement<Values, Row>, values: NoInfer<Values>): Promise<RowsOf<Row>[]>;
  /** Runs SQL text. Bound to a workspace, `$1` is its id, and `values` start at `$2`. */
  <Row extends pg.QueryResultRow>(statement: Statement, values?: unknown[]): Promise<Row[]>;
}

function bindText({ text }: Statement): void {
  if (!text.includes('workspace_id') || !/\$1\b/.test(text)) throw new UnboundStatementError(text);
}

/**
 * Creates a query function from a function that runs text.
 * @param workspaceId binds every statement to this workspace; undefined: statements may span workspaces
 */
export function createQuery(run: Run, workspaceId?: string): Query {
  return async <Values extends unknown[], Row extends pg.QueryResultRow>(
    statement: ((db: Builder) => BuiltStatement<Row>) | PreparedStatement<Values, Row> | Statement,
    values?: Values,
  ): Promise<Row[]> => {
    if (typeof statement === 'function') {
      const { text, parameters } = compileStatement(statement, workspaceId);
      return run({ text }, [...parameters]);
    }
    if (statement instanceof PreparedStatement) {
      const { name, text, parameters } = statement.with(values as Values, workspaceId);
      return run({ name, text }, parameters);
    }
    if (workspaceId === undefined) return run(statement, values ?? []);
    bindText(statement);
    return run(statement, [workspaceId, ...(values ?? [])]);
  };
}

/**
 * Binds a query function to one workspace: the only place where this happens. For code that works across workspaces and, having
 * found a row, continues in its workspace.
 */
export function bindWorkspace(query: Run, workspaceId: string): Query {
  return createQuery(query, workspaceId);
}
