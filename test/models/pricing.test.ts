import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { calcPrice } from '@pydantic/genai-prices';
import { resolveModelName } from '../../src/models/names.ts';
import { createPriceBook } from '../../src/models/prices/price-book.ts';
import { costOf, createListedFinder, listPrice, PRICE_LIST } from '../../src/models/prices/pricing.ts';
import type { BilledUsage } from '../../src/models/prices/usage.ts';
import { modelsAt } from '../support/providers/models.ts';

function usage(input: number, output: number, cached = 0, cacheWriteTokens = 0): BilledUsage {
  return { tokens: { input, output, cached_input: cached, reasoning: 0, total: input + output }, cacheWriteTokens };
}

describe('the list', () => {
  const at = new Date('2026-06-15T12:00:00Z');
  const usages = [
    usage(0, 0),
    usage(1, 1),
    usage(1_234, 567, 1_000),
    usage(123_457, 50_001, 100_003, 20_000),
    usage(200_000, 10),
    usage(200_001, 10, 100_000),
    usage(300_000, 7_777, 12_345, 6_789),
  ];
  test.each([
    ['openai', 'gpt-4o-mini'],
    ['openai', 'gpt-5-mini'],
    ['openai', 'gpt-5.4'],
    ['openai', 'o3'],
    ['openai', 'gpt-3.5-turbo'],
    ['anthropic', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-opus-4-6'],
    ['anthropic', 'claude-3-5-haiku-latest'],
    ['google', 'gemini-2.5-pro'],
    ['google', 'gemini-2.5-flash'],
    ['google', 'gemini-3-pro-preview'],
  ])('%s/%s costs the library price, but exactly', (provider, model) => {
    for (const billed of usages) {
      const { tokens, cacheWriteTokens } = billed;
      const expected = calcPrice(
        {
          input_tokens: tokens.input,
          output_tokens: tokens.output,
          cache_read_tokens: tokens.cached_input,
          cache_write_tokens: cacheWriteTokens,
        },
        model,
        { providerId: provider, timestamp: at },
      );
      const { amount } = costOf(listPrice(provider, model, tokens.input, at), billed);
      expect(Number(amount)).toBeCloseTo(expected?.total_price ?? Number.NaN, 12);
      expect(amount).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
    }
  });

  test('amounts are exact, without exponents', () => {
    const amount = (billed: BilledUsage) =>
      costOf(listPrice('openai', 'gpt-4o-mini', billed.tokens.input, at), billed).amount;
    expect(amount(usage(1, 0))).toBe('0.00000015');
    expect(amount(usage(1, 0, 1))).toBe('0.000000075');
    expect(amount(usage(3, 0))).toBe('0.00000045');
    expect(amount(usage(0, 1_000_000_000_000))).toBe('600000');
  });

  test('a price is the one at the time of the call', () => {
    expect(listPrice('openai', 'o3', 0, new Date('2025-06-09T23:59:59Z'))).toMatchObject({ input_per_million: '10' });
    expect(listPrice('openai', 'o3', 0, new Date('2025-06-10T00:00:00Z'))).toMatchObject({ input_per_million: '2' });
  });

  test('a price looked up a moment ago is not kept beyond its time, nor used for another model', () => {
    const find = createListedFinder();
    const inputPrice = (model: string, at: string, provider = 'openai') =>
      listPrice(provider, model, 0, new Date(at), find)?.input_per_million;
    expect(inputPrice('o3', '2025-06-09T23:59:00Z')).toBe('10');
    expect(inputPrice('o3', '2025-06-09T23:59:59Z')).toBe('10');
    expect(inputPrice('gpt-4o-mini', '2025-06-09T23:59:59Z')).toBe('0.15');
    expect(inputPrice('o3', '2025-06-09T23:59:59Z', 'google')).toBeUndefined();
    expect(inputPrice('o3', '2025-06-10T00:00:00Z')).toBe('2');
  });

  test('a tier starts above its tokens, and is named', () => {
    const [below, above] = [200_000, 200_001].map((tokens) => listPrice('google', 'gemini-2.5-pro', tokens, at));
    expect(below).toEqual({
      source: PRICE_LIST,
      model: 'google/gemini-2.5-pro',
      input_per_million: '1.25',
      cached_input_per_million: '0.125',
      output_per_million: '10',
    });
    expect(above).toMatchObject({
      input_per_million: '2.5',
      output_per_million: '15',
      tier_above_input_tokens: 200_000,
    });
  });

  test('has a price for a dated name, and none for an unknown one', () => {
    const models = modelsAt({});
    expect(models.priceOf('gpt-4o-mini-2024-07-18')).toMatchObject({ model: 'openai/gpt-4o-mini' });
    expect(models.priceOf('openai/no-such-model')).toBeNull();
    expect(models.priceOf('openai-compatible/gpt-4o-mini')).toBeNull();
    expect(models.priceOf('sandbox/echo')).toMatchObject({ source: 'sandbox', input_per_million: '0' });
  });

  test('its version is the installed one', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(PRICE_LIST).toBe(`genai-prices@${dependencies['@pydantic/genai-prices']}`);
  });
});

describe("the operator's prices", () => {
  let folder: string;
  let file: string;
  let now: number;
  let warnings: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'prices-'));
    file = join(folder, 'prices.json');
    now = Date.now();
    warnings = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(content: unknown, edit = 0): void {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    utimesSync(file, 1_700_000_000 + edit, 1_700_000_000 + edit);
  }

  function open() {
    const book = createPriceBook({ file, warn: (message) => warnings.push(message), now: () => now });
    return (name: string, inputTokens = 0) => book.priceOf(resolveModelName(name), inputTokens);
  }

  const RATES = { input_per_million: '1.50', output_per_million: '2' };

  test('come before the list, the most specific name first', () => {
    write({
      'openai-compatible/*': { ...RATES, input_per_million: '1' },
      'openai-compatible/meta-llama/*': { ...RATES, input_per_million: '2' },
      'openai-compatible/meta-llama/big': { ...RATES, input_per_million: '3', per_request: '0.010' },
      'openai/gpt-4o-mini': RATES,
    });
    const priceOf = open();
    expect(priceOf('openai-compatible/any')).toMatchObject({ input_per_million: '1', model: 'openai-compatible/*' });
    expect(priceOf('openai-compatible/meta-llama/small')).toMatchObject({ input_per_million: '2' });
    expect(priceOf('openai-compatible/meta-llama/big')).toMatchObject({ input_per_million: '3', per_request: '0.01' });
    expect(priceOf('openai/gpt-4o-mini')).toEqual({
      source: 'operator',
      model: 'openai/gpt-4o-mini',
      input_per_million: '1.5',
      cached_input_per_million: '1.5',
      output_per_million: '2',
    });
    expect(priceOf('openai/gpt-4o')).toMatchObject({ source: PRICE_LIST });
  });

  test('can have tiers, cached and written rates and a price per request', () => {
    write({
      'openai/x': {
        ...RATES,
        cached_input_per_million: '0.5',
        cache_write_per_million: '3',
        per_request: '0.01',
        tiers: [
          { above_input_tokens: 1000, input_per_million: '4', output_per_million: '8' },
          { above_input_tokens: 100, input_per_million: '3', output_per_million: '6' },
        ],
      },
    });
    const priceOf = open();
    expect(priceOf('openai/x', 100)).toMatchObject({ input_per_million: '1.5', cached_input_per_million: '0.5' });
    expect(priceOf('openai/x', 101)).toMatchObject({ input_per_million: '3', tier_above_input_tokens: 100 });
    expect(priceOf('openai/x', 5000)).toMatchObject({ input_per_million: '4', tier_above_input_tokens: 1000 });
    // 0.01 + (50 × 1.5 + 30 × 0.5 + 20 × 3 + 10 × 2) / 10⁶
    expect(costOf(priceOf('openai/x', 100), usage(100, 10, 30, 20)).amount).toBe('0.01017');
  });

  test('are refused at the start with every error named', () => {
    write({ 'openai/x': { input_per_million: 1, output_per_million: '1e3', typo: '1' }, '*/x': RATES });
    expect(open).toThrow(/MODEL_PRICES_FILE: .*openai\/x\.input_per_million.*output_per_million.*typo/s);
    expect(open).toThrow(/\*\/x/);
    write('{');
    expect(open).toThrow(/can't be read as JSON/);
    rmSync(file);
    expect(open).toThrow(/MODEL_PRICES_FILE/);
  });

  test('are read again when the file changes, and a broken edit only warns once', () => {
    write({ 'openai/x': RATES });
    const priceOf = open();
    write({ 'openai/x': { ...RATES, input_per_million: '9' } }, 1);
    expect(priceOf('openai/x')).toMatchObject({ input_per_million: '1.5' });
    now += 1000;
    expect(priceOf('openai/x')).toMatchObject({ input_per_million: '9' });
    write('{', 2);
    for (let i = 0; i < 3; i++) {
      now += 1000;
      expect(priceOf('openai/x')).toMatchObject({ input_per_million: '9' });
    }
    expect(warnings).toEqual([expect.stringContaining('last good prices')]);
    rmSync(file);
    now += 1000;
    expect(priceOf('openai/x')).toMatchObject({ input_per_million: '9' });
    write({ 'openai/x': RATES }, 3);
    now += 1000;
    expect(priceOf('openai/x')).toMatchObject({ input_per_million: '1.5' });
    expect(warnings).toHaveLength(2);
  });
});
