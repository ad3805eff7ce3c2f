import { sql } from 'kysely';
import { type ArraysOf, jsonText } from '../../../db/sql.ts';
import type { Parameters } from '../../../db/statement.ts';
import type { Pricing, Spent } from '../../../domain/usage.ts';

/**
 * The billed usage of an outcome, as columns.
 * @param assumedUsd what the call counts against a budget if its cost is unknown
 */
export const usageColumns = (spent: Spent | undefined, assumedUsd: number | undefined) => ({
  tokens_input: spent?.tokens?.input ?? 0,
  tokens_output: spent?.tokens?.output ?? 0,
  tokens_cached_input: spent?.tokens?.cached_input ?? 0,
  tokens_reasoning: spent?.tokens?.reasoning ?? 0,
  tokens_unknown: spent?.tokens === null ? 1 : 0,
  cost_amount: spent?.cost.amount ?? null,
  pricing: jsonText(spent?.cost.pricing),
  assumed_cost: assumedUsd === undefined ? null : String(assumedUsd),
});

export const USAGE_COLUMNS = [
  'tokens_input',
  'tokens_output',
  'tokens_cached_input',
  'tokens_reasoning',
  'tokens_unknown',
  'cost_amount',
  'pricing',
  'assumed_cost',
] as const;

/** The usage of many outcomes, for `unnestOf`. */
export const usageArrays = (given: Parameters<ArraysOf<ReturnType<typeof usageColumns>>>) =>
  ({
    tokens_input: ['bigint', given.tokens_input],
    tokens_output: ['bigint', given.tokens_output],
    tokens_cached_input: ['bigint', given.tokens_cached_input],
    tokens_reasoning: ['bigint', given.tokens_reasoning],
    tokens_unknown: ['bigint', given.tokens_unknown],
    cost_amount: ['numeric', given.cost_amount],
    pricing: ['jsonb', given.pricing],
    assumed_cost: ['numeric', given.assumed_cost],
  }) as const;

type JudgedTable = 'evaluation_judgements' | 'rule_judgements' | 'trace_judgements';
type PaidTable = 'evaluation_results' | JudgedTable;

/** The usage columns for `on conflict do update set`: adds the usage of another outcome to the existing row. A cost is null if none is known. */
export function addedUsage(table: PaidTable) {
  const added = (column: string) => [sql.ref(`${table}.${column}`), sql.ref(`excluded.${column}`)] as const;
  const tokens = (column: string) => {
    const [there, more] = added(column);
    return sql<number>`${there} + ${more}`;
  };
  const cost = (column: string) => {
    const [there, more] = added(column);
    return sql<string>`coalesce(${there} + ${more}, ${there}, ${more})`;
  };
  const [pricing, newPricing] = added('pricing');
  const [outcomes, newOutcomes] = added('outcome_ids');
  return {
    tokens_input: tokens('tokens_input'),
    tokens_output: tokens('tokens_output'),
    tokens_cached_input: tokens('tokens_cached_input'),
    tokens_reasoning: tokens('tokens_reasoning'),
    tokens_unknown: tokens('tokens_unknown'),
    cost_amount: cost('cost_amount'),
    assumed_cost: cost('assumed_cost'),
    pricing: sql<Pricing>`coalesce(${newPricing}, ${pricing})`,
    outcome_ids: sql<string[]>`${outcomes} || ${newOutcomes}`,
  };
}

/** The columns of a judge's response for `on conflict do update set`: a later response replaces an earlier one. */
export function laterAnswer(table: JudgedTable) {
  const [answer, asks] = [sql.ref(`${table}.answer`), sql.ref(`${table}.asks`)];
  return {
    answer: sql<string | null>`case when excluded.asks > ${asks} then excluded.answer else ${answer} end`,
    asks: sql<number>`greatest(${asks}, excluded.asks)`,
  };
}

/** Whether the row lacks the outcome to be inserted. */
export function lacksOutcome(table: PaidTable) {
  return sql<boolean>`not ${sql.ref(`${table}.outcome_ids`)} @> excluded.outcome_ids`;
}
