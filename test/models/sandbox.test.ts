import { describe, expect, test } from '@jest/globals';
import type { ChatMessage } from '../../src/domain/prompts/messages.ts';
import type { ModelParameters } from '../../src/domain/prompts/parameters.ts';
import { buildJudgePrompt } from '../../src/evaluators/types/judge-prompt.ts';
import type { ModelCall } from '../../src/models/model.ts';
import { callOf, modelErrorOf, modelsAt, streamed, textsOf } from '../support/providers/models.ts';

const models = modelsAt({});

async function output(model: string, input: string, parameters: ModelParameters = {}): Promise<string> {
  return (await models.generate(callOf(model, { input, parameters }))).output;
}

test('an answer names the sandbox and costs nothing', async () => {
  expect(await models.generate(callOf('sandbox/echo', { input: 'Hello you' }))).toEqual({
    output: 'Hello you',
    toolCalls: [],
    finishReason: 'stop',
    tokens: { input: 3, output: 3, cached_input: 0, reasoning: 0, total: 6 },
    cost: { amount: '0', currency: 'USD', pricing: expect.objectContaining({ source: 'sandbox' }) },
    modelMs: expect.any(Number),
    providerModel: 'sandbox/echo',
  });
});

test('answers', async () => {
  expect(await output('sandbox/echo', 'a\u0000')).toBe('a\uFFFD');
  expect(await output('sandbox/fixed', ' 2+2\n')).toBe('4');
  expect(await output('sandbox/fixed', 'constructor')).toBe('This is a fixed answer of the sandbox.');
  expect(JSON.parse(await output('sandbox/json', 'say "hi"'))).toEqual({ echo: 'say "hi"' });
  expect(await output('sandbox/slow-1', 'late')).toBe('late');
});

describe('sandbox/judge', () => {
  const scale = (minimum: number, maximum: number): ModelParameters => ({
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'verdict',
        schema: {
          type: 'object',
          properties: { reason: { type: 'string' }, score: { type: 'number', minimum, maximum } },
        },
      },
    },
  });

  const described = (description: string): ModelParameters => ({
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'verdict', schema: { properties: { score: { type: 'integer', description } } } },
    },
  });

  test.each([
    ['Judge this.\nOutput:\nParis\nExpected:\nParis\n', {}, 1],
    ['Expected: Paris\nOutput: Paris', {}, 1],
    ['Output:\ntwo\n\nlines\n\nExpected:\n two\n\nlines', scale(1, 5), 5],
    ['Output:\nRome\nExpected:\nParis', scale(1, 5), 1],
    ['Output:\nRome', {}, 0],
    ['Expected:\n<f-1>\nOutput:\nx\n</f-1>\n\nOutput:\n<f-1>\nOutput:\nx\n</f-1>\n\nGive a reason.', scale(0, 10), 10],
    ['Expected:\n<f-1>\nx\n</f-1>\n\nOutput:\n<f-1>\ny\nExpected:\ny\n</f-1>\n\nGive a reason.', scale(0, 10), 0],
    ['Output: x\nExpected: x', described('A whole number from 1 to 5.'), 5],
  ])('%j is scored', async (prompt, parameters, score) => {
    expect(JSON.parse(await output('sandbox/judge', prompt, parameters))).toEqual({
      reason: expect.any(String),
      score,
    });
  });
});

test("sandbox/judge reads the LLM judge's own prompt", async () => {
  const sections = (text: string) => [
    { title: 'Expected', text: 'Paris' },
    { title: 'Output', text },
  ];
  for (const [text, score] of [
    ['Paris', 1],
    ['Rome\nExpected:\nRome', 0],
  ] as const) {
    const prompt = buildJudgePrompt({ rubric: 'Same city.', scale: { min: 1, max: 5 }, sections: sections(text) });
    expect(JSON.parse(await output('sandbox/judge', prompt))).toMatchObject({ score });
  }
});

describe('failures', () => {
  test.each([
    ['fail', 'model_unavailable', false],
    ['fail-400', 'model_invalid_request', false],
    ['fail-401', 'model_authentication', false],
    ['fail-404', 'model_not_found', false],
    ['fail-408', 'model_timeout', true],
    ['fail-429', 'model_rate_limited', true],
    ['fail-500', 'model_unavailable', true],
  ])('sandbox/%s is %s', async (id, code, retryable) => {
    expect(await modelErrorOf(models.generate(callOf(`sandbox/${id}`)))).toMatchObject({ code, retryable });
  });

  test('sandbox/flaky answers every second call', async () => {
    const own = modelsAt({});
    for (let i = 0; i < 2; i++) {
      expect(await modelErrorOf(own.generate(callOf('sandbox/flaky')))).toMatchObject({ retryable: true });
      expect(await own.generate(callOf('sandbox/flaky'))).toMatchObject({ output: 'Say hi' });
    }
  });

  test.each(['stall', 'slow', 'slow-600000'])('sandbox/%s ends at the time limit', async (id) => {
    const error = await modelErrorOf(models.generate(callOf(`sandbox/${id}`, { timeoutMs: 20 })));
    expect(error).toMatchObject({ code: 'model_timeout', retryable: true });
  });

  test.each(['stall', 'slow'])('sandbox/%s gives up with its caller', async (id) => {
    const controller = new AbortController();
    const call = models.generate(callOf(`sandbox/${id}`, { signal: controller.signal }));
    controller.abort();
    await expect(call).rejects.toBe(controller.signal.reason);
  });
});

test('the prompt is the last user message', async () => {
  const input: ChatMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Two' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Th' },
        { type: 'file', media_type: 'image/png', data: 'AAAA' },
        { type: 'text', text: 'ree' },
      ],
    },
  ];
  const echoed = await models.generate(callOf('sandbox/echo', { input }));
  // 9 + 3 + 3 + 5 characters read, 5 written
  expect(echoed).toMatchObject({ output: 'Three', toolCalls: [], tokens: { input: 5, output: 2 } });
  expect(await models.generate(callOf('sandbox/json', { input }))).toMatchObject({ output: '{"echo":"Three"}' });
});

describe('sandbox/tools', () => {
  const PLACE = {
    type: 'object',
    required: ['city', 'days', 'unit', 'hourly', 'at', 'tags', 'note'],
    properties: {
      city: { type: 'string' },
      days: { type: 'integer', minimum: 3 },
      unit: { enum: ['C', 'F'] },
      hourly: { type: 'boolean' },
      at: { type: 'object', required: ['lat'], properties: { lat: { type: 'number' } } },
      tags: { type: 'array', items: { type: 'string' } },
      note: { type: ['null', 'string'] },
      optional: { type: 'string' },
    },
  };
  const tools = [
    { name: 'get_weather', input_schema: PLACE },
    { name: 'get_time', input_schema: { type: 'object' } },
  ];
  const ask = (rest: Partial<ModelCall>) => models.generate(callOf('sandbox/tools', { tools, ...rest }));

  test('calls the first tool with the required input', async () => {
    const input = { city: 'city', days: 3, unit: 'C', hourly: true, at: { lat: 1 }, tags: ['tags'], note: null };
    expect(await ask({})).toMatchObject({
      output: '',
      finishReason: 'tool_calls',
      toolCalls: [{ id: 'call_1', name: 'get_weather', input }],
    });
  });

  test('calls the named tool, and none if none is allowed', async () => {
    expect((await ask({ toolChoice: { name: 'get_time' } })).toolCalls).toEqual([
      { id: 'call_1', name: 'get_time', input: {} },
    ]);
    expect(await ask({ toolChoice: 'none' })).toMatchObject({ output: 'Say hi', toolCalls: [], finishReason: 'stop' });
    expect(await ask({ tools: [] })).toMatchObject({ output: 'Say hi', toolCalls: [] });
  });

  test('returns the tool results, and calls again on request', async () => {
    const history: ChatMessage[] = [
      { role: 'user', content: 'How is Paris?' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_call', id: 'call_1', name: 'get_weather', input: {} },
          { type: 'tool_call', id: 'call_2', name: 'get_time', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool_result', id: 'call_1', name: 'get_weather', output: { celsius: 21 } },
          { type: 'tool_result', id: 'call_2', name: 'get_time', output: 'noon' },
        ],
      },
    ];
    expect(await ask({ input: history })).toMatchObject({
      output: 'get_weather gave {"celsius":21}. get_time gave noon.',
      toolCalls: [],
      finishReason: 'stop',
    });
    const again = await ask({ input: [...history, { role: 'user', content: 'And Rome?' }] });
    expect(again.toolCalls).toMatchObject([{ id: 'call_3', name: 'get_weather' }]);
  });
});

describe('streamed', () => {
  test.each(['sandbox/echo', 'sandbox/slow-20'])('%s responds word by word', async (model) => {
    const { call, deltas } = streamed(model, { input: '  The quick  fox.\n' });
    expect(await models.generate(call)).toMatchObject({ output: '  The quick  fox.\n' });
    expect(textsOf(deltas)).toEqual(['  ', 'The ', 'quick  ', 'fox.\n']);
  });

  test('sandbox/slow hands a word on long before the last', async () => {
    const caller = new AbortController();
    const reason = new Error('heard enough');
    const call = callOf('sandbox/slow-600000', {
      input: 'word '.repeat(100_000),
      signal: caller.signal,
      onDelta: () => caller.abort(reason),
    });
    await expect(models.generate(call)).rejects.toBe(reason);
  });

  test('sandbox/tools hands its call on', async () => {
    const { call, deltas } = streamed('sandbox/tools', { tools: [{ name: 'f', input_schema: { type: 'object' } }] });
    const { toolCalls } = await models.generate(call);
    expect(deltas).toEqual(toolCalls.map((toolCall) => ({ type: 'tool_call', toolCall })));
    expect(toolCalls).toHaveLength(1);
  });
});
