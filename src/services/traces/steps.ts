import { type QueryCreator, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { MAX_PAGE_BYTES } from '../../db/read-page.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import { treeOrder } from '../../domain/traces/tree-order.ts';
import type { TraceRow } from './traces.ts';

const STEP_COLUMNS = [
  's.span_id',
  's.parent_id',
  's.type',
  's.name',
  's.status',
  's.error',
  's.error_type',
  's.started_us',
  's.ended_us',
  's.model',
  's.provider',
  's.tool',
  's.agent',
  's.tokens',
  's.own_tokens',
  's.execution_id',
  's.prompt_name',
  's.prompt_version',
  's.has_input',
  's.has_output',
  's.cut',
  'e.cost_amount',
] as const;

/** A trace, with the days that have its steps. */
export type TraceDays = Pick<TraceRow, 'id' | 'first_day' | 'last_day'>;

/** The steps of a trace, read from its days only. */
export const stepsOf = (db: QueryCreator<Tables>, { id, first_day: first, last_day: last }: TraceDays) =>
  db.selectFrom('trace_steps as s').where('s.trace_id', '=', id).where('s.day', '>=', first).where('s.day', '<=', last);

/** All steps of a trace in pages, by span id. @param columns with `span_id` */
export async function* pagesOfSteps<Column extends keyof Tables['trace_steps']>(
  query: Query,
  trace: TraceDays,
  columns: readonly (Column | 'span_id')[],
  atOnce: number,
) {
  const read = (after: string) =>
    query((db) => stepsOf(db, trace).select(columns).where('span_id', '>', after).orderBy('span_id').limit(atOnce));
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: Awaited<ReturnType<typeof read>> = await read(after);
    if (rows.length > 0) yield rows;
    after = rows.length < atOnce ? undefined : (rows.at(-1)?.span_id as string | undefined);
  }
}

/** Steps of a trace, without their texts. */
const selectSteps = (query: Query, trace: TraceDays, spans: readonly string[]) =>
  query((db) =>
    stepsOf(db, trace)
      .leftJoin('executions as e', 'e.id', 's.execution_id')
      .select(STEP_COLUMNS)
      .where(sql<boolean>`s.span_id = any(${spans}::text[])`),
  );
export type StepRow = Awaited<ReturnType<typeof selectSteps>>[number];

/** Bytes of a step in a page, without its texts. */
const STEP_BYTES = 600;
const bytesOf = ({ name, error }: StepRow) => STEP_BYTES + name.length + (error?.length ?? 0);

/**
 * Steps of a trace in tree order: each before those below it, and siblings by start.
 * @param after the last step of the previous page
 */
export async function listSteps(
  query: Query,
  trace: TraceDays,
  limit: number,
  after: string | undefined,
): Promise<{ rows: StepRow[]; more: boolean }> {
  const all = await query((db) =>
    stepsOf(db, trace).select(['span_id as id', 'parent_id as parentId', 'started_us as startedAt']),
  );
  const order = treeOrder(all);
  const from = after === undefined ? 0 : order.indexOf(after) + 1;
  const spans = order.slice(from, from + limit);
  const found = new Map((await selectSteps(query, trace, spans)).map((row) => [row.span_id, row]));
  const rows: StepRow[] = [];
  let bytes = 0;
  for (const span of spans) {
    const row = found.get(span);
    if (row === undefined) continue;
    bytes += bytesOf(row);
    if (bytes > MAX_PAGE_BYTES && rows.length > 0) break;
    rows.push(row);
  }
  const last = rows.at(-1)?.span_id;
  return { rows, more: last !== undefined && order.indexOf(last) < order.length - 1 };
}

/** A step with its texts. @throws ApiError `not_found` */
export async function getStep(query: Query, trace: TraceDays, span: string) {
  const [row] = await query((db) =>
    stepsOf(db, trace)
      .leftJoin('executions as e', 'e.id', 's.execution_id')
      .select(STEP_COLUMNS)
      .select(['s.content', 's.conversation_id', 's.user_id', 's.service', 's.environment', 's.tags', 's.metadata'])
      .select(['e.input', 'e.input_messages', 'e.output', 'e.tool_calls'])
      .where('s.span_id', '=', span),
  );
  if (row === undefined) throw notFound('This step');
  return row;
}
export type WholeStepRow = Awaited<ReturnType<typeof getStep>>;

/** The texts of a step, which can be those of its execution. */
export const textsOf = ({ content, input, input_messages: messages, output, tool_calls: calls }: WholeStepRow) => ({
  input: content.input ?? messages ?? input,
  output: content.output ?? output,
  toolCalls: content.toolCalls ?? calls ?? [],
});

/** The span of the step that represents its trace: the one without a parent, otherwise the earliest. @throws ApiError `not_found` */
export async function findTopStep(query: Query, trace: TraceDays): Promise<string> {
  const [row] = await query((db) =>
    stepsOf(db, trace)
      .select('span_id')
      .orderBy(sql`parent_id is not null`)
      .orderBy('started_us')
      .orderBy('span_id')
      .limit(1),
  );
  if (row === undefined) throw notFound('This step');
  return row.span_id;
}
