import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createPrompt, PNG, WEATHER } from './chat-completions-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  await createPrompt(service, 'p', { messages: [{ role: 'system', content: 'x' }] });
});
afterAll(() => service?.stop());

/** The first invalid field and its message. */
async function refused(body: object): Promise<{ param: string; message: string }> {
  const request = { model: 'p', messages: [{ role: 'user', content: 'Hi' }], ...body };
  const response = await service.call('POST', '/chat/completions', { body: request });
  const { type, code, param, message } = response.body.error;
  expect([response.status, type, code]).toEqual([400, 'invalid_request_error', 'invalid_request']);
  return { param, message };
}

/** Expects a request to be accepted: without workers, none of them ends. */
async function taken(body: object): Promise<void> {
  const request = { model: 'p', messages: [{ role: 'user', content: 'Hi' }], ...body };
  const headers = { Prefer: 'respond-async' };
  const response = await service.call('POST', '/chat/completions', { body: request, headers });
  expect(response.body.error).toMatchObject({
    type: 'server_error',
    message: expect.stringContaining('is still running'),
  });
}

describe('fields', () => {
  test.each([
    ['n', 2],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['logit_bias', { 50256: -100 }],
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'alloy', format: 'mp3' }],
    ['prediction', { type: 'content', content: 'x' }],
    ['web_search_options', {}],
    ['verbosity', 'most'],
    ['parallel_tool_calls', 'no'],
    ['service_tier', 'priority'],
    ['functions', []],
    ['function_call', 'auto'],
    ['temperature', 3],
    ['temperature', 'hot'],
    ['max_tokens', 0],
    ['max_completion_tokens', 0.5],
    ['reasoning_effort', 'most'],
    ['stream', 'yes'],
    ['model', 5],
    ['model', ''],
    ['model', 'a//b'],
    ['model', 'p@'],
    ['model', 'p@0'],
    ['model', 'p@1@2'],
    ['variables', []],
    ['metadata', { a: 1 }],
    ['user', 5],
    ['messages', 'Hi'],
    ['tools', {}],
    ['tool_choice', 'always'],
    ['response_format', { type: 'xml' }],
    ['top_k', 0],
    ['constructor', 3],
  ])('%s: %j is a 400 that names the field', async (field, value) => {
    const { param, message } = await refused({ [field]: value });
    expect(param.split('.')[0]).toBe(field);
    expect(message).toContain(field);
  });

  test('every neutral value is taken', async () => {
    await taken({
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      modalities: ['text'],
      audio: null,
      prediction: null,
      verbosity: 'medium',
      parallel_tool_calls: true,
      service_tier: 'default',
      stream: false,
      stream_options: null,
      store: true,
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      tools: null,
      tool_choice: null,
      metadata: null,
      response_format: { type: 'text' },
      stop: null,
    });
    await taken({ response_format: { type: 'json_object' }, reasoning_effort: 'low', stop: 'END' });
  });

  test('without messages the prompt runs with its own, if any', async () => {
    await createPrompt(service, 'whole', { template: 'Hi' });
    await taken({ model: 'whole', messages: [] });
    const { status } = await service.call('POST', '/chat/completions', {
      body: { model: 'whole' },
      headers: { Prefer: 'wait=0' },
    });
    expect(status).toBe(500);
    await refused({ model: 'p', messages: [] });
  });
});

const user = (content: unknown) => [{ role: 'user', content }];
const called = (call: object) => [
  { role: 'user', content: 'x' },
  { role: 'assistant', content: null, tool_calls: [call] },
];
const call = (more: object = {}) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: '{}', ...more } });

describe('messages', () => {
  test.each([
    ['0.role', [{ role: 'king', content: 'x' }]],
    ['0.role', [{ content: 'x' }]],
    ['0.role', [{ role: 'function', name: 'f', content: 'x' }]],
    ['0.content', [{ role: 'user' }]],
    ['0.content', user(5)],
    ['0.content', user([])],
    ['0.content', user(null)],
    ['0.name', [{ role: 'user', content: 'x', name: 5 }]],
    ['0.reasoning_content', [{ role: 'user', content: 'x', reasoning_content: 'x' }]],
    ['0.content.0.type', user([{ type: 'video', url: 'x' }])],
    ['0.content.0.text', user([{ type: 'text' }])],
    ['0.content.0.image_url.url', user([{ type: 'image_url', image_url: { url: 'http://example.com/a.png' } }])],
    ['0.content.0.image_url.url', user([{ type: 'image_url', image_url: { url: 'data:image/png,abc' } }])],
    ['0.content.0.image_url.url', user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,a?b=' } }])],
    ['0.content.0.image_url.url', user([{ type: 'image_url', image_url: { url: 'data:text/plain;base64,aGk=' } }])],
    ['0.content.0.image_url.url', user([{ type: 'image_url', image_url: {} }])],
    [
      '0.content.0.image_url.detail',
      user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'high' } }]),
    ],
    ['0.content.0.input_audio.format', user([{ type: 'input_audio', input_audio: { data: 'aGk=', format: 'flac' } }])],
    ['0.content.0.input_audio.data', user([{ type: 'input_audio', input_audio: { data: '?', format: 'wav' } }])],
    ['0.content.0.file.file_data', user([{ type: 'file', file: { file_data: 'aGk=' } }])],
    ['0.content.0.file.file_id', user([{ type: 'file', file: { file_data: 'data:a/b;base64,aGk=', file_id: 'f' } }])],
    ['1.content', [{ role: 'user', content: 'x' }, { role: 'assistant' }]],
    [
      '1.content',
      [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, tool_calls: [] },
      ],
    ],
    [
      '1.function_call',
      [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: 'x', function_call: {} },
      ],
    ],
    ['1.tool_calls.0.type', called({ ...call(), type: 'custom' })],
    ['1.tool_calls.0.function.name', called(call({ name: 'a b' }))],
    ['1.tool_calls.0.function.arguments', called(call({ arguments: '{' }))],
    ['1.tool_calls.0.function.arguments', called(call({ arguments: '{"a":"\\u0000"}' }))],
    ['1.tool_calls.0.function.arguments', called(call({ arguments: '['.repeat(100_000) }))],
    ['1.tool_calls.0.function.arguments', called(call({ arguments: `${'['.repeat(40)}${']'.repeat(40)}` }))],
    ['1.tool_calls.0.function.arguments', called(call({ arguments: {} }))],
    ['0.tool_call_id', [{ role: 'tool', tool_call_id: 'c', content: 'x' }]],
    ['2.tool_call_id', [...called(call()), { role: 'tool', tool_call_id: 'd', content: 'x' }]],
    // A call without its result, a duplicate result, and a system message in between: no provider accepts these.
    ['1', called(call())],
    ['3', [...called(call()), ...Array(2).fill({ role: 'tool', tool_call_id: 'c', content: 'x' })]],
    ['2', [...called(call()), { role: 'developer', content: 'x' }, { role: 'tool', tool_call_id: 'c', content: 'x' }]],
  ])('a fault at messages.%s', async (path, messages) => {
    const { param, message } = await refused({ messages });
    expect(param).toBe(`messages.${path}`);
    expect(message).toContain(param);
  });

  test('too many are refused before any is checked', async () => {
    const { param, message } = await refused({ messages: Array(1_001).fill(5) });
    expect([param, message]).toEqual(['messages', expect.stringContaining('at most 1000')]);
    const many = await refused({ messages: Array(101).fill({ role: 'user', content: Array(100).fill(5) }) });
    expect(many).toEqual({ param: 'messages', message: expect.stringContaining('at most 10000 parts') });
  });

  test('an assistant message can be any response', async () => {
    await taken({
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'x' }] },
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, refusal: 'I will not.', annotations: [], audio: null, function_call: null },
        { role: 'user', content: 'x' },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], tool_calls: null },
        { role: 'user', content: 'x' },
        { role: 'assistant', content: '', tool_calls: [{ ...call({ arguments: '' }), index: 0 }] },
        { role: 'tool', tool_call_id: 'c', name: 'f', content: '' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'x' },
      ],
    });
  });
});

describe('tools', () => {
  const tool = (more: object) => [{ type: 'function', function: { name: 'f', ...more } }];

  test.each([
    ['tools.0.type', { tools: [{ type: 'web_search' }] }],
    ['tools.0.function.name', { tools: [{ type: 'function', function: {} }] }],
    ['tools.0.function.name', { tools: tool({ name: 'a b' }) }],
    ['tools.1.function.name', { tools: [WEATHER, WEATHER] }],
    ['tools.0.function.parameters', { tools: tool({ parameters: [] }) }],
    ['tools.0.function.parameters', { tools: tool({ parameters: { type: 'string' } }) }],
    ['tools.0.function.strict', { tools: tool({ strict: 'yes' }) }],
    ['tools.0.function.extra', { tools: tool({ extra: 1 }) }],
    ['tool_choice', { tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'other' } } }],
    ['tool_choice', { tool_choice: 'required' }],
    ['response_format.json_schema.schema', { response_format: { type: 'json_schema', json_schema: { name: 'x' } } }],
  ])('a fault at %s', async (path, body) => {
    expect((await refused(body)).param).toBe(path);
  });

  test('a tool can have no parameters', async () => {
    await taken({ tools: [...tool({}), ...tool({ name: 'g', parameters: {}, description: null, strict: null })] });
  });
});
