import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import OpenAI, { APIError, type ClientOptions } from 'openai';
import type { TestService } from '../../support/service.ts';

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city right now.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
} as const;

/** OpenAI's own client, without retries by default. */
export function openAiClient(service: TestService, options: ClientOptions = {}): OpenAI {
  return new OpenAI({ baseURL: `${service.origin}/v1`, apiKey: service.key, maxRetries: 0, ...options });
}

/** The AI SDK's provider. */
export function aiSdkProvider(service: TestService) {
  return createOpenAICompatible({
    name: 'prompts',
    baseURL: `${service.origin}/v1`,
    apiKey: service.key,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
}

/** The error that OpenAI's client creates from a response; anything else fails the test. */
export async function apiErrorOf(call: PromiseLike<unknown>): Promise<APIError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof APIError) return error;
    throw error;
  }
  throw new Error('The call succeeded.');
}

/** A prompt that is there to be run. */
export async function createPrompt(service: TestService, name: string, content: object): Promise<void> {
  const { status, body } = await service.call('POST', '/prompts', {
    body: { name, model: 'sandbox/echo', ...content },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
}
