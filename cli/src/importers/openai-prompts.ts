import { isObject, type Json, listOf, objectOf, shown, textOf } from '../json.ts';
import type { PromptVersion } from '../prompt-version.ts';
import { chatReader, readMessages, readTools } from './chat.ts';
import type { FoundVersion } from './collect.ts';
import type { ImportedVersion } from './model.ts';
import { takeParameters } from './parameters.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { TemplateError } from './template-text.ts';

/** Request settings that prompts do not support. The other fields of a saved response describe the call. */
const UNPLACED =
  'truncation store include max_tool_calls service_tier logprobs top_logprobs logit_bias audio modalities'.split(' ');

/** `{{item.question}}` is the variable `question`. */
function itemVariables(message: unknown): unknown {
  const rename = (text: string) => text.replace(/\{\{\s*item\.([\w-]+)\s*\}\}/g, '{{$1}}');
  if (!isObject(message)) return message;
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: rename(content) };
  const parts = (Array.isArray(content) ? content : [content]).map((part) =>
    isObject(part) && typeof part['text'] === 'string' ? { ...part, text: rename(part['text']) } : part,
  );
  return { ...message, content: parts };
}

/** @throws TemplateError */
export function toolChoice(value: unknown): PromptVersion['tool_choice'] {
  if (value === undefined || value === null) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  const name = textOf(objectOf(value)['name']) ?? textOf(objectOf(objectOf(value)['function'])['name']);
  if (name === undefined) throw new TemplateError(`its tool_choice is ${shown(value)}`);
  return { name };
}

/** @throws TemplateError */
function versionOf(
  source: Json,
  request: Json,
  messages: unknown[],
  settings: ImportSettings,
  thing: Thing,
): ImportedVersion {
  const model = textOf(source['model']) ?? settings.defaultModel;
  if (model === undefined) throw new TemplateError(NO_MODEL);
  const { parameters } = takeParameters(request);
  const tools = readTools(listOf(request['tools']));
  const tool_choice = tools.length === 0 ? undefined : toolChoice(request['tool_choice']);
  for (const field of UNPLACED) {
    const value = request[field];
    const isDefault = value === false || value === 'disabled' || value === 'default' || value === 'auto' || value === 0;
    if (value !== undefined && value !== null && !isDefault)
      thing.change(`${field} is left out: prompts do not support it`);
  }
  return {
    model,
    fallback_models: [],
    parameters,
    messages: readMessages(messages, chatReader(thing, settings.variables, 'mustache')),
    ...(tools.length > 0 && { tools }),
    ...(tool_choice !== undefined && { tool_choice }),
  };
}

/** The input messages of an eval's run: item fields are its variables. */
export function versionOfRun(run: Json, settings: ImportSettings): FoundVersion {
  return {
    called: `the run ${textOf(run['id']) ?? '?'}`,
    read(thing) {
      const source = objectOf(run['data_source']);
      const input = objectOf(source['input_messages']);
      if (input['type'] !== 'template')
        throw new TemplateError('the run itself has no messages: its items hold them, or stored completions');
      return versionOf(
        source,
        objectOf(source['sampling_params']),
        listOf(input['template']).map(itemVariables),
        settings,
        thing,
      );
    },
  };
}

/** The name of a stored prompt, and its version in the source if known. */
export function storedPrompt(json: Json, file: string): { source: string; version: number } {
  const reference = objectOf(json['prompt']);
  const id = textOf(reference['id']) ?? textOf(reference['prompt_id']) ?? textOf(json['id']);
  return { source: textOf(json['name']) ?? id ?? file, version: Number(reference['version'] ?? json['version'] ?? 0) };
}

const asMessages = (value: unknown, role: string): unknown[] =>
  typeof value === 'string' ? (value === '' ? [] : [{ role, content: value }]) : listOf(value);

/** A prompt of the Responses API: request fields, as the dashboard shows them, or a saved response. */
export function versionOfStored(json: Json, version: number, settings: ImportSettings): FoundVersion {
  return {
    called: `version ${version}`,
    read(thing) {
      if (json['object'] === 'response' && Object.keys(objectOf(objectOf(json['prompt'])['variables'])).length > 0)
        throw new TemplateError('it is a response, whose variables are filled in: write down the prompt itself');
      const text = objectOf(json['text']);
      const reasoning = objectOf(json['reasoning']);
      const effort = textOf(reasoning['effort']);
      const { verbosity } = text;
      const { summary } = reasoning;
      if (textOf(verbosity) !== undefined && verbosity !== 'medium')
        thing.change('text.verbosity is left out: prompts do not support it');
      if (textOf(summary) !== undefined) thing.change('reasoning.summary is left out: prompts do not support it');
      const request = {
        ...json,
        response_format: text['format'] ?? json['response_format'],
        ...(effort !== undefined && { reasoning_effort: effort }),
      };
      const messages = [
        ...asMessages(json['instructions'], 'system'),
        ...asMessages(json['input'] ?? json['messages'], 'user'),
      ];
      const taken = versionOf(json, request, messages, settings, thing);
      return version > 0 ? { ...taken, commit_message: `OpenAI version ${version}` } : taken;
    },
  };
}
