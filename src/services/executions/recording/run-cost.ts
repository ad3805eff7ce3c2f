import { ApiError } from '../../../domain/errors.ts';
import type { Cost, Pricing, TokenUsage } from '../../../domain/usage.ts';
import type { Models } from '../../../models/model.ts';
import { resolveModelName } from '../../../models/names.ts';
import { costOf } from '../../../models/prices/pricing.ts';
import type { RecordedRun } from './recorded-run.ts';

const MAX_NAME_CHARS = 200;

/** Tokens in the form that executions store: tokens written to a cache count as input. */
export const tokenUsage = ({
  input,
  output,
  cached_input,
  reasoning,
}: NonNullable<RecordedRun['tokens']>): TokenUsage => ({
  input,
  output,
  cached_input,
  reasoning,
  total: input + output,
});

/** Model names and prices of one request, cached because many of its runs use the same model. */
export interface RunModels {
  /** The full names of the model and its provider. @returns or what is wrong with the name */
  name(run: RecordedRun): { model: string; provider: string } | { fault: string };
  /** The reported cost, or the cost of the tokens by the price list. */
  cost(model: string, run: Pick<RecordedRun, 'cost' | 'tokens'>): Cost;
}

function fullName(
  model: string,
  provider: string | undefined,
): { model: string; provider: string } | { fault: string } {
  const slash = model.indexOf('/');
  if (provider !== undefined)
    return { model: model.startsWith(`${provider}/`) ? model : `${provider}/${model}`, provider };
  if (slash > 0) return { model, provider: model.slice(0, slash) };
  try {
    return resolveModelName(model);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { fault: 'no provider is known for it: write provider/model, or give the provider' };
  }
}

/** @param models of this installation: a run may use others, whose price is then unknown */
export function createRunModels(models: Pick<Models, 'priceOf'>): RunModels {
  const names = new Map<string, ReturnType<typeof fullName>>();

  function priceOf(model: string, inputTokens: number): Pricing | null {
    try {
      return models.priceOf(model, inputTokens);
    } catch (error) {
      if (error instanceof ApiError) return null;
      throw error;
    }
  }

  return {
    name({ model, provider }) {
      const key = JSON.stringify([model, provider]);
      const known = names.get(key);
      if (known !== undefined) return known;
      const name = fullName(model, provider);
      const isLong = 'model' in name && name.model.length > MAX_NAME_CHARS;
      const found = isLong ? { fault: `must be at most ${MAX_NAME_CHARS} characters with its provider` } : name;
      names.set(key, found);
      return found;
    },
    cost(model, { cost, tokens }) {
      if (cost !== undefined) return { amount: cost, currency: 'USD', pricing: null };
      if (tokens === undefined) return { amount: null, currency: 'USD', pricing: null };
      const usage = { tokens: tokenUsage(tokens), cacheWriteTokens: tokens.cache_write ?? 0 };
      return costOf(priceOf(model, tokens.input), usage);
    },
  };
}
