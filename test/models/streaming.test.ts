import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createDeltas } from '../../src/models/deltas.ts';
import type { ModelDelta } from '../../src/models/model.ts';
import { SkippedKinds } from '../../src/models/responses/understood.ts';
import { createChatCompletionAssembler } from '../../src/models/streams/chat-completions.ts';
import { type AllStandIns, MODELS, startAllStandIns } from '../support/providers/all.ts';
import { callOf, modelErrorOf, streamed, textsOf } from '../support/providers/models.ts';
import type { CannedAnswer } from '../support/providers/protocol.ts';

const USAGE = { input: 1200, cached: 1000, output: 500, reasoning: 300 };
const WEATHER = { name: 'get_weather', input_schema: { type: 'object', properties: {} } };
const PARIS = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } };
const ROME = { id: 'call_2', name: 'get_weather', input: {} };

let standIns: AllStandIns;

beforeAll(async () => {
  standIns = await startAllStandIns();
});
afterAll(() => standIns.close());
beforeEach(() => {
  standIns.answer({ text: 'The quick brown fox.', usage: USAGE });
  for (const model of MODELS) standIns.of(model).behave();
});

const generate = (model: string, rest: Parameters<typeof streamed>[1] = {}) => {
  const { call, deltas } = streamed(model, rest);
  return { deltas, response: standIns.models.generate(call) };
};

describe.each(MODELS)('%s', (model) => {
  test('streams its words', async () => {
    const { deltas, response } = generate(model);
    expect(await response).toMatchObject({ output: 'The quick brown fox.', finishReason: 'stop' });
    expect(textsOf(deltas)).toEqual(['The ', 'quick ', 'brown ', 'fox.']);
  });

  test.each(
    (
      [
        ['text', { text: 'The quick brown fox.', usage: USAGE }],
        ['tool calls', { text: '', toolCalls: [PARIS, ROME], usage: USAGE }],
        ['text and tool calls', { text: 'I look.', toolCalls: [PARIS], usage: USAGE }],
        ['no usage', { text: 'Hi there', usage: null }],
        ['nothing said', { text: '', usage: USAGE }],
      ] as [string, CannedAnswer][]
    )
      // Anthropic's and Mistral's responses always have it.
      .filter(([, { usage }]) => usage !== null || !/^(anthropic|mistral)\//.test(model)),
  )('gives the same response as without streaming: %s', async (_, canned) => {
    standIns.answer(canned);
    const whole = await standIns.models.generate(callOf(model, { tools: [WEATHER] }));
    const { deltas, response } = generate(model, { tools: [WEATHER] });
    expect(await response).toEqual({ ...whole, modelMs: expect.any(Number) });
    const toolCalls: ModelDelta[] = (canned.toolCalls ?? []).length > 0 ? deltas.slice(-whole.toolCalls.length) : [];
    expect(toolCalls).toEqual(whole.toolCalls.map((toolCall) => ({ type: 'tool_call', toolCall })));
    expect(textsOf(deltas).join('')).toBe(whole.output);
  });

  test('can answer in one piece', async () => {
    standIns.of(model).behave({ ignoresStream: true });
    const { deltas, response } = generate(model);
    expect(await response).toMatchObject({ output: 'The quick brown fox.', tokens: { input: 1200, output: 500 } });
    expect(textsOf(deltas)).toEqual(['The quick brown fox.']);
  });

  test('hands words on before the response is whole', async () => {
    standIns.of(model).behave({ mode: 'stall-halfway' });
    const caller = new AbortController();
    const reason = new Error('seen enough');
    const heard: ModelDelta[] = [];
    const onDelta = (delta: ModelDelta) => {
      heard.push(delta);
      caller.abort(reason);
    };
    const call = callOf(model, { signal: caller.signal, onDelta });
    await expect(standIns.models.generate(call)).rejects.toBe(reason);
    expect(heard[0]).toEqual({ type: 'text', text: 'half ' });
  });

  test.each([
    ['stall-halfway', 'model_timeout'],
    ['break-halfway', 'model_unavailable'],
    ['end-halfway', 'model_unavailable'],
  ] as const)('that fails in mid-stream can be called again: %s', async (mode, code) => {
    standIns.of(model).behave({ mode });
    const { response } = generate(model, { timeoutMs: mode === 'stall-halfway' ? 200 : 30_000 });
    expect(await modelErrorOf(response)).toMatchObject({ code, retryable: true });
  });

  test('can refuse before it streams', async () => {
    standIns.of(model).behave({ mode: 'fail', status: 429, headers: { 'retry-after': '7' } });
    const { deltas, response } = generate(model);
    expect(await modelErrorOf(response)).toMatchObject({ code: 'model_rate_limited', retryAfterMs: 7000 });
    expect(deltas).toEqual([]);
  });

  test('has a limit on the response', async () => {
    standIns.of(model).behave({ mode: 'huge' });
    const { response } = generate(model);
    const error = await modelErrorOf(response);
    expect(error).toMatchObject({ code: 'model_unavailable', retryable: false });
    expect(error.message).toContain('longer than 16777216 bytes');
  });
});

test.each([
  [
    'openai/gpt-4o',
    { error: { message: 'slow', type: 'rate_limit_exceeded', code: 'rate_limit_exceeded' } },
    'model_rate_limited',
  ],
  ['openai/gpt-4o', { error: { message: 'no money', code: 'insufficient_quota' } }, 'model_rate_limited'],
  ['openai/gpt-4o', { error: { message: 'oops', type: 'server_error' } }, 'model_unavailable'],
  [
    'openai-compatible/m',
    { id: 'x', choices: [{ index: 0, delta: {} }], error: { code: 502, message: 'gone' } },
    'model_unavailable',
  ],
  ['openai-compatible/m', { error: 'out of memory' }, 'model_unavailable'],
  ['openai-compatible/m', 'not JSON', 'model_unavailable'],
  ['openai-compatible/m', { choices: 'none' }, 'model_unavailable'],
  [
    'anthropic/claude-sonnet-4-5',
    { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
    'model_unavailable',
  ],
  [
    'anthropic/claude-sonnet-4-5',
    { type: 'error', error: { type: 'rate_limit_error', message: 'busy' } },
    'model_rate_limited',
  ],
  ['google/gemini-2.5-flash', { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }, 'model_unavailable'],
  [
    'google/gemini-2.5-flash',
    { error: { code: 429, message: 'busy', status: 'RESOURCE_EXHAUSTED' } },
    'model_rate_limited',
  ],
])('an error in mid-stream has its usual meaning: %s %j', async (model, body, code) => {
  standIns.of(model).behave({ mode: 'fail-halfway', body });
  const { deltas, response } = generate(model);
  expect(await modelErrorOf(response)).toMatchObject({ code });
  expect(textsOf(deltas).join('')).toMatch(/^half/);
});

test.each([
  ['openai/gpt-4o', { service_tier: 'flex' }],
  [
    'openai/gpt-4o',
    {
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a' } },
        { index: 1, finish_reason: 'stop', message: { role: 'assistant', content: 'b' } },
      ],
    },
  ],
  [
    'openai/gpt-4o',
    {
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: {
            role: 'assistant',
            content: 'a',
            annotations: [
              {
                type: 'url_citation',
                url_citation: { start_index: 0, end_index: 1, url: 'https://example.com/', title: 'E' },
              },
            ],
          },
        },
      ],
    },
  ],
  ['anthropic/claude-sonnet-4-5', { usage: { input_tokens: 1, output_tokens: 9, service_tier: 'priority' } }],
  [
    'anthropic/claude-sonnet-4-5',
    { usage: { input_tokens: 1, output_tokens: 9, server_tool_use: { web_search_requests: 2 } } },
  ],
  [
    'google/gemini-2.5-flash',
    { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, toolUsePromptTokenCount: 900 } },
  ],
])('items billed besides tokens have an unknown cost: %s %j', async (model, extra) => {
  standIns.answer({ text: 'a', usage: USAGE, extra });
  const whole = await standIns.models.generate(callOf(model));
  expect(whole.cost.amount).toBeNull();
  expect(await generate(model).response).toEqual({ ...whole, modelMs: expect.any(Number) });
});

test.each(MODELS)("%s has a limit on a tool call's input, too", async (model) => {
  standIns.answer({ text: '', toolCalls: [{ ...PARIS, input: { city: 'x'.repeat(17 * 1024 * 1024) } }] });
  const { response } = generate(model, { tools: [WEATHER] });
  expect(await modelErrorOf(response)).toMatchObject({ code: 'model_unavailable', retryable: false });
});

test('a refusal of OpenAI is streamed like its filter', async () => {
  standIns.answer({ text: '', refusal: 'I can not do that.', usage: USAGE });
  const { deltas, response } = generate('openai/gpt-4o');
  const error = await modelErrorOf(response);
  const whole = await modelErrorOf(standIns.models.generate(callOf('openai/gpt-4o')));
  expect(error).toMatchObject({ code: whole.code, message: whole.message, spent: whole.spent });
  expect(textsOf(deltas).join('')).toBe('I can not do that.');
});

test('a JSON response in the input of a tool is passed on as text', async () => {
  standIns.answer({ text: '', toolCalls: [{ id: 't1', name: 'json', input: { a: 'b' } }] });
  const json_schema = { name: 'verdict', schema: { type: 'object', properties: {} } };
  const { deltas, response } = generate('anthropic/claude-3-5-haiku-latest', {
    parameters: { response_format: { type: 'json_schema', json_schema } },
  });
  expect(await response).toMatchObject({ output: '{"a":"b"}', toolCalls: [], finishReason: 'stop' });
  expect(deltas).toEqual([{ type: 'text', text: '{"a":"b"}' }]);
});

test('pieces can be kept by PostgreSQL, and a character is never cut in two', () => {
  const heard: ModelDelta[] = [];
  const deltas = createDeltas((delta) => heard.push(delta));
  for (const piece of ['a\u0000', '\ud83d', '\ude00b', '\ud800']) deltas.text(piece);
  deltas.end({ output: 'a\uFFFD😀b\uFFFD', toolCalls: [] });
  expect(textsOf(heard)).toEqual(['a\uFFFD', '😀b', '\uFFFD']);
});

describe("compatible servers' tool calls", () => {
  const compatible = (chunks: unknown[]) => {
    const assembler = createChatCompletionAssembler(new SkippedKinds());
    for (const tool_calls of chunks) assembler.add({ choices: [{ delta: { tool_calls: [tool_calls] } }] });
    return assembler.body()['choices'];
  };
  const call = (id: string, input: string) => ({ id, type: 'function', function: { name: 'f', arguments: input } });

  test.each([
    ['without an index', [call('a', '{}'), call('b', '{"x":1}')]],
    [
      'all with the same index',
      [
        { index: 0, ...call('a', '{}') },
        { index: 0, ...call('b', '{"x":1}') },
      ],
    ],
    [
      'whose id is repeated',
      [
        { index: 0, ...call('a', '{') },
        { index: 0, id: 'a', function: { arguments: '}' } },
        { index: 1, ...call('b', '{"x":1}') },
      ],
    ],
  ])('%s', (_, chunks) => {
    expect(compatible(chunks)).toMatchObject([{ message: { tool_calls: [call('a', '{}'), call('b', '{"x":1}')] } }]);
  });
});
