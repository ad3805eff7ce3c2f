import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import type { StoredCall } from '../../../db/entities/execution.ts';
import { prepared } from '../../../db/statement.ts';
import type { RECORDED_EXECUTION } from '../../../domain/execution-states.ts';
import type { ChatMessage, ToolCall } from '../../../domain/prompts/messages.ts';
import type { Arm } from '../../../domain/releases/rollout.ts';
import type { JsonValue } from '../../../domain/text/json.ts';
import type { StepType } from '../../../domain/traces/step.ts';
import type { Pricing } from '../../../domain/usage.ts';

/** A row of `executions` to insert, by column name. */
export interface RecordedRow {
  id: string;
  record_key: string | null;
  status: (typeof RECORDED_EXECUTION)[number];
  prompt_name: string | null;
  prompt_version: number | null;
  label: string | null;
  model: string;
  provider: string;
  variables: Record<string, JsonValue>;
  input: string | null;
  input_messages: ChatMessage[] | null;
  metadata: Record<string, string>;
  calls: StoredCall[];
  output: string | null;
  tool_calls: ToolCall[] | null;
  tokens_input: number;
  tokens_output: number;
  tokens_cached_input: number;
  tokens_reasoning: number;
  cost_amount: string | null;
  pricing: Pricing | null;
  model_ms: number;
  error: { code: string; message: string } | null;
  release_id: string | null;
  release_arm: Arm | null;
  release_keyed: boolean | null;
  release_stage: number | null;
  trace_id: string | null;
  span_id: string | null;
  parent_id: string | null;
  conversation_id: string | null;
  step_type: StepType | null;
  started_at: Date;
  answered_at: Date | null;
  finished_at: Date;
}

/** The same as a definition of columns. */
const TYPES: Record<keyof RecordedRow, string> = {
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
};
const NAMES = Object.keys(TYPES) as (keyof RecordedRow)[];
const DEFINITION = Object.entries(TYPES)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/**
 * All rows come as one JSON text in bytes, like those of a dataset. Taken keys are processed in a fixed order, so that two
 * requests with the same runs cannot deadlock.
 */
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
        .selectFrom(
          sql<RecordedRow>`json_to_recordset(convert_from(${rows}::bytea, 'UTF8')::json)`.as<'row'>(
            sql`row (${sql.raw(DEFINITION)})`,
          ),
        )
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
        .orderBy(sql`coalesce(record_key, id::text)`),
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

/** A row as a part of the JSON text of {@link insertRuns}. */
export const textOfRow = (row: RecordedRow): string => JSON.stringify(row);

/**
 * Stores runs that are not stored yet, in one statement.
 * @param texts of rows, from {@link textOfRow}
 * @returns the newly stored runs
 */
export function insertRuns(query: Query, texts: readonly string[]): Promise<Stored[]> {
  return query(INSERT, { rows: Buffer.from(`[${texts.join(',')}]`) });
}

/** The runs of the workspace that were already stored. */
export function findRuns(query: Query, wanted: readonly Stored[]): Promise<Stored[]> {
  const ids = wanted.flatMap(({ id, record_key: key }) => (key === null ? [id] : []));
  const keys = wanted.flatMap(({ record_key: key }) => (key === null ? [] : [key]));
  return query(FIND, { ids, keys });
}
