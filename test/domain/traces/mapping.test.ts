import { describe, expect, test } from '@jest/globals';
import type { StepType } from '../../../src/domain/traces/step.ts';
import { BEGIN, stepWith, toKeyValues } from './traces-support.ts';

const OPERATION = 'gen_ai.operation.name';
const LF = 'langfuse.observation';

test.each<[Record<string, unknown>, StepType]>([
  [{ 'pms.step.type': 'guardrail', [OPERATION]: 'chat' }, 'guardrail'],
  [{ [`${LF}.type`]: 'generation' }, 'model'],
  [{ [`${LF}.type`]: 'span', 'openinference.span.kind': 'RETRIEVER' }, 'retrieval'],
  [{ 'openinference.span.kind': 'LLM' }, 'model'],
  [{ 'openinference.span.kind': 'UNKNOWN' }, 'other'],
  [{ [OPERATION]: 'text_completion' }, 'model'],
  [{ [OPERATION]: 'generate_content' }, 'model'],
  [{ [OPERATION]: 'embeddings' }, 'embedding'],
  [{ [OPERATION]: 'execute_tool' }, 'tool'],
  [{ [OPERATION]: 'create_agent' }, 'agent'],
  [{ [OPERATION]: 'invoke_workflow' }, 'agent'],
  [{ [OPERATION]: 'plan' }, 'chain'],
  [{ [OPERATION]: 'toString' }, 'other'],
  [{ 'traceloop.span.kind': 'task' }, 'chain'],
  [{ 'ai.operationId': 'ai.generateText' }, 'agent'],
  [{ 'ai.operationId': 'ai.generateObject.doGenerate' }, 'model'],
  [{ 'ai.operationId': 'ai.embed.doEmbed' }, 'embedding'],
  [{ 'mlflow.spanType': '"CHAT_MODEL"' }, 'model'],
  [{ 'mlflow.spanType': 'RERANKER' }, 'rerank'],
  [{ 'llm.request.type': 'chat' }, 'model'],
  [{ 'mcp.method.name': 'tools/call' }, 'tool'],
  [{ 'mcp.method.name': 'tools/list' }, 'other'],
  [{ 'gen_ai.tool.name': 'search' }, 'tool'],
  [{ 'gen_ai.request.model': 'gpt-4o' }, 'model'],
  [{ 'http.request.method': 'GET' }, 'other'],
])('%j is of type %s', (attributes, type) => {
  expect(stepWith(attributes).type).toBe(type);
});

describe('tokens', () => {
  const tokensOf = (attributes: Record<string, unknown>) => stepWith(attributes).tokens;
  const none = { input: 0, output: 0, cached_input: 0, cache_write: 0, reasoning: 0 };

  test('are null if nothing is given', () => {
    expect(tokensOf({ [OPERATION]: 'chat' })).toBeNull();
    expect(tokensOf({ 'gen_ai.usage.cache_read.input_tokens': 3 })).toBeNull();
    expect(tokensOf({ 'gen_ai.usage.input_tokens': -1, 'gen_ai.usage.output_tokens': 'many' })).toBeNull();
  });

  test.each([
    [
      { 'gen_ai.usage.prompt_tokens': 7, 'gen_ai.usage.completion_tokens': 2 },
      { input: 7, output: 2 },
    ],
    [
      { 'llm.token_count.prompt': '7', 'llm.token_count.completion': 2 },
      { input: 7, output: 2 },
    ],
    [
      { 'ai.usage.promptTokens': 7, 'ai.usage.completionTokens': 2 },
      { input: 7, output: 2 },
    ],
    [{ 'ai.usage.tokens': 7 }, { input: 7 }],
    [{ 'gen_ai.aggregated_usage.input_tokens': 7 }, { input: 7 }],
    [
      { 'mlflow.chat.tokenUsage': '{"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}' },
      { input: 7, output: 2 },
    ],
  ])('of %j', (attributes, tokens) => {
    expect(tokensOf(attributes)).toEqual({ ...none, ...tokens });
  });

  test('that are cached are a part of the input; if they are more, they are separate', () => {
    const of = (input: number, cached: number, written: number) =>
      tokensOf({
        'gen_ai.usage.input_tokens': input,
        'gen_ai.usage.cache_read.input_tokens': cached,
        'gen_ai.usage.cache_creation.input_tokens': written,
      });
    expect(of(100, 60, 40)).toEqual({ ...none, input: 100, cached_input: 60, cache_write: 40 });
    expect(of(10, 60, 40)).toEqual({ ...none, input: 110, cached_input: 60, cache_write: 40 });
    const thinking = { 'gen_ai.usage.output_tokens': 10, 'gen_ai.usage.reasoning.output_tokens': 30 };
    expect(tokensOf(thinking)).toEqual({ ...none, output: 40, reasoning: 30 });
  });

  test('of Langfuse exclude each other', () => {
    const of = (usage: unknown) => tokensOf({ [`${LF}.usage_details`]: JSON.stringify(usage) });
    expect(of({ input: 26, input_cached_tokens: 64, output: 8, output_reasoning_tokens: 4, total: 102 })).toEqual({
      ...none,
      input: 90,
      output: 12,
      cached_input: 64,
      reasoning: 4,
    });
    expect(of({ input: 5, cache_read_input_tokens: 60, cache_creation_input_tokens: 40, output: 1 })).toEqual({
      ...none,
      input: 105,
      output: 1,
      cached_input: 60,
      cache_write: 40,
    });
    const details = {
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 4 },
    };
    expect(of({ prompt_tokens: 90, completion_tokens: 12, total_tokens: 102, ...details })).toEqual({
      ...none,
      input: 90,
      output: 12,
      cached_input: 64,
      reasoning: 4,
    });
    expect(of({ prompt_tokens: 90, completion_tokens: 12, prompt_tokens_details: null })).toMatchObject({ input: 90 });
    expect(of({})).toBeNull();
  });
});

test.each([
  [{ 'pms.cost.usd': 0.00021, 'gen_ai.usage.cost': 5 }, '0.00021'],
  [{ 'gen_ai.usage.cost': '1e-7' }, '0.0000001'],
  [{ [`${LF}.cost_details`]: '{"input": 1, "total": 3}' }, '3'],
  [{ 'llm.cost.total': 0.1 + 0.2 }, '0.3'],
  [{ 'llm.cost.total': -1 }, null],
  [{ 'llm.cost.total': 'free' }, null],
])('the cost of %j is %s', (attributes, cost) => {
  expect(stepWith(attributes).cost).toBe(cost);
});

test.each([
  [
    { 'gen_ai.prompt.name': 'a', 'gen_ai.prompt.version': 'v3' },
    { name: 'a', version: 3 },
  ],
  [
    { [`${LF}.prompt.name`]: 'a', [`${LF}.prompt.version`]: 4 },
    { name: 'a', version: 4 },
  ],
  [
    { 'pms.prompt.name': 'a', 'pms.prompt.version': '5' },
    { name: 'a', version: 5 },
  ],
  [
    { 'gen_ai.prompt.name': 'a', 'gen_ai.prompt.version': 'latest' },
    { name: 'a', version: null },
  ],
  [
    { 'gen_ai.prompt.name': 'a', 'gen_ai.prompt.version': 0 },
    { name: 'a', version: null },
  ],
  [{ 'gen_ai.prompt.version': '3' }, null],
])('the prompt of %j is %j', (attributes, prompt) => {
  expect(stepWith(attributes).prompt).toEqual(prompt);
});

test('names of the groups of a step', () => {
  expect(
    stepWith({
      'pms.conversation.id': 'c',
      'session.id': 'other',
      'enduser.id': 42,
      'tag.tags': ['a', 'b', 'a'],
      metadata: '{"plan": "pro", "seats": 3}',
      'langfuse.trace.metadata.region': '"eu"',
      'gen_ai.response.id': 'exec_01900000-0000-7000-8000-000000000000',
      'pms.release.id': 'rel_1',
      'pms.release.arm': 'candidate',
      'pms.trace.complete': true,
      'deployment.environment.name': 'production',
      'ai.model.id': 'gpt-4o',
      'ai.model.provider': 'openai.chat',
      'gen_ai.request.temperature': 0.5,
      'llm.invocation_parameters': '{"top_p": 1}',
    }),
  ).toMatchObject({
    conversationId: 'c',
    userId: '42',
    tags: ['a', 'b'],
    metadata: { plan: 'pro', seats: '3', region: 'eu' },
    executionId: 'exec_01900000-0000-7000-8000-000000000000',
    release: { id: 'rel_1', arm: 'candidate' },
    complete: true,
    environment: 'production',
    service: 'shop',
    model: 'gpt-4o',
    provider: 'openai',
    parameters: { temperature: 0.5, top_p: 1 },
    resource: { 'host.name': 'a' },
    // No field holds it, so it is kept.
    attributes: { 'session.id': 'other' },
  });
});

describe('an error', () => {
  const exception = {
    name: 'exception',
    timeUnixNano: `${BEGIN}000000`,
    attributes: toKeyValues({ 'exception.type': 'TimeoutError', 'exception.message': 'too slow' }),
  };

  test.each([
    [{}, { status: { code: 2, message: 'bad' } }, { status: 'error', error: 'bad', errorType: null }],
    [{ 'error.type': '429' }, {}, { status: 'error', error: null, errorType: '429' }],
    [{}, { events: [exception] }, { status: 'error', error: 'too slow', errorType: 'TimeoutError' }],
    [{}, { status: { code: 1 }, events: [exception] }, { status: 'ok', error: null }],
    [{ [`${LF}.status_message`]: 'why' }, { status: { code: 2 } }, { status: 'error', error: 'why' }],
    [{}, { status: { code: 2 }, endTimeUnixNano: '0' }, { status: 'error', endedAt: null }],
    [{}, {}, { status: 'ok', error: null, errorType: null }],
  ])('is from %j %j', (attributes, more, expected) => {
    expect(stepWith(attributes, more)).toMatchObject(expected);
  });
});

test('a score is an event', () => {
  const event = (attributes: Record<string, unknown>) => ({
    name: 'gen_ai.evaluation.result',
    timeUnixNano: `${BEGIN}000000`,
    attributes: toKeyValues(attributes),
  });
  const events = [
    event({
      'gen_ai.evaluation.name': 'relevance',
      'gen_ai.evaluation.score.value': 0.5,
      'gen_ai.evaluation.explanation': 'why',
    }),
    event({ 'gen_ai.evaluation.name': 'tone', 'gen_ai.evaluation.score.label': 'polite' }),
    event({ 'gen_ai.evaluation.name': 'nothing' }),
  ];
  expect(stepWith({}, { events })).toMatchObject({
    events: [],
    scores: [
      { name: 'relevance', value: 0.5, explanation: 'why' },
      { name: 'tone', value: 'polite', explanation: null },
    ],
  });
});

describe('messages', () => {
  const inputOf = (attributes: Record<string, unknown>) => stepWith({ [OPERATION]: 'chat', ...attributes }).input;
  const user = (content: unknown) => ({ role: 'user', content });

  test('of the conventions, with reasoning, files and calls without ids', () => {
    const messages = [
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'Look' },
          { type: 'uri', uri: 'https://example.com/a.png', mime_type: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'hm' },
          { type: 'tool_call', name: 'zoom', arguments: { by: 2 } },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: { ok: true } }] },
    ];
    expect(
      inputOf({
        'gen_ai.input.messages': JSON.stringify(messages),
        'gen_ai.system_instructions': '[{"type":"text","content":"Be short."}]',
      }),
    ).toEqual([
      { role: 'system', content: 'Be short.' },
      user([
        { type: 'text', text: 'Look' },
        { type: 'text', text: '[image/png: https://example.com/a.png]' },
      ]),
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'call_1', name: 'zoom', input: { by: 2 } }],
        reasoning_content: 'hm',
      },
      { role: 'tool', content: [{ type: 'tool_result', id: 'call_1', name: 'zoom', output: { ok: true } }] },
    ]);
  });

  test('as structured values instead of JSON', () => {
    expect(inputOf({ 'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }] })).toEqual([
      user('Hi'),
    ]);
  });

  test('of the AI SDK', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'get', input: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'get', output: { type: 'json', value: { x: 1 } } }],
      },
    ];
    expect(inputOf({ 'ai.prompt': JSON.stringify({ system: 'Be short.', messages }) })).toEqual([
      { role: 'system', content: 'Be short.' },
      user('Hi'),
      { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'get', input: {} }] },
      { role: 'tool', content: [{ type: 'tool_result', id: 'a', name: 'get', output: { x: 1 } }] },
    ]);
    expect(inputOf({ 'ai.prompt': '{"prompt":"Hi"}' })).toEqual([user('Hi')]);
  });

  test('of OpenAI’s responses', () => {
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'reasoning', summary: [] },
      { type: 'function_call', call_id: 'a', name: 'get', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'a', output: 'done' },
    ];
    expect(inputOf({ 'input.value': JSON.stringify({ model: 'gpt-4o', instructions: 'Be short.', input }) })).toEqual([
      { role: 'system', content: 'Be short.' },
      user('Hi'),
      { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'get', input: { x: 1 } }] },
      { role: 'tool', content: [{ type: 'tool_result', id: 'a', name: 'get', output: 'done' }] },
    ]);
  });

  test('of Anthropic, where results are the user’s', () => {
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get', input: { x: 1 } }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'done' },
          { type: 'text', text: 'Go on' },
        ],
      },
    ];
    expect(inputOf({ 'traceloop.entity.input': JSON.stringify({ messages }) })).toEqual([
      { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'get', input: { x: 1 } }] },
      { role: 'tool', content: [{ type: 'tool_result', id: 'a', name: 'get', output: 'done' }] },
      user('Go on'),
    ]);
  });

  test('in names of attributes', () => {
    expect(
      inputOf({
        'gen_ai.prompt.1.role': 'user',
        'gen_ai.prompt.1.content': 'Hi',
        'gen_ai.prompt.0.role': 'system',
        'gen_ai.prompt.0.content': 'Be short.',
        'gen_ai.prompt.name': 'greet',
      }),
    ).toEqual([{ role: 'system', content: 'Be short.' }, user('Hi')]);
    expect(
      inputOf({
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.contents.0.message_content.type': 'text',
        'llm.input_messages.0.message.contents.0.message_content.text': 'Hi',
        'llm.input_messages.0.message.contents.1.message_content.type': 'image',
        'llm.input_messages.0.message.contents.1.message_content.image.image.url': 'data:image/png;base64,AAAA',
      }),
    ).toEqual([
      user([
        { type: 'text', text: 'Hi' },
        { type: 'text', text: '[image/png, 4 characters of base64]' },
      ]),
    ]);
  });

  test('in events', () => {
    const event = (name: string, attributes: Record<string, unknown>) => ({
      name,
      timeUnixNano: `${BEGIN}000000`,
      attributes: toKeyValues(attributes),
    });
    const events = [
      event('gen_ai.system.message', { content: 'Be short.' }),
      event('gen_ai.user.message', { content: 'Hi' }),
      event('gen_ai.choice', { index: 0, finish_reason: 'stop', message: '{"content": "Hello"}' }),
    ];
    expect(stepWith({ [OPERATION]: 'chat' }, { events })).toMatchObject({
      input: [{ role: 'system', content: 'Be short.' }, user('Hi')],
      output: 'Hello',
      events: [],
    });
    const details = event('gen_ai.client.inference.operation.details', {
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
      'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"Hello"}]}]',
    });
    expect(stepWith({ [OPERATION]: 'chat' }, { events: [details] })).toMatchObject({
      input: [user('Hi')],
      output: 'Hello',
    });
  });

  test('in an unknown form stay text, and those of tools are text', () => {
    expect(inputOf({ 'input.value': '{"query":"Hi"}' })).toBe('{"query":"Hi"}');
    expect(inputOf({ 'gen_ai.input.messages': '[{"role":"narrator","content":"Hi"}]' })).toBe(
      '{"messages":[{"role":"narrator","content":"Hi"}]}',
    );
    expect(
      inputOf({ 'gen_ai.input.messages': '[{"role":"assistant","parts":[{"type":"tool_call","name":"not a name"}]}]' }),
    ).toContain('not a name');
    const tool = stepWith({
      [OPERATION]: 'execute_tool',
      'gen_ai.tool.call.arguments': { city: 'Paris' },
      'gen_ai.tool.call.result': '"ok"',
    });
    expect(tool).toMatchObject({ input: '{"city":"Paris"}', output: 'ok' });
    expect(inputOf({})).toBeNull();
  });

  test('of an answer: the first of several, with its calls and reasoning', () => {
    const said = (text: string, more: unknown[] = []) => ({
      role: 'assistant',
      parts: [{ type: 'text', content: text }, ...more],
    });
    const call = { type: 'tool_call', id: 'a', name: 'get', arguments: '{"x":1}' };
    const step = stepWith({
      [OPERATION]: 'chat',
      'gen_ai.output.messages': JSON.stringify([
        said('one', [call, { type: 'reasoning', content: 'hm' }]),
        said('two'),
      ]),
    });
    expect(step).toMatchObject({
      output: 'one',
      toolCalls: [{ id: 'a', name: 'get', input: { x: 1 } }],
      attributes: { 'pms.output.reasoning': 'hm' },
    });
    const items = [
      { type: 'reasoning', content: 'hm' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'one' }] },
      { type: 'function_call', call_id: 'a', name: 'get', arguments: '{"x":1}' },
    ];
    expect(stepWith({ [OPERATION]: 'chat', 'output.value': JSON.stringify(items) })).toMatchObject({
      output: 'one',
      toolCalls: [{ id: 'a', name: 'get', input: { x: 1 } }],
    });
  });

  test('the output of a retrieval is its documents', () => {
    const attributes = {
      'openinference.span.kind': 'RETRIEVER',
      'input.value': 'weather',
      'retrieval.documents.0.document.id': '1',
      'retrieval.documents.0.document.content': 'sunny',
    };
    expect(stepWith(attributes)).toMatchObject({
      type: 'retrieval',
      input: 'weather',
      output: '[{"document":{"id":"1","content":"sunny"}}]',
      attributes: {},
    });
  });
});
