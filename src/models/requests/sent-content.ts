import { isDeepStrictEqual } from 'node:util';
import { ModelError } from '../model-error.ts';
import type { Counts, Provider } from '../providers/provider.ts';
import type { RequestBody } from './json-body.ts';
import type { ProviderCall } from './language-model.ts';

type Kind = keyof Counts;

const KINDS: Record<Kind, string> = {
  system: 'system messages',
  files: 'all files',
  toolCalls: 'all tool calls',
  toolResults: 'all tool results',
};

/**
 * Rejects a request that lacks something from the call.
 *
 * @throws ModelError `model_invalid_request`
 */
export function requireAllContent(provider: Provider, model: string, body: RequestBody, call: ProviderCall): void {
  const [given, sent] = [countsGiven(call), provider.reader.counts(body)];
  for (const kind of ['system', 'files', 'toolCalls', 'toolResults'] as const) {
    if (sent[kind] < given[kind]) {
      throw new ModelError('model_invalid_request', `${model} does not accept ${KINDS[kind]} of these messages.`);
    }
  }
  requireTools(provider, model, body, call);
}

function requireTools(provider: Provider, model: string, body: RequestBody, { tools, toolChoice }: ProviderCall): void {
  if (tools.length === 0) {
    if (toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') return;
    throw new ModelError(
      'model_invalid_request',
      'tool_choice requires a tool, but there are no tools; add some, or omit it.',
    );
  }
  const jsonByTool = hasJsonTool(provider, body, tools);
  // Tools are dropped instead, because the model must be free to call the tool that receives its response.
  if (jsonByTool && toolChoice === 'none') return;
  if (toolChoice !== undefined && !(jsonByTool && toolChoice === 'auto')) {
    const sent = provider.reader.toolChoice(body);
    if (!isDeepStrictEqual(sent, toolChoice) || (jsonByTool && typeof toolChoice === 'object')) {
      const name = typeof toolChoice === 'string' ? toolChoice : toolChoice.name;
      throw new ModelError(
        'model_invalid_request',
        `${model} does not accept tool_choice "${name}", or not together with the parameters given; use "auto".`,
      );
    }
  }
  const names = provider.reader.toolNames(body);
  const missing = tools.find(({ name }) => !names.includes(name));
  if (missing !== undefined)
    throw new ModelError('model_invalid_request', `${model} does not accept the tool ${missing.name}.`);
}

/** Whether a JSON response is requested as the input of a tool that the caller did not define. */
export function hasJsonTool({ reader }: Provider, body: RequestBody, tools: ProviderCall['tools']): boolean {
  if (reader.jsonTool === undefined) return false;
  const isJson = (name: unknown) => name === reader.jsonTool;
  return reader.toolNames(body).filter(isJson).length > tools.filter(({ name }) => isJson(name)).length;
}

function countsGiven({ messages }: ProviderCall): Counts {
  const counts: Counts = { system: 0, files: 0, toolCalls: 0, toolResults: 0 };
  for (const { role, content } of messages) {
    if (role === 'system') counts.system += 1;
    if (typeof content === 'string') continue;
    for (const part of content) {
      // A compatible server receives a text file as text.
      if (part.type === 'file' && !part.media_type.startsWith('text/')) counts.files += 1;
      if (part.type === 'tool_call') counts.toolCalls += 1;
      if (part.type === 'tool_result') counts.toolResults += 1;
    }
  }
  return counts;
}
