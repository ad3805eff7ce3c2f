import { type Selectable, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { inParts, recordset } from '../../../db/recordset.ts';
import { prepared } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import type { RECORDED_EXECUTION } from '../../../domain/execution-states.ts';

/** The columns of `executions` to insert, with their types. */
const TYPES = {
  id: 'uuid',
  record_key: 'text',
  status: 'text',
  prompt_name: 'text',
  prompt_version: 'int',
  label: 'text',
  model: 'text',
  provider: 'text',
  variables: 'jsonb',
  input: 'text',
  input_messages: 'jsonb',
  metadata: 'jsonb',
  calls: 'jsonb',
  output: 'text',
  tool_calls: 'jsonb',
  tokens_input: 'bigint',
  tokens_output: 'bigint',
  tokens_cached_input: 'bigint',
  tokens_reasoning: 'bigint',
  cost_amount: 'numeric',
  pricing: 'jsonb',
  model_ms: 'int',
  error: 'jsonb',
  release_id: 'uuid',
  release_arm: 'text',
  release_keyed: 'boolean',
  release_stage: 'int',
  trace_id: 'uuid',
  span_id: 'text',
  parent_id: 'text',
  conversation_id: 'text',
  step_type: 'text',
  started_at: 'timestamptz',
  answered_at: 'timestamptz',
  finished_at: 'timestamptz',
} satisfies Partial<Record<keyof Tables['executions'], string>>;
export type RecordedRow = Pick<Selectable<Tables['executions']>, keyof typeof TYPES> & {
  status: (typeof RECORDED_EXECUTION)[number];
  started_at: Date;
  finished_at: Date;
};
const NAMES = Object.keys(TYPES) as (keyof RecordedRow)[];

/** Taken keys are processed in a fixed order, so that two requests with the same runs cannot deadlock. */
const INSERT = prepared<{ rows: Buffer }>()((db, { rows }) =>
  db
    .insertInto('executions')
    .columns([
      ...NAMES,
      'requested_model',
      'parameters',
      'attempts',
      'model_attempts',
      'paid_attempts',
      'recorded',
      'created_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom(recordset<RecordedRow>(rows, TYPES))
        .select(NAMES)
        .select([
          'model as requested_model',
          sql<Record<string, never>>`'{}'::jsonb`.as('parameters'),
          sql<number>`1`.as('attempts'),
          sql<number>`1`.as('model_attempts'),
          sql<number[]>`'{1}'::int[]`.as('paid_attempts'),
          sql<boolean>`true`.as('recorded'),
          'started_at as created_at',
        ])
        .orderBy(sql`coalesce(record_key, id::text) collate "C"`),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'record_key']),
);

const FIND = prepared<{ ids: string[]; keys: string[] }>()((db, { ids, keys }) =>
  db
    .selectFrom('executions')
    .select(['id', 'record_key'])
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .unionAll(
      db.selectFrom('executions').select(['id', 'record_key']).where(sql<boolean>`record_key = any(${keys}::text[])`),
    ),
);

type Stored = Pick<RecordedRow, 'id' | 'record_key'>;

/**
 * Stores runs that are not stored yet.
 * @param rows with their JSON texts
 * @returns the newly stored runs
 */
export async function insertRuns(query: Query, rows: readonly { row: Stored; text: string }[]): Promise<Stored[]> {
  const keyOf = ({ row }: { row: Stored }) => row.record_key ?? row.id;
  const texts = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(({ text }) => text);
  const stored: Stored[] = [];
  for (const part of inParts(texts)) stored.push(...(await query(INSERT, { rows: part })));
  return stored;
}

/** The runs of the workspace that were already stored. */
export function findRuns(query: Query, wanted: readonly Stored[]): Promise<Stored[]> {
  const ids = wanted.flatMap(({ id, record_key: key }) => (key === null ? [id] : []));
  const keys = wanted.flatMap(({ record_key: key }) => (key === null ? [] : [key]));
  return query(FIND, { ids, keys });
}
