import type { Query } from '../../db/database.ts';
import type { ModelAnswer } from '../../models/model.ts';

/** A judge's stored answer. */
export interface StoredJudgement {
  answer: string;
  asks: number;
}

const LOAD_JUDGEMENT = {
  text: 'select answer, asks from evaluation_judgements where evaluation_id = $1 and seq = $2 and evaluator = $3',
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

/** What an unusable answer cost stays in the sum. */
const STORE_JUDGEMENT = {
  name: 'store-judgement',
  text: `insert into evaluation_judgements as j (evaluation_id, seq, evaluator, answer, asks, tokens_input, tokens_output,
           tokens_cached_input, tokens_reasoning, cost_amount, pricing, created_at)
         values ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $10, now())
         on conflict (evaluation_id, seq, evaluator) do update set answer = excluded.answer, asks = j.asks + 1,
           tokens_input = j.tokens_input + excluded.tokens_input, tokens_output = j.tokens_output + excluded.tokens_output,
           tokens_cached_input = j.tokens_cached_input + excluded.tokens_cached_input,
           tokens_reasoning = j.tokens_reasoning + excluded.tokens_reasoning,
           cost_amount = j.cost_amount + excluded.cost_amount`,
};

export async function storeJudgement(
  query: Query,
  evaluationId: string,
  seq: number,
  evaluator: string,
  { output, tokens, cost }: ModelAnswer,
): Promise<void> {
  await query(STORE_JUDGEMENT, [
    evaluationId,
    seq,
    evaluator,
    output,
    tokens.input,
    tokens.output,
    tokens.cached_input,
    tokens.reasoning,
    cost.amount,
    cost.pricing,
  ]);
}
