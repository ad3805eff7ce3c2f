import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { type ArraysOf, arraysOf, now, unnestOf } from '../../../db/sql.ts';
import { prepared } from '../../../db/statement.ts';
import type { Spent } from '../../../domain/usage.ts';
import { addedUsage, lacksOutcome, laterAnswer, USAGE_COLUMNS, usageArrays, usageColumns } from './stored-usage.ts';

/** A judge's stored response. */
export interface StoredJudgement {
  response: string;
  /** The number of the response, from 1: a judge is called once more after an unusable one. */
  asks: number;
}

const LOAD_JUDGEMENT = prepared<{ evaluationId: string; seq: number; evaluator: string }>()(
  (db, { evaluationId, seq, evaluator }) =>
    db
      .selectFrom('evaluation_judgements')
      .select(['answer as response', 'asks'])
      .where('evaluation_id', '=', evaluationId)
      .where('seq', '=', seq)
      .where('evaluator', '=', evaluator)
      .where('answer', 'is not', null)
      .$narrowType<{ response: string }>(),
);

export async function loadJudgement(
  query: Query,
  evaluationId: string,
  seq: number,
  evaluator: string,
): Promise<StoredJudgement | undefined> {
  const [row] = await query(LOAD_JUDGEMENT, { evaluationId, seq, evaluator });
  return row;
}

/** The outcome of calling a judge. */
export interface JudgementToStore {
  /** Null if the provider's filter withheld it; it was billed anyway. */
  response: string | null;
  /** The number of the response, from 1; 0 if it was withheld. */
  asks: number;
  spent: Spent;
  /** What the call counts against a budget, in US dollars, if its cost is unknown. */
  assumedUsd: number | undefined;
}

/** A judge's outcome on its way to the database. */
export interface NewJudgement {
  seq: number;
  evaluator: string;
  judgement: JudgementToStore;
  /** The id of this outcome: storing it again has no effect. */
  outcomeId: string;
}

const toRow = ({ seq, evaluator, outcomeId, judgement: { response, asks, spent, assumedUsd } }: NewJudgement) => ({
  seq,
  evaluator,
  outcome_id: outcomeId,
  answer: response,
  asks,
  ...usageColumns(spent, assumedUsd),
});

type NewJudgements = ArraysOf<ReturnType<typeof toRow>> & { evaluationId: string };

const OUTCOME_COLUMNS = ['seq', 'evaluator', 'answer', 'asks', ...USAGE_COLUMNS] as const;

/**
 * A later response replaces an earlier one; if two workers called at the same time, the first response is kept. All billed usage
 * is added. Rows are written in the order of the key, so that two workers cannot deadlock.
 */
const STORE_JUDGEMENTS = prepared<NewJudgements>()((db, given) =>
  db
    .insertInto('evaluation_judgements')
    .columns(['evaluation_id', 'created_at', ...OUTCOME_COLUMNS, 'outcome_ids'])
    .expression((eb) =>
      eb
        .selectFrom(
          unnestOf('given', {
            seq: ['integer', given.seq],
            evaluator: ['text', given.evaluator],
            outcome_id: ['uuid', given.outcome_id],
            answer: ['text', given.answer],
            asks: ['integer', given.asks],
            ...usageArrays(given),
          }),
        )
        .select([sql`${given.evaluationId}::uuid`.as('evaluation_id'), now.as('created_at')])
        .select(OUTCOME_COLUMNS.map((column) => `given.${column}` as const))
        .select(sql`array[${sql.ref('given.outcome_id')}]`.as('outcome_ids'))
        .orderBy('given.seq')
        .orderBy('given.evaluator'),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['evaluation_id', 'seq', 'evaluator'])
        .doUpdateSet({ ...laterAnswer('evaluation_judgements'), ...addedUsage('evaluation_judgements') })
        .where(lacksOutcome('evaluation_judgements')),
    ),
);

/** Stores the outcomes of calling judges, at most one per example: all of them or none. */
export async function storeJudgements(
  query: Query,
  evaluationId: string,
  judgements: readonly NewJudgement[],
): Promise<void> {
  await query(STORE_JUDGEMENTS, { evaluationId, ...arraysOf(judgements.map(toRow)) });
}
