import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { multiplied } from '../../../src/models/prices/price-book.ts';
import { modelsAt } from '../../support/providers/models.ts';

const directory = mkdtempSync(join(tmpdir(), 'prices-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function modelsWith(prices: unknown) {
  const pricesFile = join(directory, 'prices.json');
  writeFileSync(pricesFile, JSON.stringify(prices));
  return modelsAt({}, { pricesFile });
}

test('list prices are halved, and have a source', () => {
  const models = modelsAt({});
  const list = models.priceOf('anthropic/claude-sonnet-4-5');
  const batch = models.batches.priceOf('anthropic/claude-sonnet-4-5');
  expect(list).toMatchObject({ input_per_million: '3', cached_input_per_million: '0.3', output_per_million: '15' });
  expect(batch).toEqual({
    ...list,
    input_per_million: '1.5',
    cached_input_per_million: '0.15',
    cache_write_per_million: '1.875',
    output_per_million: '7.5',
    batch_multiplier: '0.5',
    batch_source: expect.stringMatching(/^https:\/\/docs\.anthropic\.com\//),
  });
});

test('so are the tiers of long inputs', () => {
  const models = modelsAt({});
  const [list, batch] = [
    models.priceOf('google/gemini-2.5-pro', 200_001),
    models.batches.priceOf('google/gemini-2.5-pro', 200_001),
  ];
  expect(batch?.tier_above_input_tokens).toBe(200_000);
  expect(Number(batch?.input_per_million) * 2).toBe(Number(list?.input_per_million));
  // https://ai.google.dev/gemini-api/docs/batch-api: cached tokens cost the same in batches.
  expect(batch?.cached_input_per_million).toBe(list?.cached_input_per_million);
});

test('the separate cost of a request is multiplied, too', () => {
  const price = {
    source: 'operator',
    model: 'm',
    input_per_million: '3',
    cached_input_per_million: '1',
    output_per_million: '0.1',
    per_request: '0.001',
  };
  expect(multiplied(price, { multiplier: '0.25', source: 's' })).toEqual({
    ...price,
    input_per_million: '0.75',
    cached_input_per_million: '0.25',
    output_per_million: '0.025',
    per_request: '0.00025',
    batch_multiplier: '0.25',
    batch_source: 's',
  });
});

test("an operator's prices are multiplied by the operator's factor, else by 1", () => {
  const rates = { input_per_million: '4', output_per_million: '8' };
  const models = modelsWith({ 'openai/gpt-4o': rates, 'openai-compatible/*': { ...rates, batch_multiplier: '0.25' } });
  expect(models.batches.priceOf('openai/gpt-4o')).toMatchObject({
    input_per_million: '4',
    batch_multiplier: '1',
    batch_source: 'operator',
  });
  expect(models.batches.priceOf('openai-compatible/m')).toMatchObject({
    input_per_million: '1',
    output_per_million: '2',
    batch_multiplier: '0.25',
    batch_source: 'operator',
  });
  expect(models.priceOf('openai-compatible/m')).not.toHaveProperty('batch_multiplier');
});

test.each(['0', '0.00', '-1', 'half', 0.5])('%p is not a factor', (batch_multiplier) => {
  const price = { input_per_million: '4', output_per_million: '8', batch_multiplier };
  expect(() => modelsWith({ 'openai/gpt-4o': price })).toThrow(/openai\/gpt-4o\.batch_multiplier/);
});

test('models without batches, or without a price, have none', () => {
  const models = modelsAt({});
  expect(models.batches.priceOf('mistral/mistral-small-latest')).toBeNull();
  expect(models.batches.priceOf('sandbox/echo')).toBeNull();
  expect(models.batches.priceOf('openai/gpt-unheard-of')).toBeNull();
});
