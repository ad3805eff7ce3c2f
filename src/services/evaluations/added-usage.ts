const TOKENS = ['tokens_input', 'tokens_output', 'tokens_cached_input', 'tokens_reasoning'];
/** Null where none of them is known. */
const COSTS = ['cost_amount', 'assumed_cost'];

/** For `insert … as r … on conflict do update set`: adds what another outcome was billed to a row of results or judgements. */
export const ADDED_USAGE = [
  ...TOKENS.map((column) => `${column} = r.${column} + excluded.${column}`),
  ...COSTS.map((column) => `${column} = coalesce(r.${column} + excluded.${column}, r.${column}, excluded.${column})`),
  'pricing = coalesce(excluded.pricing, r.pricing)',
  'outcome_ids = r.outcome_ids || excluded.outcome_ids',
].join(', ');
