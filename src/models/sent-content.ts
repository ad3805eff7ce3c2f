import { isDeepStrictEqual } from 'node:util';
import type { ToolChoice } from '../domain/prompt-content.ts';
import { isObject, listOf, type RequestBody, valueAt } from './json-body.ts';
import type { ProviderCall } from './language-model.ts';
import { ModelError } from './model-error.ts';
import type { HttpProvider } from './names.ts';

/** How many of each kind a request holds. */
interface Counts {
  system: number;
  files: number;
  toolCalls: number;
  toolResults: number;
}
type Kind = keyof Counts;

const KINDS: Record<Kind, string> = {
  system: 'system messages',
  files: 'all files',
  toolCalls: 'all tool calls',
  toolResults: 'all tool results',
};

/** The tool by which Anthropic's SDK gets a JSON response from models that have no format for it. */
const JSON_TOOL = 'json';

/**
 * Refuses a request in which something is missing that was given.
 *
 * @throws ModelError `model_invalid_request`
 */
export function requireAllContent(provider: HttpProvider, model: string, body: RequestBody, call: ProviderCall): void {
  const [given, sent] = [countsGiven(call), countsSent(provider, body)];
  for (const kind of ['system', 'files', 'toolCalls', 'toolResults'] as const) {
    if (sent[kind] < given[kind]) {
      throw new ModelError('model_invalid_request', `${model} does not take ${KINDS[kind]} of these messages.`);
    }
  }
  requireTools(provider, model, body, call);
}

function requireTools(
  provider: HttpProvider,
  model: string,
  body: RequestBody,
  { tools, toolChoice }: ProviderCall,
): void {
  if (tools.length === 0) {
    if (toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') return;
    throw new ModelError(
      'model_invalid_request',
      'tool_choice asks for a tool, but there are no tools; add some or leave it out.',
    );
  }
  const jsonByTool = hasJsonTool(provider, body, tools);
  // They are left out instead: the model must be free to call the tool that takes its response.
  if (jsonByTool && toolChoice === 'none') return;
  if (toolChoice !== undefined && !(jsonByTool && toolChoice === 'auto')) {
    const sent = toolChoiceSent(provider, body);
    if (!isDeepStrictEqual(sent, toolChoice) || (jsonByTool && typeof toolChoice === 'object')) {
      const name = typeof toolChoice === 'string' ? toolChoice : toolChoice.name;
      throw new ModelError(
        'model_invalid_request',
        `${model} does not take tool_choice "${name}", or not together with the parameters given; use "auto".`,
      );
    }
  }
  const names = toolNamesSent(provider, body);
  const missing = tools.find(({ name }) => !names.includes(name));
  if (missing !== undefined)
    throw new ModelError('model_invalid_request', `${model} does not take the tool ${missing.name}.`);
}

/** Whether a JSON response is asked for as the input of a tool that nobody gave. */
export function hasJsonTool(provider: HttpProvider, body: RequestBody, tools: ProviderCall['tools']): boolean {
  if (provider !== 'anthropic') return false;
  const isJson = (name: unknown) => name === JSON_TOOL;
  return toolNamesSent(provider, body).filter(isJson).length > tools.filter(({ name }) => isJson(name)).length;
}

function countsGiven({ messages }: ProviderCall): Counts {
  const counts: Counts = { system: 0, files: 0, toolCalls: 0, toolResults: 0 };
  for (const { role, content } of messages) {
    if (role === 'system') counts.system += 1;
    if (typeof content === 'string') continue;
    for (const part of content) {
      // A compatible server gets a text file as a text.
      if (part.type === 'file' && !part.media_type.startsWith('text/')) counts.files += 1;
      if (part.type === 'tool_call') counts.toolCalls += 1;
      if (part.type === 'tool_result') counts.toolResults += 1;
    }
  }
  return counts;
}

function countsSent(provider: HttpProvider, body: RequestBody): Counts {
  const counts: Counts = { system: 0, files: 0, toolCalls: 0, toolResults: 0 };
  if (provider === 'google') {
    const [first] = listOf(body['contents']);
    const instruction = listOf(valueAt(body, 'systemInstruction.parts')).length;
    // Gemma has no place for it: it stands before the first user message.
    counts.system = instruction === 0 && fieldOf(first, 'role') === 'user' ? Number.POSITIVE_INFINITY : instruction;
    for (const part of listOf(body['contents']).flatMap((content) => listOf(fieldOf(content, 'parts')))) {
      if (has(part, 'inlineData') || has(part, 'fileData')) counts.files += 1;
      if (has(part, 'functionCall')) counts.toolCalls += 1;
      if (has(part, 'functionResponse')) counts.toolResults += 1;
    }
    return counts;
  }
  if (provider === 'anthropic') counts.system = listOf(body['system']).length;
  for (const message of listOf(body['messages'])) {
    const role = fieldOf(message, 'role');
    if (role === 'system' || role === 'developer') counts.system += 1;
    if (role === 'tool') counts.toolResults += 1;
    counts.toolCalls += listOf(fieldOf(message, 'tool_calls')).length;
    for (const part of listOf(fieldOf(message, 'content'))) {
      const type = fieldOf(part, 'type');
      if (type === 'tool_use') counts.toolCalls += 1;
      else if (type === 'tool_result') counts.toolResults += 1;
      else if (type !== 'text') counts.files += 1;
    }
  }
  return counts;
}

function toolNamesSent(provider: HttpProvider, body: RequestBody): unknown[] {
  const tools = listOf(body['tools']);
  if (provider === 'anthropic') return tools.map((tool) => fieldOf(tool, 'name'));
  if (provider === 'google') {
    return tools.flatMap((tool) => listOf(fieldOf(tool, 'functionDeclarations'))).map((tool) => fieldOf(tool, 'name'));
  }
  return tools.map((tool) => fieldOf(fieldOf(tool, 'function'), 'name'));
}

function toolChoiceSent(provider: HttpProvider, body: RequestBody): ToolChoice | undefined {
  if (provider === 'google') {
    const mode = valueAt(body, 'toolConfig.functionCallingConfig.mode');
    const [name] = listOf(valueAt(body, 'toolConfig.functionCallingConfig.allowedFunctionNames'));
    if (typeof name === 'string') return { name };
    return mode === 'ANY' ? 'required' : mode === 'NONE' ? 'none' : 'auto';
  }
  if (provider === 'anthropic') {
    const [type, name] = [valueAt(body, 'tool_choice.type'), valueAt(body, 'tool_choice.name')];
    if (typeof name === 'string') return { name };
    return type === 'any' ? 'required' : type === 'auto' || type === 'none' ? type : undefined;
  }
  const [choice, name] = [body['tool_choice'], valueAt(body, 'tool_choice.function.name')];
  if (typeof name === 'string') return { name };
  return choice === 'auto' || choice === 'none' || choice === 'required' ? choice : undefined;
}

function fieldOf(object: unknown, key: string): unknown {
  return isObject(object) ? object[key] : undefined;
}

function has(object: unknown, key: string): boolean {
  return fieldOf(object, key) !== undefined;
}
