import type { UsageRow } from '../../services/usage/sum-usage.ts';

type TokenColumn = 'tokens_input' | 'tokens_output' | 'tokens_cached_input' | 'tokens_reasoning';
type SumColumns = Record<TokenColumn, string | number> & Pick<UsageRow, 'cost_amount'>;

/** Presents tokens and cost. */
export function presentSums<Row extends SumColumns>({
  tokens_input,
  tokens_output,
  tokens_cached_input,
  tokens_reasoning,
  cost_amount,
  ...row
}: Row) {
  return {
    ...row,
    tokens: {
      input: Number(tokens_input),
      output: Number(tokens_output),
      cached_input: Number(tokens_cached_input),
      reasoning: Number(tokens_reasoning),
      total: Number(tokens_input) + Number(tokens_output),
    },
    cost: { amount: cost_amount, currency: 'USD' as const },
  };
}

/** Presents a row of usage. */
export function presentUsage<Row extends SumColumns & Pick<UsageRow, 'timed' | 'mean_ms'>>({
  timed,
  mean_ms,
  ...row
}: Row) {
  return { ...presentSums(row), latency: { mean_ms, responses: timed } };
}

/** Presents a row of the usage of rules. */
export function presentRuleUsage<Row extends Parameters<typeof presentUsage>[0] & { prompt_name?: string | null }>({
  prompt_name: rule,
  ...row
}: Row) {
  const { latency: _, ...sums } = presentUsage(row);
  return { ...(rule !== undefined && { rule }), ...sums };
}
