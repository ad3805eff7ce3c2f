import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ClosableModels } from '../../src/models/model.ts';
import { startAnthropicServer } from '../support/providers/anthropic.ts';
import { startGoogleServer } from '../support/providers/google.ts';
import { callOf, modelsAt } from '../support/providers/models.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { CannedAnswer } from '../support/providers/protocol.ts';
import type { StandIn } from '../support/providers/stand-in.ts';

const USAGE = { input: 1200, cached: 1000, output: 500, reasoning: 300 };

let canned: CannedAnswer;
let openai: StandIn;
let anthropic: StandIn;
let google: StandIn;
let models: ClosableModels;

beforeAll(async () => {
  const options = { answer: () => canned };
  openai = await startOpenAiServer(options);
  anthropic = await startAnthropicServer(options);
  google = await startGoogleServer(options);
  models = modelsAt({
    openai: openai.baseUrl,
    'openai-compatible': openai.baseUrl,
    anthropic: anthropic.baseUrl,
    google: google.baseUrl,
  });
});

afterAll(async () => {
  await models.close();
  await Promise.all([openai.close(), anthropic.close(), google.close()]);
});

function answerOf(model: string, answer: CannedAnswer) {
  canned = answer;
  return models.generate(callOf(model));
}

/** A search citation in a response of OpenAI. */
const CITATION = {
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: 1, url: 'https://example.com/', title: 'Example' },
};

/** One of OpenAI's candidates. */
function choice(content: string) {
  return { index: 0, finish_reason: 'stop', message: { role: 'assistant', content } };
}

describe('tokens and cost', () => {
  const tokens = { input: 1200, cached_input: 1000, output: 500, reasoning: 300, total: 1700 };

  test('OpenAI', async () => {
    const answer = await answerOf('openai/gpt-4o-mini', {
      text: 'Hi',
      usage: USAGE,
      servedBy: 'gpt-4o-mini-2024-07-18',
    });
    expect(answer).toEqual({
      output: 'Hi',
      toolCalls: [],
      finishReason: 'stop',
      tokens,
      // 200 × 0.15 + 1000 × 0.075 + 500 × 0.6, in millionths of a dollar
      cost: { amount: '0.000405', currency: 'USD', pricing: expect.objectContaining({ model: 'openai/gpt-4o-mini' }) },
      modelMs: expect.any(Number),
      providerModel: 'gpt-4o-mini-2024-07-18',
    });
  });

  test('Anthropic, with tokens written to its cache', async () => {
    const usage = { ...USAGE, cacheWrite: 150 };
    const answer = await answerOf('anthropic/claude-3-5-haiku-latest', { text: 'Hi', usage });
    // 50 × 0.8 + 1000 × 0.08 + 150 × 1 + 500 × 4
    expect(answer).toMatchObject({ tokens, cost: { amount: '0.00227' }, providerModel: 'claude-3-5-haiku-latest' });
  });

  test('Google', async () => {
    const answer = await answerOf('google/gemini-2.5-pro', {
      text: 'Hi',
      usage: USAGE,
      servedBy: 'gemini-2.5-pro-002',
    });
    // 200 × 1.25 + 1000 × 0.125 + 500 × 10
    expect(answer).toMatchObject({ tokens, cost: { amount: '0.005375' }, providerModel: 'gemini-2.5-pro-002' });
  });

  test('Google, in the tier of long inputs', async () => {
    const answer = await answerOf('google/gemini-2.5-pro', { text: 'Hi', usage: { input: 200_001, output: 1 } });
    expect(answer.cost).toMatchObject({ amount: '0.5000175', pricing: { tier_above_input_tokens: 200_000 } });
  });

  test('a compatible server has no known price', async () => {
    const answer = await answerOf('openai-compatible/gpt-4o-mini', { text: 'Hi', usage: USAGE });
    expect(answer).toMatchObject({ tokens, cost: { amount: null, pricing: null } });
  });

  test('reasoning counted beside the completion is part of the output', async () => {
    const extra = {
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 22,
        completion_tokens_details: { reasoning_tokens: 7 },
      },
    };
    const answer = await answerOf('openai-compatible/grok', { text: 'Hi', extra });
    expect(answer.tokens).toEqual({ input: 10, cached_input: 0, output: 12, reasoning: 7, total: 22 });
  });

  test.each([
    ['openai/gpt-4o-mini', null],
    ['google/gemini-2.5-flash', null],
    ['openai/gpt-4o-mini', { input: -5, output: 3 }],
    ['openai/gpt-4o-mini', { input: 1.5, output: 3 }],
  ])('without a valid usage, the cost is unknown: %s %j', async (model, usage) => {
    const answer = await answerOf(model, { text: 'Hi', usage });
    expect(answer.tokens).toBeNull();
    expect(answer.cost).toMatchObject({ amount: null, pricing: { source: expect.stringContaining('genai-prices@') } });
  });

  test('cached tokens above all tokens are limited', async () => {
    const answer = await answerOf('openai/gpt-4o-mini', { text: 'Hi', usage: { input: 10, cached: 99, output: 1 } });
    expect(answer.tokens).toMatchObject({ input: 10, cached_input: 10 });
    expect(Number(answer.cost.amount)).toBeGreaterThan(0);
  });

  test.each([
    ['openai/gpt-4o-mini', { service_tier: 'flex' }, null],
    ['openai/gpt-4o-mini', { service_tier: 'default' }, '0.000405'],
    [
      'google/gemini-2.5-pro',
      { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, serviceTier: 'priority' } },
      null,
    ],
    ['anthropic/claude-sonnet-4-5', { usage: { input_tokens: 1, output_tokens: 1, service_tier: 'priority' } }, null],
    [
      'anthropic/claude-sonnet-4-5',
      {
        usage: {
          input_tokens: 1,
          output_tokens: 1,
          cache_creation_input_tokens: 5,
          cache_creation: { ephemeral_1h_input_tokens: 5, ephemeral_5m_input_tokens: 0 },
        },
      },
      null,
    ],
    [
      'anthropic/claude-sonnet-4-5',
      { usage: { input_tokens: 1, output_tokens: 1, service_tier: 'standard' } },
      '0.000018',
    ],
    ['openai/gpt-4o-mini', { choices: [choice('a'), choice('b')] }, null],
    [
      'openai/gpt-4o-mini',
      { choices: [{ ...choice('a'), message: { ...choice('a').message, annotations: [CITATION] } }] },
      null,
    ],
    [
      'openai/gpt-4o-mini',
      {
        usage: {
          prompt_tokens: 1,
          completion_tokens: 9,
          total_tokens: 10,
          completion_tokens_details: { audio_tokens: 8 },
        },
      },
      null,
    ],
    [
      'anthropic/claude-sonnet-4-5',
      { usage: { input_tokens: 1, output_tokens: 1, server_tool_use: { web_search_requests: 2 } } },
      null,
    ],
    [
      'google/gemini-2.5-pro',
      { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, toolUsePromptTokenCount: 900 } },
      null,
    ],
  ])('items billed besides text or not at the list price have an unknown cost: %s %j', async (model, extra, amount) => {
    expect((await answerOf(model, { text: 'Hi', usage: USAGE, extra })).cost.amount).toBe(amount);
  });
});

describe('answers', () => {
  test.each([
    ['openai/gpt-4o-mini', 'length', 'length'],
    ['openai/gpt-4o-mini', 'tool_calls', 'tool_calls'],
    ['openai/gpt-4o-mini', 'something_new', 'other'],
    ['anthropic/claude-sonnet-4-5', 'max_tokens', 'length'],
    ['anthropic/claude-sonnet-4-5', 'stop_sequence', 'stop'],
    ['google/gemini-2.5-flash', 'MAX_TOKENS', 'length'],
    ['google/gemini-2.5-flash', 'OTHER', 'other'],
  ])('%s: %s is %s', async (model, finishReason, expected) => {
    expect((await answerOf(model, { text: 'Hi', finishReason })).finishReason).toBe(expected);
  });

  test('without text are still answers', async () => {
    expect(await answerOf('openai/gpt-4o-mini', { text: '' })).toMatchObject({ output: '', finishReason: 'stop' });
  });

  test('through a forced tool are its input as JSON', async () => {
    const content = [{ type: 'tool_use', id: 't1', name: 'json', input: { a: 'b' } }];
    canned = { text: '', finishReason: 'tool_use', extra: { content } };
    const json_schema = { name: 'verdict', schema: { type: 'object', properties: { a: { type: 'string' } } } };
    const parameters = { response_format: { type: 'json_schema' as const, json_schema } };
    const answer = await models.generate(callOf('anthropic/claude-3-5-haiku-latest', { parameters }));
    expect(answer).toMatchObject({ output: '{"a":"b"}', finishReason: 'stop' });
  });

  test('can be kept by PostgreSQL', async () => {
    const answer = await answerOf('openai/gpt-4o-mini', { text: 'a\u0000b\ud800c😀', servedBy: 'm\u0000' });
    expect(answer).toMatchObject({ output: 'a\uFFFDb\uFFFDc😀', providerModel: 'm\uFFFD' });
  });

  test('many at once each get their own', async () => {
    const own = await startOpenAiServer();
    const many = modelsAt({ 'openai-compatible': own.baseUrl });
    const prompts = Array.from({ length: 300 }, (_, i) => `prompt ${i}`);
    const answers = await Promise.all(prompts.map((input) => many.generate(callOf('openai-compatible/m', { input }))));
    expect(answers.map(({ output }) => output)).toEqual(prompts.map((input) => `Answer to: ${input}`));
    expect(prompts.every((input) => own.countBy(input) === 1)).toBe(true);
    await many.close();
    await own.close();
  });
});
