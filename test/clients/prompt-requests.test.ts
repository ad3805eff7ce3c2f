import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { type Api, LoadedPrompt, type PmsError, type Run, type Variables } from '../../clients/typescript/src/index.ts';
import {
  fromAnthropic,
  fromOpenAI,
  toAnthropic,
  toOpenAI,
  UnsupportedError,
} from '../../clients/typescript/src/requests/index.ts';
import { type AllStandIns, startAllStandIns } from '../support/providers/all.ts';
import { callOf, TEST_KEY } from '../support/providers/models.ts';
import type { CannedAnswer } from '../support/providers/protocol.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { watchedClient } from './support.ts';

let standIns: AllStandIns;
let service: TestService;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  [standIns, service] = await Promise.all([startAllStandIns(), startTestService()]);
  openai = new OpenAI({ apiKey: TEST_KEY, baseURL: standIns.of('openai').baseUrl, maxRetries: 0 });
  // Anthropic's package adds the version to the path, and accepts a large max_tokens only with an explicit timeout.
  const baseURL = standIns.of('anthropic').baseUrl.replace(/\/v1$/, '');
  anthropic = new Anthropic({ apiKey: TEST_KEY, baseURL, maxRetries: 0, timeout: 60_000 });
});
afterAll(async () => {
  await Promise.all([standIns?.close(), service?.stop()]);
});

const EMPTY = { name: 'x', version: 1, template: null, messages: null, inputs: null };
const promptOf = (fields: object): LoadedPrompt => LoadedPrompt.of({ ...EMPTY, ...fields } as Api.Prompt, {});

interface Vector {
  title: string;
  to: 'openai' | 'anthropic';
  prompt: object;
  variables?: Variables;
  request?: Record<string, unknown>;
  fault?: string;
}
const vectors: Vector[] = JSON.parse(readFileSync(new URL('../vectors/requests.json', import.meta.url), 'utf8'));

/** The request that reaches a provider through its own package. */
async function sentBy({ to, prompt, variables = {} }: Vector): Promise<unknown> {
  if (to === 'openai') await openai.chat.completions.create(toOpenAI(promptOf(prompt), variables));
  else await anthropic.messages.create(toAnthropic(promptOf(prompt), variables));
  return standIns.lastCall(to).body;
}

describe("a prompt is the request of the provider's own package that the service would send", () => {
  test.each<[string, Vector]>(vectors.map((vector) => [vector.title, vector]))('%s', async (_, vector) => {
    const sent = sentBy(vector);
    if (vector.fault === undefined) expect(await sent).toEqual(vector.request);
    else {
      await expect(sent).rejects.toThrow(UnsupportedError);
      await expect(sent).rejects.toMatchObject({ code: 'unsupported', details: [{ path: vector.fault }] });
    }
  });
});

test('files are sent as an address if the server can fetch it, and otherwise refused', () => {
  const content = (media_type: string) => [{ type: 'file', media_type, url: 'https://example.com/file' }];
  const of = (model: string, type: string) => promptOf({ model, messages: [{ role: 'user', content: content(type) }] });
  expect(toOpenAI(of('openai-compatible/m', 'image/png')).messages).toEqual([
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/file' } }] },
  ]);
  expect(toOpenAI(of('openai-compatible/m', 'video/mp4')).messages).toEqual([
    { role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://example.com/file' } }] },
  ]);
  const faulty = (make: () => unknown) => expect(make).toThrow(/^messages\.0\.content\.0\.url: .* only as data$/);
  faulty(() => toOpenAI(of('openai/gpt-4o', 'application/pdf')));
  faulty(() => toOpenAI(of('openai/gpt-4o', 'audio/wav')));
  faulty(() => toAnthropic(of('anthropic/claude-haiku-4-5', 'text/plain')));
});

test('a model of another provider is refused, unless the caller says how its client calls it', () => {
  const prompt = promptOf({ model: 'anthropic/claude-haiku-4-5', template: 'Hi', parameters: { max_tokens: 9 } });
  expect(() => toOpenAI(prompt)).toThrow(/^model: anthropic\/claude-haiku-4-5 is not a model of openai/);
  const gateway = toOpenAI(prompt, {}, { model: 'anthropic/claude-haiku-4-5' });
  expect(gateway).toEqual({
    model: 'anthropic/claude-haiku-4-5',
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 9,
  });
  expect(toOpenAI(promptOf({ model: 'gpt-4o', template: 'Hi' })).model).toBe('gpt-4o');
  expect(() => toAnthropic(promptOf({ model: 'gpt-4o', template: 'Hi' }))).toThrow(UnsupportedError);
});

test('a fallback is sent, too, once a model is named', () => {
  const fallback = LoadedPrompt.fallback('greeting', 'Hi {{ name }}');
  expect(() => toOpenAI(fallback, { name: 'Ada' })).toThrow(/^model: is unknown, because the prompt is a fallback/);
  const request = toOpenAI(fallback, { name: 'Ada' }, { model: 'gpt-4o', parameters: { seed: 1 } });
  expect(request).toEqual({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi Ada' }], seed: 1 });
  const run = fromOpenAI({ choices: [{ message: { content: 'Hello' } }] }, request);
  expect(run).toMatchObject({ model: 'openai/gpt-4o', input: 'Hi Ada', output: 'Hello' });
  expect(run).not.toHaveProperty('prompt_name');
});

test("messages and parameters of a call go with the prompt's own", () => {
  const prompt = promptOf({ model: 'gpt-4o', template: 'Hi', parameters: { seed: 1, max_tokens: 5 } });
  const messages = [{ role: 'assistant' as const, content: 'Yes?' }];
  expect(toOpenAI(prompt, {}, { messages, parameters: { seed: 2 } })).toEqual({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'Hi' }, ...messages],
    seed: 2,
    max_tokens: 5,
  });
});

/** Calls the model with the official package. @returns the run */
async function runOf(prompt: LoadedPrompt): Promise<Run> {
  if (prompt.model?.startsWith('anthropic/')) {
    const request = toAnthropic(prompt);
    return fromAnthropic(await anthropic.messages.create(request), request);
  }
  const request = toOpenAI(prompt);
  return fromOpenAI(await openai.chat.completions.create(request), request);
}

const ANSWERS: [string, CannedAnswer, object?][] = [
  ['a text', { text: 'Hello' }],
  [
    'tokens of each kind',
    { text: 'Hello', usage: { input: 100, output: 50, cached: 30, cacheWrite: 10, reasoning: 20 } },
  ],
  ['no usage', { text: 'Hello', usage: null }],
  ['a tool call', { text: '', toolCalls: [{ id: 'call_1', name: 'get_time', input: { at: 1 } }] }],
  ['a text and a tool call', { text: 'I look.', toolCalls: [{ id: 'call_1', name: 'get_time', input: {} }] }],
];
const TIME = { name: 'get_time', input_schema: { type: 'object', properties: {} } };

describe.each(['openai/gpt-4o', 'anthropic/claude-haiku-4-5'])(
  'a response of %s is recorded as the service keeps it',
  (model) => {
    const prompt = promptOf({ model, template: 'What time is it?', tools: [TIME] });
    test.each(ANSWERS)('%s', async (_, answer) => {
      if (answer.usage === null && model.startsWith('anthropic/')) return;
      standIns.answer(answer);
      const own = await standIns.models.generate(callOf(model, { input: 'What time is it?', tools: [TIME] }));
      const run = await runOf(prompt);
      const { total, ...tokens } = own.tokens ?? { total: 0 };
      expect(run).toMatchObject({
        model,
        prompt_name: 'x',
        prompt_version: 1,
        input: 'What time is it?',
        output: own.output,
        metadata: { finish_reason: own.finishReason },
      });
      expect(run.tool_calls ?? []).toEqual(own.toolCalls);
      expect(run.tokens).toEqual(total === 0 ? undefined : tokens);
    });

    test('a tool call with a number that would lose digits', async () => {
      standIns.answer({
        text: '',
        toolCalls: [{ id: 'call_1', name: 'get_time', input: JSON.rawJSON('12345678901234567890') }],
      });
      const own = await standIns.models.generate(callOf(model, { input: 'What time is it?', tools: [TIME] }));
      expect(own.toolCalls).toMatchObject([{ input: '12345678901234567890' }]);
      if (model.startsWith('openai/')) expect((await runOf(prompt)).tool_calls).toEqual(own.toolCalls);
    });

    test('zeros in place of usage are no usage', async () => {
      standIns.answer({ text: 'Hello', usage: { input: 0, output: 0 } });
      expect((await standIns.models.generate(callOf(model))).tokens).toBeNull();
      expect(await runOf(prompt)).not.toHaveProperty('tokens');
    });

    test('a truncated one', async () => {
      standIns.answer({ text: 'Hel', finishReason: model.startsWith('openai/') ? 'length' : 'max_tokens' });
      expect((await runOf(prompt)).metadata).toEqual({ finish_reason: 'length' });
    });

    test('a withheld one', async () => {
      standIns.answer({ text: 'No.', finishReason: model.startsWith('openai/') ? 'content_filter' : 'refusal' });
      const run = await runOf(prompt);
      expect(run).toMatchObject({ output: null, error: { code: 'content_filtered', message: 'No.' } });
    });
  },
);

test('a response by a schema is a text, even if a tool carries it', async () => {
  const schema = { type: 'object', properties: { any: { type: 'object' } } };
  const parameters = { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } };
  standIns.answer({ text: '', toolCalls: [{ id: 't', name: 'json', input: { any: { a: 1 } } }] });
  const run = await runOf(promptOf({ model: 'anthropic/claude-haiku-4-5', template: 'Hi', parameters }));
  expect(run).toMatchObject({ output: '{"any":{"a":1}}', metadata: { finish_reason: 'stop' } });
  expect(run).not.toHaveProperty('tool_calls');
});

test('direct calls count for the version in the service', async () => {
  const { pms } = watchedClient(service);
  await pms.call('createPrompt', { body: { name: 'own', template: 'Say {{ what }}.', model: 'openai/gpt-4o' } });
  standIns.answer({ text: 'Hello', usage: { input: 100, output: 50, cached: 30 } });
  const prompt = await pms.prompts.get('own');
  const request = toOpenAI(prompt, { what: 'hello' });
  const id = pms.record(fromOpenAI(await openai.chat.completions.create({ ...request, user: 'u1' }), request));
  await pms.flush();
  expect(await pms.call('getExecution', { path: { id } })).toMatchObject({
    prompt_name: 'own',
    prompt_version: 1,
    variables: { what: 'hello' },
    input: 'Say hello.',
    output: 'Hello',
    tokens: { input: 100, output: 50, cached_input: 30 },
    metadata: { finish_reason: 'stop' },
    status: 'completed',
  });
});

test('a request from elsewhere is recognized', () => {
  const failed = (): PmsError => {
    try {
      fromOpenAI({ choices: [] }, {});
    } catch (error) {
      return error as PmsError;
    }
    throw new Error('It was taken.');
  };
  expect(failed()).toMatchObject({ code: 'unknown_request' });
});
