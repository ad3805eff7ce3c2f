import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { prepared } from '../../../db/statement.ts';

interface OutputsToCopy {
  evaluationId: string;
  /** A run of the same workspace. */
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

/** Copies a part of the outputs of another run, so that they are scored again. Safe to repeat. */
export async function copyOutputs(query: Query, outputs: OutputsToCopy): Promise<void> {
  await query(COPY, outputs);
}
