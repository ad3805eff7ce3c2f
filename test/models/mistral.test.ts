import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ChatMessage } from '../../src/domain/prompts/messages.ts';
import type { ModelParameters } from '../../src/domain/prompts/parameters.ts';
import type { ClosableModels } from '../../src/models/model.ts';
import { startMistralServer } from '../support/providers/mistral.ts';
import { callOf, modelErrorOf, modelsAt, streamed, TEST_KEY, textsOf } from '../support/providers/models.ts';
import type { CannedAnswer } from '../support/providers/protocol.ts';
import type { StandIn } from '../support/providers/stand-in.ts';

const MODEL = 'mistral/mistral-large-2512';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4 nothing').toString('base64');
const WEATHER = { name: 'get_weather', input_schema: { type: 'object', properties: { city: { pattern: '^(?!x)' } } } };

let server: StandIn;
let models: ClosableModels;
let canned: CannedAnswer;

beforeAll(async () => {
  server = await startMistralServer({ answer: () => canned });
  models = modelsAt({ mistral: server.baseUrl });
});
afterAll(async () => {
  await models.close();
  await server.close();
});
beforeEach(() => {
  canned = { text: 'ok' };
  server.behave();
});

async function sent(rest: Parameters<typeof callOf>[1]) {
  await models.generate(callOf(MODEL, rest));
  const call = server.calls.at(-1);
  if (call === undefined) throw new Error('No call was seen.');
  return call;
}

describe('a request', () => {
  test('has every parameter in its own name', async () => {
    const schema = { type: 'object', properties: { kind: { const: 'x' } }, additionalProperties: false };
    const parameters: ModelParameters = {
      temperature: 0.3,
      top_p: 0.9,
      max_tokens: 50,
      stop: ['END'],
      seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      reasoning_effort: 'high',
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', schema } },
      provider_options: { mistral: { safe_prompt: true } },
    };
    const { path, headers, body } = await sent({ parameters, tools: [WEATHER], toolChoice: 'required' });
    expect([path, headers.authorization]).toEqual(['/v1/chat/completions', `Bearer ${TEST_KEY}`]);
    expect(body).toEqual({
      model: 'mistral-large-2512',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hi' }] }],
      temperature: 0.3,
      top_p: 0.9,
      max_tokens: 50,
      stop: ['END'],
      random_seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      reasoning_effort: 'high',
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema } },
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: WEATHER.input_schema } }],
      tool_choice: 'any',
      safe_prompt: true,
    });
  });

  test.each([
    ['auto', 'auto'],
    ['none', 'none'],
    [{ name: 'get_weather' }, { type: 'function', function: { name: 'get_weather' } }],
  ] as const)('has the choice of a tool: %j', async (toolChoice, words) => {
    expect((await sent({ tools: [WEATHER], toolChoice })).body['tool_choice']).toEqual(words);
  });

  test('gives each tool call an id that Mistral accepts, and keeps its own ids', async () => {
    const call = (id: string, city: string) => ({
      type: 'tool_call' as const,
      id,
      name: 'get_weather',
      input: { city },
    });
    const result = (id: string) => ({ type: 'tool_result' as const, id, name: 'get_weather', output: 'sunny' });
    const input: ChatMessage[] = [
      { role: 'user', content: 'How is it?' },
      { role: 'assistant', content: [call('call_of_another_1', 'Paris'), call('D681PevKs', 'Rome')] },
      { role: 'tool', content: [result('call_of_another_1'), result('D681PevKs')] },
    ];
    const { messages } = (await sent({ input, tools: [WEATHER] })).body as {
      messages: { tool_calls?: { id: string }[]; tool_call_id?: string }[];
    };
    const ids = messages[1]?.tool_calls?.map(({ id }) => id);
    expect(ids).toEqual([expect.stringMatching(/^[a-z0-9]{9}$/), 'D681PevKs']);
    expect(messages.slice(2).map(({ tool_call_id: id }) => id)).toEqual(ids);
  });

  test('has images and PDF, and no other file', async () => {
    const asking = (media_type: string, data: string): ChatMessage[] => [
      {
        role: 'user',
        content: [
          { type: 'file', media_type, data },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ];
    const partOf = async (media_type: string, data: string) => {
      const { messages } = (await sent({ input: asking(media_type, data) })).body as {
        messages: { content: unknown[] }[];
      };
      return messages[0]?.content[0];
    };
    expect(await partOf('image/png', PNG)).toEqual({ type: 'image_url', image_url: `data:image/png;base64,${PNG}` });
    expect(await partOf('application/pdf', PDF)).toEqual({
      type: 'document_url',
      document_url: `data:application/pdf;base64,${PDF}`,
    });
    const error = await modelErrorOf(models.generate(callOf(MODEL, { input: asking('audio/wav', PDF) })));
    expect(error.message).toContain('mistral accepts images and application/pdf');
  });
});

describe('a response', () => {
  test('has its tokens and its list price', async () => {
    canned = { text: 'Hi', usage: { input: 1_000_000, output: 1_000_000 } };
    const { tokens, cost, providerModel } = await models.generate(callOf(MODEL));
    expect(tokens).toMatchObject({ input: 1_000_000, output: 1_000_000, total: 2_000_000 });
    expect(cost).toMatchObject({
      amount: '2',
      pricing: { model: 'mistral/mistral-large-2512', input_per_million: '0.5', output_per_million: '1.5' },
    });
    expect(providerModel).toBe('mistral-large-2512');
  });

  const thoughtful = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: 'The quick fox.' },
  ];
  const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: thoughtful } };

  test('of a reasoning model is its text without thoughts, streamed or not', async () => {
    canned = { text: '', extra: { choices: [choice] } };
    expect(await models.generate(callOf(MODEL))).toMatchObject({ output: 'The quick fox.', finishReason: 'stop' });
    const { call, deltas } = streamed(MODEL);
    expect(await models.generate(call)).toMatchObject({ output: 'The quick fox.', finishReason: 'stop' });
    expect(textsOf(deltas)).toEqual(['The ', 'quick ', 'fox.']);
  });

  test.each([
    ['length', 'length'],
    ['model_length', 'length'],
  ])('that ends by %s', async (finishReason, unified) => {
    canned = { text: 'Hi', finishReason };
    expect(await models.generate(callOf(MODEL))).toMatchObject({ finishReason: unified });
  });
});

describe('an error', () => {
  const invalid = { type: 'extra_forbidden', loc: ['body', 'x'], msg: 'Extra inputs are not permitted', input: 1 };
  test.each([
    [401, { detail: 'Unauthorized' }, 'model_authentication', 'Unauthorized'],
    [
      422,
      { object: 'error', message: { detail: [invalid] }, type: 'invalid_request_error' },
      'model_invalid_request',
      'body.x: Extra inputs are not permitted',
    ],
    [422, { detail: [invalid] }, 'model_invalid_request', 'body.x: Extra inputs are not permitted'],
    [
      400,
      { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' },
      'model_not_found',
      'Invalid model: x',
    ],
    [
      429,
      { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited' },
      'model_rate_limited',
      'Rate limit exceeded',
    ],
  ])('of status %i says what Mistral says', async (status, body, code, message) => {
    server.behave({ mode: 'fail', status, body });
    expect(await modelErrorOf(models.generate(callOf(MODEL)))).toMatchObject({ code, message });
  });
});
