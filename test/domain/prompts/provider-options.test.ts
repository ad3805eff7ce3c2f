import { describe, expect, test } from '@jest/globals';
import { ModelParameters } from '../../../src/domain/prompts/parameters.ts';

function problemsOf(provider_options: Record<string, Record<string, unknown>>): string[] {
  const { error } = ModelParameters.safeParse({ provider_options });
  return error?.issues.map(({ path }) => path.join('.')) ?? [];
}

describe('options with cost in the counted tokens may be set', () => {
  test.each<[string, Record<string, unknown>]>([
    ['openai', { store: false, logit_bias: { '50256': -100 }, verbosity: 'low', service_tier: 'flex' }],
    ['openai-compatible', { min_p: 0.05, chat_template_kwargs: { enable_thinking: false }, guided_choice: ['a'] }],
    [
      'anthropic',
      { metadata: { user_id: 'u1' }, thinking: { type: 'enabled', budget_tokens: 1024 }, system: 'Be brief.' },
    ],
    ['google', { generationConfig: { candidateCount: 1, thinkingConfig: { thinkingBudget: 0 } }, safetySettings: [] }],
  ])('%s %j', (provider, options) => {
    expect(problemsOf({ [provider]: options })).toEqual([]);
  });
});

describe('options that cost something else are refused by name', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['openai', { n: 5 }, 'n'],
    ['openai', { best_of: 5 }, 'best_of'],
    ['openai', { web_search_options: {} }, 'web_search_options'],
    ['openai', { tools: [{ type: 'web_search' }] }, 'tools'],
    ['openai', { service_tier: 'priority' }, 'service_tier'],
    ['openai', { modalities: ['text', 'audio'] }, 'modalities'],
    ['openai', { audio: { voice: 'alloy' } }, 'audio'],
    ['openai-compatible', { n: 5 }, 'n'],
    ['openai-compatible', { plugins: [{ id: 'web' }] }, 'plugins'],
    ['openai-compatible', { models: ['openai/o1-pro'] }, 'models'],
    ['openai-compatible', { fallbacks: [] }, 'fallbacks'],
    ['openai-compatible', { extra_body: { n: 5 } }, 'extra_body'],
    ['openai-compatible', { use_beam_search: true }, 'use_beam_search'],
    ['anthropic', { tools: [{ type: 'web_search_20250305' }] }, 'tools'],
    ['anthropic', { mcp_servers: [] }, 'mcp_servers'],
    ['anthropic', { speed: 'fast' }, 'speed'],
    ['anthropic', { inference_geo: 'us' }, 'inference_geo'],
    ['google', { generationConfig: { candidateCount: 8 } }, 'generationConfig.candidateCount'],
    ['google', { generationConfig: { candidate_count: 8 } }, 'generationConfig.candidate_count'],
    ['google', { generation_config: { candidateCount: 8 } }, 'generation_config'],
    ['google', { generationConfig: { responseModalities: ['IMAGE'] } }, 'generationConfig.responseModalities'],
    ['google', { generationConfig: [] }, 'generationConfig'],
    ['google', { tools: [{ googleSearch: {} }] }, 'tools'],
    ['google', { serviceTier: 'priority' }, 'serviceTier'],
    ['mistral', { n: 4 }, 'n'],
    ['openai', { constructor: 1, toString: 2 }, 'constructor'],
  ])('%s %j', (provider, options, path) => {
    expect(problemsOf({ [provider]: options })).toEqual([`provider_options.${provider}.${path}`]);
  });

  test('as are unknown providers', () => {
    expect(problemsOf({ opnai: { store: true } })).toEqual(['provider_options.opnai']);
    expect(problemsOf({ constructor: { store: true } })).toEqual(['provider_options.constructor']);
  });
});
