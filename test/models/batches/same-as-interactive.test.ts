import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Big } from 'big.js';
import type { BatchRef, BatchResult } from '../../../src/models/batches/batched-models.ts';
import { type ClosableModels, type ModelCall, ModelError } from '../../../src/models/model.ts';
import { type BatchDirectory, batchDirectory, batchFile, ended, resultsOf } from '../../support/batches.ts';
import { startAnthropicServer } from '../../support/providers/anthropic.ts';
import { startGoogleServer } from '../../support/providers/google.ts';
import { callOf, modelErrorOf, modelsAt } from '../../support/providers/models.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { CannedAnswer } from '../../support/providers/protocol.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';

// A call in a batch is the interactive call: the same request, the same response, at half the price.

const { signal } = new AbortController();
let directory: BatchDirectory;
let canned: CannedAnswer;
let models: ClosableModels;
const servers: Record<string, StandIn> = {};

beforeAll(async () => {
  directory = await batchDirectory();
  const answer = () => canned;
  servers['openai'] = await startOpenAiServer({ answer });
  servers['anthropic'] = await startAnthropicServer({ answer });
  servers['google'] = await startGoogleServer({ answer });
  models = modelsAt(Object.fromEntries(Object.entries(servers).map(([name, { baseUrl }]) => [name, baseUrl])), {
    hasCompatibleBatches: true,
  });
});
beforeEach(() => {
  canned = { text: 'ok' };
});
afterAll(async () => {
  await models.close();
  await Promise.all(Object.values(servers).map((server) => server.close()));
  await directory.remove();
});

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TOOL = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const CALLS: [what: string, rest: Partial<ModelCall>, answer: CannedAnswer][] = [
  ['text', { input: 'Say hi', parameters: { temperature: 0.5, max_tokens: 100, stop: ['x'] } }, { text: 'hi' }],
  [
    'messages with a file',
    {
      input: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'file', media_type: 'image/png', data: PNG },
          ],
        },
      ],
    },
    { text: 'A dot.' },
  ],
  [
    'tools',
    { tools: [TOOL], toolChoice: 'required' },
    { text: '', toolCalls: [{ id: 'call_1', name: 'weather', input: { city: 'Ulm' } }] },
  ],
  [
    'cached and reasoning tokens',
    {},
    { text: 'ok', usage: { input: 1000, output: 200, cached: 400, reasoning: 100, cacheWrite: 0 } },
  ],
  ['no usage', {}, { text: 'ok', usage: null }],
];

describe.each([
  ['openai', 'openai/gpt-4o'],
  ['anthropic', 'anthropic/claude-sonnet-4-5'],
  ['google', 'google/gemini-2.5-flash'],
] as const)('%s', (provider, model) => {
  const ref: BatchRef = { provider, model, tag: `batch_${provider}` };

  async function batched(calls: ModelCall[]): Promise<BatchResult[]> {
    const file = await batchFile(directory, models.batches, ref, calls);
    const { providerBatchId } = await models.batches.submit(ref, file, signal);
    return resultsOf(models.batches, ref, await ended(models.batches, ref, providerBatchId));
  }

  const resultFor = async (call: ModelCall): Promise<BatchResult> => {
    const [result] = await batched([call]);
    if (result === undefined) throw new Error('There is no result.');
    return result;
  };

  test.each(CALLS)('%s', async (what, rest, answer) => {
    // Anthropic always reports the usage of a message.
    if (what === 'no usage' && provider === 'anthropic') return;
    canned = answer;
    const call = callOf(model, rest);
    const direct = await models.generate(call);
    const { text: line } = await models.batches.toLine(call, 'id');
    const sent = servers[provider]?.calls.at(-1)?.body;
    const parsed = JSON.parse(line.slice(line.indexOf('{')));
    expect(parsed.body ?? parsed.params ?? parsed.request).toEqual(sent);

    const result = await resultFor(call);
    if (provider === 'anthropic') {
      const betas = servers[provider]?.calls.at(-1)?.headers['anthropic-beta'];
      expect([...(servers[provider]?.batches.batches.values() ?? [])].at(-1)?.extra['betas']).toBe(betas);
    }
    expect(models.batches.seqOf(ref, result.customId)).toBe(0);
    const { cost, ...response } = await models.batches.toResponse(call, result);
    const { cost: directCost, ...directResponse } = direct;
    expect(response).toEqual({ ...directResponse, modelMs: 0 });
    if (what === 'no usage') {
      expect(cost.amount).toBeNull();
      return;
    }
    expect(cost.pricing).toMatchObject({
      source: directCost.pricing?.source,
      batch_multiplier: '0.5',
      batch_source: expect.stringMatching(/^https:/),
    });
    // Only Google does not halve the price of cached input.
    const atFullPrice = provider === 'google' ? (response.tokens?.cached_input ?? 0) : 0;
    const full = new Big(directCost.pricing?.cached_input_per_million ?? 0).times(atFullPrice).div(1_000_000);
    expect(cost.amount).toBe(new Big(directCost.amount ?? Number.NaN).plus(full).div(2).toFixed());
  });

  test("a response that the provider's filter withheld", async () => {
    const reason = { openai: 'content_filter', anthropic: 'refusal', google: 'SAFETY' }[provider];
    canned = { text: 'no', finishReason: reason };
    const call = callOf(model);
    const direct = await modelErrorOf(models.generate(call));
    const error = await modelErrorOf(models.batches.toResponse(call, await resultFor(call)));
    expect(error).toMatchObject({ code: 'content_filtered', message: direct.message });
    expect(error.spent?.tokens).toEqual(direct.spent?.tokens);
    expect(Number(error.spent?.cost.amount) * 2).toBe(Number(direct.spent?.cost.amount));
  });

  test('unsupported parts are refused before they are in a batch', async () => {
    const file = { type: 'file' as const, media_type: 'model/step', data: 'AAAA' };
    const call = callOf(model, { input: [{ role: 'user', content: [file] }] });
    const error = await modelErrorOf(models.batches.toLine(call, 'id'));
    expect(error).toMatchObject({ code: 'model_invalid_request', retryable: false });
    expect(error.message).toBe((await modelErrorOf(models.generate(call))).message);
  });

  test('calls that failed alone', async () => {
    servers[provider]?.batches.behave({ failEvery: 2 });
    const calls = [callOf(model, { input: 'one' }), callOf(model, { input: 'two' })];
    const results = await batched(calls);
    servers[provider]?.batches.behave();
    const failed = results.find(({ customId }) => models.batches.seqOf(ref, customId) === 1);
    const [, call] = calls;
    if (failed === undefined || call === undefined) throw new Error('The failed call has no result.');
    const error = await modelErrorOf(models.batches.toResponse(call, failed));
    expect(error).toMatchObject({ code: 'model_unavailable', retryable: true, message: 'told to fail' });
  });

  test('ids', () => {
    expect(models.batches.customIdOf(ref, 12)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(models.batches.seqOf(ref, models.batches.customIdOf(ref, 12))).toBe(12);
    for (const other of ['batch_other-1', `${ref.tag}-`, `${ref.tag}-01`, `${ref.tag}-1e3`, `${ref.tag}1`])
      expect(models.batches.seqOf(ref, other)).toBeUndefined();
  });
});

test('which models have batches', () => {
  expect(models.batches.problemOf('openai/gpt-4o')).toBeUndefined();
  expect(models.batches.problemOf('openai-compatible/m')).toBeUndefined();
  expect(models.batches.problemOf('mistral/mistral-small-latest')).toMatch(/batch/);
  expect(models.batches.problemOf('sandbox/echo')).toMatch(/batch/);
});

test('an error of a batch is a ModelError without our data', () => {
  expect(() => models.batches.limitsOf('mistral')).toThrow(ModelError);
});
