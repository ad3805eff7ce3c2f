import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SANDBOX_MODELS } from '../../src/models/sandbox/models.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let directory: string;
interface Listed {
  provider: string;
  is_configured: boolean;
  setting: string | null;
  models: { model: string; pricing: object | null; context_window: number | null }[];
}
let providers: Map<string, Listed>;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'prices-'));
  const prices = path.join(directory, 'prices.json');
  const rates = { input_per_million: '1.50', output_per_million: '4' };
  await writeFile(
    prices,
    JSON.stringify({ 'openai-compatible/llama': rates, 'openai-compatible/other-*': rates, 'openai/gpt-4o': rates }),
  );
  service = await startTestService({ OPENAI_API_KEY: 'sk-secret', MODEL_PRICES_FILE: prices }, { workers: false });
  const { status, body } = await service.call('GET', '/providers');
  expect([status, body.next_cursor]).toEqual([200, null]);
  providers = new Map(body.data.map((listed: Listed) => [listed.provider, listed]));
});
afterAll(async () => {
  await service?.stop();
  await rm(directory, { recursive: true });
});

const modelsOf = (provider: string) =>
  new Map(providers.get(provider)?.models.map((each) => [each.model, each.pricing]));

test('every provider is listed, with its requirements, and no key', async () => {
  expect(
    [...providers.values()].map(({ provider, is_configured, setting }) => [provider, is_configured, setting]),
  ).toEqual([
    ['openai', true, 'OPENAI_API_KEY'],
    ['anthropic', false, 'ANTHROPIC_API_KEY'],
    ['google', false, 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['mistral', false, 'MISTRAL_API_KEY'],
    ['openai-compatible', false, 'OPENAI_COMPATIBLE_BASE_URL'],
    ['sandbox', true, null],
  ]);
  expect(JSON.stringify([...providers])).not.toContain('sk-secret');
});

test('models have the prices of runs: of the list, the operator and the sandbox', () => {
  expect(modelsOf('openai').get('openai/gpt-4o-mini')).toEqual({ input: '0.15', output: '0.6', cached_input: '0.075' });
  expect(modelsOf('openai').get('openai/gpt-4o')).toEqual({ input: '1.5', output: '4', cached_input: '1.5' });
  // A pattern names no model.
  expect([...modelsOf('openai-compatible')]).toEqual([
    ['openai-compatible/llama', { input: '1.5', output: '4', cached_input: '1.5' }],
  ]);
  expect(modelsOf('sandbox').get('sandbox/echo')).toEqual({ input: '0', output: '0', cached_input: '0' });
  expect([...modelsOf('anthropic').keys()]).toContain('anthropic/claude-haiku-4-5');
});

test('models have the token limits of the price list', () => {
  const windowOf = (provider: string, name: string) =>
    providers.get(provider)?.models.find(({ model }) => model === name)?.context_window;
  expect(windowOf('openai', 'openai/gpt-4o-mini')).toBeGreaterThan(100_000);
  expect(windowOf('openai-compatible', 'openai-compatible/llama')).toBe(null);
  expect(windowOf('sandbox', 'sandbox/echo')).toBe(null);
});

test('every listed model can be named, and accepts text', async () => {
  const all = [...providers.values()].flatMap(({ models }) => models.map(({ model }) => model));
  expect(all.length).toBeGreaterThan(50);
  expect(all.filter((model) => /embedding|whisper|image|tts|audio/.test(model))).toEqual([]);
  expect([...modelsOf('google').keys()].filter((model) => !model.startsWith('google/gemini-'))).toEqual([]);
  expect([...modelsOf('sandbox').keys()].toSorted()).toEqual(
    Object.keys(SANDBOX_MODELS)
      .filter((model) => !model.endsWith('-N'))
      .toSorted(),
  );
  for (const [index, model] of all.entries()) {
    const body = { name: `models/${index}`, template: 'Hi', model };
    const answer = await service.call('POST', '/prompts', { body });
    expect([model, answer.status, answer.body.model]).toEqual([model, 201, model]);
  }
});

test('parameters are checked against a model: nothing is sent, and errors are those of a call', async () => {
  const check = async (model: string, parameters: object) => {
    const { status, body } = await service.call('POST', '/parameters/check', { body: { model, parameters } });
    expect(status).toBe(200);
    return body.unsupported.map(({ parameter }: { parameter: string }) => parameter);
  };
  expect(await check('openai/gpt-4o-mini', { temperature: 0.2, seed: 1, top_k: 5 })).toEqual(['top_k']);
  expect(await check('openai/o3', { temperature: 0.2, presence_penalty: 1, max_tokens: 9 })).toEqual([
    'temperature',
    'presence_penalty',
  ]);
  // Neither its provider's key nor its address is set.
  expect(await check('anthropic/claude-sonnet-4-5', { seed: 1, max_tokens: 9 })).toEqual(['seed']);
  expect(await check('anthropic/claude-sonnet-4-5', { temperature: 1.5 })).toEqual(['temperature']);
  expect(await check('openai-compatible/any', { top_k: 5 })).toEqual([]);
  expect(await check('sandbox/echo', { top_k: 5 })).toEqual([]);
  const { status, body } = await service.call('POST', '/parameters/check', {
    body: { model: 'no/such', parameters: {} },
  });
  expect([status, body.error.details[0].path]).toEqual([400, 'model']);
});
