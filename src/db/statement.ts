import { hash } from 'node:crypto';
import {
  type Compilable,
  type DeleteQueryNode,
  type DeleteResult,
  DummyDriver,
  type Expression,
  ExpressionWrapper,
  type InsertQueryNode,
  type InsertResult,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type SelectQueryNode,
  type UpdateQueryNode,
  type UpdateResult,
  ValueNode,
} from 'kysely';
import type { Tables } from './tables.ts';
import { WorkspaceBinder } from './workspace-binder.ts';

/** Builds statements, typed by the entities. It has no connection: a `Query` runs the statement. */
export type Builder = Kysely<Tables>;

/** A statement of the builder; `Row`: what it returns. */
export interface BuiltStatement<Row> extends Compilable<Row> {
  toOperationNode(): SelectQueryNode | InsertQueryNode | UpdateQueryNode | DeleteQueryNode;
}

/** The rows of a statement: none if it changes rows without RETURNING. */
export type RowsOf<Row> = Row extends InsertResult | UpdateResult | DeleteResult ? never : Row;

class NoConnection extends DummyDriver {
  override async acquireConnection(): Promise<never> {
    throw new Error('The builder has no connection: pass the statement to a Query.');
  }
}

const compiler = new PostgresQueryCompiler();
const builder: Builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new NoConnection(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => compiler,
  },
});

/** What is sent to PostgreSQL. */
interface CompiledStatement {
  text: string;
  parameters: readonly unknown[];
}

/** @param workspace undefined: the statement is not bound to one */
function compile(statement: BuiltStatement<unknown>, workspace: unknown): CompiledStatement {
  const node = statement.toOperationNode();
  const queryId = { queryId: '' };
  const bound = workspace === undefined ? node : new WorkspaceBinder(workspace).transformNode(node, queryId);
  const { sql, parameters } = compiler.compileQuery(bound, queryId);
  return { text: sql, parameters };
}

/**
 * Builds a statement and compiles it.
 * @throws UnboundStatementError if it can't be bound to the workspace
 */
export function compileStatement(
  build: (db: Builder) => BuiltStatement<unknown>,
  workspaceId: string | undefined,
): CompiledStatement {
  return compile(build(builder), workspaceId);
}

/** Stands for a value that is known when a prepared statement runs. */
class Placeholder {
  readonly #name: string;
  readonly asJson: boolean;

  constructor(name: string, asJson: boolean) {
    this.#name = name;
    this.asJson = asJson;
  }

  json(): Placeholder {
    return new Placeholder(this.#name, true);
  }

  valueFrom(values: Readonly<Record<string, unknown>>): unknown {
    const value = values[this.#name];
    return this.asJson && value !== undefined && value !== null ? JSON.stringify(value) : value;
  }
}

const parameter = <Value>(placeholder: unknown) =>
  new ExpressionWrapper<Tables, never, Value>(ValueNode.create(placeholder));

/** The values of a prepared statement while it is built. */
export type Parameters<Values> = { readonly [Name in keyof Values]-?: ExpressionWrapper<Tables, never, Values[Name]> };

const WORKSPACE = 'the workspace';

/** A statement that is built and compiled once per process, and prepared once per connection. Created by {@link prepared}. */
export class PreparedStatement<Values, Row> {
  readonly #build: (db: Builder, values: Parameters<Values>) => BuiltStatement<Row>;
  readonly #compiled: Partial<Record<'bound' | 'unbound', CompiledStatement & { name: string }>> = {};

  constructor(build: (db: Builder, values: Parameters<Values>) => BuiltStatement<Row>) {
    this.#build = build;
  }

  /** Its text and values; `workspaceId` undefined: not bound to a workspace. */
  with(values: Values, workspaceId: string | undefined): { name: string; text: string; parameters: unknown[] } {
    const { name, text, parameters } = this.#compile(workspaceId === undefined ? 'unbound' : 'bound');
    const all = { ...values, [WORKSPACE]: workspaceId };
    return {
      name,
      text,
      parameters: parameters.map((each) => (each instanceof Placeholder ? each.valueFrom(all) : each)),
    };
  }

  #compile(kind: 'bound' | 'unbound') {
    const known = this.#compiled[kind];
    if (known !== undefined) return known;
    const parameters = new Proxy({} as Parameters<Values>, {
      get: (_target, name) => parameter(new Placeholder(String(name), false)),
    });
    const statement = compile(
      this.#build(builder, parameters),
      kind === 'bound' ? new Placeholder(WORKSPACE, false) : undefined,
    );
    const compiled = { ...statement, name: hash('sha256', statement.text).slice(0, 32) };
    this.#compiled[kind] = compiled;
    return compiled;
  }
}

/**
 * A frequently run statement: `prepared<{ id: string }>()((db, { id }) => db.selectFrom(…).where('id', '=', id))`. Its values are
 * placeholders while it is built, so its shape can't depend on them.
 */
export function prepared<Values = Record<never, never>>() {
  return <Row>(build: (db: Builder, values: Parameters<Values>) => BuiltStatement<Row>) =>
    new PreparedStatement<Values, Row>(build);
}

/** The rows of a prepared statement. */
export type RowOf<Statement> = Statement extends PreparedStatement<infer _Values, infer Row> ? RowsOf<Row> : never;

/**
 * A value for a `json` or `jsonb` column, or a placeholder for one, because the driver would send an array as a PostgreSQL array.
 * `null` and `undefined` are SQL NULL, as elsewhere.
 */
export function asJson<Value>(value: Value | Expression<Value>): Expression<Value> {
  if (value instanceof ExpressionWrapper) {
    const node = value.toOperationNode();
    if (ValueNode.is(node) && node.value instanceof Placeholder) return parameter(node.value.json());
  }
  return parameter(value === undefined || value === null ? null : JSON.stringify(value));
}
