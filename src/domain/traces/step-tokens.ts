import { isObject, type JsonValue } from '../text/json.ts';
import { MAX_TOKENS } from '../usage.ts';
import { EXCLUSIVE_TOKENS, TOKEN_NAMES } from './attribute-names.ts';
import type { Bag } from './bag.ts';
import type { StepTokens } from './step.ts';

const countOf = (value: JsonValue): number | undefined => {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS ? count : undefined;
};

/** Langfuse's counts, whose kinds exclude each other, or OpenAI's counts unchanged. */
function exclusiveTokens(usage: Record<string, unknown>): StepTokens | null {
  const countIn = (counts: unknown, name: string) =>
    (isObject(counts) ? countOf((counts[name] ?? null) as JsonValue) : undefined) ?? 0;
  const count = (name: string) => countIn(usage, name);
  const sum = (fits: (name: string) => boolean) =>
    Object.keys(usage)
      .filter(fits)
      .reduce((total, name) => total + count(name), 0);
  const isWrite = (name: string) => /cache_(creation|write)/.test(name);
  const isCached = (name: string) => /cache/.test(name) && !isWrite(name);
  const isReasoning = (name: string) => name.includes('reasoning');
  const tokens = {
    input: sum((name) => name.startsWith('input') || name.startsWith('cache')),
    output: sum((name) => name.startsWith('output')),
    cached_input: sum(isCached),
    cache_write: sum(isWrite),
    reasoning: sum(isReasoning),
  };
  const openAi = {
    input: count('prompt_tokens'),
    output: count('completion_tokens'),
    cached_input: countIn(usage['prompt_tokens_details'], 'cached_tokens'),
    cache_write: 0,
    reasoning: countIn(usage['completion_tokens_details'], 'reasoning_tokens'),
  };
  return [tokens, openAi].find(({ input, output }) => input + output > 0) ?? null;
}

/**
 * Tokens by the names of the conventions. Cached tokens are part of the input, and reasoning is part of the output; if a part exceeds the whole,
 * the sender means them to exclude each other.
 */
export function tokensOf(bag: Bag): StepTokens | null {
  const usage = bag.getJson(EXCLUSIVE_TOKENS);
  if (isObject(usage)) {
    bag.drop(EXCLUSIVE_TOKENS);
    const tokens = exclusiveTokens(usage);
    if (tokens !== null) return tokens;
  }
  const [input, output] = [bag.take(TOKEN_NAMES.input, countOf), bag.take(TOKEN_NAMES.output, countOf)];
  const [cached, written] = [bag.take(TOKEN_NAMES.cached_input, countOf), bag.take(TOKEN_NAMES.cache_write, countOf)];
  const reasoning = bag.take(TOKEN_NAMES.reasoning, countOf) ?? 0;
  if (input === undefined && output === undefined) return null;
  const inCache = (cached ?? 0) + (written ?? 0);
  const [all, said] = [input ?? 0, output ?? 0];
  return {
    input: inCache > all ? all + inCache : all,
    output: reasoning > said ? said + reasoning : said,
    cached_input: cached ?? 0,
    cache_write: written ?? 0,
    reasoning,
  };
}
