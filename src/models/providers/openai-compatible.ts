import { withCacheMarks } from '../../domain/prompts/prompt.ts';
import { understandChatCompletion } from '../responses/chat-completion.ts';
import { createChatCompletionAssembler } from '../streams/chat-completions.ts';
import {
  CHAT_PARAMETER_PATHS,
  chatOptions,
  chatReader,
  chatStreamed,
  completeChat,
  withVerbosity,
} from './chat-completions.ts';
import { bearer, type Provider } from './provider.ts';

/** Any server with OpenAI's chat completions API; usable once it has a base URL. */
export const openAiCompatible: Provider<'openai-compatible'> = {
  name: 'openai-compatible',
  settings: { apiKey: 'OPENAI_COMPATIBLE_API_KEY', baseUrl: 'OPENAI_COMPATIBLE_BASE_URL', needed: 'baseUrl' },
  baseUrl: undefined,
  priceList: undefined,
  bareNames: undefined,
  files: {
    types: /^((image|video|text)\/.+|audio\/(wav|mpeg|mp3)|application\/pdf)$/,
    said: 'images, videos, texts, audio/wav, audio/mpeg and application/pdf',
    fromAssistant: false,
  },
  takesAnyToolInput: true,
  takes: { laterSystem: true, names: true, reasoning: true, cacheMarks: Number.POSITIVE_INFINITY },
  // Not an OpenAI parameter, but accepted by vLLM, Ollama, LM Studio and llama.cpp.
  places: { ...CHAT_PARAMETER_PATHS, top_k: ['top_k'] },

  authorization: bearer,
  async languageModel(id, { apiKey, baseUrl, fetch }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const key = apiKey !== undefined && { apiKey };
    return createOpenAICompatible({ name: 'openai-compatible', baseURL: baseUrl, ...key, fetch }).chatModel(id);
  },
  async embeddingModel(id, { apiKey, baseUrl, fetch }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const key = apiKey !== undefined && { apiKey };
    return createOpenAICompatible({ name: 'openai-compatible', baseURL: baseUrl, ...key, fetch }).embeddingModel(id);
  },
  sdkOptions: chatOptions,
  complete(body, call) {
    const { reasoning_effort, top_k } = call.parameters;
    return {
      ...withVerbosity(withCacheMarks(completeChat(body, call), call), call),
      ...(reasoning_effort !== undefined && { reasoning_effort }),
      ...(top_k !== undefined && { top_k }),
    };
  },
  reader: chatReader,

  asStreamed: chatStreamed,
  createAssembler: createChatCompletionAssembler,
  understand: understandChatCompletion,
};
