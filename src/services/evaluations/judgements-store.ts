import type { Query } from '../../db/database.ts';
import type { Cost, TokenUsage } from '../../domain/usage.ts';
import { ADDED_USAGE } from './added-usage.ts';

/** A judge's stored answer. */
export interface StoredJudgement {
  answer: string;
  /** Which answer it is, from 1: an unusable one is asked for once more. */
  asks: number;
}

const LOAD_JUDGEMENT = {
  text: `select answer, asks from evaluation_judgements
         where evaluation_id = $1 and seq = $2 and evaluator = $3 and answer is not null`,
};

export async function loadJudgement(
  query: Query,
  evaluationId: string,
  seq: number,
  evaluator: string,
): Promise<StoredJudgement | undefined> {
  const [row] = await query<StoredJudgement>(LOAD_JUDGEMENT, [evaluationId, seq, evaluator]);
  return row;
}

/** What came of asking a judge. */
export interface JudgementToStore {
  /** Null where the provider's filter withheld it; it was billed all the same. */
  answer: string | null;
  /** Which answer it is, from 1; 0 for one that was withheld. */
  asks: number;
  spent: { tokens: TokenUsage; cost: Cost };
  /** What the call counts as against a budget, in US dollars, where its cost is unknown. */
  assumedUsd: number | undefined;
}

/** A later answer replaces an earlier one; of two workers that asked at once, the first stays. What was billed is added. */
const STORE_JUDGEMENT = {
  name: 'store-judgement',
  text: `insert into evaluation_judgements as r (evaluation_id, seq, evaluator, answer, asks, tokens_input, tokens_output,
           tokens_cached_input, tokens_reasoning, cost_amount, pricing, assumed_cost, outcome_ids, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, array[$13::uuid], now())
         on conflict (evaluation_id, seq, evaluator) do update set
           answer = case when excluded.asks > r.asks then excluded.answer else r.answer end,
           asks = greatest(r.asks, excluded.asks), ${ADDED_USAGE}
         where not r.outcome_ids @> excluded.outcome_ids`,
};

/** @param outcomeId of this outcome; storing it again changes nothing */
export async function storeJudgement(
  query: Query,
  evaluationId: string,
  seq: number,
  evaluator: string,
  { answer, asks, spent: { tokens, cost }, assumedUsd }: JudgementToStore,
  outcomeId: string,
): Promise<void> {
  await query(STORE_JUDGEMENT, [
    evaluationId,
    seq,
    evaluator,
    answer,
    asks,
    tokens.input,
    tokens.output,
    tokens.cached_input,
    tokens.reasoning,
    cost.amount,
    cost.pricing,
    assumedUsd ?? null,
    outcomeId,
  ]);
}
