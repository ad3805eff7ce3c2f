import { Big } from 'big.js';
import type { Pricing } from '../../domain/usage.ts';
import type { ProviderName } from '../names.ts';

/** What a price is multiplied by for calls in batches, and who says so. */
export interface Discount {
  multiplier: string;
  source: string;
  /** Whether input that the provider had in its cache costs as much as elsewhere; default: it is multiplied, too. */
  isCachedAtFullPrice?: boolean;
}

/** What providers publish for their batches: the price list has none. */
export const DISCOUNTS: Readonly<Partial<Record<ProviderName, Discount>>> = {
  openai: { multiplier: '0.5', source: 'https://platform.openai.com/docs/guides/batch' },
  anthropic: { multiplier: '0.5', source: 'https://docs.anthropic.com/en/docs/build-with-claude/batch-processing' },
  google: { multiplier: '0.5', source: 'https://ai.google.dev/gemini-api/docs/batch-api', isCachedAtFullPrice: true },
};

/** The price of a call in a batch, which says that it is. */
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
