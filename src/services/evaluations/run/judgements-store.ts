import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { type ArraysOf, arraysOf, now, unnestOf } from '../../../db/sql.ts';
import { prepared } from '../../../db/statement.ts';
import type { Spent } from '../../../domain/usage.ts';
import { addedUsage, lacksOutcome, laterAnswer, USAGE_COLUMNS, usageArrays, usageColumns } from './stored-usage.ts';

/** A judge's stored response. */
export interface StoredJudgement {
  response: string;
  /** Which response it is, from 1: a judge is asked once more after an unusable one. */
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

/** The outcome of asking a judge. */
export interface JudgementToStore {
  /** Null where the provider's filter withheld it; it was billed all the same. */
  response: string | null;
  /** Which response it is, from 1; 0 for one that was withheld. */
  asks: number;
  spent: Spent;
  /** What the call counts as against a budget, in US dollars, where its cost is unknown. */
  assumedUsd: number | undefined;
}

/** A judge's outcome on its way to the database. */
export interface NewJudgement {
  seq: number;
  evaluator: string;
  judgement: JudgementToStore;
  /** Of this outcome: storing it again changes nothing. */
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
 * A later response replaces an earlier one; of two workers that asked at once, the first one's stays. What was billed is added.
 * In the order of the key, two workers don't wait for each other's rows in a circle.
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

/** Stores what came of asking judges, each about an example once: all of it or nothing. */
export async function storeJudgements(
  query: Query,
  evaluationId: string,
  judgements: readonly NewJudgement[],
): Promise<void> {
  await query(STORE_JUDGEMENTS, { evaluationId, ...arraysOf(judgements.map(toRow)) });
}
