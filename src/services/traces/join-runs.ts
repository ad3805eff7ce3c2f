import { type Expression, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { anyOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { traceIdOf } from '../../domain/ids.ts';
import { HEAD_CHARS, STEP_ROW_BYTES } from './step-rows.ts';

/**
 * Executions that themselves name their step of a trace: runs of the service through the `traceparent` of their request, and runs that an
 * application recorded. Excludes those recorded from spans.
 * @param uuids of traces
 * @returns UUIDs of executions by `trace:span`
 */
export async function findRunsOf(query: Query, uuids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select(['id', 'trace_id', 'span_id'])
      .where('trace_id', '=', anyOf(uuids))
      .where((eb) => eb.or([eb('recorded', '=', false), eb('step_type', 'is not', null)])),
  );
  return new Map(rows.map((row) => [`${traceIdOf(row.trace_id ?? '')}:${row.span_id}`, row.id]));
}

/** Whether a trace has runs of the service that have not finished. */
export async function hasUnfinishedRuns(query: Query, uuid: string): Promise<boolean> {
  const [row] = await query((db) =>
    db.selectFrom('executions').select('id').where('trace_id', '=', uuid).where('finished_at', 'is', null).limit(1),
  );
  return row !== undefined;
}

const column = (name: string) => sql.ref(`e.${name}`);
const micros = (name: string) => sql`(extract(epoch from ${column(name)}) * 1000000)::bigint`;
/** Only the days of a trace are certain to have partitions. */
const DAY = sql`case when floor(extract(epoch from ${column('created_at')}) / 86400) >= ${sql.ref('t.last_day')} then ${sql.ref('t.last_day')} else ${sql.ref('t.first_day')} end`;
const CHANGES = Object.fromEntries(
  ['status', 'error', 'error_type', 'ended_us', 'model', 'provider', 'tokens', 'output_head', 'has_output'].map(
    (name) => [name, sql.ref(`excluded.${name}`)],
  ),
);

/** A step that a span reported gets the execution that reports the same call. */
const link = (db: Builder, uuids: readonly string[]) =>
  db
    .updateTable('trace_steps as s')
    .from('executions as e')
    .where('e.trace_id', '=', anyOf(uuids))
    .where('e.step_type', 'is not', null)
    .whereRef('s.trace_id', '=', 'e.trace_id')
    .whereRef('s.span_id', '=', 'e.span_id')
    .where('s.execution_id', 'is', null)
    .set((eb) => ({ execution_id: eb.ref('e.id') }));

/** The step of an execution that another step has now. */
const unlink = (db: Builder, uuids: readonly string[]) =>
  db
    .deleteFrom('trace_steps as s')
    .using('executions as e')
    .where('e.trace_id', '=', anyOf(uuids))
    .whereRef('s.trace_id', '=', 'e.trace_id')
    .whereRef('s.span_id', '=', 'e.span_id')
    .whereRef('s.execution_id', '=', 'e.id')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('trace_steps as o')
          .select('o.span_id')
          .whereRef('o.trace_id', '=', 'e.trace_id')
          .whereRef('o.execution_id', '=', 'e.id')
          .whereRef('o.span_id', '<>', 'e.span_id'),
      ),
    );

/** An execution as a step, by column. */
const STEP: Partial<Record<keyof Tables['trace_steps'], Expression<unknown>>> = {
  trace_id: column('trace_id'),
  span_id: column('span_id'),
  day: DAY,
  parent_id: column('parent_id'),
  type: sql`coalesce(${column('step_type')}, 'model')`,
  name: sql`coalesce(${column('prompt_name')}, ${column('model')})`,
  status: sql`case when ${column('finished_at')} is null then 'running' when ${column('status')} = 'completed' then 'ok' else 'error' end`,
  error: sql`${column('error')} ->> 'message'`,
  error_type: sql`case when ${column('finished_at')} is not null and ${column('status')} <> 'completed' then coalesce(${column('error')} ->> 'code', ${column('status')}) end`,
  started_us: micros('created_at'),
  ended_us: micros('finished_at'),
  model: sql`substr(${column('model')}, length(${column('provider')}) + 2)`,
  provider: column('provider'),
  tokens: sql`case when ${column('finished_at')} is not null then jsonb_build_object('input', ${column('tokens_input')},
    'output', ${column('tokens_output')}, 'cached_input', ${column('tokens_cached_input')}, 'cache_write', 0,
    'reasoning', ${column('tokens_reasoning')}) end`,
  execution_id: column('id'),
  prompt_name: column('prompt_name'),
  prompt_version: column('prompt_version'),
  conversation_id: column('conversation_id'),
  metadata: sql`nullif(${column('metadata')}, '{}')`,
  input_head: sql`left(coalesce(${column('input')}, ${column('input_messages')} #>> '{-1,content}'), ${sql.lit(HEAD_CHARS)})`,
  output_head: sql`left(${column('output')}, ${sql.lit(HEAD_CHARS)})`,
  has_input: sql`true`,
  has_output: sql`${column('output')} is not null or ${column('tool_calls')} is not null`,
  complete: sql`false`,
  content: sql`'{}'::jsonb`,
  bytes: sql`${sql.lit(STEP_ROW_BYTES)}::bigint`,
};
const COLUMNS = Object.keys(STEP) as (keyof typeof STEP)[];

const add = (db: Builder, uuids: readonly string[]) =>
  db
    .insertInto('trace_steps')
    .columns(COLUMNS)
    .expression((eb) =>
      eb
        .selectFrom('executions as e')
        .innerJoin('traces as t', 't.id', 'e.trace_id')
        .where('e.trace_id', '=', anyOf(uuids))
        .where((of) => of.or([of('e.recorded', '=', false), of('e.step_type', 'is not', null)]))
        .where((of) =>
          of.not(
            of.exists(
              of
                .selectFrom('trace_steps as o')
                .select('o.span_id')
                .whereRef('o.trace_id', '=', 'e.trace_id')
                .whereRef('o.execution_id', '=', 'e.id')
                .where((o) => o.or([o('o.ended_us', 'is not', null), o('o.span_id', '<>', o.ref('e.span_id'))])),
            ),
          ),
        )
        .select(COLUMNS.map((name) => sql`${STEP[name]}`.as(name))),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'trace_id', 'span_id', 'day'])
        .doUpdateSet(CHANGES)
        .whereRef('trace_steps.execution_id', '=', sql.ref('excluded.execution_id')),
    );

/**
 * Makes executions steps of their traces, unless a span reports the same call: then its step gets the execution. Runs in the caller's transaction,
 * which holds locks on the traces.
 * @param uuids of traces that have steps, or get some here
 */
export async function joinRuns(query: Query, uuids: readonly string[]): Promise<void> {
  await query((db) => link(db, uuids));
  await query((db) => unlink(db, uuids));
  await query((db) => add(db, uuids));
}
