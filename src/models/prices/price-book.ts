import { readFileSync, statSync } from 'node:fs';
import { Big } from 'big.js';
import { z } from 'zod';
import type { Pricing } from '../../domain/usage.ts';
import type { ProviderName, ResolvedModel } from '../names.ts';
import { findProvider } from '../providers/registry.ts';
import { sandboxPrice } from '../sandbox/sandbox.ts';
import { createListedFinder, listPrice } from './pricing.ts';

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

const Usd = z.string().regex(/^\d{1,9}(\.\d{1,12})?$/, 'write US dollars as a decimal in a string, such as "0.15"');

const Multiplier = z
  .string()
  .regex(
    /^(?=.*[1-9])\d{1,3}(\.\d{1,12})?$/,
    'write the price factor of batches as a decimal above 0 in a string, such as "0.5"',
  );

const Rates = {
  input_per_million: Usd,
  cached_input_per_million: Usd.optional(),
  cache_write_per_million: Usd.optional(),
  output_per_million: Usd,
};

const OperatorPrice = z.strictObject({
  ...Rates,
  per_request: Usd.optional(),
  batch_multiplier: Multiplier.optional(),
  tiers: z.array(z.strictObject({ ...Rates, above_input_tokens: z.int().nonnegative() })).optional(),
});

const ModelPattern = z
  .string()
  .regex(/^[a-z-]+\/[^*]*\*?$/, 'name a model as provider/model; a * may stand at its end only');

type OperatorPrice = z.infer<typeof OperatorPrice>;

/** The operator's prices: `{"openai/gpt-4o-mini": {"input_per_million": "0.15", …}, "openai-compatible/*": {…}}`. */
const PricesFile = z.record(ModelPattern, OperatorPrice);
type PricesFile = z.infer<typeof PricesFile>;

export interface PriceBook {
  /** The current price of a call with that many input tokens; null if unknown. */
  priceOf(model: ResolvedModel, inputTokens: number): Pricing | null;
  /** The same for a call in a batch: the operator's multiplier, or the provider's discount on list prices. */
  batchPriceOf(model: ResolvedModel, inputTokens: number): Pricing | null;
  /** Names of the models that the operator has priced individually, not by a pattern. */
  operatorModels(): string[];
}

const RECHECK_MS = 1000;

/**
 * Prices from the operator's file first, then the list. The file is checked at most once a second and reloaded when it changes;
 * an invalid edit leaves the last good prices in effect.
 *
 * @throws Error if the file can't be read or isn't valid at the start, with every fault in its message.
 */
export function createPriceBook(options: {
  file: string | undefined;
  warn: (message: string) => void;
  /** Milliseconds since the epoch. */
  now?: () => number;
}): PriceBook {
  const { file, warn, now = Date.now } = options;
  const findListed = createListedFinder();
  let prices: PricesFile = {};
  let version = '';
  let checkedAt = now();
  if (file !== undefined) {
    version = versionOf(file);
    prices = readPrices(file);
  }

  function reread(path: string): void {
    if (now() - checkedAt < RECHECK_MS) return;
    checkedAt = now();
    const seen = versionOf(path);
    if (seen === version) return;
    version = seen;
    try {
      prices = readPrices(path);
    } catch (error) {
      warn(`${messageOf(error)} The last good prices stay in force.`);
    }
  }

  function operatorsOwn(model: string): { pattern: string; price: OperatorPrice } | undefined {
    if (file !== undefined) reread(file);
    const pattern = mostSpecific(Object.keys(prices), model);
    const price = pattern === undefined ? undefined : prices[pattern];
    return pattern === undefined || price === undefined ? undefined : { pattern, price };
  }

  function listed({ provider, providerModelId }: ResolvedModel, inputTokens: number): Pricing | null {
    const priceList = findProvider(provider)?.priceList;
    if (priceList === undefined) return null;
    return listPrice(priceList, providerModelId, inputTokens, new Date(now()), findListed);
  }

  return {
    priceOf(resolved, inputTokens) {
      if (resolved.provider === 'sandbox') return sandboxPrice(resolved.model);
      const own = operatorsOwn(resolved.model);
      return own === undefined ? listed(resolved, inputTokens) : operatorPrice(own.pattern, own.price, inputTokens);
    },

    batchPriceOf(resolved, inputTokens) {
      if (resolved.provider === 'sandbox') return null;
      const own = operatorsOwn(resolved.model);
      if (own !== undefined) {
        const multiplier = own.price.batch_multiplier ?? '1';
        return multiplied(operatorPrice(own.pattern, own.price, inputTokens), { multiplier, source: 'operator' });
      }
      const [price, discount] = [listed(resolved, inputTokens), DISCOUNTS[resolved.provider]];
      return price === null || discount === undefined ? null : multiplied(price, discount);
    },

    operatorModels() {
      if (file !== undefined) reread(file);
      return Object.keys(prices).filter((name) => !name.endsWith('*'));
    },
  };
}

/** An exact name wins over any pattern, a longer pattern over a shorter one. */
function mostSpecific(patterns: readonly string[], model: string): string | undefined {
  if (patterns.includes(model)) return model;
  return patterns
    .filter((pattern) => pattern.endsWith('*') && model.startsWith(pattern.slice(0, -1)))
    .sort((a, b) => b.length - a.length)[0];
}

function operatorPrice(pattern: string, price: OperatorPrice, inputTokens: number): Pricing {
  const tier = (price.tiers ?? [])
    .filter(({ above_input_tokens }) => inputTokens > above_input_tokens)
    .sort((a, b) => b.above_input_tokens - a.above_input_tokens)[0];
  const rates = tier ?? price;
  const cacheWrite = rates.cache_write_per_million;
  return {
    source: 'operator',
    model: pattern,
    input_per_million: decimal(rates.input_per_million),
    cached_input_per_million: decimal(rates.cached_input_per_million ?? rates.input_per_million),
    ...(cacheWrite !== undefined && { cache_write_per_million: decimal(cacheWrite) }),
    output_per_million: decimal(rates.output_per_million),
    ...(tier !== undefined && { tier_above_input_tokens: tier.above_input_tokens }),
    ...(price.per_request !== undefined && { per_request: decimal(price.per_request) }),
  };
}

function decimal(text: string): string {
  return new Big(text).toFixed();
}

function readPrices(file: string): PricesFile {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`MODEL_PRICES_FILE: ${file} can't be read as JSON: ${messageOf(error)}.`);
  }
  const parsed = PricesFile.safeParse(content);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`);
  throw new Error(`MODEL_PRICES_FILE: ${file} isn't valid: ${faults.join('; ')}.`);
}

/** Changes whenever the file does; "gone" once it cannot be read. */
function versionOf(file: string): string {
  try {
    const { mtimeMs, size } = statSync(file);
    return `${mtimeMs}:${size}`;
  } catch {
    return 'gone';
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
