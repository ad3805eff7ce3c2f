import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ModelParameters } from '../../src/domain/prompts/parameters.ts';
import type { ClosableModels } from '../../src/models/model.ts';
import { startAnthropicServer } from '../support/providers/anthropic.ts';
import { startGoogleServer } from '../support/providers/google.ts';
import { callOf, modelErrorOf, modelsAt, TEST_KEY } from '../support/providers/models.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { RecordedCall } from '../support/providers/protocol.ts';
import type { StandIn } from '../support/providers/stand-in.ts';

const SCHEMA = {
  type: 'object',
  properties: { kind: { const: 'x' }, note: { type: 'string', pattern: '^(?=a)' } },
  propertyNames: { pattern: '^[a-z]+$' },
  required: ['kind', 'note'],
  additionalProperties: false,
};

let openai: StandIn;
let anthropic: StandIn;
let google: StandIn;
let models: ClosableModels;

beforeAll(async () => {
  [openai, anthropic, google] = await Promise.all([startOpenAiServer(), startAnthropicServer(), startGoogleServer()]);
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

async function sent(server: StandIn, model: string, parameters: ModelParameters): Promise<RecordedCall> {
  const before = server.callCount;
  await models.generate(callOf(model, { parameters }));
  expect(server.callCount).toBe(before + 1);
  const call = server.calls.at(-1);
  if (call === undefined) throw new Error('No call was seen.');
  return call;
}

async function refused(server: StandIn, model: string, parameters: ModelParameters): Promise<string> {
  const before = server.callCount;
  const error = await modelErrorOf(models.generate(callOf(model, { parameters })));
  expect(error).toMatchObject({ code: 'model_invalid_request', retryable: false });
  expect(server.callCount).toBe(before);
  return error.message;
}

describe('OpenAI', () => {
  test('gets the prompt as one user message, with the key', async () => {
    const { body, headers, path } = await sent(openai, 'openai/gpt-4o-mini', {});
    expect(path).toBe('/v1/chat/completions');
    expect(headers.authorization).toBe(`Bearer ${TEST_KEY}`);
    expect(body).toEqual({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hi' }] });
  });

  test('gets every parameter', async () => {
    const { body } = await sent(openai, 'openai/gpt-4o-mini', {
      temperature: 0.3,
      top_p: 0.9,
      max_tokens: 50,
      stop: ['END', '---'],
      seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      response_format: { type: 'json_object' },
    });
    expect(body).toMatchObject({
      temperature: 0.3,
      top_p: 0.9,
      max_tokens: 50,
      stop: ['END', '---'],
      seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      response_format: { type: 'json_object' },
    });
  });

  test('gets zeros too', async () => {
    const { body } = await sent(openai, 'openai/gpt-4o-mini', {
      temperature: 0,
      top_p: 0,
      seed: 0,
      presence_penalty: 0,
    });
    expect(body).toMatchObject({ temperature: 0, top_p: 0, seed: 0, presence_penalty: 0 });
  });

  test("gets the caller's schema intact", async () => {
    const json_schema = { name: 'verdict', description: 'A verdict', schema: SCHEMA };
    const strict = await sent(openai, 'openai/gpt-4o-mini', { response_format: { type: 'json_schema', json_schema } });
    expect(strict.body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { ...json_schema, strict: true },
    });
    const loose = await sent(openai, 'openai/gpt-4o-mini', {
      response_format: { type: 'json_schema', json_schema: { ...json_schema, strict: false } },
    });
    expect(loose.body['response_format']).toMatchObject({ json_schema: { strict: false } });
  });

  test('gets its reasoning options', async () => {
    const { body } = await sent(openai, 'openai/gpt-5-mini', { max_tokens: 500, reasoning_effort: 'low' });
    expect(body).toMatchObject({ max_completion_tokens: 500, reasoning_effort: 'low' });
    expect(body).not.toHaveProperty('max_tokens');
  });

  test('is not called when a parameter would be dropped', async () => {
    expect(await refused(openai, 'openai/gpt-5-mini', { temperature: 0.2 })).toContain('temperature');
    expect(await refused(openai, 'openai/o3-mini', { presence_penalty: 1 })).toContain('presence_penalty');
  });

  test('gets its own provider options intact, on top', async () => {
    const { body } = await sent(openai, 'openai/gpt-4o-mini', {
      temperature: 0.1,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
      provider_options: {
        openai: { store: false, logit_bias: { '50256': -100 }, response_format: { json_schema: { name: 'b' } } },
        anthropic: { thinking: { type: 'disabled' } },
      },
    });
    expect(body).toMatchObject({
      store: false,
      logit_bias: { '50256': -100 },
      temperature: 0.1,
      response_format: { json_schema: { name: 'b', schema: { type: 'object' } } },
    });
    expect(body).not.toHaveProperty('thinking');
  });

  test('is not called with unknown or forbidden options', async () => {
    expect(await refused(openai, 'openai/gpt-4o-mini', { provider_options: { opnai: { store: true } } })).toContain(
      'opnai',
    );
    for (const option of ['model', 'messages', 'stream', 'tools', 'n', 'web_search_options', 'best_of']) {
      const message = await refused(openai, 'openai/gpt-4o-mini', { provider_options: { openai: { [option]: 1 } } });
      expect(message).toContain(`openai.${option}`);
    }
  });
});

describe('a compatible server', () => {
  test('gets every parameter, top_k and the effort among them', async () => {
    const parameters = {
      temperature: 1.5,
      top_p: 0.5,
      top_k: 40,
      max_tokens: 9,
      stop: 'END',
      seed: 3,
      frequency_penalty: 1,
      presence_penalty: 1,
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', schema: SCHEMA } },
      provider_options: { 'openai-compatible': { min_p: 0.05 } },
    } satisfies ModelParameters;
    const { body } = await sent(openai, 'openai-compatible/meta-llama/Llama-3.1-8B', parameters);
    expect(body).toEqual({
      model: 'meta-llama/Llama-3.1-8B',
      messages: [{ role: 'user', content: 'Say hi' }],
      temperature: 1.5,
      top_p: 0.5,
      top_k: 40,
      max_tokens: 9,
      stop: ['END'],
      seed: 3,
      frequency_penalty: 1,
      presence_penalty: 1,
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema: SCHEMA } },
      min_p: 0.05,
    });
  });
});

describe('Anthropic', () => {
  test('gets every parameter it has', async () => {
    const { body, headers, path } = await sent(anthropic, 'anthropic/claude-sonnet-4-5', {
      temperature: 0.3,
      top_k: 40,
      max_tokens: 50,
      stop: 'END',
    });
    expect(path).toBe('/v1/messages');
    expect(headers['x-api-key']).toBe(TEST_KEY);
    expect(body).toMatchObject({
      model: 'claude-sonnet-4-5',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hi' }] }],
      temperature: 0.3,
      top_k: 40,
      max_tokens: 50,
      stop_sequences: ['END'],
    });
    const { body: other } = await sent(anthropic, 'anthropic/claude-sonnet-4-5', { top_p: 0.9 });
    expect(other).toMatchObject({ top_p: 0.9 });
  });

  test('gets a schema as structured output', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const { body } = await sent(anthropic, 'anthropic/claude-sonnet-4-5', {
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', schema } },
    });
    expect(body).toMatchObject({ output_config: { format: { type: 'json_schema', schema } } });
  });

  test('gets a schema as a forced tool if the model has no structured output', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const { body } = await sent(anthropic, 'anthropic/claude-3-5-haiku-latest', {
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', schema } },
    });
    expect(body).toMatchObject({ tool_choice: { type: 'any' }, tools: [{ input_schema: schema }] });
  });

  test('gets an effort as a thinking budget, on top of the requested tokens', async () => {
    const { body } = await sent(anthropic, 'anthropic/claude-sonnet-4-5', {
      reasoning_effort: 'low',
      max_tokens: 1000,
    });
    expect(body['thinking']).toMatchObject({ type: 'enabled', budget_tokens: expect.any(Number) });
    expect(Number(body['max_tokens'])).toBeGreaterThan(1000);
  });

  test('is not called when a parameter would be dropped or clamped', async () => {
    const model = 'anthropic/claude-sonnet-4-5';
    for (const name of ['seed', 'frequency_penalty', 'presence_penalty'] as const) {
      expect(await refused(anthropic, model, { [name]: 1 })).toContain(name);
    }
    expect(await refused(anthropic, model, { temperature: 1.5 })).toContain('accepts at most 1 for temperature');
    expect(await refused(anthropic, model, { temperature: 0.5, top_p: 0.5 })).toContain('top_p');
    expect(await refused(anthropic, model, { temperature: 0.5, reasoning_effort: 'high' })).toContain('temperature');
    expect(await refused(anthropic, model, { max_tokens: 9_000_000 })).toContain('max_tokens');
    expect(await refused(anthropic, model, { response_format: { type: 'json_object' } })).toContain('json_schema');
  });

  test('gets its provider options intact', async () => {
    const { body } = await sent(anthropic, 'anthropic/claude-sonnet-4-5', {
      provider_options: { anthropic: { metadata: { user_id: 'u1' } } },
    });
    expect(body).toMatchObject({ metadata: { user_id: 'u1' } });
  });
});

describe('Google', () => {
  test('gets every parameter it has', async () => {
    const { body, headers, path } = await sent(google, 'google/gemini-2.5-flash', {
      temperature: 0.3,
      top_p: 0.9,
      top_k: 40,
      max_tokens: 50,
      stop: ['END'],
      seed: 7,
      reasoning_effort: 'none',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'verdict', schema: { type: 'object', required: ['a'] } },
      },
      provider_options: { google: { generationConfig: { candidateCount: 1 }, labels: { team: 'a' } } },
    });
    expect(path).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(headers['x-goog-api-key']).toBe(TEST_KEY);
    expect(body).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'Say hi' }] }],
      labels: { team: 'a' },
      generationConfig: {
        temperature: 0.3,
        topP: 0.9,
        topK: 40,
        maxOutputTokens: 50,
        stopSequences: ['END'],
        seed: 7,
        candidateCount: 1,
        thinkingConfig: { thinkingBudget: 0 },
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object', required: ['a'] },
      },
    });
  });

  test('gets penalties and JSON without a schema if the model accepts them', async () => {
    const { body } = await sent(google, 'google/gemini-2.0-flash', {
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      response_format: { type: 'json_object' },
    });
    expect(body).toMatchObject({
      generationConfig: { frequencyPenalty: 0.5, presencePenalty: 0.25, responseMimeType: 'application/json' },
    });
  });

  test('is not called when a parameter would be dropped', async () => {
    expect(await refused(google, 'google/gemini-2.5-flash', { frequency_penalty: 0.5 })).toContain('frequency_penalty');
  });
});

describe('at most one tool at a time', () => {
  const tools = [{ name: 'get_time', input_schema: { type: 'object', properties: {} } }];
  const oneAtATime: ModelParameters = { parallel_tool_calls: false };

  test.each([
    ['openai/gpt-4o-mini', () => openai, { parallel_tool_calls: false }],
    ['openai-compatible/llama', () => openai, { parallel_tool_calls: false }],
    [
      'anthropic/claude-sonnet-4-5',
      () => anthropic,
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
  ])('%s gets it in its own words', async (model, server, words) => {
    await models.generate(callOf(model, { parameters: oneAtATime, tools }));
    expect(server().calls.at(-1)?.body).toMatchObject(words);
  });

  test('Anthropic gets it beside the choice of a tool', async () => {
    const call = { parameters: oneAtATime, tools, toolChoice: { name: 'get_time' } };
    await models.generate(callOf('anthropic/claude-sonnet-4-5', call));
    expect(anthropic.calls.at(-1)?.body).toMatchObject({
      tool_choice: { type: 'tool', name: 'get_time', disable_parallel_tool_use: true },
    });
  });

  test('Google is not called for lack of an option', async () => {
    const before = google.callCount;
    const call = callOf('google/gemini-2.5-flash', { parameters: oneAtATime, tools });
    expect(await modelErrorOf(models.generate(call))).toMatchObject({
      code: 'model_invalid_request',
      message: expect.stringContaining('parallel_tool_calls'),
    });
    expect(google.callCount).toBe(before);
  });

  test('nothing is sent if there is no tool to call', async () => {
    const [toOpenAi, toAnthropic] = [
      await sent(openai, 'openai/gpt-4o-mini', oneAtATime),
      await sent(anthropic, 'anthropic/claude-sonnet-4-5', oneAtATime),
    ];
    expect([toOpenAi.body['parallel_tool_calls'], toAnthropic.body['tool_choice']]).toEqual([undefined, undefined]);
    await sent(google, 'google/gemini-2.5-flash', oneAtATime);
    const none = { parameters: oneAtATime, tools, toolChoice: 'none' as const };
    await models.generate(callOf('anthropic/claude-sonnet-4-5', none));
    expect(anthropic.calls.at(-1)?.body['tool_choice']).toEqual({ type: 'none' });
  });
});
