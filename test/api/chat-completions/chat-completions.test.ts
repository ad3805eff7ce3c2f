import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { APICallError, generateText, jsonSchema, Output, tool } from 'ai';
import type OpenAI from 'openai';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { CannedAnswer } from '../../support/providers/protocol.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { aiSdkProvider, apiErrorOf, createPrompt, openAiClient, PNG, WEATHER } from './chat-completions-support.ts';

let service: TestService;
let provider: StandIn;
let client: OpenAI;
let canned: CannedAnswer;
beforeAll(async () => {
  provider = await startOpenAiServer({ on: (await sharedProviders()).openai, answer: () => canned });
  service = await startTestService({}, { providers: true });
  client = openAiClient(service);
  const system = { role: 'system', content: 'Speak {{ language }}.' };
  await createPrompt(service, 'chat/open', {
    messages: [system],
    model: 'openai/gpt-4o-mini',
    parameters: { temperature: 0.2, max_tokens: 50 },
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

/** A completion of `chat/open`. `variables` is not an OpenAI field: their client passes on unknown fields. */
function complete(
  body: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> & Record<string, unknown> = {},
  options: OpenAI.RequestOptions = {},
) {
  const request = { model: 'chat/open', messages: [{ role: 'user' as const, content: 'Hi' }], variables, ...body };
  return client.chat.completions.create(request, options);
}

describe("OpenAI's client", () => {
  test('gets a completion that is an execution', async () => {
    canned = { text: 'Bonjour!', usage: { input: 20, output: 7, cached: 4, reasoning: 2 } };
    const completion = await complete({ metadata: { customer: 'acme' }, user: 'u-1', store: true, temperature: 1 });
    expect(completion).toEqual({
      id: expect.stringMatching(/^exec_/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'chat/open@1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Bonjour!', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 7,
        total_tokens: 27,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    });
    const execution = await executionOf(completion.id);
    expect(execution).toMatchObject({
      status: 'completed',
      prompt_name: 'chat/open',
      prompt_version: 1,
      input: [
        { role: 'system', content: 'Speak French.' },
        { role: 'user', content: 'Hi' },
      ],
      parameters: { temperature: 1, max_tokens: 50 },
      metadata: { customer: 'acme', user: 'u-1' },
    });
    expect(Math.floor(Date.parse(execution.created_at) / 1000)).toBe(completion.created);
    expect(completion._request_id).toMatch(/^req_/);
  });

  test('passes on every given parameter, and keeps the others from the prompt', async () => {
    await complete({
      max_completion_tokens: 9,
      max_tokens: 8,
      top_p: 0.5,
      stop: ['END'],
      seed: 3,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      temperature: null,
      n: 1,
      logprobs: false,
      modalities: ['text'],
      service_tier: 'auto',
      parallel_tool_calls: true,
      tools: [],
      prompt_cache_key: 'k',
      safety_identifier: 's',
    });
    expect(sentBody()).toMatchObject({
      temperature: 0.2,
      max_tokens: 9,
      top_p: 0.5,
      stop: ['END'],
      seed: 3,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
    });
    expect(sentBody()['tools']).toBeUndefined();
  });

  test('runs the latest version, a version or a label', async () => {
    await createPrompt(service, 'versions/of', { template: 'one' });
    await createPrompt(service, 'versions/of', { template: 'two' });
    await service.call('PUT', '/prompts/versions/of/labels/live', { body: { version: 1 } });
    const textOf = async (model: string) => {
      const { choices, model: ran } = await client.chat.completions.create({ model, messages: [] });
      return [choices[0]?.message.content, ran];
    };
    expect(await textOf('versions/of')).toEqual(['two', 'versions/of@2']);
    expect(await textOf('versions/of@latest')).toEqual(['two', 'versions/of@2']);
    expect(await textOf('versions/of@1')).toEqual(['one', 'versions/of@1']);
    expect(await textOf('versions/of@live')).toEqual(['one', 'versions/of@1']);
  });

  test('completes a round trip with tools, and returns its own messages', async () => {
    canned = {
      text: '',
      toolCalls: [
        { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } },
        { id: 'call_2', name: 'get_weather', input: { city: 'Rome' } },
      ],
    };
    const question = { role: 'user' as const, content: 'The weather?' };
    const first = await complete({ messages: [question], tools: [WEATHER], tool_choice: 'auto' });
    const { message, finish_reason: reason } = first.choices[0] ?? {};
    expect(reason).toBe('tool_calls');
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
        { id: 'call_2', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
      ],
    });
    canned = { text: 'Sunny, and rain.' };
    const second = await complete({
      tools: [WEATHER],
      messages: [
        question,
        ...(message === undefined ? [] : [message]),
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: '{"sky":"rain"}' }] },
      ],
    });
    expect(second.choices[0]?.message.content).toBe('Sunny, and rain.');
    expect(sentBody()['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'call_2', content: '{"sky":"rain"}' },
    ]);
  });

  test('accepts messages of agents, and reports what the model did not get', async () => {
    const call = { id: 'call_1', type: 'function' as const, function: { name: 'plan', arguments: '{}' } };
    const planner = { role: 'assistant' as const, content: null, name: 'planner', tool_calls: [call] };
    const messages = [
      { role: 'user' as const, content: 'Plan it.', name: 'ada' },
      { ...planner, reasoning_content: 'Hm.' },
      { role: 'tool' as const, tool_call_id: 'call_1', content: 'done' },
      { role: 'system' as const, content: 'Who is next?', name: 'supervisor' },
    ];
    const body = { model: 'greeting', variables: { name: 'Ada' }, messages, top_k: 5, verbosity: 'low' as const };
    await createPrompt(service, 'agents', {
      messages: [{ placeholder: 'none', required: false }],
      model: 'openai/gpt-4o-mini',
    });
    const completion = await client.chat.completions.create({ ...body, model: 'agents' });
    expect(sentBody()).toMatchObject({ verbosity: 'low', messages: [messages[0], planner, messages[2], messages[3]] });
    expect(sentBody()).not.toHaveProperty('top_k');
    const warnings = [
      { path: 'messages', message: expect.stringContaining('reasoning_content') },
      { path: 'parameters.top_k', message: 'is left out: openai has no such parameter' },
    ];
    expect(completion).toMatchObject({ warnings });
    const chunks = await Array.fromAsync(
      await client.chat.completions.create({ ...body, model: 'agents', stream: true }),
    );
    expect(chunks.filter((chunk) => 'warnings' in chunk)).toMatchObject([{ warnings }]);
  });

  test('accepts cache marks and reasoning details wherever gateways put them', async () => {
    const cache_control = { type: 'ephemeral' as const };
    const hour = { type: 'ephemeral' as const, ttl: '1h' as const };
    await createPrompt(service, 'marked', {
      messages: [{ role: 'system', content: [{ type: 'text', text: 'Rules.', cache_control: hour }] }],
      model: 'openai/gpt-4o-mini',
    });
    const body = {
      model: 'marked',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Plan it.', cache_control }], cache_control: null },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'plan', arguments: '{}' } }],
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
          cache_control,
        },
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'done', cache_control }] },
        { role: 'user', content: 'Go on.', cache_control },
      ],
      tools: [
        { type: 'function', function: { name: 'plan' }, cache_control },
        { type: 'function', function: { name: 'look', cache_control } },
      ],
    };
    const { body: completion } = await service.call('POST', '/chat/completions', { body });
    expect(completion.warnings).toEqual([
      { path: 'messages', message: expect.stringContaining('reasoning_details') },
      { path: 'tools', message: 'are sent without cache_control: openai has no marks of its cache' },
    ]);
    expect(JSON.stringify(sentBody())).not.toMatch(/cache_control|reasoning_details/);
    const { body: execution } = await service.call('GET', `/executions/${completion.id}`);
    expect(execution.input).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Rules.', cache_control: hour }] },
      { role: 'user', content: [{ type: 'text', text: 'Plan it.', cache_control }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'call_1', name: 'plan', input: {}, cache_control }],
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
      },
      { role: 'tool', content: [{ type: 'tool_result', id: 'call_1', name: 'plan', output: 'done', cache_control }] },
      { role: 'user', content: [{ type: 'text', text: 'Go on.', cache_control }] },
    ]);
    expect(execution.tools).toMatchObject([
      { name: 'plan', cache_control },
      { name: 'look', cache_control },
    ]);
    const refused = { ...body, messages: [{ role: 'user', content: 'Hi', cache_control: { type: 'lasting' } }] };
    expect((await service.call('POST', '/chat/completions', { body: refused })).body.error).toMatchObject({
      param: 'messages.0.cache_control.type',
    });
  });

  test('has the model call one tool at a time', async () => {
    await complete({ messages: [{ role: 'user', content: 'Hi' }], tools: [WEATHER], parallel_tool_calls: false });
    expect(sentBody()).toMatchObject({ parallel_tool_calls: false });
  });

  test('overrides the tools of the prompt', async () => {
    const tools = [{ name: 'get_time', input_schema: { type: 'object', properties: {} } }];
    await createPrompt(service, 'chat/tools', {
      messages: [{ role: 'system', content: 'x' }],
      tools,
      tool_choice: { name: 'get_time' },
      model: 'openai/gpt-4o-mini',
    });
    const namesOf = (list: unknown) => (list as { function: { name: string } }[]).map(({ function: { name } }) => name);
    await complete({ model: 'chat/tools' });
    expect([namesOf(sentBody()['tools']), sentBody()['tool_choice']]).toEqual([
      ['get_time'],
      { type: 'function', function: { name: 'get_time' } },
    ]);
    await complete({ model: 'chat/tools', tool_choice: 'none' });
    expect(sentBody()['tool_choice']).toBe('none');
    const { id } = await complete({ model: 'chat/tools', tools: [WEATHER] });
    expect([namesOf(sentBody()['tools']), sentBody()['tool_choice'] ?? 'auto']).toEqual([['get_weather'], 'auto']);
    expect(await executionOf(id)).toMatchObject({ prompt_version: 1, tools: [{ name: 'get_weather' }] });
    const { param, message } = await apiErrorOf(
      complete({ model: 'chat/tools', tool_choice: { type: 'function', function: { name: 'get_weather' } } }),
    );
    expect([param, message]).toEqual(['tool_choice', expect.stringContaining('get_weather')]);
  });

  test('requests JSON by a schema', async () => {
    canned = { text: '{"city":"Paris"}' };
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const { id, choices } = await complete({
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
    });
    expect(choices[0]?.message.content).toBe('{"city":"Paris"}');
    expect(sentBody()['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'place', schema },
    });
    expect((await executionOf(id)).output_json).toEqual({ city: 'Paris' });
  });

  test('sends images, sounds and documents', async () => {
    const pdf = Buffer.from('%PDF-1.4 nothing').toString('base64');
    const wav = Buffer.from('RIFF....WAVEfmt ').toString('base64');
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'auto' } },
      { type: 'image_url', image_url: { url: 'https://example.com/photo.png' } },
      { type: 'input_audio', input_audio: { data: wav, format: 'wav' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
    ];
    const { id } = await complete({ messages: [{ role: 'user', content }] });
    expect((await executionOf(id)).input[1].content).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'file', media_type: 'image/png', data: PNG },
      { type: 'file', media_type: 'image/*', url: 'https://example.com/photo.png' },
      { type: 'file', media_type: 'audio/wav', data: wav },
      { type: 'file', media_type: 'application/pdf', filename: 'a.pdf', data: pdf },
    ]);
    expect(sentBody()['messages']).toMatchObject([
      {},
      { content: [{}, ...content.slice(1, 3).map(({ type }) => ({ type })), {}, {}] },
    ]);
  });

  test('lists prompts as models, and retrieves one', async () => {
    await createPrompt(service, 'gone', { template: 'x' });
    await service.call('DELETE', '/prompts/gone');
    const names: string[] = [];
    for await (const model of client.models.list()) names.push(model.id);
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(expect.arrayContaining(['chat/open', 'greeting']));
    expect(names).not.toContain('gone');
    for (const id of ['chat/open', 'chat/open@1', 'chat/open@latest'])
      expect(await client.models.retrieve(id)).toMatchObject({ id, object: 'model', created: expect.any(Number) });
    expect(await apiErrorOf(client.models.retrieve('chat/open@2'))).toMatchObject({ status: 404, param: 'model' });
    expect(await apiErrorOf(client.models.retrieve('gone'))).toMatchObject({ status: 400, code: 'prompt_archived' });
    expect(await apiErrorOf(client.models.delete('greeting'))).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('makes one run of fifty requests with a key, and fifty without', async () => {
    const before = provider.callCount;
    const headers = { 'Idempotency-Key': 'fifty' };
    const fifty = <T>(make: (index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 50 }, (_, n) => make(n)));
    const same = await fifty(() => complete({}, { headers }));
    expect(new Set(same.map(({ id }) => id)).size).toBe(1);
    expect(new Set(same.map(({ choices }) => choices[0]?.message.content))).toEqual(new Set(['Bonjour!']));
    expect(provider.callCount - before).toBe(1);
    const others = await fifty((index) =>
      complete({ model: 'greeting', messages: [], variables: { name: `number ${index}` } }),
    );
    expect(others.map(({ choices }) => choices[0]?.message.content)).toEqual(
      others.map((_, index) => `Greet number ${index}.`),
    );
    expect(await apiErrorOf(complete({ seed: 1 }, { headers }))).toMatchObject({
      status: 400,
      code: 'idempotency_key_reused',
    });
  });

  test('may disconnect: the run continues, and a repeated request finds it', async () => {
    provider.behave({ mode: 'hold' });
    const headers = { 'Idempotency-Key': 'left' };
    const gone = new AbortController();
    const before = provider.callCount;
    const left = complete({}, { headers, signal: gone.signal });
    await waitFor('the call', async () => provider.callCount > before);
    gone.abort();
    await expect(left).rejects.toThrow(/abort/i);
    const again = complete({}, { headers });
    provider.behave();
    expect((await again).choices[0]?.message.content).toBe('Bonjour!');
    expect(provider.callCount - before).toBe(1);
  });
});

describe('errors', () => {
  test.each([
    ['fail-400', 400, 'model_invalid_request', 'invalid_request_error', null],
    ['fail-404', 404, 'model_not_found', 'invalid_request_error', null],
    ['fail-401', 500, 'model_authentication', 'server_error', 'false'],
    ['fail', 500, 'model_unavailable', 'server_error', null],
  ])('sandbox/%s is a %d', async (model, status, code, type, shouldRetry) => {
    await createPrompt(service, `failing/${model}`, { template: 'x', model: `sandbox/${model}` });
    const error = await apiErrorOf(client.chat.completions.create({ model: `failing/${model}`, messages: [] }));
    expect(error).toMatchObject({ status, code, type, param: null });
    expect(error.message).toContain('always fails');
    expect(error.headers?.get('X-Should-Retry')).toBe(shouldRetry);
  });

  test('a provider without quota is a 429 with Retry-After', async () => {
    provider.behave({
      mode: 'fail',
      status: 429,
      body: { error: { message: 'no quota', code: 'insufficient_quota' } },
    });
    const error = await apiErrorOf(complete());
    expect(error).toMatchObject({ status: 429, code: 'model_rate_limited', type: 'rate_limit_error' });
    expect(Number(error.headers?.get('Retry-After'))).toBeGreaterThan(0);
    // Repeated with its key, it would be the same execution.
    const keyed = await apiErrorOf(complete({}, { headers: { 'Idempotency-Key': 'limited' } }));
    expect([keyed.status, keyed.headers?.get('X-Should-Retry')]).toEqual([429, 'false']);
  });

  test('a withheld response is a 400, as a content filter', async () => {
    canned = { text: '', finishReason: 'content_filter' };
    expect(await apiErrorOf(complete())).toMatchObject({ status: 400, code: 'content_filter' });
  });

  test('a run that is open, or was canceled', async () => {
    provider.behave({ mode: 'hold' });
    const waitNone = (headers: Record<string, string>) => complete({}, { headers: { Prefer: 'wait=0', ...headers } });
    const error = await apiErrorOf(waitNone({}));
    expect(error).toMatchObject({ status: 500, code: 'temporarily_unavailable', type: 'server_error' });
    expect(error.headers?.get('X-Should-Retry')).toBe('false');
    const id = /exec_[0-9a-f-]+/.exec(error.message)?.[0];
    expect((await executionOf(id ?? '')).prompt_name).toBe('chat/open');
    const repeatable = await apiErrorOf(waitNone({ 'Idempotency-Key': 'canceled' }));
    expect(repeatable.headers?.get('X-Should-Retry')).toBe('true');
    const other = /exec_[0-9a-f-]+/.exec(repeatable.message)?.[0];
    await service.call('POST', `/executions/${other}/cancel`);
    expect(await apiErrorOf(complete({}, { headers: { 'Idempotency-Key': 'canceled' } }))).toMatchObject({
      status: 400,
      code: 'invalid_state',
    });
    expect(await apiErrorOf(complete({}, { headers: { Prefer: 'wait=301' } }))).toMatchObject({ status: 400 });
  });

  test('keys, scopes and other workspaces', async () => {
    const { key: readOnly } = await createKey(service, 'read');
    const { key: other } = await createOtherWorkspace(service, 'chat-other');
    const at = (apiKey: string) => openAiClient(service, { apiKey });
    const request = { model: 'greeting', messages: [], variables: { name: 'x' } };
    const ask = (apiKey: string) => at(apiKey).chat.completions.create(request);
    expect(await apiErrorOf(ask('pms_wrong'))).toMatchObject({
      status: 401,
      code: 'unauthorized',
      type: 'authentication_error',
    });
    expect(await apiErrorOf(ask(readOnly))).toMatchObject({ status: 401, code: 'insufficient_scope' });
    expect(await apiErrorOf(ask(other))).toMatchObject({ status: 404, code: 'not_found', param: 'model' });
    expect(await apiErrorOf(at(other).models.retrieve('greeting'))).toMatchObject({ status: 404 });
    expect((await at(other).models.list()).data).toEqual([]);
    expect((await at(readOnly).models.list()).data.length).toBeGreaterThan(0);
  });

  test.each([
    ['no JSON', { raw: '{', headers: { 'Content-Type': 'application/json' } }, 'invalid_request'],
    ['no body', { headers: { 'Content-Type': 'application/json' }, raw: '' }, 'invalid_request'],
    ['a text', { raw: 'hi', headers: { 'Content-Type': 'text/plain' } }, 'invalid_request'],
    ['too large a body', { body: { model: 'x'.repeat(4 * 1024 * 1024) } }, 'payload_too_large'],
  ])('%s', async (_, options, code) => {
    const { status, body } = await service.call('POST', '/chat/completions', options);
    expect([status, body]).toEqual([
      400,
      { error: { message: expect.any(String), type: 'invalid_request_error', param: null, code } },
    ]);
  });

  test('another method, and missing variables', async () => {
    expect((await service.call('GET', '/chat/completions')).body.error).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_request',
    });
    const error = await apiErrorOf(complete({ variables: {} }));
    expect(error).toMatchObject({ status: 400, code: 'invalid_request', param: 'variables.language' });
  });
});

describe('the AI SDK', () => {
  test('gets a text, a tool call and an object', async () => {
    const model = aiSdkProvider(service)('chat/open');
    const providerOptions = { prompts: { variables } };
    canned = { text: 'Salut!', usage: { input: 11, output: 3 } };
    const text = await generateText({ model, prompt: 'Hi', providerOptions, temperature: 0 });
    expect([text.text, text.finishReason, text.usage.inputTokens, text.usage.outputTokens]).toEqual([
      'Salut!',
      'stop',
      11,
      3,
    ]);

    canned = { text: '', toolCalls: [{ id: 'call_1', name: 'get_weather', input: { city: 'Paris' } }] };
    const weather = tool({
      description: 'The weather',
      inputSchema: jsonSchema<{ city: string }>(WEATHER.function.parameters as never),
      execute: ({ city }) => {
        canned = { text: `It is sunny in ${city}.` };
        return 'sunny';
      },
    });
    const answered = await generateText({
      model,
      prompt: 'The weather?',
      providerOptions,
      tools: { get_weather: weather },
      stopWhen: ({ steps }) => steps.length === 2,
    });
    expect(answered.text).toBe('It is sunny in Paris.');
    expect(sentBody()['messages']).toMatchObject([{}, {}, { role: 'assistant' }, { role: 'tool', content: 'sunny' }]);

    canned = { text: '{"city":"Paris"}' };
    const schema = jsonSchema<{ city: string }>(WEATHER.function.parameters as never);
    const { output } = await generateText({
      model,
      prompt: 'Where?',
      providerOptions,
      output: Output.object({ schema }),
    });
    expect(output).toEqual({ city: 'Paris' });
  });

  test('marks caches and names speakers by its options of messages', async () => {
    const of = (fields: Record<string, string | Record<string, string>>) => ({ openaiCompatible: fields });
    const cache_control = { type: 'ephemeral' };
    const { response } = await generateText({
      model: aiSdkProvider(service)('chat/open'),
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'Hi', providerOptions: of({ name: 'ada', cache_control }) }],
        },
      ],
      providerOptions: { prompts: { variables } },
    });
    const { body: execution } = await service.call('GET', `/executions/${response.id}`);
    expect(execution.input.at(-1)).toEqual({
      role: 'user',
      name: 'ada',
      content: [{ type: 'text', text: 'Hi', cache_control }],
    });
  });

  test('gets errors that it understands', async () => {
    const call = generateText({ model: aiSdkProvider(service)('nobody'), prompt: 'Hi', maxRetries: 0 });
    const error = await call.catch((thrown: unknown) => thrown);
    if (!APICallError.isInstance(error)) throw error;
    expect([error.statusCode, error.message]).toEqual([404, 'The prompt "nobody" does not exist in this workspace.']);
  });
});
