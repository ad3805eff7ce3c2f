import { readFileSync } from 'node:fs';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI, ChatOpenAICompletions } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import { type Api, LoadedPrompt, type Run, type Variables } from '../../clients/typescript/src/index.ts';
import {
  fromAISDK,
  fromLangChain,
  toAISDK,
  toLangChain,
  UnsupportedError,
} from '../../clients/typescript/src/requests/index.ts';
import { type AllStandIns, startAllStandIns } from '../support/providers/all.ts';
import { callOf, TEST_KEY } from '../support/providers/models.ts';
import type { CannedAnswer } from '../support/providers/protocol.ts';
import { answerFitting } from './support.ts';

let standIns: AllStandIns;
beforeAll(async () => {
  standIns = await startAllStandIns();
});
afterAll(() => standIns?.close());

interface Vector {
  title: string;
  to: 'openai' | 'anthropic';
  prompt: { model: string; template?: string; tools?: object[] };
  variables?: Variables;
  request?: Record<string, unknown>;
  fault?: string;
}
const vectors: Vector[] = JSON.parse(readFileSync(new URL('../vectors/requests.json', import.meta.url), 'utf8'));
const EMPTY = { name: 'x', version: 1, template: null, messages: null, inputs: null };
const promptOf = (fields: object): LoadedPrompt => LoadedPrompt.of({ ...EMPTY, ...fields } as Api.Prompt, {});
const nameOf = (model: string) => model.slice(model.indexOf('/') + 1);
const cases = (isTaken: (vector: Vector) => boolean) =>
  vectors.filter(isTaken).map((vector): [string, Vector] => [vector.title, vector]);

/** A tool input that is not an object can only be sent as text. */
const hasOddInput = ({ title }: Vector) => title.endsWith("a tool's input that is not an object");
const isCompatible = ({ title }: Vector) => title.startsWith('openai-compatible');
const hasNames = ({ title }: Vector) => title.includes('names, reasoning');
const hasMarks = ({ title }: Vector) => title.endsWith('marks of caches');
/** The AI SDK's package for OpenAI lacks names; that for others puts marks next to texts rather than into parts. */
const isLeftOutByAiSdk = (vector: Vector) =>
  (vector.title.startsWith('openai/') && hasNames(vector)) || (isCompatible(vector) && hasMarks(vector));
/** LangChain does not support earlier reasoning. */
const isLeftOutByLangChain = (vector: Vector) => isCompatible(vector) && (hasNames(vector) || hasMarks(vector));
/** The AI SDK checks files itself, and may fetch them. */
const hasOddFile = ({ fault = '' }: Vector) => fault.endsWith('media_type');

function aiModel(model: string) {
  const { baseUrl: baseURL } = standIns.of(model);
  const settings = { apiKey: TEST_KEY, baseURL };
  if (model.startsWith('anthropic/')) return createAnthropic(settings)(nameOf(model));
  if (model.startsWith('openai/')) return createOpenAI(settings).chat(nameOf(model));
  const compatible = { ...settings, name: 'openai-compatible', supportsStructuredOutputs: true };
  return createOpenAICompatible(compatible).chatModel(nameOf(model));
}

function langChainModel({ to, prompt, variables }: Vector) {
  const { messages, options } = toLangChain(promptOf(prompt), variables);
  const { baseUrl } = standIns.of(to);
  const all = { ...options, apiKey: TEST_KEY, maxRetries: 0 };
  if (to === 'anthropic') {
    const anthropicApiUrl = baseUrl.replace(/\/v1$/, '');
    return { messages, model: new ChatAnthropic({ ...all, anthropicApiUrl, clientOptions: { timeout: 60_000 } }) };
  }
  const fields = { ...all, configuration: { baseURL: baseUrl } };
  // ChatOpenAI uses another API of OpenAI for some models.
  const isOther = options.model.startsWith('gpt-5.6');
  return { messages, model: isOther ? new ChatOpenAICompletions(fields) : new ChatOpenAI(fields) };
}

/**
 * The AI SDK does not support later system messages, sends `auto` by default, and removes patterns from schemas that OpenAI once
 * rejected.
 */
function asTheAiSdkSays(vector: Vector) {
  const { to, prompt, request = {} } = vector;
  const isSaid = request['tool_choice'] !== undefined || (prompt.tools ?? []).length === 0;
  if (isCompatible(vector) && hasNames(vector)) {
    const messages = (request['messages'] as object[]).with(-1, {
      role: 'user',
      content: '<system>\nWho is next?\n</system>',
    });
    return { ...request, messages };
  }
  const changed = isSaid ? request : { ...request, tool_choice: to === 'openai' ? 'auto' : { type: 'auto' } };
  if (to === 'anthropic' || !prompt.model.startsWith('openai/')) return changed;
  const withoutPatterns: unknown = JSON.parse(JSON.stringify(changed).replaceAll(',"pattern":"^(?!x)"', ''));
  return withoutPatterns;
}

describe('the AI SDK sends what the service would send', () => {
  beforeEach(() => {
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  });

  test.each(cases((vector) => !hasOddFile(vector) && !isLeftOutByAiSdk(vector)))('%s', async (_, vector) => {
    const { to, prompt, variables } = vector;
    const fault = vector.fault ?? (hasOddInput(vector) ? 'messages.1.content.0.input' : undefined);
    if (fault !== undefined) {
      expect(() => toAISDK(promptOf(prompt), variables)).toThrow(UnsupportedError);
      expect(() => toAISDK(promptOf(prompt), variables)).toThrow(`${fault}: `);
      return;
    }
    standIns.answer(answerFitting(vector.request));
    await generateText({ ...toAISDK(promptOf(prompt), variables), model: aiModel(prompt.model), maxRetries: 0 });
    expect(standIns.lastCall(to).body).toEqual(asTheAiSdkSays(vector));
  });

  test('unsupported options are refused', () => {
    const of = (provider_options: object, model = 'openai/gpt-4o') =>
      toAISDK(promptOf({ model, template: 'Hi', parameters: { provider_options } }));
    expect(() => of({ openai: { top_logprobs: 3 } })).toThrow(/^parameters\.provider_options\.openai\.top_logprobs: /);
    expect(() => of({ anthropic: { system: 'x' } }, 'anthropic/claude-haiku-4-5')).toThrow(UnsupportedError);
    expect(of({ anthropic: { system: 'x' } })).not.toHaveProperty('providerOptions');
  });

  test('a JSON response is parsed', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
      additionalProperties: false,
    };
    const parameters = { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } };
    standIns.answer({ text: '{"a":1}' });
    const request = toAISDK(promptOf({ model: 'openai/gpt-4o', template: 'Hi', parameters }));
    const result = await generateText({ ...request, model: aiModel('openai/gpt-4o') });
    expect(result.output).toEqual({ a: 1 });
  });
});

/** The models that LangChain knows itself, and treats as others do. */
const isKnownToLangChain = ({ prompt }: Vector) => prompt.model !== 'openai/gpt-9';

describe('LangChain sends what the service would send', () => {
  test.each(cases((vector) => isKnownToLangChain(vector) && !isLeftOutByLangChain(vector)))('%s', async (_, vector) => {
    const fault = vector.fault ?? (hasOddInput(vector) ? 'messages.1' : undefined);
    if (fault !== undefined) {
      expect(() => toLangChain(promptOf(vector.prompt), vector.variables)).toThrow(`${fault}: `);
      return;
    }
    standIns.answer(answerFitting(vector.request));
    const { model, messages } = langChainModel(vector);
    await model.invoke(messages);
    const { stream, ...sent } = standIns.lastCall(vector.to).body;
    expect(stream ?? false).toBe(false);
    expect(sent).toEqual(vector.request);
  });
});

const TIME = { name: 'get_time', input_schema: { type: 'object', properties: {} } };
const ANSWERS: [string, CannedAnswer][] = [
  ['a text', { text: 'Hello' }],
  ['tokens of each kind', { text: 'Hello', usage: { input: 100, output: 50, cached: 30, reasoning: 20 } }],
  ['a tool call', { text: '', toolCalls: [{ id: 'call_1', name: 'get_time', input: { at: 1 } }] }],
];

describe.each(['openai/gpt-4o', 'anthropic/claude-haiku-4-5'])(
  'a response of %s is recorded as the service keeps it',
  (model) => {
    const prompt = promptOf({ model, template: 'What time is it?', tools: [TIME] });
    const byAiSdk = async (): Promise<Run> => {
      const request = toAISDK(prompt);
      return fromAISDK(await generateText({ ...request, model: aiModel(model) }), request);
    };
    const byStream = async (): Promise<Run> => {
      const request = toAISDK(prompt);
      const { promise, resolve } = Promise.withResolvers<Run>();
      const stream = streamText({
        ...request,
        model: aiModel(model),
        onFinish: (end) => resolve(fromAISDK(end, request)),
      });
      await stream.consumeStream();
      return promise;
    };
    const byLangChain = async (): Promise<Run> => {
      const request = toLangChain(prompt);
      const to = model.startsWith('anthropic/') ? 'anthropic' : 'openai';
      const made = langChainModel({
        title: '',
        to,
        prompt: { model, template: 'What time is it?', tools: [TIME] },
      });
      return fromLangChain(await made.model.invoke(request.messages), request);
    };

    test.each(ANSWERS)('%s', async (_, answer) => {
      standIns.answer(answer);
      const own = await standIns.models.generate(callOf(model, { input: 'What time is it?', tools: [TIME] }));
      for (const ask of [byAiSdk, byStream, byLangChain]) {
        const run = await ask();
        const { total, ...tokens } = own.tokens ?? { total: 0, reasoning: 0 };
        expect(total).toBeGreaterThan(0);
        // LangChain drops Anthropic's thinking.
        const reasoning = ask === byLangChain && model.startsWith('anthropic/') ? 0 : tokens.reasoning;
        expect(run).toMatchObject({
          model,
          input: 'What time is it?',
          output: own.output,
          tokens: { ...tokens, reasoning },
          metadata: { finish_reason: own.finishReason },
        });
        expect(run.tool_calls ?? []).toEqual(own.toolCalls);
      }
    });
  },
);
