import { fieldOf, listOf, type RequestBody, valueAt } from '../requests/json-body.ts';
import { understandGeneratedContent } from '../responses/generated-content.ts';
import { createGenerateContentAssembler } from '../streams/generate-content.ts';
import type { Counts, Provider } from './provider.ts';

export const google: Provider<'google'> = {
  name: 'google',
  settings: {
    apiKey: 'GOOGLE_GENERATIVE_AI_API_KEY',
    baseUrl: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    needed: 'apiKey',
  },
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  priceList: 'google',
  bareNames: /^gemini-/,
  files: {
    types: /^(image|audio|video|text|application)\/.+$/,
    said: 'images, audio, videos, texts and documents',
    fromAssistant: true,
  },
  takesAnyToolInput: false,
  takes: { laterSystem: false, names: false, reasoning: false, cacheMarks: 0 },
  places: {
    temperature: ['generationConfig.temperature'],
    top_p: ['generationConfig.topP'],
    top_k: ['generationConfig.topK'],
    max_tokens: ['generationConfig.maxOutputTokens'],
    stop: ['generationConfig.stopSequences'],
    seed: ['generationConfig.seed'],
    frequency_penalty: ['generationConfig.frequencyPenalty'],
    presence_penalty: ['generationConfig.presencePenalty'],
    response_format: ['generationConfig.responseMimeType'],
    reasoning_effort: ['generationConfig.thinkingConfig'],
    parallel_tool_calls: [],
    verbosity: [],
  },

  authorization: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  async languageModel(id, { apiKey = '', baseUrl, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ apiKey, baseURL: baseUrl, fetch })(id);
  },
  async embeddingModel(id, { apiKey = '', baseUrl, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ apiKey, baseURL: baseUrl, fetch }).embeddingModel(id);
  },
  reader: {
    counts: countsOf,
    toolNames: (body) =>
      listOf(body['tools'])
        .flatMap((tool) => listOf(fieldOf(tool, 'functionDeclarations')))
        .map((tool) => fieldOf(tool, 'name')),
    toolChoice(body) {
      const mode = valueAt(body, 'toolConfig.functionCallingConfig.mode');
      const [name] = listOf(valueAt(body, 'toolConfig.functionCallingConfig.allowedFunctionNames'));
      if (typeof name === 'string') return { name };
      return mode === 'ANY' ? 'required' : mode === 'NONE' ? 'none' : 'auto';
    },
  },

  asStreamed: (url, body) => ({
    url: `${url.replace(/:generateContent$/, ':streamGenerateContent')}?alt=sse`,
    body,
  }),
  createAssembler: createGenerateContentAssembler,
  understand: understandGeneratedContent,
};

function countsOf(body: RequestBody): Counts {
  const contents = listOf(body['contents']);
  const instruction = listOf(valueAt(body, 'systemInstruction.parts')).length;
  const counts: Counts = {
    // Gemma does not support it: it precedes the first user message.
    system: instruction === 0 && fieldOf(contents[0], 'role') === 'user' ? Number.POSITIVE_INFINITY : instruction,
    files: 0,
    toolCalls: 0,
    toolResults: 0,
  };
  for (const part of contents.flatMap((content) => listOf(fieldOf(content, 'parts')))) {
    if (has(part, 'inlineData') || has(part, 'fileData')) counts.files += 1;
    if (has(part, 'functionCall')) counts.toolCalls += 1;
    if (has(part, 'functionResponse')) counts.toolResults += 1;
  }
  return counts;
}

function has(object: unknown, key: string): boolean {
  return fieldOf(object, key) !== undefined;
}
