import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { jsonSchema, streamText, tool } from 'ai';
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { CannedAnswer } from '../../support/providers/protocol.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { type StreamedCall, streamedCalls } from '../../support/streamed-calls.ts';
import { until, waitFor } from '../../support/wait-for.ts';
import { aiSdkProvider, apiErrorOf, createPrompt, openAiClient, WEATHER } from './chat-completions-support.ts';

type Chunk = OpenAI.ChatCompletionChunk;
type Request = Partial<OpenAI.ChatCompletionCreateParamsStreaming> & Record<string, unknown>;

const PARIS = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } };
const ROME = { id: 'call_2', name: 'get_weather', input: { city: 'Rome' } };

function stream(client: OpenAI, body: Request = {}, options: OpenAI.RequestOptions = {}) {
  const request = { model: 'say', messages: [], variables: { text: 'it' }, stream: true as const, ...body };
  return client.chat.completions.create(request, options);
}
/** By the metric. */
async function openStreams({ dependencies }: TestService): Promise<number | undefined> {
  const metric = await dependencies.registry.getSingleMetric('pms_streams_open')?.get();
  return metric?.values[0]?.value;
}
const textOf = (chunks: readonly Chunk[]) => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

describe('with a provider behind it', () => {
  let service: TestService;
  let provider: StandIn;
  let client: OpenAI;
  let canned: CannedAnswer;
  beforeAll(async () => {
    provider = await startOpenAiServer({ on: (await sharedProviders()).openai, answer: () => canned });
    service = await startTestService({}, { providers: true });
    client = openAiClient(service);
    await createPrompt(service, 'say', { template: '{{ text }}', model: 'openai/gpt-4o-mini' });
    await createPrompt(service, 'echo', { template: '{{ text }}' });
  });
  afterAll(async () => {
    await service?.stop();
    await provider?.close();
  });
  beforeEach(() => {
    canned = { text: 'Hello Ada, lovely to meet you!', usage: { input: 5, output: 7, cached: 2, reasoning: 1 } };
    provider.behave();
  });

  test("OpenAI's client gets a role, words, a reason, and usage if requested", async () => {
    const chunks: Chunk[] = [];
    for await (const chunk of await stream(client, { stream_options: { include_usage: true } })) chunks.push(chunk);
    const id = chunks[0]?.id ?? '';
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ id, object: 'chat.completion.chunk', model: 'say@1', created: expect.any(Number) });
    expect(chunks[0]?.choices).toEqual([
      { index: 0, delta: { role: 'assistant', content: '', refusal: null }, logprobs: null, finish_reason: null },
    ]);
    expect(textOf(chunks)).toBe(canned.text);
    expect(chunks.at(-2)?.choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 7,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
    expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual(chunks.slice(0, -1).map(() => null));
    expect((await service.call('GET', `/executions/${id}`)).body).toMatchObject({
      status: 'completed',
      output: canned.text,
    });

    const without: Chunk[] = [];
    for await (const chunk of await stream(client)) without.push(chunk);
    expect(without.every((chunk) => chunk.choices.length === 1 && !('usage' in chunk))).toBe(true);
  });

  test("OpenAI's helper assembles tool calls, and runs the tools", async () => {
    canned = { text: 'I look.', toolCalls: [PARIS, ROME] };
    const cities: string[] = [];
    const ours = { variables: { text: 'it' } };
    const runner = client.chat.completions.runTools({
      ...ours,
      model: 'say',
      messages: [{ role: 'user', content: 'The weather?' }],
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'The weather in a city right now.',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
            parse: (text: string): { city: string } => JSON.parse(text),
            function({ city }: { city: string }) {
              cities.push(city);
              canned = { text: 'Sunny.' };
              return 'sunny';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('Sunny.');
    expect(cities).toEqual(['Paris', 'Rome']);
    expect(provider.calls.at(-1)?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1' },
      { role: 'tool', tool_call_id: 'call_2' },
    ]);
  });

  test('the AI SDK gets texts, tool calls, usage and errors', async () => {
    const model = aiSdkProvider(service)('say');
    const providerOptions = { prompts: { variables: { text: 'it' } } };
    const text = streamText({ model, prompt: 'Hi', providerOptions });
    let received = '';
    for await (const delta of text.textStream) received += delta;
    const { inputTokens, outputTokens } = await text.usage;
    expect([received, await text.finishReason, inputTokens, outputTokens]).toEqual([canned.text, 'stop', 5, 7]);

    canned = { text: '', toolCalls: [PARIS] };
    const inputSchema = jsonSchema<{ city: string }>({ ...WEATHER.function.parameters, required: ['city'] });
    const asked = streamText({ model, prompt: 'Hi', providerOptions, tools: { get_weather: tool({ inputSchema }) } });
    expect(await asked.toolCalls).toMatchObject([
      { toolCallId: 'call_1', toolName: 'get_weather', input: PARIS.input },
    ]);
    expect(await asked.finishReason).toBe('tool-calls');

    const errors: unknown[] = [];
    const onError = ({ error }: { error: unknown }) => void errors.push(error);
    await streamText({ model, prompt: 'Hi', maxRetries: 0, onError }).consumeStream();
    expect(errors).toMatchObject([{ statusCode: 400, message: expect.stringContaining('variables.text') }]);
  });

  test('fifty at once each get their own', async () => {
    const texts = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const chunks: Chunk[] = [];
        const text = `This is number ${index} of fifty.`;
        for await (const chunk of await stream(client, { model: 'echo', variables: { text } })) chunks.push(chunk);
        return textOf(chunks) === text;
      }),
    );
    expect(texts).toEqual(Array(50).fill(true));
  });

  test('a run that fails before its first word is an error with a status', async () => {
    provider.behave({
      mode: 'fail',
      status: 429,
      body: { error: { message: 'no quota', code: 'insufficient_quota' } },
    });
    const limited = await apiErrorOf(stream(client));
    expect(limited).toMatchObject({ status: 429, code: 'model_rate_limited' });
    expect(Number(limited.headers?.get('Retry-After'))).toBeGreaterThan(0);
    provider.behave({ mode: 'fail', status: 400 });
    expect(await apiErrorOf(stream(client))).toMatchObject({ status: 400, code: 'model_invalid_request' });
    provider.behave();
    expect(await apiErrorOf(stream(client, { model: 'nobody' }))).toMatchObject({ status: 404, param: 'model' });
    expect(await apiErrorOf(stream(client, { variables: {} }))).toMatchObject({ status: 400, param: 'variables.text' });
    expect(await apiErrorOf(stream(openAiClient(service, { apiKey: 'pms_wrong' })))).toMatchObject({ status: 401 });
  });

  test('a provider cut off in mid-stream is called again, and the response continues', async () => {
    canned = { text: 'half of it, and the other half of it' };
    provider.behave({ mode: 'break-halfway', times: 1, eventMs: 20 });
    const chunks: Chunk[] = [];
    const before = provider.callCount;
    for await (const chunk of await stream(client)) chunks.push(chunk);
    expect([textOf(chunks), provider.callCount - before]).toEqual([canned.text, 2]);
  });
});

describe('step by step', () => {
  let service: TestService;
  let client: OpenAI;
  let calls: ReturnType<typeof streamedCalls>;
  beforeAll(async () => {
    // The test makes the calls.
    service = await startTestService({}, { workers: false });
    client = openAiClient(service);
    calls = streamedCalls(service);
    await createPrompt(service, 'say', { template: '{{ text }}' });
  });
  afterAll(() => service?.stop());

  const record = async (id: string) => (await service.call('GET', `/executions/${id}`)).body;

  /** A completion that is being read, and the call of its execution. */
  async function begun(options: OpenAI.RequestOptions = {}) {
    const known = new Set((await service.call('GET', '/executions')).body.data.map(({ id }: { id: string }) => id));
    const chunks: Chunk[] = [];
    const opening = stream(client, {}, options);
    const ended = (async () => {
      for await (const chunk of await opening) chunks.push(chunk);
    })();
    // Awaited later by the test.
    ended.catch(() => {});
    const id = await waitFor('the execution', async () => {
      const { body } = await service.call('GET', '/executions');
      return body.data.map((each: { id: string }) => each.id).find((each: string) => !known.has(each)) as
        | string
        | undefined;
    });
    const call = await calls.begin(id);
    const has = (text: string) => until(`"${text}"`, async () => textOf(chunks) === text);
    const errorOf = async () => apiErrorOf(ended);
    return { id, chunks, opening, ended, call, has, errorOf };
  }

  /** The next call of an execution, as after its worker has died. */
  const callAgain = (id: string): Promise<StreamedCall> => calls.begin(id);

  test('each word arrives before the next is sent', async () => {
    const { call, has, ended, chunks } = await begun();
    await call.says('Hello ');
    await has('Hello ');
    await call.says('Ada');
    await has('Hello Ada');
    await call.asksFor(PARIS);
    await call.completes('Hello Ada', [PARIS]);
    await ended;
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'Hello ' },
      { content: 'Ada' },
      {
        tool_calls: [
          {
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
          },
        ],
      },
      {},
    ]);
  });

  test('a response that restarts with the sent text continues after it', async () => {
    const { id, call, has, ended, chunks } = await begun();
    await call.says('Hello ');
    await call.says('Ad');
    await has('Hello Ad');
    const again = await callAgain(id);
    await again.says('Hell');
    await again.says('o Ada, ');
    await has('Hello Ada, ');
    await again.asksFor(PARIS);
    await again.completes('Hello Ada, welcome!', [PARIS]);
    await ended;
    expect(textOf(chunks)).toBe('Hello Ada, welcome!');
    expect(chunks.filter(({ choices }) => choices[0]?.delta.tool_calls !== undefined)).toHaveLength(1);
  });

  test.each([
    ['other words', 'Hallo', 'Hallo Ada'],
    ['fewer words', 'Hel', 'Hel'],
  ])('one that restarts with %s is an error, and the execution is complete', async (_, said, output) => {
    const { id, call, has, errorOf, chunks } = await begun();
    await call.says('Hello ');
    await has('Hello ');
    const again = await callAgain(id);
    await again.says(said);
    await again.completes(output);
    expect(await errorOf()).toMatchObject({
      status: undefined,
      code: 'temporarily_unavailable',
      message: expect.stringContaining(id),
    });
    expect(textOf(chunks)).toBe('Hello ');
    expect((await record(id)).output).toBe(output);
  });

  test('a response that fails midway is an error', async () => {
    const { id, call, has, errorOf } = await begun();
    await call.says('Hello ');
    await has('Hello ');
    await calls.fail(id);
    expect(await errorOf()).toMatchObject({ code: 'model_timeout', message: 'It took too long.' });
  });

  test('a canceled response is an error, before its first word with a status', async () => {
    const first = await begun();
    await first.call.says('Hello ');
    await first.has('Hello ');
    await service.call('POST', `/executions/${first.id}/cancel`);
    expect(await first.errorOf()).toMatchObject({ status: undefined, code: 'invalid_state' });
    const second = await begun();
    await service.call('POST', `/executions/${second.id}/cancel`);
    expect(await second.errorOf()).toMatchObject({ status: 400, code: 'invalid_state' });
  });

  test('a caller that leaves cancels nothing, and gets all of it by the same key', async () => {
    const headers = { 'Idempotency-Key': 'gone' };
    const { id, call, has, opening } = await begun({ headers });
    await call.says('Hello ');
    await has('Hello ');
    (await opening).controller.abort();
    await call.says('Ada');
    await call.completes('Hello Ada');
    const again: Chunk[] = [];
    for await (const chunk of await stream(client, {}, { headers })) again.push(chunk);
    expect([again[0]?.id, textOf(again)]).toEqual([id, 'Hello Ada']);
    await until('the end of both streams', async () => (await openStreams(service)) === 0);
  });

  test('a run continues if its caller leaves early', async () => {
    const gone = new AbortController();
    const { id, call, ended } = await begun({ signal: gone.signal });
    gone.abort();
    await expect(ended).rejects.toThrow(/abort/i);
    await call.completes('Hello');
    expect(await record(id)).toMatchObject({ status: 'completed', output: 'Hello' });
  });
});

test('a stream that ends with its process is an error, not half a response', async () => {
  const service = await startTestService({}, { workers: false, own: 'it is stopped' });
  let stopped = false;
  try {
    await createPrompt(service, 'say', { template: '{{ text }}' });
    const opened = (async () => {
      for await (const chunk of await stream(openAiClient(service))) void chunk;
    })();
    opened.catch(() => {});
    await until('the stream', async () => (await openStreams(service)) === 1);
    const [{ id }] = (await service.call('GET', '/executions')).body.data;
    const call = await streamedCalls(service).begin(id);
    await call.says('Hello ');
    stopped = true;
    await service.stop();
    await expect(opened).rejects.toBeInstanceOf(APIError);
  } finally {
    if (!stopped) await service.stop();
  }
});
