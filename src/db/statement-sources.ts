import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  IdentifierNode,
  type JoinNode,
  type OperationNode,
  OperatorNode,
  ParensNode,
  ReferenceNode,
  SelectQueryNode,
  TableNode,
  type WhereNode,
} from 'kysely';
import { OWNERSHIP } from './tables.ts';

/** A statement of a workspace that can't be bound to it. */
export class UnboundStatementError extends Error {
  constructor(why: string) {
    super(`This statement is not bound to a workspace: ${why}`);
    this.name = 'UnboundStatementError';
  }
}

/** An item of a FROM clause. */
export interface Source {
  alias: string;
  /** One of our tables; undefined for a CTE, a subquery, and the rows of a function. */
  table: string | undefined;
}

/** The clauses of a statement that restrict its rows. */
export interface Clauses {
  joins?: readonly JoinNode[] | undefined;
  where?: WhereNode | undefined;
}

export const nameOf = (node: TableNode) => node.table.identifier.name;

/**
 * What an item of a FROM clause stands for.
 * @throws UnboundStatementError for a table that is neither ours nor a CTE, or that belongs to no workspace
 */
export function sourceOf(node: OperationNode, cteNames: ReadonlySet<string>): Source {
  const inner = AliasNode.is(node) ? node.node : node;
  const alias = AliasNode.is(node) && IdentifierNode.is(node.alias) ? node.alias.name : undefined;
  if (!TableNode.is(inner)) return { alias: alias ?? '', table: undefined };
  const name = nameOf(inner);
  if (cteNames.has(name)) return { alias: alias ?? name, table: undefined };
  const ownership = OWNERSHIP.get(name);
  if (ownership === undefined || inner.table.schema !== undefined)
    throw new UnboundStatementError(`${name} is neither a table of the service nor a CTE.`);
  if (ownership.kind === 'none')
    throw new UnboundStatementError(`${name} belongs to no workspace: read it through the system's database.`);
  return { alias: alias ?? name, table: name };
}

/** The parts of a condition that must all hold. */
function conjuncts(node: OperationNode | undefined): OperationNode[] {
  if (node === undefined) return [];
  if (AndNode.is(node)) return [...conjuncts(node.left), ...conjuncts(node.right)];
  return ParensNode.is(node) ? conjuncts(node.node) : [node];
}

/** A column in a condition; without an alias where the statement names none. */
function columnOf(node: OperationNode): { alias: string | undefined; column: string } | undefined {
  if (!ReferenceNode.is(node) || !ColumnNode.is(node.column)) return undefined;
  return { alias: node.table && nameOf(node.table), column: node.column.column.name };
}

/** Whether a condition ties the foreign key of `child` to rows that are bound to the workspace. */
function isLink(
  condition: OperationNode,
  child: Source,
  bound: readonly Source[],
  cteNames: ReadonlySet<string>,
): boolean {
  const ownership = OWNERSHIP.get(child.table ?? '');
  if (ownership?.kind !== 'child' || !BinaryOperationNode.is(condition) || !OperatorNode.is(condition.operator))
    return false;
  const { parent, column } = ownership;
  const isKey = (node: OperationNode) => {
    const found = columnOf(node);
    return found?.column === column && (found.alias ?? child.alias) === child.alias;
  };
  const isBoundColumn = (node: OperationNode) => {
    const found = columnOf(node);
    const source = bound.find(({ alias }) => alias === found?.alias);
    if (found === undefined || source === undefined) return false;
    if (source.table === undefined) return true;
    return source.table === parent ? found.column === 'id' : found.column === column;
  };
  const { leftOperand: left, rightOperand: right } = condition;
  switch (condition.operator.operator) {
    case '=':
      return (isKey(left) && isBoundColumn(right)) || (isKey(right) && isBoundColumn(left));
    case 'in':
      return (
        isKey(left) &&
        SelectQueryNode.is(right) &&
        (right.from?.froms ?? []).some((from) => [parent, undefined].includes(sourceOf(from, cteNames).table))
      );
    default:
      return false;
  }
}

/**
 * Checks that each table without a workspace of its own is tied to its parent by the foreign key.
 * @param sources of the statement itself
 * @param outer of the statements around it, which are bound themselves
 * @throws UnboundStatementError
 */
export function checkChildren(
  { joins = [], where }: Clauses,
  sources: readonly Source[],
  outer: readonly Source[],
  cteNames: ReadonlySet<string>,
): void {
  const isChild = ({ table }: Source) => OWNERSHIP.get(table ?? '')?.kind === 'child';
  const bound = [...sources.filter((source) => !isChild(source)), ...outer];
  let children = sources.filter(isChild);
  const links = (child: Source) =>
    [
      ...conjuncts(where?.where),
      // A left join restricts what it joins, and nothing before it.
      ...joins.flatMap((join) =>
        /Left/.test(join.joinType) && sourceOf(join.table, cteNames).alias !== child.alias
          ? []
          : conjuncts(join.on?.on),
      ),
    ].some((condition) => isLink(condition, child, bound, cteNames));
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
