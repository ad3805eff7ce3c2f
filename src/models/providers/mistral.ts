import { createHash } from 'node:crypto';
import { isObject } from '../../domain/text/json.ts';
import { listOf } from '../requests/json-body.ts';
import type { ProviderCall } from '../requests/language-model.ts';
import { understandChatCompletion } from '../responses/chat-completion.ts';
import { createChatCompletionAssembler } from '../streams/chat-completions.ts';
import { CHAT_PARAMETER_PATHS, chatOptions, chatReader, completeChat } from './chat-completions.ts';
import { bearer, type Provider } from './provider.ts';

/**
 * Mistral's chat completions: like OpenAI's, with some different names. Unknown fields are rejected.
 * @see https://docs.mistral.ai/api/endpoint/chat
 */
export const mistral: Provider<'mistral'> = {
  name: 'mistral',
  settings: { apiKey: 'MISTRAL_API_KEY', baseUrl: 'MISTRAL_BASE_URL', needed: 'apiKey' },
  baseUrl: 'https://api.mistral.ai/v1',
  priceList: 'mistral',
  bareNames:
    /^(mistral-(?!embed|ocr|moderation)|ministral-|magistral-|devstral-|pixtral-|codestral-(?!embed)|open-mi[sx]tral-)[^:]*$/,
  // The price list also has names that Mistral rejects: `mistral-large` is `mistral-large-latest` there.
  offered: /-(latest|\d{4})$/,
  files: { types: /^(image\/.+|application\/pdf)$/, said: 'images and application/pdf', fromAssistant: false },
  takesAnyToolInput: true,
  takes: { laterSystem: false, names: false, reasoning: false, cacheMarks: 0 },
  places: { ...CHAT_PARAMETER_PATHS, max_tokens: ['max_tokens'], seed: ['random_seed'], verbosity: [] },

  authorization: bearer,
  async languageModel(id, { apiKey = '', baseUrl, fetch }) {
    const { createMistral } = await import('@ai-sdk/mistral');
    return createMistral({ apiKey, baseURL: baseUrl, fetch })(id);
  },
  async embeddingModel(id, { apiKey = '', baseUrl, fetch }) {
    const { createMistral } = await import('@ai-sdk/mistral');
    return createMistral({ apiKey, baseURL: baseUrl, fetch }).embeddingModel(id);
  },
  sdkOptions: chatOptions,
  complete(body, call: ProviderCall) {
    const { reasoning_effort } = call.parameters;
    const completed = completeChat(body, call);
    return {
      ...completed,
      messages: listOf(completed['messages']).map(withShortIds),
      ...(reasoning_effort !== undefined && { reasoning_effort }),
    };
  },
  reader: {
    ...chatReader,
    toolChoice: (body) => (body['tool_choice'] === 'any' ? 'required' : chatReader.toolChoice(body)),
  },

  // The last event always has the usage; `stream_options` would be rejected.
  asStreamed: (url, body) => ({ url, body: { ...body, stream: true } }),
  createAssembler: createChatCompletionAssembler,
  understand: understandChatCompletion,
};

/** Tool call ids must be nine letters and digits: ids from other providers or callers are replaced throughout. */
function withShortIds(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { tool_call_id: answered, tool_calls: calls } = message;
  return {
    ...message,
    ...(typeof answered === 'string' && { tool_call_id: shortId(answered) }),
    ...(Array.isArray(calls) && {
      tool_calls: calls.map((call: unknown) => (isObject(call) ? { ...call, id: shortId(String(call['id'])) } : call)),
    }),
  };
}

function shortId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
