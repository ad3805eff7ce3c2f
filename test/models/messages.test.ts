import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ChatMessage } from '../../src/domain/prompts/messages.ts';
import type { Tool } from '../../src/domain/prompts/prompt-content.ts';
import { type AllStandIns, MODELS, startAllStandIns } from '../support/providers/all.ts';
import { callOf, modelErrorOf } from '../support/providers/models.ts';

let standIns: AllStandIns;

beforeAll(async () => {
  standIns = await startAllStandIns();
});
afterAll(() => standIns.close());
beforeEach(() => standIns.answer({ text: 'ok' }));

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4 nothing').toString('base64');
const WAV = Buffer.from('RIFF....WAVEfmt ').toString('base64');

const WEATHER: Tool = {
  name: 'get_weather',
  description: 'The weather in a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string', pattern: '^(?!x)' } }, required: ['city'] },
  strict: true,
};
const TIME: Tool = { name: 'get_time', input_schema: { type: 'object', properties: {} } };

const HISTORY: ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
  { role: 'user', content: 'How is Paris?' },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_call', id: 'call_1', name: 'get_weather', input: { city: 'Paris' } },
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
  { role: 'user', content: 'And Rome?' },
];

async function sent(model: string, rest: Parameters<typeof callOf>[1]) {
  await standIns.models.generate(callOf(model, rest));
  return standIns.lastCall(model).body;
}

describe('a history with tools', () => {
  const call = { input: HISTORY, tools: [WEATHER, TIME] };

  test.each(['openai/gpt-4o', 'openai-compatible/m'])('%s', async (model) => {
    const { messages, tools, tool_choice } = await sent(model, call);
    const functionCall = (id: string, name: string, input: string) => ({
      id,
      type: 'function',
      function: { name, arguments: input },
    });
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'How is Paris?' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          functionCall('call_1', 'get_weather', '{"city":"Paris"}'),
          functionCall('call_2', 'get_time', '{}'),
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '{"celsius":21}' },
      { role: 'tool', tool_call_id: 'call_2', content: 'noon' },
      { role: 'user', content: 'And Rome?' },
    ]);
    const { name, description, input_schema: parameters, strict } = WEATHER;
    expect(tools).toEqual([
      { type: 'function', function: { name, description, parameters, strict } },
      { type: 'function', function: { name: TIME.name, parameters: TIME.input_schema } },
    ]);
    expect(tool_choice).toBeUndefined();
  });

  test('anthropic', async () => {
    const { system, messages, tools } = await sent('anthropic/claude-sonnet-4-5', call);
    expect(system).toEqual([
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Be kind.' },
    ]);
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'How is Paris?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Paris' } },
          { type: 'tool_use', id: 'call_2', name: 'get_time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: '{"celsius":21}' },
          { type: 'tool_result', tool_use_id: 'call_2', content: 'noon' },
          { type: 'text', text: 'And Rome?' },
        ],
      },
    ]);
    expect(tools).toEqual([
      expect.objectContaining({
        name: 'get_weather',
        description: WEATHER.description,
        input_schema: WEATHER.input_schema,
      }),
      expect.objectContaining({ name: 'get_time', input_schema: TIME.input_schema }),
    ]);
  });

  test('google', async () => {
    const { systemInstruction, contents, tools, toolConfig } = await sent('google/gemini-2.5-flash', call);
    expect(systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] });
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'How is Paris?' }] },
      {
        role: 'model',
        parts: [
          { text: 'I look.' },
          { functionCall: { id: 'call_1', name: 'get_weather', args: { city: 'Paris' } } },
          { functionCall: { id: 'call_2', name: 'get_time', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'call_1',
              name: 'get_weather',
              response: { name: 'get_weather', content: { celsius: 21 } },
            },
          },
          { functionResponse: { id: 'call_2', name: 'get_time', response: { name: 'get_time', content: 'noon' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'And Rome?' }] },
    ]);
    expect(tools).toEqual([
      {
        functionDeclarations: [
          { name: 'get_weather', description: WEATHER.description, parametersJsonSchema: WEATHER.input_schema },
          { name: 'get_time', description: '', parametersJsonSchema: TIME.input_schema },
        ],
      },
    ]);
    expect(toolConfig).toEqual({ functionCallingConfig: { mode: 'VALIDATED' } });
  });
});

describe('tool_choice', () => {
  const TOOLS = [{ ...WEATHER, strict: false }, TIME];
  const named = { name: 'get_time' };

  test.each([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [named, { type: 'function', function: named }],
  ] as const)('%j reaches OpenAI', async (toolChoice, expected) => {
    const body = await sent('openai/gpt-4o', { tools: TOOLS, toolChoice });
    expect(body['tool_choice']).toEqual(expected);
  });

  test.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [named, { type: 'tool', name: 'get_time' }],
  ] as const)('%j reaches Anthropic', async (toolChoice, expected) => {
    const body = await sent('anthropic/claude-sonnet-4-5', { tools: TOOLS, toolChoice });
    expect(body['tool_choice']).toEqual(expected);
  });

  test.each([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [named, { mode: 'ANY', allowedFunctionNames: ['get_time'] }],
  ] as const)('%j reaches Google', async (toolChoice, expected) => {
    const body = await sent('google/gemini-2.5-flash', { tools: TOOLS, toolChoice });
    expect(body['toolConfig']).toEqual({ functionCallingConfig: expected });
  });

  test.each(MODELS)('is ignored by %s without tools, unless it requires one', async (model) => {
    expect(await sent(model, { toolChoice: 'auto' })).not.toHaveProperty('tool_choice');
    const error = await modelErrorOf(standIns.models.generate(callOf(model, { toolChoice: named })));
    expect(error).toMatchObject({ code: 'model_invalid_request', message: expect.stringContaining('no tools') });
  });

  test('that a model does not support with a JSON response is refused before the call', async () => {
    const json_schema = { name: 'verdict', schema: { type: 'object', properties: {} } };
    const parameters = { response_format: { type: 'json_schema' as const, json_schema } };
    const model = 'anthropic/claude-3-5-haiku-latest';
    const calls = standIns.of(model).callCount;
    const call = callOf(model, { tools: TOOLS, toolChoice: named, parameters });
    expect(await modelErrorOf(standIns.models.generate(call))).toMatchObject({
      code: 'model_invalid_request',
      message: expect.stringContaining('tool_choice "get_time"'),
    });
    expect(standIns.of(model).callCount).toBe(calls);
  });
});

describe('files', () => {
  const withFile = (media_type: string, data: string, filename?: string): ChatMessage[] => [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'file', media_type, data, ...(filename !== undefined && { filename }) },
      ],
    },
  ];
  const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });

  test.each([
    ['openai/gpt-4o', 'image/png', PNG, { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
    ['openai/gpt-4o', 'audio/wav', WAV, { type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }],
    [
      'openai/gpt-4o',
      'application/pdf',
      PDF,
      { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
    ],
    [
      'openai-compatible/m',
      'image/png',
      PNG,
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
    ],
    ['openai-compatible/m', 'text/plain', Buffer.from('Hi').toString('base64'), { type: 'text', text: 'Hi' }],
    [
      'anthropic/claude-sonnet-4-5',
      'image/png',
      PNG,
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    ],
    [
      'anthropic/claude-sonnet-4-5',
      'application/pdf',
      PDF,
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF }, title: 'a.pdf' },
    ],
    ['google/gemini-2.5-flash', 'image/png', PNG, inline('image/png', PNG)],
    ['google/gemini-2.5-flash', 'audio/wav', WAV, inline('audio/wav', WAV)],
    ['google/gemini-2.5-flash', 'application/pdf', PDF, inline('application/pdf', PDF)],
  ])('%s gets %s', async (model, mediaType, data, expected) => {
    const body = await sent(model, { input: withFile(mediaType, data, 'a.pdf') });
    expect(JSON.stringify(body)).toContain(JSON.stringify(expected).slice(1, -1));
  });

  test.each([
    ['anthropic/claude-sonnet-4-5', 'audio/wav', 'does not accept audio/wav files'],
    ['openai/gpt-4o', 'audio/ogg', 'does not accept audio/ogg files'],
    ['openai/gpt-4o', 'text/csv', 'does not accept text/csv files'],
    ['openai-compatible/m', 'application/zip', 'does not accept application/zip files'],
  ])('%s refuses %s before it is called', async (model, mediaType, reason) => {
    const calls = standIns.of(model).callCount;
    const error = await modelErrorOf(standIns.models.generate(callOf(model, { input: withFile(mediaType, WAV) })));
    expect(error).toMatchObject({ code: 'model_invalid_request', message: expect.stringContaining(reason) });
    expect(error.message).toMatch(/^messages\.0: /);
    expect(standIns.of(model).callCount).toBe(calls);
  });

  test.each(['openai/gpt-4o', 'openai-compatible/m', 'anthropic/claude-sonnet-4-5'])(
    '%s refuses one from the assistant',
    async (model) => {
      const input: ChatMessage[] = [
        { role: 'user', content: 'Draw.' },
        { role: 'assistant', content: [{ type: 'file', media_type: 'image/png', data: PNG }] },
        { role: 'user', content: 'Again.' },
      ];
      const error = await modelErrorOf(standIns.models.generate(callOf(model, { input })));
      expect(error).toMatchObject({ code: 'model_invalid_request' });
      expect(error.message).toMatch(/^messages\.1: /);
    },
  );

  test('Google gets one from the assistant', async () => {
    const input: ChatMessage[] = [
      { role: 'user', content: 'Draw.' },
      { role: 'assistant', content: [{ type: 'file', media_type: 'image/png', data: PNG }] },
      { role: 'user', content: 'Again.' },
    ];
    const { contents } = await sent('google/gemini-2.5-flash', { input });
    expect(contents).toContainEqual({ role: 'model', parts: [inline('image/png', PNG)] });
  });
});

describe('tool calls', () => {
  const PARIS = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } };
  const ROME = { id: 'call_2', name: 'get_weather', input: { city: 'Rome', at: [1, { x: null }] } };

  test.each(MODELS)('of %s are in its response', async (model) => {
    standIns.answer({ text: '', toolCalls: [PARIS, ROME] });
    const response = await standIns.models.generate(callOf(model, { tools: [WEATHER] }));
    expect(response).toMatchObject({ output: '', finishReason: 'tool_calls', toolCalls: [PARIS, ROME] });
  });

  test.each(MODELS)('of %s come beside text', async (model) => {
    standIns.answer({ text: 'I look.', toolCalls: [PARIS] });
    const response = await standIns.models.generate(callOf(model, { tools: [WEATHER] }));
    expect(response).toMatchObject({ output: 'I look.', finishReason: 'tool_calls', toolCalls: [PARIS] });
  });

  test.each(['openai/gpt-4o', 'openai-compatible/m'])('of %s may not be JSON, and come back intact', async (model) => {
    standIns.answer({ text: '', toolCalls: [{ ...PARIS, input: '{"city": "Par' }], finishReason: 'stop' });
    const response = await standIns.models.generate(callOf(model, { tools: [WEATHER] }));
    expect(response).toMatchObject({ finishReason: 'tool_calls', toolCalls: [{ ...PARIS, input: '{"city": "Par' }] });
    standIns.answer({ text: 'ok' });
    const input: ChatMessage[] = [
      { role: 'user', content: 'How is Paris?' },
      { role: 'assistant', content: response.toolCalls.map((toolCall) => ({ type: 'tool_call', ...toolCall })) },
      { role: 'tool', content: [{ type: 'tool_result', id: 'call_1', name: 'get_weather', output: 'bad input' }] },
    ];
    const { messages } = await sent(model, { input });
    expect(messages).toContainEqual(
      expect.objectContaining({
        tool_calls: [expect.objectContaining({ function: { name: 'get_weather', arguments: '{"city": "Par' } })],
      }),
    );
  });

  test.each(['anthropic/claude-sonnet-4-5', 'google/gemini-2.5-flash'])('%s takes only objects', async (model) => {
    const input: ChatMessage[] = [
      { role: 'user', content: 'How is Paris?' },
      { role: 'assistant', content: [{ type: 'tool_call', ...PARIS, input: 'Paris' }] },
      { role: 'tool', content: [{ type: 'tool_result', id: 'call_1', name: 'get_weather', output: 'bad input' }] },
    ];
    const error = await modelErrorOf(standIns.models.generate(callOf(model, { input, tools: [WEATHER] })));
    expect(error).toMatchObject({ code: 'model_invalid_request', message: expect.stringContaining('call_1') });
  });

  test('can be kept by PostgreSQL', async () => {
    standIns.answer({ text: '', toolCalls: [{ ...PARIS, input: { 'a\u0000': ['\ud800'] } }] });
    const response = await standIns.models.generate(callOf('openai/gpt-4o', { tools: [WEATHER] }));
    expect(response.toolCalls).toEqual([{ ...PARIS, input: { 'a\uFFFD': ['\uFFFD'] } }]);
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    standIns.answer({ text: '', toolCalls: [{ ...PARIS, input: deep }] });
    const kept = await standIns.models.generate(callOf('openai/gpt-4o', { tools: [WEATHER] }));
    expect(kept.toolCalls).toEqual([{ ...PARIS, input: deep }]);
  });
});

test.each(MODELS)('%s gives a JSON response by a schema beside a system message', async (model) => {
  standIns.answer({ text: '{"a":1}' });
  const schema = {
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
    additionalProperties: false,
  };
  const response = await standIns.models.generate(
    callOf(model, {
      input: HISTORY.slice(0, 3),
      parameters: { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } },
    }),
  );
  expect(response.output).toBe('{"a":1}');
  expect(JSON.stringify(standIns.lastCall(model).body)).toContain('"required":["a"]');
});
