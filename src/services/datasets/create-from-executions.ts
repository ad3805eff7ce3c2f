import { expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { unnestOf } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import type { ExecutionStatus } from '../../domain/execution-states.ts';
import { ID_PREFIXES, publicId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { type ExecutionFilter, executionConditions } from '../executions/filter.ts';
import { parseExecutionIds } from '../executions/parse-ids.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { addExamples, type DatasetChange } from './add-examples.ts';
import { insertVersion } from './insert-examples.ts';
import { attachNext, EXAMPLE_COLUMNS, lockLatest } from './next-version.ts';

const MAX_MISSING_SHOWN = 5;

/** Which executions become examples, and how. */
export interface ExecutionSelection extends ExecutionFilter {
  status: ExecutionStatus;
  /** Public ids; all of them must match. */
  executionIds?: string[] | undefined;
  /** Uses the newest executions if more match. */
  limit: number;
  /** What an example expects: the output of the execution, or nothing. */
  expected: 'output' | 'none';
  /** Whether the examples of the latest version are kept, followed by these. */
  mode: 'add' | 'replace';
}

/** The public id of an execution, which is the key of the example created from it. */
const publicIdOf = (column: string) => sql<string>`${sql.lit(`${ID_PREFIXES.execution}_`)} || ${sql.ref(column)}`;

/** Whether the execution in a column is in none of the sets of examples. */
const isNoExample = (sets: readonly string[], column: string) => {
  const eb = expressionBuilder<Tables, 'dataset_examples'>();
  return eb.not(
    eb.exists(
      eb
        .selectFrom('dataset_examples as e')
        .select('e.seq')
        .where(sql<SqlBool>`e.dataset_version_id = any(${sets}::uuid[])`)
        .where('e.example_key', '=', publicIdOf(column)),
    ),
  );
};

/** A recorded run without variables uses its messages, the only input there is. */
const VARIABLES = sql<Record<string, JsonValue>>`case when recorded and variables = '{}'
  then jsonb_build_object('input', coalesce(input_messages, to_jsonb(input))) else variables end`;

/**
 * Copies the executions into a set of examples, oldest first.
 * @param except executions that are already examples of these sets are skipped
 * @returns the number copied
 */
async function copyExecutions(
  query: Query,
  examplesId: string,
  { selection, ids, except }: { selection: ExecutionSelection; ids: string[] | undefined; except: readonly string[] },
): Promise<number> {
  const { limit, expected } = selection;
  const matching = expressionBuilder<Tables, 'executions'>();
  const [copied] = await query((db) =>
    db
      .with('picked', (cte) =>
        cte
          .selectFrom('executions')
          .select(['id', 'prompt_name', 'prompt_version', 'model', 'output', 'created_at'])
          .select(VARIABLES.as('variables'))
          .where(matching.and(executionConditions(matching, selection)))
          .$if(ids !== undefined, (picked) => picked.where(sql<SqlBool>`id = any(${ids}::uuid[])`))
          .$if(except.length > 0, (picked) => picked.where(isNoExample(except, 'executions.id')))
          .orderBy('id', 'desc')
          .limit(limit),
      )
      .with('inserted', (cte) =>
        cte
          .insertInto('dataset_examples')
          .columns(EXAMPLE_COLUMNS)
          .expression((eb) =>
            eb.selectFrom('picked').select([
              sql<string>`${examplesId}::uuid`.as('dataset_version_id'),
              sql<number>`row_number() over (order by id) - 1`.as('seq'),
              publicIdOf('id').as('example_key'),
              'variables',
              (expected === 'output' ? sql<JsonValue>`to_jsonb(output)` : sql<JsonValue>`null::jsonb`).as('expected'),
              sql<Record<string, JsonValue>>`jsonb_build_object(
                'execution_id', ${publicIdOf('id')}, 'prompt_name', prompt_name, 'prompt_version', prompt_version, 'model', model,
                'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`.as('metadata'),
            ]),
          )
          .returning('seq'),
      )
      .selectFrom('inserted')
      .select((eb) => eb.fn.countAll<number>().as('total')),
  );
  return copied?.total ?? 0;
}

/** The first execution that did not become an example. */
async function findMissing(query: Query, sets: readonly string[], ids: string[]): Promise<string[]> {
  const missing = await query((db) =>
    db
      .selectFrom(unnestOf('wanted', { id: ['uuid', ids], place: ['integer', ids.map((_, index) => index)] }))
      .select('wanted.id')
      .where(isNoExample(sets, 'wanted.id'))
      .orderBy('wanted.place')
      .limit(MAX_MISSING_SHOWN),
  );
  return missing.map(({ id }) => id);
}

async function matchesAny(query: Query, selection: ExecutionSelection): Promise<boolean> {
  const eb = expressionBuilder<Tables, 'executions'>();
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select('id')
      .where(eb.and(executionConditions(eb, selection)))
      .limit(1),
  );
  return rows.length > 0;
}

/**
 * Creates the next version of a dataset from executions, or adds them to it, oldest first. Executions that are already examples
 * are left unchanged; if all are, no version is created. Runs in the caller's transaction, like {@link addExamples}.
 * @throws ApiError `invalid_request` if no execution matches, or not all named ones match
 */
export async function createFromExecutions(
  query: Query,
  quotas: Quotas,
  name: string,
  selection: ExecutionSelection,
): Promise<Partial<DatasetChange> & Pick<DatasetChange, 'row'>> {
  const ids = selection.executionIds && parseExecutionIds(selection.executionIds, 'execution_ids');
  // Each of several concurrent calls adds to the version of the one before.
  const latest = selection.mode === 'add' ? await lockLatest(query, name) : undefined;
  const existing = latest?.examplesId === undefined ? [] : [latest.examplesId];
  const examplesId = await insertVersion(query, 0, Buffer.alloc(0));
  const copied = await copyExecutions(query, examplesId, { selection, ids, except: existing });
  if (ids !== undefined && copied < Math.min(ids.length, selection.limit)) {
    const missing = await findMissing(query, [examplesId, ...existing], ids);
    const shown = missing.map((id) => publicId('execution', id)).join(', ');
    if (missing.length > 0)
      throw invalidField('execution_ids', `some do not exist or do not match the other fields, among them ${shown}`);
  }
  if (copied === 0 && ids === undefined && (existing.length === 0 || !(await matchesAny(query, selection))))
    throw new ApiError(
      'invalid_request',
      `No execution with the status "${selection.status}" matches: widen the selection.`,
    );
  if (latest === undefined) return { row: await attachNext(query, quotas, name, examplesId) };
  const change = await addExamples(query, quotas, name, examplesId, { latest });
  return ids === undefined ? change : { ...change, unchanged: Math.min(ids.length, selection.limit) - copied };
}
