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

export const openai: Provider<'openai'> = {
  name: 'openai',
  settings: { apiKey: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL', needed: 'apiKey' },
  baseUrl: 'https://api.openai.com/v1',
  priceList: 'openai',
  bareNames: /^(gpt-|chatgpt-|text-embedding-|o[134](-|$)|ft:(gpt|o[134]))/,
  files: {
    types: /^(image\/.+|audio\/(wav|mpeg|mp3)|application\/pdf)$/,
    said: 'images, audio/wav, audio/mpeg and application/pdf',
    fromAssistant: false,
  },
  takesAnyToolInput: true,
  takes: { laterSystem: true, names: true, reasoning: false, cacheMarks: 0 },
  places: CHAT_PARAMETER_PATHS,

  authorization: bearer,
  async languageModel(id, { apiKey = '', baseUrl, fetch }) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    // Chat completions rather than responses: only these support `seed`, `stop`, the penalties, and most servers behind OPENAI_BASE_URL.
    return createOpenAI({ apiKey, baseURL: baseUrl, fetch }).chat(id);
  },
  async embeddingModel(id, { apiKey = '', baseUrl, fetch }) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ apiKey, baseURL: baseUrl, fetch }).embeddingModel(id);
  },
  sdkOptions(options, { parameters: { reasoning_effort } }) {
    const providerOptions = reasoning_effort && { openai: { reasoningEffort: reasoning_effort } };
    return { ...chatOptions(options), ...(providerOptions && { providerOptions }) };
  },
  complete: (body, call) => withVerbosity(completeChat(body, call), call),
  reader: chatReader,

  asStreamed: chatStreamed,
  createAssembler: createChatCompletionAssembler,
  understand: understandChatCompletion,
};
