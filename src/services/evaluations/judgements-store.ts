import type { Selectable } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson, prepared } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { Cost, TokenUsage } from '../../domain/usage.ts';
import { addedUsage, lacksOutcome } from './added-usage.ts';

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
  spent: { tokens: TokenUsage; cost: Cost };
  /** What the call counts as against a budget, in US dollars, where its cost is unknown. */
  assumedUsd: number | undefined;
}

type NewJudgement = Pick<
  Selectable<Tables['evaluation_judgements']>,
  | 'evaluation_id'
  | 'seq'
  | 'evaluator'
  | 'answer'
  | 'asks'
  | 'tokens_input'
  | 'tokens_output'
  | 'tokens_cached_input'
  | 'tokens_reasoning'
  | 'cost_amount'
  | 'pricing'
  | 'assumed_cost'
  | 'outcome_ids'
>;

/** A later response replaces an earlier one; of two workers that asked at once, the first one's stays. What was billed is added. */
const STORE_JUDGEMENT = prepared<NewJudgement>()((db, judgement) =>
  db
    .insertInto('evaluation_judgements')
    .values({
      evaluation_id: judgement.evaluation_id,
      seq: judgement.seq,
      evaluator: judgement.evaluator,
      answer: judgement.answer,
      asks: judgement.asks,
      tokens_input: judgement.tokens_input,
      tokens_output: judgement.tokens_output,
      tokens_cached_input: judgement.tokens_cached_input,
      tokens_reasoning: judgement.tokens_reasoning,
      cost_amount: judgement.cost_amount,
      pricing: asJson(judgement.pricing),
      assumed_cost: judgement.assumed_cost,
      outcome_ids: judgement.outcome_ids,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['evaluation_id', 'seq', 'evaluator'])
        .doUpdateSet((eb) => ({
          answer: eb
            .case()
            .when('excluded.asks', '>', eb.ref('evaluation_judgements.asks'))
            .then(eb.ref('excluded.answer'))
            .else(eb.ref('evaluation_judgements.answer'))
            .end(),
          asks: eb.fn<number>('greatest', ['evaluation_judgements.asks', 'excluded.asks']),
          ...addedUsage('evaluation_judgements'),
        }))
        .where(lacksOutcome('evaluation_judgements')),
    ),
);

/** @param outcomeId of this outcome; storing it again changes nothing */
export async function storeJudgement(
  query: Query,
  evaluationId: string,
  seq: number,
  evaluator: string,
  { response, asks, spent: { tokens, cost }, assumedUsd }: JudgementToStore,
  outcomeId: string,
): Promise<void> {
  await query(STORE_JUDGEMENT, {
    evaluation_id: evaluationId,
    seq,
    evaluator,
    answer: response,
    asks,
    tokens_input: tokens.input,
    tokens_output: tokens.output,
    tokens_cached_input: tokens.cached_input,
    tokens_reasoning: tokens.reasoning,
    cost_amount: cost.amount,
    pricing: cost.pricing,
    assumed_cost: assumedUsd === undefined ? null : String(assumedUsd),
    outcome_ids: [outcomeId],
  });
}
