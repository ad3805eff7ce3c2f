import { Big } from 'big.js';
import type { Pricing } from '../../domain/usage.ts';
import type { ProviderName } from '../names.ts';

/** The factor for prices of calls in batches, and its source. */
export interface Discount {
  multiplier: string;
  source: string;
  /** Whether input from the provider's cache is charged at the full price; default: the factor applies to it, too. */
  isCachedAtFullPrice?: boolean;
}

/** Discounts that providers publish for batches, which the price list lacks. */
export const DISCOUNTS: Readonly<Partial<Record<ProviderName, Discount>>> = {
  openai: { multiplier: '0.5', source: 'https://platform.openai.com/docs/guides/batch' },
  anthropic: { multiplier: '0.5', source: 'https://docs.anthropic.com/en/docs/build-with-claude/batch-processing' },
  google: { multiplier: '0.5', source: 'https://ai.google.dev/gemini-api/docs/batch-api', isCachedAtFullPrice: true },
};

/** The price of a call in a batch, marked as such. */
export function multiplied(price: Pricing, discount: Discount): Pricing {
  const { multiplier, source, isCachedAtFullPrice = false } = discount;
  const times = (rate: string) => new Big(rate).times(multiplier).toFixed();
  const { cache_write_per_million: cacheWrite, per_request: perRequest } = price;
  return {
    ...price,
    input_per_million: times(price.input_per_million),
    ...(!isCachedAtFullPrice && { cached_input_per_million: times(price.cached_input_per_million) }),
    ...(cacheWrite !== undefined && { cache_write_per_million: times(cacheWrite) }),
    output_per_million: times(price.output_per_million),
    ...(perRequest !== undefined && { per_request: times(perRequest) }),
    batch_multiplier: multiplier,
    batch_source: source,
  };
}
