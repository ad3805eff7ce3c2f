import { fieldOf, listOf, valueAt } from '../requests/json-body.ts';
import { isOneToolAtATime } from '../requests/one-tool.ts';
import { sdkSystem } from '../requests/sdk-prompt.ts';
import { understandMessage } from '../responses/message.ts';
import { createMessagesAssembler } from '../streams/messages.ts';
import { countsOfMessages } from './counts.ts';
import type { Provider } from './provider.ts';

export const anthropic: Provider<'anthropic'> = {
  name: 'anthropic',
  settings: { apiKey: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL', needed: 'apiKey' },
  baseUrl: 'https://api.anthropic.com/v1',
  priceList: 'anthropic',
  bareNames: /^claude-/,
  files: {
    types: /^(image\/.+|application\/pdf|text\/plain)$/,
    said: 'images, application/pdf and text/plain',
    fromAssistant: false,
  },
  takesAnyToolInput: false,
  takes: { laterSystem: false, names: false, reasoning: false, cacheMarks: 4 },
  places: {
    temperature: ['temperature'],
    top_p: ['top_p'],
    top_k: ['top_k'],
    max_tokens: ['max_tokens'],
    stop: ['stop_sequences'],
    seed: [],
    frequency_penalty: [],
    presence_penalty: [],
    response_format: ['output_config.format', 'tool_choice'],
    reasoning_effort: ['output_config.effort', 'thinking'],
    verbosity: [],
    parallel_tool_calls: ['tool_choice.disable_parallel_tool_use'],
  },

  authorization: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  async languageModel(id, { apiKey = '', baseUrl, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ apiKey, baseURL: baseUrl, fetch })(id);
  },
  sdkOptions(options, call) {
    const prompt = call.messages.flatMap((message, index) => {
      const sent = options.prompt.slice(index, index + 1);
      return message.role === 'system' ? sdkSystem(message) : sent;
    });
    if (!isOneToolAtATime(call)) return { ...options, prompt };
    return { ...options, prompt, providerOptions: { anthropic: { disableParallelToolUse: true } } };
  },
  reader: {
    counts(body) {
      const counts = countsOfMessages(body);
      return { ...counts, system: counts.system + listOf(body['system']).length };
    },
    toolNames: (body) => listOf(body['tools']).map((tool) => fieldOf(tool, 'name')),
    toolChoice(body) {
      const [type, name] = [valueAt(body, 'tool_choice.type'), valueAt(body, 'tool_choice.name')];
      if (typeof name === 'string') return { name };
      return type === 'any' ? 'required' : type === 'auto' || type === 'none' ? type : undefined;
    },
    jsonTool: 'json',
  },

  asStreamed: (url, body) => ({ url, body: { ...body, stream: true } }),
  createAssembler: createMessagesAssembler,
  understand: understandMessage,
};
