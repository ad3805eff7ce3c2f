import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { prepared } from '../../../db/statement.ts';
import { ID_PREFIXES } from '../../../domain/ids.ts';

interface OutputsToCopy {
  evaluationId: string;
  /** A run of the same workspace, or the run itself. */
  sourceEvaluationId: string;
  round: number;
  /** Inclusive. */
  from: number;
  /** Exclusive. */
  to: number;
}

const COPIED = ['seq', 'example_key', 'variables', 'expected', 'output', 'tool_calls', 'model', 'model_ms'] as const;

/** Examples without an output failed, and fail here as well. Without attempts or a cost, no row counts as usage. */
const COPY = prepared<OutputsToCopy>()((db, { evaluationId, sourceEvaluationId, round, from, to }) =>
  db
    .insertInto('evaluation_results')
    .columns([
      'evaluation_id',
      'round',
      'created_at',
      'status',
      'error',
      'cost_amount',
      'source_cost',
      'finish_reason',
      ...COPIED,
    ])
    .expression((eb) =>
      eb
        .selectFrom('evaluation_results')
        .select([sql`${evaluationId}::uuid`.as('evaluation_id'), sql`${round}::integer`.as('round')])
        .select(now.as('created_at'))
        .select([
          sql`case when output is null then 'failed' else 'answered' end`.as('status'),
          sql`case when output is null then error end`.as('error'),
          sql`case when output is not null then 0 end`.as('cost_amount'),
          sql`coalesce(source_cost, case when assumed_cost is null then cost_amount end)`.as('source_cost'),
        ])
        .select('finish_reason')
        .select(COPIED)
        .where('evaluation_id', '=', sourceEvaluationId)
        .where('seq', '>=', from)
        .where('seq', '<', to)
        .orderBy('seq'),
    )
    .onConflict((conflict) => conflict.columns(['evaluation_id', 'seq']).doNothing()),
);

/** The key of an example that was made from an execution is the public id of the execution. */
const EXECUTION_ID = sql<string>`substr(${sql.ref('d.example_key')}, ${sql.lit(ID_PREFIXES.execution.length + 2)})::uuid`;

/** A deleted execution leaves no output. */
const COPY_RECORDED = prepared<Pick<OutputsToCopy, 'evaluationId' | 'round'>>()((db, { evaluationId, round }) =>
  db
    .insertInto('evaluation_results')
    .columns([
      'evaluation_id',
      'round',
      'created_at',
      'status',
      'cost_amount',
      'source_cost',
      'reused_from',
      'finish_reason',
      ...COPIED,
    ])
    .expression((eb) =>
      eb
        .selectFrom('evaluations as e')
        .innerJoin('dataset_examples as d', 'd.dataset_version_id', 'e.examples_id')
        .innerJoin('executions as x', (join) =>
          join.on(sql<SqlBool>`${sql.ref('x.id')} = ${EXECUTION_ID}`).onRef('x.workspace_id', '=', 'e.workspace_id'),
        )
        .select(['e.id as evaluation_id', sql`${round}::integer`.as('round'), now.as('created_at')])
        .select([sql`'answered'`.as('status'), sql`0`.as('cost_amount'), 'x.cost_amount as source_cost'])
        .select([
          'd.example_key as reused_from',
          'x.finish_reason',
          'd.seq',
          'd.example_key',
          'd.variables',
          'd.expected',
        ])
        .select(sql`coalesce(${sql.ref('x.output')}, '')`.as('output'))
        .select(['x.tool_calls', 'x.model', 'x.model_ms'])
        .where('e.id', '=', evaluationId)
        .orderBy('d.seq'),
    )
    .onConflict((conflict) => conflict.columns(['evaluation_id', 'seq']).doNothing()),
);

/**
 * Copies outputs, so that they are scored. Safe to repeat.
 * - Of another run: the part of a batch.
 * - Of executions, if the run is its own source: all, since they can be deleted at any time.
 */
export async function copyOutputs(query: Query, outputs: OutputsToCopy): Promise<void> {
  if (outputs.sourceEvaluationId === outputs.evaluationId) await query(COPY_RECORDED, outputs);
  else await query(COPY, outputs);
}
