import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { type Builder, prepared, type RowOf } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import { type ExecutionStatus, executionStates } from '../../domain/execution-states.ts';
import type { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import { type ExecutionSearch, executionConditions, splitFilter } from './filter.ts';

/** The columns of an execution that callers see. Parameters, variables, messages and tools are JSON texts that are passed on unchanged. */
const COLUMNS = [
  'id',
  'status',
  'prompt_name',
  'prompt_version',
  'model',
  'requested_model',
  'provider',
  'input',
  'tool_choice',
  'includes',
  'metadata',
  'attempts',
  'calls',
  'output',
  'finish_reason',
  'tokens_input',
  'tokens_output',
  'tokens_cached_input',
  'tokens_reasoning',
  'cost_amount',
  'pricing',
  'model_ms',
  'error',
  'reused_from',
  'label',
  'release_id',
  'release_arm',
  'release_keyed',
  'recorded',
  'trace_id',
  'span_id',
  'parent_id',
  'conversation_id',
  'step_type',
  'created_at',
  'started_at',
  'finished_at',
] as const;
const REQUIRED_TEXTS = ['parameters', 'variables'] as const;
const OPTIONAL_TEXTS = ['input_messages', 'tools', 'tool_calls'] as const;
const jsonText = <Text extends string | null, Name extends string>(name: Name) =>
  sql<Text>`${sql.ref(name)}::text`.as(name);

export const EXECUTION_COLUMNS = [
  ...COLUMNS,
  ...REQUIRED_TEXTS.map((name) => jsonText<string, typeof name>(name)),
  ...OPTIONAL_TEXTS.map((name) => jsonText<string | null, typeof name>(name)),
];
/** Their names, in the same order. */
export const EXECUTION_COLUMN_NAMES = [...COLUMNS, ...REQUIRED_TEXTS, ...OPTIONAL_TEXTS] as const;
/** The names that are JSON texts in a row, but not in the table. */
export const JSON_TEXT_NAMES: ReadonlySet<string> = new Set([...REQUIRED_TEXTS, ...OPTIONAL_TEXTS]);

const FIND = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('executions').select(EXECUTION_COLUMNS).where('id', '=', id),
);
export type ExecutionRow = RowOf<typeof FIND>;

/** @throws ApiError `not_found` */
export async function getExecution(db: Pick<WorkspaceDatabase, 'query'>, id: string): Promise<ExecutionRow> {
  const [row] = await db.query(FIND, { id });
  if (!row) throw notFound('This execution');
  return row;
}

/** The parsed messages that were sent; null if the input was a text. */
export const inputMessagesOf = ({
  input_messages: json,
}: Pick<ExecutionRow, 'input_messages'>): ChatMessage[] | null => (json === null ? null : JSON.parse(json));

/** The parsed tool calls that the model requested. */
export const toolCallsOf = ({ tool_calls: json }: Pick<ExecutionRow, 'tool_calls'>): ToolCall[] =>
  json === null ? [] : JSON.parse(json);

/**
 * The maximum size of the texts of an execution that is read in one statement. For a longer one, the columns that decide whether to
 * read it are read first.
 */
const SHORT_BYTES = 64 * 1024;

/** An execution, or as much of it as is needed to decide whether to read it. */
export interface SeenExecution {
  id: string;
  status: ExecutionStatus;
  attempts: number;
  /** The size of its texts. */
  bytes: number;
  /** Undefined if it is long. */
  row: ExecutionRow | undefined;
  /** Whether it may have scores. */
  hasScores: boolean;
}

/** Whether an execution of the statement has scores. */
const hasScores = (eb: ExpressionBuilder<Tables, 'executions'>) =>
  eb
    .exists(eb.selectFrom('scores as s').select('s.id').whereRef('s.execution_id', '=', 'executions.id'))
    .as('has_scores');

const FIND_SHORT = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('executions')
    .select([...EXECUTION_COLUMNS, 'bytes'])
    .select(hasScores)
    .where('id', '=', id)
    .where('bytes', '<=', sql.lit(SHORT_BYTES)),
);
const FIND_LONG = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('executions').select(['id', 'status', 'attempts', 'bytes']).select(hasScores).where('id', '=', id),
);

/** @throws ApiError `not_found` */
export async function readExecutionView(db: WorkspaceDatabase, id: string): Promise<SeenExecution> {
  const [short] = await db.query(FIND_SHORT, { id });
  if (short !== undefined) {
    const { bytes, has_scores: hasSome, ...row } = short;
    return { ...toSeen(row, bytes), hasScores: hasSome === true };
  }
  const [long] = await db.query(FIND_LONG, { id });
  if (long === undefined) throw notFound('This execution');
  const { has_scores: hasSome, ...seen } = long;
  return { ...seen, row: undefined, hasScores: hasSome === true };
}

/** @param bytes the size of its texts, if they may be large. Default: small */
export function toSeen(row: ExecutionRow, bytes = 0): SeenExecution {
  return { id: row.id, status: row.status, attempts: row.attempts, bytes, row, hasScores: true };
}

/**
 * Returns all of an execution.
 * @param caller waits for memory and for its turn to read if the execution is long
 * @throws ApiError `not_found`
 */
export async function wholeExecution(
  caller: {
    db: WorkspaceDatabase;
    reserve(bytes: number): Promise<void>;
    turn(bytes: number): Promise<() => void>;
  },
  { id, bytes, row }: SeenExecution,
): Promise<ExecutionRow> {
  if (row !== undefined) return row;
  await caller.reserve(bytes);
  const end = await caller.turn(bytes);
  try {
    return await getExecution(caller.db, id);
  } finally {
    end();
  }
}

/** The number of characters of an output that are read to determine the outcome of a run. */
const OUTCOME_CHARS = 64 * 1024;

const OUTCOME = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('executions')
    .select(['status', 'cost_amount', 'error'])
    .select(sql<string | null>`left(output, ${sql.lit(OUTCOME_CHARS)})`.as('output'))
    .where('id', '=', id),
);

/**
 * The outcome of an execution: of a long one only that, and at most 64 Ki characters of its output.
 * @throws ApiError `not_found`
 */
export async function outcomeOf(
  db: WorkspaceDatabase,
  { id, row }: SeenExecution,
): Promise<Pick<ExecutionRow, 'status' | 'output' | 'cost_amount' | 'error'>> {
  const [outcome] = row === undefined ? await db.query(OUTCOME, { id }) : [row];
  if (outcome === undefined) throw notFound('This execution');
  return outcome;
}

const STATUS = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('executions').select('status').where('id', '=', id),
);

/** Reads across workspaces; undefined if there is no such execution. */
export async function executionStatus(query: Query, id: string): Promise<ExecutionStatus | undefined> {
  const [row] = await query(STATUS, { id });
  return row?.status;
}

/** Whether a model responded, or a response could not be parsed, without reporting its usage. In SQL: `execution-events.ts`. */
export const hasUnknownTokens = ({ calls }: Pick<ExecutionRow, 'calls'>): boolean =>
  calls.some((call) => call.tokens === null && (call.error === null || call.response !== undefined));

export function isFinished(status: ExecutionStatus): boolean {
  return executionStates.final.includes(status);
}

/** The maximum number of executions that a page with an unindexed condition examines, so that rare matches do not take longer. */
export const EXAMINED_EXECUTIONS = 5_000;
/** The maximum size of the texts that such a page searches. */
export const SEARCHED_BYTES = 32 * 1024 * 1024;

/** The last execution that a page examines; undefined: all remaining ones, also if every condition has an index. */
export async function lastExamined(
  query: Query,
  filter: ExecutionSearch,
  before?: string,
  examined = EXAMINED_EXECUTIONS,
): Promise<string | undefined> {
  const { indexed, examinesMany } = splitFilter(filter);
  if (!examinesMany) return undefined;
  const [last] = await query((own) => {
    const newest = own
      .selectFrom('executions')
      .select('id')
      .where((eb) => eb.and(executionConditions(eb, indexed)))
      .$if(before !== undefined, (list) => list.where('id', '<', before ?? ''))
      .orderBy('id', 'desc');
    if (filter.terms === undefined) return newest.offset(examined - 1).limit(1);
    return own
      .selectFrom(
        newest
          .select([
            sql<number>`row_number() over (order by id desc)`.as('place'),
            sql<number>`sum(bytes) over (order by id desc rows unbounded preceding)`.as('sum'),
          ])
          .limit(examined)
          .as('newest'),
      )
      .select('newest.id')
      .where((eb) => eb.or([eb('newest.place', '=', examined), eb('newest.sum', '>=', SEARCHED_BYTES)]))
      .orderBy('newest.id', 'desc')
      .limit(1);
  });
  return last?.id;
}

/** The executions that match, newest first. @param last from {@link lastExamined} */
export const newestMatching = (db: Builder, filter: ExecutionSearch, last: string | undefined) =>
  db
    .selectFrom('executions')
    .where((eb) => eb.and([...executionConditions(eb, filter), ...given(last, (id) => eb('executions.id', '>=', id))]))
    .orderBy('executions.id', 'desc');

/**
 * Executions, newest first: a page of at most `limit` before the id `before`. With an unindexed condition, a page examines at
 * most {@link EXAMINED_EXECUTIONS}, and in a text search at most {@link SEARCHED_BYTES}: it may then hold fewer executions than
 * there are, or none.
 * @returns `next`: the remaining executions come before this id. Undefined if none remain
 */
export async function listExecutions(
  db: WorkspaceDatabase,
  filter: ExecutionSearch,
  limit: number,
  before: string | undefined,
): Promise<{ rows: ExecutionRow[]; next: string | undefined }> {
  const query = splitFilter(filter).examinesMany ? db.heavy.query : db.query;
  const last = await lastExamined(query, filter, before);
  const { rows, more } = await pageOfExecutions(
    query,
    (eb) => [
      ...executionConditions(eb, filter),
      ...given(last, (id) => eb('id', '>=', id)),
      ...given(before, (id) => eb('id', '<', id)),
    ],
    limit,
  );
  return { rows, next: more ? rows.at(-1)?.id : last };
}

/** A page of the executions that match conditions, newest first. */
export const pageOfExecutions = (
  query: Query,
  conditions: (eb: ExpressionBuilder<Tables, 'executions'>) => Expression<SqlBool>[],
  limit: number,
): Promise<Page<ExecutionRow>> =>
  selectPage(
    query,
    {
      select: (own) =>
        own
          .selectFrom('executions')
          .select([...EXECUTION_COLUMN_NAMES, 'bytes'])
          .where((eb) => eb.and(conditions(eb))),
      orderBy: [['id', 'desc']],
      bytes: () => sql.ref<number>('bytes'),
    },
    limit,
    { columns: EXECUTION_COLUMN_NAMES, texts: JSON_TEXT_NAMES },
  );

/** The given executions that have ended, by id. */
export async function endedOf(query: Query, ids: string[]): Promise<string[]> {
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select('id')
      .where('id', 'in', ids)
      .where(inStates(executionStates, executionStates.final)),
  );
  return rows.map(({ id }) => id);
}
