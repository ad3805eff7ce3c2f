import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  type ColumnUpdateNode,
  type DeleteQueryNode,
  IdentifierNode,
  type InsertQueryNode,
  type JoinNode,
  type OnConflictNode,
  OnNode,
  type OperationNode,
  OperationNodeTransformer,
  OperatorNode,
  ParensNode,
  PrimitiveValueListNode,
  RawNode,
  ReferenceNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
  type UpdateQueryNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
  WhereNode,
  type WithNode,
} from 'kysely';
import {
  type Clauses,
  type Ctes,
  checkChildren,
  nameOf,
  type Source,
  sourceOf,
  UnboundStatementError,
  withCtes,
} from './statement-sources.ts';
import { OWNERSHIP } from './tables.ts';

const CLOSING: Record<string, string> = { '(': ')', '[': ']' };

/** A quoted text or name with any content. Escape strings (`E'…'`) and dollar quotes have different rules: they are refused. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"/y;

/**
 * Whether raw SQL is self-contained: it closes each parenthesis, bracket and quote that it opens and no other, and has no comment
 * and no end of a statement. So it can't close the parentheses around it, nor hide what follows.
 * @param fragments the text between its parameters
 */
function isWholeSql(fragments: readonly string[]): boolean {
  // A parameter becomes a placeholder, or SQL that is itself self-contained; it can't be inside quotes.
  const text = fragments.join(' ? ');
  const open: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "'" || character === '"') {
      QUOTED.lastIndex = at;
      const [quoted] = QUOTED.exec(text) ?? [];
      if (quoted === undefined || (character === "'" && /(?:^|[^a-z0-9_$])e$/i.test(text.slice(0, at)))) return false;
      at += quoted.length - 1;
    } else if (character in CLOSING) open.push(CLOSING[character] ?? '');
    else if (character === ')' || character === ']') {
      if (open.pop() !== character) return false;
    } else if (character === ';' || /^(?:--|\/\*|\$[a-z_]*\$)/i.test(text.slice(at, at + 64))) return false;
  }
  return open.length === 0;
}

const COLUMN = 'workspace_id';
const TABLE_NAME = new RegExp(String.raw`\b(?:${[...OWNERSHIP.keys()].join('|')})\b`, 'i');
const JOIN_TYPES = ['InnerJoin', 'LeftJoin', 'CrossJoin', 'LateralInnerJoin', 'LateralLeftJoin', 'LateralCrossJoin'];

function refuse(why: string): never {
  throw new UnboundStatementError(why);
}

/** Combines all conditions; the caller's is put in parentheses, because it may be an OR or raw text. */
function all(ours: OperationNode[], given: OperationNode | undefined): OperationNode {
  return [...ours, ...(given === undefined ? [] : [ParensNode.create(given)])].reduce((left, right) =>
    AndNode.create(left, right),
  );
}

function refuseToMove(updates: readonly ColumnUpdateNode[] = []): void {
  for (const { column } of updates)
    if (ColumnNode.is(column) && column.column.name === COLUMN) refuse(`it sets ${COLUMN}.`);
}

/**
 * Binds a statement to a workspace: every table that has the column gets the condition `workspace_id = <the workspace>`, also in
 * subqueries and CTEs, and inserted rows get the column. A table whose rows belong to a parent row must be joined to it.
 * Statements that can't be bound like this are refused. One instance binds one statement.
 */
export class WorkspaceBinder extends OperationNodeTransformer {
  readonly #workspace: unknown;
  /** The CTEs that the statement and those around it can refer to. */
  #ctes: Ctes = new Map();
  /** The sources of the surrounding statements. */
  #outer: Source[] = [];

  /** @param workspace its id, or a placeholder for it */
  constructor(workspace: unknown) {
    super();
    this.#workspace = workspace;
  }

  protected override transformRaw(node: RawNode): RawNode {
    const inText = node.sqlFragments.map((text) => TABLE_NAME.exec(text)?.[0]).find((name) => name !== undefined);
    const isTable = (part: OperationNode) =>
      TableNode.is(part) || (IdentifierNode.is(part) && OWNERSHIP.has(part.name));
    if (inText !== undefined || node.parameters.some(isTable))
      refuse(`raw SQL names ${inText ?? 'a table'}: use the builder for tables, and sql.ref() for columns.`);
    if (!isWholeSql(node.sqlFragments))
      refuse('raw SQL is incomplete: close what it opens, and leave out comments and ";".');
    return super.transformRaw(node);
  }

  protected override transformMergeQuery(): never {
    return refuse('MERGE is not supported.');
  }

  protected override transformSelectQuery(node: SelectQueryNode): SelectQueryNode {
    const tables = node.from?.froms ?? [];
    return this.#inside(node, tables, () => this.#bindClauses(super.transformSelectQuery(node), tables));
  }

  protected override transformUpdateQuery(node: UpdateQueryNode): UpdateQueryNode {
    refuseToMove(node.updates);
    const tables = [...(node.table ? [node.table] : []), ...(node.from?.froms ?? [])];
    return this.#inside(node, tables, () => this.#bindClauses(super.transformUpdateQuery(node), tables));
  }

  protected override transformDeleteQuery(node: DeleteQueryNode): DeleteQueryNode {
    const tables = [...node.from.froms, ...(node.using?.tables ?? [])];
    return this.#inside(node, tables, () => this.#bindClauses(super.transformDeleteQuery(node), tables));
  }

  protected override transformInsertQuery(node: InsertQueryNode): InsertQueryNode {
    const { into, columns = [] } = node;
    if (into === undefined) return refuse('it inserts into no table.');
    const table = nameOf(into);
    if (OWNERSHIP.get(table)?.kind !== 'workspace')
      refuse(`${table} has no ${COLUMN}: insert into it through the system's database.`);
    if (columns.length === 0) refuse('it names no columns to insert.');
    if (columns.some(({ column }) => column.name === COLUMN)) refuse(`it writes ${COLUMN}.`);
    refuseToMove(node.onConflict?.updates);
    return this.#inside(node, [into], () => {
      const bound = super.transformInsertQuery(node);
      return {
        ...bound,
        columns: [...columns, ColumnNode.create(COLUMN)],
        values: this.#withWorkspace(bound.values),
        ...(bound.onConflict && { onConflict: this.#bindConflict(bound.onConflict, table) }),
      };
    });
  }

  /** Registers the CTEs and tables of a statement, checks them, and continues inside it. */
  #inside<Node>(
    node: Clauses & { with?: WithNode | undefined },
    tables: readonly OperationNode[],
    bind: () => Node,
  ): Node {
    for (const { name } of node.with?.expressions ?? []) {
      const cte = nameOf(name.table);
      if (OWNERSHIP.has(cte)) refuse(`a CTE has the name of the table ${cte}.`);
    }
    for (const { joinType } of node.joins ?? [])
      if (!JOIN_TYPES.includes(joinType)) refuse(`${joinType} is not supported.`);
    const outerCtes = this.#ctes;
    this.#ctes = withCtes(outerCtes, node.with);
    const sources = [...tables, ...(node.joins ?? []).map(({ table }) => table)].map((table) =>
      sourceOf(table, this.#ctes),
    );
    const outer = this.#outer;
    checkChildren(node, sources, outer, this.#ctes);
    this.#outer = [...sources, ...outer];
    try {
      return bind();
    } finally {
      this.#outer = outer;
      this.#ctes = outerCtes;
    }
  }

  /** Adds the condition of each table: for a joined table to its ON, so that a left join keeps its rows. */
  #bindClauses<Node extends Clauses>(node: Node, tables: readonly OperationNode[]): Node {
    const ours = tables.flatMap((table) => this.#conditionsOf(table));
    const joins = node.joins?.map((join): JoinNode => {
      const conditions = this.#conditionsOf(join.table);
      if (conditions.length === 0) return join;
      if (!join.joinType.endsWith('CrossJoin')) return { ...join, on: OnNode.create(all(conditions, join.on?.on)) };
      ours.push(...conditions);
      return join;
    });
    return {
      ...node,
      ...(joins && { joins }),
      ...(ours.length > 0 && { where: WhereNode.create(all(ours, node.where?.where)) }),
    };
  }

  #conditionsOf(node: OperationNode): OperationNode[] {
    const { alias, table } = sourceOf(node, this.#ctes);
    return table !== undefined && OWNERSHIP.get(table)?.kind === 'workspace' ? [this.#condition(alias)] : [];
  }

  #condition(alias: string): OperationNode {
    return BinaryOperationNode.create(
      ReferenceNode.create(ColumnNode.create(COLUMN), TableNode.create(alias)),
      OperatorNode.create('='),
      ValueNode.create(this.#workspace),
    );
  }

  /** The rows to insert, with one more column. */
  #withWorkspace(values: OperationNode | undefined): OperationNode {
    const workspace = ValueNode.create(this.#workspace);
    if (values !== undefined && ValuesNode.is(values))
      return ValuesNode.create(
        values.values.map((row) =>
          PrimitiveValueListNode.is(row)
            ? PrimitiveValueListNode.create([...row.values, this.#workspace])
            : ValueListNode.create([...row.values, workspace]),
        ),
      );
    if (values !== undefined && SelectQueryNode.is(values) && values.setOperations === undefined)
      return SelectQueryNode.cloneWithSelections(values, [
        SelectionNode.create(
          AliasNode.create(RawNode.create(['', '::uuid'], [workspace]), IdentifierNode.create(COLUMN)),
        ),
      ]);
    return refuse('it inserts neither values nor a plain select.');
  }

  /** A key without the workspace may match another workspace's row, which must not be changed. */
  #bindConflict(node: OnConflictNode, table: string): OnConflictNode {
    if (node.updates === undefined) return node;
    return { ...node, updateWhere: WhereNode.create(all([this.#condition(table)], node.updateWhere?.where)) };
  }
}
