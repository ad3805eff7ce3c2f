import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  DeleteQueryNode,
  IdentifierNode,
  InsertQueryNode,
  type JoinNode,
  type OperationNode,
  OperatorNode,
  ParensNode,
  ReferenceNode,
  SelectAllNode,
  type SelectionNode,
  SelectQueryNode,
  TableNode,
  UpdateQueryNode,
  type WhereNode,
  type WithNode,
} from 'kysely';
import { OWNERSHIP } from './tables.ts';

/** A statement of a workspace that can't be bound to it. */
export class UnboundStatementError extends Error {
  constructor(why: string) {
    super(`This statement is not bound to a workspace: ${why}`);
    this.name = 'UnboundStatementError';
  }
}

/** Maps a column of a query's rows to the table column that its values come from; undefined if that can't be determined. */
type Origins = (column: string) => { table: string; column: string } | undefined;

/** The CTEs that a statement can name. */
export type Ctes = ReadonlyMap<string, Origins>;

/** An item of a FROM clause. */
export interface Source {
  alias: string;
  /** The name of a known table; undefined for a CTE, a subquery, and the rows of a function. */
  table: string | undefined;
  origins: Origins;
}

/** The clauses of a statement that restrict its rows. */
export interface Clauses {
  joins?: readonly JoinNode[] | undefined;
  where?: WhereNode | undefined;
}

export const nameOf = (node: TableNode) => node.table.identifier.name;

/** Computed values, for instance by a function. */
const ofNoTable: Origins = () => undefined;

/**
 * The source that an item of a FROM clause refers to.
 * @throws UnboundStatementError for a table that is neither known nor a CTE, or that belongs to no workspace
 */
export function sourceOf(node: OperationNode, ctes: Ctes): Source {
  const inner = AliasNode.is(node) ? node.node : node;
  const alias = AliasNode.is(node) && IdentifierNode.is(node.alias) ? node.alias.name : undefined;
  if (!TableNode.is(inner)) return { alias: alias ?? '', table: undefined, origins: originsOf(inner, ctes) };
  const name = nameOf(inner);
  const cte = ctes.get(name);
  if (cte !== undefined) return { alias: alias ?? name, table: undefined, origins: cte };
  const ownership = OWNERSHIP.get(name);
  if (ownership === undefined || inner.table.schema !== undefined)
    throw new UnboundStatementError(`${name} is neither a table of the service nor a CTE.`);
  if (ownership.kind === 'none')
    throw new UnboundStatementError(`${name} belongs to no workspace: read it through the system's database.`);
  return { alias: alias ?? name, table: name, origins: (column) => ({ table: name, column }) };
}

/** Adds the CTEs of a statement; each can refer to those before it. A recursive one refers to itself, which adds no information. */
export function withCtes(ctes: Ctes, clause: WithNode | undefined): Ctes {
  const known = new Map(ctes);
  for (const { name, expression } of clause?.expressions ?? []) {
    known.set(nameOf(name.table), ofNoTable);
    // Its columns may have other names than those of its query.
    if (name.columns === undefined) known.set(nameOf(name.table), originsOf(expression, known));
  }
  return known;
}

/** A column that a query returns: `name` is undefined for all columns of `sources` (`*`). */
interface Given {
  name: string | undefined;
  of: (name: string) => ReturnType<Origins>;
}

/** The origins of the values of a query's rows. Every table that it reads is bound together with the query. */
function originsOf(query: OperationNode, outer: Ctes): Origins {
  const given = columnsOf(query, outer);
  if (given === undefined) return ofNoTable;
  const branches = SelectQueryNode.is(query)
    ? (query.setOperations ?? []).map(({ expression }) => columnsOf(expression, outer))
    : [];
  return (column) => {
    const at = given.findIndex(({ name }) => name === column);
    const found = given[at] ?? (given.length === 1 && given[0]?.name === undefined ? given[0] : undefined);
    const origin = found?.of(column);
    if (origin === undefined || branches.length === 0) return origin;
    // A union's column comes from the same position of each of its queries.
    const isSame = branches.every((branch) => {
      const other = branch?.[at];
      const otherOrigin = other?.name === undefined ? undefined : other.of(other.name);
      return otherOrigin?.table === origin.table && otherOrigin.column === origin.column;
    });
    return at >= 0 && isSame ? origin : undefined;
  };
}

/** The columns that a query selects or returns; undefined if it has no list of columns. */
function columnsOf(query: OperationNode, outer: Ctes): Given[] | undefined {
  if (SelectQueryNode.is(query)) {
    const ctes = withCtes(outer, query.with);
    const items = [...(query.from?.froms ?? []), ...(query.joins ?? []).map(({ table }) => table)];
    return givenBy(query.selections, items, ctes);
  }
  if (InsertQueryNode.is(query))
    return givenBy(query.returning?.selections, query.into ? [query.into] : [], withCtes(outer, query.with));
  if (UpdateQueryNode.is(query)) {
    const items = [...(query.table ? [query.table] : []), ...(query.from?.froms ?? [])];
    return givenBy(query.returning?.selections, items, withCtes(outer, query.with));
  }
  if (DeleteQueryNode.is(query)) {
    const items = [...query.from.froms, ...(query.using?.tables ?? [])];
    return givenBy(query.returning?.selections, items, withCtes(outer, query.with));
  }
  return undefined;
}

function givenBy(
  selections: readonly SelectionNode[] | undefined,
  items: readonly OperationNode[],
  ctes: Ctes,
): Given[] | undefined {
  const sources = items.map((item) => sourceOf(item, ctes));
  const sourceNamed = (table: TableNode | undefined) => {
    // A column without a table is unambiguous only if there is one table.
    if (table === undefined) return sources.length === 1 ? sources[0] : undefined;
    return sources.find(({ alias }) => alias === nameOf(table));
  };
  return selections?.map(({ selection }): Given => {
    const node = AliasNode.is(selection) ? selection.node : selection;
    if (SelectAllNode.is(node)) return { name: undefined, of: (name) => sourceNamed(undefined)?.origins(name) };
    const reference = ColumnNode.is(node) ? ReferenceNode.create(node) : node;
    if (!ReferenceNode.is(reference)) return { name: aliasOf(selection) ?? '', of: ofNoTable };
    const source = sourceNamed(reference.table);
    if (!ColumnNode.is(reference.column)) return { name: undefined, of: (name) => source?.origins(name) };
    const column = reference.column.column.name;
    return { name: aliasOf(selection) ?? column, of: () => source?.origins(column) };
  });
}

const aliasOf = (node: OperationNode): string | undefined =>
  AliasNode.is(node) && IdentifierNode.is(node.alias) ? node.alias.name : undefined;

/** The parts of a condition that must all be true. */
function conjuncts(node: OperationNode | undefined): OperationNode[] {
  if (node === undefined) return [];
  if (AndNode.is(node)) return [...conjuncts(node.left), ...conjuncts(node.right)];
  return ParensNode.is(node) ? conjuncts(node.node) : [node];
}

/** A column in a condition; without an alias if the statement uses none. */
function columnOf(node: OperationNode): { alias: string | undefined; column: string } | undefined {
  if (!ReferenceNode.is(node) || !ColumnNode.is(node.column)) return undefined;
  return { alias: node.table && nameOf(node.table), column: node.column.column.name };
}

/** Whether a condition ties the foreign key of `child` to rows that are bound to the workspace. */
function isLink(condition: OperationNode, child: Source, bound: readonly Source[], ctes: Ctes): boolean {
  const ownership = OWNERSHIP.get(child.table ?? '');
  if (ownership?.kind !== 'child' || !BinaryOperationNode.is(condition) || !OperatorNode.is(condition.operator))
    return false;
  const { parent, column } = ownership;
  const isKey = (node: OperationNode) => {
    const found = columnOf(node);
    return found?.column === column && (found.alias ?? child.alias) === child.alias;
  };
  const isOfParent = (origin: ReturnType<Origins>) =>
    origin !== undefined && origin.column === (origin.table === parent ? 'id' : column);
  const isBoundColumn = (node: OperationNode) => {
    const found = columnOf(node);
    const source = bound.find(({ alias }) => alias === found?.alias);
    return found !== undefined && isOfParent(source?.origins(found.column));
  };
  const { leftOperand: left, rightOperand: right } = condition;
  switch (condition.operator.operator) {
    case '=':
      return (isKey(left) && isBoundColumn(right)) || (isKey(right) && isBoundColumn(left));
    case 'in':
      return isKey(left) && isSelectOf(right, isOfParent, ctes);
    default:
      return false;
  }
}

/** Whether a query returns one column, all of whose values have an origin accepted by `isExpected`. */
function isSelectOf(query: OperationNode, isExpected: (origin: ReturnType<Origins>) => boolean, ctes: Ctes): boolean {
  const [column, ...more] = (SelectQueryNode.is(query) && columnsOf(query, ctes)) || [];
  return column?.name !== undefined && more.length === 0 && isExpected(originsOf(query, ctes)(column.name));
}

/**
 * Checks that each table without a workspace column is tied to its parent by the foreign key.
 * @param sources of the statement itself
 * @param outer of the surrounding statements, which are bound themselves
 * @throws UnboundStatementError
 */
export function checkChildren(
  { joins = [], where }: Clauses,
  sources: readonly Source[],
  outer: readonly Source[],
  ctes: Ctes,
): void {
  const isChild = ({ table }: Source) => OWNERSHIP.get(table ?? '')?.kind === 'child';
  const bound = [...sources.filter((source) => !isChild(source)), ...outer];
  let children = sources.filter(isChild);
  const links = (child: Source) =>
    [
      ...conjuncts(where?.where),
      // A left join restricts only the joined table, and nothing before it.
      ...joins.flatMap((join) =>
        /Left/.test(join.joinType) && sourceOf(join.table, ctes).alias !== child.alias ? [] : conjuncts(join.on?.on),
      ),
    ].some((condition) => isLink(condition, child, bound, ctes));
  while (children.length > 0) {
    const found = children.find(links);
    if (found === undefined)
      throw new UnboundStatementError(
        `${children[0]?.table} has no workspace_id: join its parent by the foreign key, as "evaluations.id = evaluation_id".`,
      );
    bound.push(found);
    children = children.filter((child) => child !== found);
  }
}
