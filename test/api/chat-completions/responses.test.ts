import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import type OpenAI from 'openai';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { CannedAnswer } from '../../support/providers/protocol.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { apiErrorOf, createPrompt, openAiClient, PNG, WEATHER } from './chat-completions-support.ts';

let service: TestService;
let provider: StandIn;
let client: OpenAI;
let canned: CannedAnswer | ((calls: number) => CannedAnswer);
beforeAll(async () => {
  provider = await startOpenAiServer({
    on: (await sharedProviders()).openai,
    answer: () => (typeof canned === 'function' ? canned(provider.calls.length) : canned),
  });
  service = await startTestService({}, { providers: true });
  client = openAiClient(service);
  await createPrompt(service, 'chat/open', {
    messages: [{ role: 'system', content: 'Speak {{ language }}.' }],
    model: 'openai/gpt-4o-mini',
    parameters: { temperature: 0.2, max_tokens: 50 },
  });
  await createPrompt(service, 'plain', {
    messages: [{ role: 'system', content: 'Help.' }],
    model: 'openai/gpt-4o-mini',
  });
  await createPrompt(service, 'greeting', { template: 'Greet {{ name }}.' });
});
afterAll(async () => {
  await service?.stop();
  await provider?.close();
});
beforeEach(() => {
  canned = { text: 'Bonjour!' };
  provider.behave();
});

const variables = { language: 'French' };
const sentBody = () => provider.calls.at(-1)?.body ?? {};
const executionOf = async (id: string) => (await service.call('GET', `/executions/${id}`)).body;
const { function: weather } = WEATHER;
const FLAT_WEATHER = { type: 'function' as const, strict: null, ...weather };
const PARIS = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } };

function respond(
  body: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> & Record<string, unknown> = {},
  options: OpenAI.RequestOptions = {},
) {
  const request = { model: 'chat/open', input: 'Hi', variables, ...body };
  return client.responses.create(request, options);
}

async function eventsOf(body: Record<string, unknown> = {}): Promise<OpenAI.Responses.ResponseStreamEvent[]> {
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  const request = { model: 'chat/open', input: 'Hi', variables, ...body, stream: true as const };
  for await (const event of await client.responses.create(request)) events.push(event);
  return events;
}

describe("OpenAI's client", () => {
  test('gets a response that is an execution', async () => {
    canned = { text: 'Bonjour!', usage: { input: 20, output: 7, cached: 4, reasoning: 2 } };
    const response = await respond({
      instructions: 'Be brief.',
      metadata: { customer: 'acme' },
      user: 'u-1',
      store: false,
      temperature: 1,
      max_output_tokens: 9,
      include: ['reasoning.encrypted_content'],
      truncation: 'disabled',
      parallel_tool_calls: true,
    });
    const uuid = response.id.slice('exec_'.length);
    expect(response).toMatchObject({
      id: expect.stringMatching(/^exec_/),
      object: 'response',
      status: 'completed',
      model: 'chat/open@1',
      output_text: 'Bonjour!',
      output: [
        {
          id: `msg_${uuid}`,
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Bonjour!', annotations: [], logprobs: [] }],
        },
      ],
      error: null,
      incomplete_details: null,
      temperature: 1,
      max_output_tokens: 9,
      metadata: { customer: 'acme', user: 'u-1' },
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 27,
      },
    });
    expect(await executionOf(response.id)).toMatchObject({
      status: 'completed',
      input: [
        { role: 'system', content: 'Speak French.' },
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      parameters: { temperature: 1, max_tokens: 9 },
    });
  });

  test('runs a prompt that needs no input', async () => {
    const request = { model: 'greeting', variables: { name: 'Ada' } };
    expect((await client.responses.create(request)).output_text).toBe('Greet Ada.');
  });

  test('calls tools, and sends their results', async () => {
    canned = { text: '', toolCalls: [PARIS] };
    const first = await respond({ tools: [FLAT_WEATHER], tool_choice: { type: 'function', name: 'get_weather' } });
    expect(first.output).toEqual([
      {
        id: `fc_${first.id.slice('exec_'.length)}_0`,
        type: 'function_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'get_weather',
        arguments: '{"city":"Paris"}',
      },
    ]);
    expect([first.tools, first.tool_choice]).toEqual([
      [{ type: 'function', ...weather, strict: null }],
      { type: 'function', name: 'get_weather' },
    ]);

    canned = { text: 'Il pleut.' };
    const [call] = first.output;
    const output = { type: 'function_call_output', call_id: 'call_1', output: '{"rain":true}' } as const;
    const asked = { role: 'user', content: 'Hi' } as const;
    for (const item of [call, { type: 'item_reference', id: call?.id }]) {
      const request = { tools: [FLAT_WEATHER], input: [asked, item, output] as OpenAI.Responses.ResponseInput };
      const second = await respond(request);
      expect(second.output_text).toBe('Il pleut.');
      expect((await executionOf(second.id)).input.slice(1)).toEqual([
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_call', ...PARIS }] },
        {
          role: 'tool',
          content: [{ type: 'tool_result', id: 'call_1', name: 'get_weather', output: '{"rain":true}' }],
        },
      ]);
    }
  });

  test('sends earlier messages, images and files', async () => {
    const first = await respond();
    const second = await respond({
      input: [
        { role: 'user', content: 'Hi' },
        ...first.output,
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'And this?' },
            { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
          ],
        },
      ] as OpenAI.Responses.ResponseInput,
    });
    expect((await executionOf(second.id)).input.slice(1)).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Bonjour!' },
      { role: 'user', content: [{ type: 'text' }, { type: 'file', media_type: 'image/png' }, { type: 'file' }] },
    ]);
  });

  test('gets structured outputs and truncated ones', async () => {
    canned = { text: '{"a":1}', finishReason: 'length' };
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
      additionalProperties: false,
    };
    const response = await respond({ text: { format: { type: 'json_schema', name: 'a', schema, strict: true } } });
    expect([response.status, response.incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }]);
    expect(sentBody()['response_format'] ?? sentBody()['text']).toMatchObject({ type: 'json_schema' });
  });

  test('gets one run for one Idempotency-Key, by the header or by the option', async () => {
    const headers = { 'Idempotency-Key': 'responses-once' };
    const [first, again] = [await respond({}, { headers }), await respond({}, { headers })];
    expect(again).toEqual(first);
    // The package sends the option only in the configured header.
    const told = Object.assign(openAiClient(service), { idempotencyHeader: 'Idempotency-Key' });
    const request = { model: 'greeting', messages: [], variables: { name: 'Ada' } };
    const run = () => told.chat.completions.create(request, { idempotencyKey: 'chat-once' });
    const { id } = await run();
    expect((await run()).id).toBe(id);
  });

  test('sees what is unsupported', async () => {
    const call = { type: 'function_call_output', call_id: 'none', output: 'x' };
    const cases: [Record<string, unknown>, string][] = [
      [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
      [{ conversation: 'conv_1' }, 'conversation'],
      [{ prompt: { id: 'plain', version: '0' } }, 'prompt.version'],
      [{ prompt: { id: 'plain@1', version: '1' } }, 'prompt.version'],
      [{ prompt: { id: 'plain', variables: { a: { type: 'input_image' } } } }, 'prompt.variables.a.image_url'],
      [{ background: true }, 'background'],
      [{ truncation: 'auto' }, 'truncation'],
      [{ max_tool_calls: 3 }, 'max_tool_calls'],
      [{ top_logprobs: 2 }, 'top_logprobs'],
      [{ include: ['message.output_text.logprobs'] }, 'include.0'],
      [{ tools: [{ type: 'web_search' }] }, 'tools.0.type'],
      [{ tools: [FLAT_WEATHER, FLAT_WEATHER] }, 'tools.1.name'],
      [{ reasoning: { summary: 'long' } }, 'reasoning.summary'],
      [{ text: { verbosity: 'most' } }, 'text.verbosity'],
      [{ input: 5 }, 'input'],
      [{ input: [{ type: 'computer_call' }] }, 'input.0.type'],
      [{ input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'input.0.content'],
      [{ input: [{ type: 'function_call', call_id: 'a', name: 'b', arguments: '{' }] }, 'input.0.arguments'],
      [{ input: [call] }, 'input.0.call_id'],
      [{ input: [{ type: 'item_reference', id: 'rs_1' }] }, 'input.0.id'],
      [{ input: [{ type: 'item_reference', id: 'msg_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }] }, 'input.0.id'],
      [{ nothing: 1 }, 'nothing'],
    ];
    for (const [body, path] of cases) {
      const error = await apiErrorOf(respond(body));
      expect([path, error.status, error.code, error.param]).toEqual([path, 400, 'invalid_request', expect.any(String)]);
      expect(`${error.param} ${error.message}`).toContain(path);
    }
    expect(await apiErrorOf(respond({ model: 'none' }))).toMatchObject({
      status: 404,
      code: 'not_found',
      param: 'model',
    });
  });

  test("sends a prompt in OpenAI's own form, with parts as variables", async () => {
    await createPrompt(service, 'own/form', {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '{{ a }} {{ b }}' },
            { type: 'file', media_type: 'image/*', variable: 'photo' },
          ],
        },
      ],
      model: 'openai/gpt-4o-mini',
    });
    await createPrompt(service, 'own/form', { template: 'Other {{ a }}' });
    const photo = { type: 'input_image' as const, image_url: `data:image/png;base64,${PNG}`, detail: 'auto' as const };
    const prompt = {
      id: 'own/form',
      version: '1',
      variables: { a: 'one', b: { type: 'input_text' as const, text: 'two' }, photo },
    };
    const { id, model } = await client.responses.create({ prompt });
    expect(model).toBe('own/form@1');
    expect(sentBody()).toMatchObject({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'one two' }, { type: 'image_url' }] }],
    });
    expect((await executionOf(id)).variables).toMatchObject({ a: 'one', b: 'two', photo: { media_type: 'image/png' } });
    await service.call('PUT', '/prompts/own/form/labels/live', { body: { version: 2 } });
    const labelled = { id: 'own/form', version: 'live', variables: { a: 'one' } };
    expect((await client.responses.create({ prompt: labelled, model: 'openai/gpt-4o' })).model).toBe('own/form@2');
    expect(sentBody()).toMatchObject({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Other one' }] });
    expect((await apiErrorOf(client.responses.create({ input: 'Hi' }))).param).toBe('model');
  });

  test('sends messages of agents, and sees what the model lacks', async () => {
    const input = [
      { role: 'user', content: 'Plan it.' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: 'abc' },
      { type: 'reasoning', id: 'rs_2', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'plan', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
      { role: 'developer', content: 'Who is next?' },
    ];
    const body = {
      input: input as OpenAI.Responses.ResponseInput,
      reasoning: { summary: 'auto' as const },
      text: { verbosity: 'low' as const },
    };
    const response = await respond({ ...body, model: 'plain' });
    expect(sentBody()).toMatchObject({ verbosity: 'low' });
    expect(sentBody()['messages']).toEqual([
      { role: 'system', content: 'Help.' },
      { role: 'user', content: 'Plan it.' },
      { role: 'assistant', content: null, tool_calls: [expect.objectContaining({ id: 'call_1' })] },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
      { role: 'system', content: 'Who is next?' },
    ]);
    const kept = { path: 'messages', message: expect.stringContaining('reasoning_content') };
    const warnings = [
      { path: 'reasoning.summary', message: 'is left out: responses have no reasoning' },
      { path: 'input', message: 'is sent without reasoning items that have no text' },
      kept,
    ];
    expect(response).toMatchObject({ warnings });
    const execution = await executionOf(response.id);
    expect(execution.calls).toMatchObject([{ warnings: [kept] }]);
    expect(execution.input[2]).toMatchObject({ role: 'assistant', reasoning_content: 'Hm.' });
    expect((await eventsOf({ ...body, model: 'plain' })).at(-1)).toMatchObject({ response: { warnings } });
    expect(await respond()).not.toHaveProperty('warnings');
  });

  test('sends the names of speakers, and cache marks', async () => {
    const cache_control = { type: 'ephemeral' };
    const input = [
      { role: 'user', name: 'ada', content: [{ type: 'input_text', text: 'Plan it.', cache_control }] },
      { role: 'assistant', name: 'planner', content: [{ type: 'output_text', text: 'I plan.', annotations: [] }] },
      { type: 'function_call', call_id: 'call_1', name: 'plan', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', name: 'plan', output: 'done' },
      { role: 'assistant', name: 'planner', content: 'Done.' },
      { role: 'assistant', name: 'writer', content: 'I write.' },
      { role: 'developer', name: 'supervisor', content: 'Who is next?' },
    ];
    const tools = [{ type: 'function', name: 'plan', parameters: {}, cache_control }];
    const { body } = await service.call('POST', '/responses', { body: { model: 'plain', input, tools } });
    expect(sentBody()['messages']).toEqual([
      { role: 'system', content: 'Help.' },
      { role: 'user', name: 'ada', content: 'Plan it.' },
      {
        role: 'assistant',
        name: 'planner',
        content: 'I plan.',
        tool_calls: [expect.objectContaining({ id: 'call_1' })],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
      { role: 'assistant', name: 'planner', content: 'Done.' },
      { role: 'assistant', name: 'writer', content: 'I write.' },
      { role: 'system', name: 'supervisor', content: 'Who is next?' },
    ]);
    const left = { path: 'tools', message: 'are sent without cache_control: openai has no marks of its cache' };
    expect(body.warnings).toEqual([left]);
    const execution = await executionOf(body.id);
    expect(execution.input[1].content).toEqual([{ type: 'text', text: 'Plan it.', cache_control }]);
    expect(execution.tools).toMatchObject([{ name: 'plan', cache_control }]);
  });

  test("gets the model's failure as an error", async () => {
    provider.behave({ mode: 'fail', status: 400, body: { error: { message: 'No.', type: 'invalid_request_error' } } });
    expect(await apiErrorOf(respond())).toMatchObject({ status: 400, code: 'model_invalid_request' });
    expect(await apiErrorOf(eventsOf())).toMatchObject({ status: 400, code: 'model_invalid_request' });
  });
});

test('an item of another workspace is unknown, and a reference needs read', async () => {
  const first = await respond();
  const input = [
    { type: 'item_reference', id: first.output[0]?.id },
    { role: 'user', content: 'Hi' },
  ];
  const { key } = await createKey(service, 'execute');
  const own = openAiClient(service, { apiKey: key });
  const request = { model: 'chat/open', input: input as OpenAI.Responses.ResponseInput, variables };
  expect(await apiErrorOf(own.responses.create(request))).toMatchObject({ status: 401, code: 'insufficient_scope' });
  const other = await createOtherWorkspace(service, 'other');
  await other.call('POST', '/prompts', { body: { name: 'greeting', template: 'x', model: 'sandbox/echo' } });
  const answer = await other.call('POST', '/responses', { body: { model: 'greeting', input } });
  expect([answer.status, answer.body.error.param]).toEqual([400, 'input.0.id']);
});

describe('streams', () => {
  test("OpenAI's client gets the words as Responses API events", async () => {
    canned = { text: 'Hello Ada, lovely to meet you!', usage: { input: 5, output: 7 } };
    const events = await eventsOf();
    const types = events.map(({ type }) => type);
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const text = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
    expect(text).toBe('Hello Ada, lovely to meet you!');
    const last = events.at(-1);
    expect(last).toMatchObject({ response: { status: 'completed', usage: { total_tokens: 12 } } });
    expect(events[0]).toMatchObject({ response: { status: 'in_progress', output: [], usage: null } });
  });

  test('its helper assembles the same response as without a stream', async () => {
    canned = { text: 'Let me see.', toolCalls: [PARIS] };
    const request = { model: 'chat/open', input: 'Hi', tools: [FLAT_WEATHER], variables };
    const final = await client.responses.stream(request).finalResponse();
    expect(final.output.map(({ type }) => type)).toEqual(['message', 'function_call']);
    const headers = { 'Idempotency-Key': 'whole' };
    const whole = await client.responses.create(request, { headers });
    expect(final.output.map((item) => ({ ...item, id: '' }))).toMatchObject(
      whole.output.map((item) => ({ ...item, id: '' })),
    );
  });

  test('a failure midway is reported', async () => {
    provider.behave({ mode: 'fail-halfway', body: { error: { message: 'No.', type: 'invalid_request_error' } } });
    const events = await eventsOf().catch((error: unknown) => error);
    if (Array.isArray(events)) expect(events.at(-1)).toMatchObject({ type: 'response.failed' });
    else expect(events).toMatchObject({ code: expect.any(String) });
  });
});

describe("the AI SDK's default model", () => {
  const prompts = () => createOpenAI({ baseURL: `${service.origin}/v1`, apiKey: service.key });
  const getWeather = () =>
    tool({
      description: weather.description,
      inputSchema: jsonSchema<{ city: string }>({ ...weather.parameters, required: ['city'] }),
      execute: async ({ city }) => ({ city, rain: true }),
    });

  test('generates text and objects', async () => {
    const text = await generateText({ model: prompts()('plain'), prompt: 'Hi', maxRetries: 0 });
    expect([text.text, text.finishReason]).toEqual(['Bonjour!', 'stop']);
    canned = { text: '{"city":"Paris"}' };
    const schema = jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    });
    const { output } = await generateText({
      model: prompts()('plain'),
      prompt: 'Hi',
      output: Output.object({ schema }),
    });
    expect(output).toEqual({ city: 'Paris' });
  });

  test.each([true, false])('calls tools in several steps (store: %s)', async (store) => {
    const before = provider.calls.length;
    canned = (calls) => (calls === before + 1 ? { text: 'Let me see.', toolCalls: [PARIS] } : { text: 'It rains.' });
    const result = await generateText({
      model: prompts()('plain'),
      prompt: 'What is the weather in Paris?',
      tools: { get_weather: getWeather() },
      stopWhen: stepCountIs(3),
      providerOptions: { openai: { store } },
    });
    expect([result.text, result.steps.length]).toEqual(['It rains.', 2]);
    const { data } = (await service.call('GET', '/executions?limit=1')).body;
    expect((await executionOf(data[0].id)).input).toMatchObject([
      { role: 'system', content: 'Help.' },
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text', text: 'Let me see.' }, { type: 'tool_call' }] },
      { role: 'tool', content: [{ type: 'tool_result', name: 'get_weather' }] },
    ]);
  });

  test('streams', async () => {
    const before = provider.calls.length;
    canned = (calls) => (calls === before + 1 ? { text: 'Let me see.', toolCalls: [PARIS] } : { text: 'It rains.' });
    const result = streamText({
      model: prompts()('plain'),
      prompt: 'What is the weather in Paris?',
      tools: { get_weather: getWeather() },
      stopWhen: stepCountIs(3),
    });
    let text = '';
    for await (const delta of result.textStream) text += delta;
    expect(text).toBe('Let me see.It rains.');
    expect((await result.steps).length).toBe(2);
    expect(await result.totalUsage).toMatchObject({ inputTokens: expect.any(Number) });
  });
});
