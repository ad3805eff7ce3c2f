import { sql } from 'kysely';
import type { Pricing } from '../../domain/usage.ts';

/**
 * The usage columns for `on conflict do update set`: adds what another outcome was billed to the row that is there. A cost is
 * null where none is known.
 */
export function addedUsage(table: 'evaluation_results' | 'evaluation_judgements') {
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
    cost_amount: cost('cost_amount'),
    assumed_cost: cost('assumed_cost'),
    pricing: sql<Pricing>`coalesce(${newPricing}, ${pricing})`,
    outcome_ids: sql<string[]>`${outcomes} || ${newOutcomes}`,
  };
}

/** Whether the row lacks the outcome that is to be inserted. */
export function lacksOutcome(table: 'evaluation_results' | 'evaluation_judgements') {
  return sql<boolean>`not ${sql.ref(`${table}.outcome_ids`)} @> excluded.outcome_ids`;
}
