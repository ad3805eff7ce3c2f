import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../src/domain/errors.ts';
import { providerOptionsProblem } from '../../src/domain/prompts/provider-options.ts';
import { resolveModelName } from '../../src/models/names.ts';
import { PROVIDERS } from '../../src/models/providers/registry.ts';
import { modelsAt } from '../support/providers/models.ts';

test.each(PROVIDERS.map(({ name }) => name))('options can be passed on to %s', (name) => {
  expect(providerOptionsProblem({ [name]: {} })).toBeUndefined();
});

describe('a model’s name', () => {
  test.each([
    ['openai/gpt-4o-mini', 'openai', 'gpt-4o-mini'],
    ['anthropic/claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
    ['google/gemini-2.5-flash', 'google', 'gemini-2.5-flash'],
    ['openai-compatible/meta-llama/Llama-3.1-8B-Instruct', 'openai-compatible', 'meta-llama/Llama-3.1-8B-Instruct'],
    ['openai-compatible/llama3.2:1b', 'openai-compatible', 'llama3.2:1b'],
    ['sandbox/slow-500', 'sandbox', 'slow-500'],
    ['gpt-4o-mini', 'openai', 'gpt-4o-mini'],
    ['o3-mini', 'openai', 'o3-mini'],
    ['o1', 'openai', 'o1'],
    ['chatgpt-4o-latest', 'openai', 'chatgpt-4o-latest'],
    ['ft:gpt-4o-mini:acme::abc', 'openai', 'ft:gpt-4o-mini:acme::abc'],
    ['claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
    ['gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
    ['mistral-large-latest', 'mistral', 'mistral-large-latest'],
    ['codestral-2508', 'mistral', 'codestral-2508'],
  ])('%s is served by %s', (name, provider, providerModelId) => {
    expect(resolveModelName(name)).toEqual({ provider, providerModelId, model: `${provider}/${providerModelId}` });
  });

  test.each(['llama3', 'meta-llama/Llama-3', 'deepseek-chat', '', '/', '/x', 'Openai/gpt-4o', 'open ai/x'])(
    '%j has no known provider',
    (name) => {
      expect(() => resolveModelName(name)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          message: expect.stringContaining('provider/model'),
          details: [expect.objectContaining({ path: 'model' })],
        }),
      );
    },
  );

  test.each([
    'openai/',
    'google/../v1/other',
    'google/a/../b',
    'google/x?key=1',
    'google/x#y',
    'google/x%2Fy',
    'openai/a b',
    'openai/a\u0000',
    'openai//a',
    `openai/${'a'.repeat(201)}`,
    'sandbox/nothing',
    'sandbox/slow-600001',
    'sandbox/fail-200',
  ])('%j is none', (name) => {
    expect(() => resolveModelName(name)).toThrow(ApiError);
  });
});

test.each([
  ['gpt-4o-mini', 'OPENAI_API_KEY'],
  ['anthropic/claude-sonnet-4-5', 'ANTHROPIC_API_KEY'],
  ['google/gemini-2.5-flash', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ['mistral/mistral-small-latest', 'MISTRAL_API_KEY'],
  ['openai-compatible/x', 'OPENAI_COMPATIBLE_BASE_URL'],
])('without credentials, %s says to set %s', (name, variable) => {
  expect(() => modelsAt({}).resolve(name)).toThrow(
    expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(variable) }),
  );
});

test('with them it resolves, and the sandbox always does', () => {
  expect(modelsAt({ openai: 'http://127.0.0.1:1/v1' }).resolve('gpt-4o-mini')).toMatchObject({
    model: 'openai/gpt-4o-mini',
  });
  expect(modelsAt({}).resolve('sandbox/echo')).toMatchObject({ provider: 'sandbox' });
});
