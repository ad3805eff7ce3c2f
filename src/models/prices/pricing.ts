import { calcPrice } from '@pydantic/genai-prices';
import { Big } from 'big.js';
import type { Cost, Pricing } from '../../domain/usage.ts';
import type { BilledUsage } from './usage.ts';

/** The price list in use, named with its version so that a recorded price can be traced. */
export const PRICE_LIST = 'genai-prices@0.1.8';

const MILLIONTH = new Big('0.000001');

const findListed = (provider: string, modelId: string, at: Date) =>
  calcPrice({}, modelId, { providerId: provider, timestamp: at });

/** Finds a model in the list with its prices at a given time. */
export type FindListed = typeof findListed;

const MINUTE_MS = 60_000;

/**
 * Caches lookups for a minute: finding a model is by far the slowest step of pricing, and prices change at most every minute.
 */
export function createListedFinder(): FindListed {
  const found = new Map<string, ReturnType<FindListed>>();
  let minute = 0;
  return (provider, modelId, at) => {
    const minuteNow = Math.floor(at.getTime() / MINUTE_MS);
    // Callers choose model names, so entries are dropped as soon as they expire.
    if (minuteNow !== minute) found.clear();
    minute = minuteNow;
    const name = `${provider}/${modelId}`;
    const known = found.get(name);
    if (known !== undefined) return known;
    const listed = findListed(provider, modelId, at);
    found.set(name, listed);
    return listed;
  };
}

/**
 * The list price of a model at a given time, for a call with that many input tokens; null if the list does not have the model.
 *
 * @param provider The list's name of the provider (`openai`, `anthropic`, `google`).
 */
export function listPrice(
  provider: string,
  modelId: string,
  inputTokens: number,
  at: Date,
  find: FindListed = findListed,
): Pricing | null {
  const found = find(provider, modelId, at);
  if (found === null) return null;
  const prices = found.model_price;
  const tiers: number[] = [];
  const perMillion = (key: string): string | undefined => {
    const price = prices[key];
    if (price === undefined || typeof price === 'number') return price === undefined ? undefined : decimal(price);
    const tier = price.tiers.filter(({ start }) => inputTokens > start).sort((a, b) => b.start - a.start)[0];
    if (tier !== undefined) tiers.push(tier.start);
    return decimal((tier?.price ?? price.base).toString());
  };
  const input = perMillion('input_mtok');
  // Embeddings have no output and no output price.
  const output = perMillion('output_mtok') ?? (isEmbedding(found.model.id) ? '0' : undefined);
  if (input === undefined || output === undefined) return null;
  const cacheWrite = perMillion('cache_write_mtok');
  const perThousandRequests = prices['requests_kcount'];
  return {
    source: PRICE_LIST,
    model: `${provider}/${found.model.id}`,
    input_per_million: input,
    cached_input_per_million: perMillion('cache_read_mtok') ?? input,
    ...(cacheWrite !== undefined && { cache_write_per_million: cacheWrite }),
    output_per_million: output,
    ...(tiers.length > 0 && { tier_above_input_tokens: Math.max(...tiers) }),
    ...(typeof perThousandRequests === 'number' && {
      per_request: new Big(perThousandRequests).times('0.001').toFixed(),
    }),
  };
}

const isEmbedding = (modelId: string) => /embed/.test(modelId);

/**
 * The exact cost of a call, by prices per million tokens. Tokens read from the cache and written to it are parts of `tokens.input`: each has its own
 * price, or that of input if there is none. The amount is null without a price or tokens.
 */
export function costOf(pricing: Pricing | null, usage: BilledUsage | undefined): Cost {
  if (pricing === null || usage === undefined) return { amount: null, currency: 'USD', pricing };
  const { tokens, cacheWriteTokens } = usage;
  const uncached = tokens.input - tokens.cached_input - cacheWriteTokens;
  const amount = new Big(pricing.input_per_million)
    .times(uncached)
    .plus(new Big(pricing.cached_input_per_million).times(tokens.cached_input))
    .plus(new Big(pricing.cache_write_per_million ?? pricing.input_per_million).times(cacheWriteTokens))
    .plus(new Big(pricing.output_per_million).times(tokens.output))
    .times(MILLIONTH)
    .plus(pricing.per_request ?? 0);
  return { amount: amount.toFixed(), currency: 'USD', pricing };
}

/** The list holds prices as binary floats; their shortest decimal form is the price as published. */
function decimal(price: number | string): string {
  return new Big(price).toFixed();
}
