import { z } from 'zod';

/**
 * No call has more tokens of a kind; a larger count is invalid. The sum of a day stays below the limit of a `bigint`: reaching it
 * takes 900 million such calls of one model and prompt.
 */
export const MAX_TOKENS = 10_000_000_000;

/** Tokens of one or more model calls. */
export const TokenUsage = z
  .object({
    input: z.int(),
    output: z.int(),
    cached_input: z.int().meta({ description: 'Part of `input` that the provider had in its cache.' }),
    reasoning: z.int().meta({ description: 'Part of `output` that was spent on reasoning.' }),
    total: z.int().meta({ description: '`input` + `output`.' }),
  })
  .meta({ id: 'Tokens' });
export type TokenUsage = z.infer<typeof TokenUsage>;

export const NO_TOKENS: TokenUsage = { input: 0, output: 0, cached_input: 0, reasoning: 0, total: 0 };

/** US dollars per million tokens, as decimal strings, as used for one call. */
export const Pricing = z.object({
  source: z.string().meta({ description: '`genai-prices@<version>`, `operator` or `sandbox`.' }),
  model: z.string(),
  input_per_million: z.string(),
  cached_input_per_million: z.string(),
  cache_write_per_million: z.exactOptional(z.string()),
  output_per_million: z.string(),
  tier_above_input_tokens: z.exactOptional(z.number()).meta({
    description: 'For prices that depend on the length of the input: the tier used starts above this many tokens.',
  }),
  per_request: z.exactOptional(z.string()),
  batch_multiplier: z.exactOptional(z.string()).meta({
    description: 'The factor applied to the prices above for a call in a batch, such as `0.5`.',
  }),
  batch_source: z.exactOptional(z.string()).meta({ description: 'The source of the multiplier.' }),
});
export type Pricing = z.infer<typeof Pricing>;

/** The cost of calls. */
export const CostAmount = z
  .object({
    amount: z.string().nullable().meta({ description: 'US dollars; null if the model has no known price.' }),
    currency: z.literal('USD'),
  })
  .meta({ id: 'CostAmount' });

/** The cost of calls. The price is stored with the record, so that it can be checked later. */
export const Cost = z
  .object({
    ...CostAmount.shape,
    pricing: Pricing.nullable().meta({
      description: 'The price used, in US dollars per million tokens, and its source.',
    }),
  })
  .meta({ id: 'Cost' });
export type Cost = z.infer<typeof Cost>;

/** The billed usage of a call. */
export interface Spent {
  /** Null if the provider has not reported it. */
  tokens: TokenUsage | null;
  cost: Cost;
}
