import path from 'node:path';
import { isObject, type Json, listOf, objectOf, shown, storableObject, textOf } from '../json.ts';
import type { PromptTool } from '../prompt-version.ts';
import { chatReader, readTools, readVariable } from './chat.ts';
import { type FoundPrompt, readEach, takeDatasets, takePrompts } from './collect.ts';
import { readExample } from './examples.ts';
import { splitFrontMatter } from './front-matter.ts';
import { readInput } from './inputs.ts';
import { emptyImport, type Import, ImportError, type ImportedVersion, type NoteExample } from './model.ts';
import { takeParameters } from './parameters.ts';
import { PromptyBodyReader, type PromptyFile } from './prompty-body.ts';
import { kindOf, propertiesOf, schemaOfProperties } from './prompty-schema.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { fileInside, readData, readText, type SourceFile } from './source-files.ts';
import { TemplateError } from './template-text.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const FIELDS = new Set('name description model inputs outputs tools template sample'.split(' '));
const PROVIDERS: Record<string, string> = { openai: 'openai', anthropic: 'anthropic' };
const AZURE = new Set(['azure', 'azure_openai', 'azure_openai_beta', 'foundry', 'serverless', 'azure_serverless']);
/** Option names in v2. */
const OPTIONS: Record<string, string> = {
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  stopSequences: 'stop',
  allowMultipleToolCalls: 'parallel_tool_calls',
};

/** `${env:NAME:default}` resolves to its default; `${file:path}` to the file's content. */
async function resolve(value: unknown, folder: string): Promise<unknown> {
  if (Array.isArray(value)) {
    const items = [];
    for (const item of value) items.push(await resolve(item, folder));
    return items;
  }
  if (isObject(value)) {
    const entries: [string, unknown][] = [];
    // The provider's connection is not read because it may contain keys.
    for (const [key, inner] of Object.entries(value))
      if (key !== 'apiKey' && key !== 'api_key') entries.push([key, await resolve(inner, folder)]);
    return Object.fromEntries(entries);
  }
  const [, kind, rest = ''] = typeof value === 'string' ? (/^\$\{(env|file):(.*)\}$/.exec(value) ?? []) : [];
  if (kind === 'file') {
    const file = await fileInside(folder, rest);
    if (file === undefined) throw new ImportError(`names ${rest}, which is not in its folder`);
    return /\.(?:json|ya?ml)$/i.test(rest) ? readData(file) : readText(file, MAX_FILE_BYTES);
  }
  return kind === 'env' && rest.includes(':') ? rest.slice(rest.indexOf(':') + 1) : value;
}

async function readFile(file: SourceFile): Promise<PromptyFile> {
  const text = await readText(file, MAX_FILE_BYTES);
  const { settings, body } = splitFrontMatter(text, file.name) ?? { settings: {}, body: text };
  const folder = path.dirname(file.path);
  let resolved: Json;
  try {
    const sample = settings['sample'];
    const given = typeof sample === 'string' && !sample.startsWith('${') ? `\${file:${sample}}` : sample;
    resolved = objectOf(await resolve({ ...settings, ...(given !== undefined && { sample: given }) }, folder));
  } catch (error) {
    throw error instanceof ImportError ? new ImportError(`${file.name}: ${error.message}`) : error;
  }
  const { model, inputs, template } = resolved;
  const isV2 =
    typeof model === 'string' ||
    Array.isArray(inputs) ||
    ['id', 'provider', 'apiType'].some((key) => key in objectOf(model)) ||
    isObject(objectOf(template)['format']);
  return { source: file.name.replace(/\.prompty$/, ''), settings: resolved, body, isV2 };
}

/** @throws TemplateError */
function modelOf(settings: Json, { defaultModel }: ImportSettings, thing: Thing): string {
  const given = settings['model'];
  const model = typeof given === 'string' ? { id: given } : objectOf(given);
  const connection = { ...objectOf(model['configuration']), ...objectOf(model['connection']) };
  if (Object.keys(connection).length > 0)
    thing.change('its connection to the provider is left out: the service has its own');
  const deployment = textOf(connection['azure_deployment']);
  const provider = textOf(model['provider']) ?? (deployment === undefined ? textOf(connection['type']) : 'azure');
  const id = textOf(model['id']) ?? deployment ?? textOf(connection['name']) ?? textOf(connection['model']);
  if (id === undefined || id.startsWith('${')) {
    if (defaultModel === undefined) throw new TemplateError(NO_MODEL);
    return defaultModel;
  }
  if (provider === undefined) return id;
  if (AZURE.has(provider)) {
    thing.change(`the deployment "${id}" is used as the name of a model`);
    return id;
  }
  const prefix = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  return prefix === undefined ? `${provider}/${id}` : `${prefix}/${id}`;
}

/** @throws TemplateError */
function readPromptyTools({ settings }: PromptyFile, options: Json, thing: Thing): PromptTool[] {
  const tools = listOf(settings['tools']).flatMap((one): PromptTool[] => {
    const tool = objectOf(one);
    const { name, description, parameters, strict } = tool;
    const kind = kindOf(tool);
    if (kind !== 'function' || typeof name !== 'string') {
      thing.change(`the tool "${shown(name)}" is left out: it is of the kind "${shown(kind)}"`);
      return [];
    }
    const bound = new Set(propertiesOf(tool['bindings']).map((binding) => binding.name));
    if (bound.size > 0) thing.change(`bindings of the tool "${name}" are left out, with the parameters that they fill`);
    const inner = isObject(parameters) && 'properties' in parameters ? parameters['properties'] : parameters;
    const properties = propertiesOf(inner).filter((property) => !bound.has(property.name));
    const schema = schemaOfProperties(properties, false);
    return [
      {
        name,
        ...(typeof description === 'string' && { description }),
        input_schema: storableObject(strict === true ? { ...schema, additionalProperties: false } : schema),
        ...(typeof strict === 'boolean' && { strict }),
      },
    ];
  });
  return [...tools, ...readTools(listOf(options['tools']))];
}

/** @throws TemplateError */
function readVersion(file: PromptyFile, settings: ImportSettings, thing: Thing): ImportedVersion {
  const given = file.settings;
  const model = objectOf(given['model']);
  const api = textOf(model['apiType']) ?? textOf(model['api']) ?? 'chat';
  if (!['chat', 'completion', 'responses'].includes(api)) throw new TemplateError(`it is for the API "${api}"`);
  const { additionalProperties, ...own } = { ...objectOf(model['parameters']), ...objectOf(model['options']) };
  const options: Json = { ...objectOf(additionalProperties) };
  for (const [key, value] of Object.entries(own))
    options[Object.hasOwn(OPTIONS, key) ? (OPTIONS[key] ?? key) : key] = value;
  const { tools: _tools, tool_choice, ...sent } = options;
  if (tool_choice !== undefined && tool_choice !== 'auto') thing.change('its tool_choice is left out');
  const outputs = propertiesOf(given['outputs']);
  const schema = schemaOfProperties(outputs, true);
  const { parameters, others } = takeParameters(
    outputs.length === 0
      ? sent
      : {
          ...sent,
          response_format: { type: 'json_schema', json_schema: { name: 'structured_output', strict: true, schema } },
        },
  );
  const body = new PromptyBodyReader(file, settings, thing);
  const content = api === 'completion' ? { template: body.template() } : { messages: body.messages() };
  const reader = chatReader(thing, settings.variables, null);
  const inputs = Object.fromEntries(
    propertiesOf(given['inputs']).map(({ name, given: input }) => {
      const found = {
        type: kindOf(input),
        default: kindOf(input) === 'thread' ? undefined : (input['default'] ?? input['sample']),
        description: textOf(input['description']),
        required: kindOf(input) === 'thread' ? false : undefined,
        enum: listOf(input['enumValues'] ?? input['enum']),
      };
      return [readVariable(name, reader), readInput(found)];
    }),
  );
  const tools = readPromptyTools(file, options, thing);
  const name = textOf(given['name']);
  const unknown = Object.entries(given).filter(([key]) => !FIELDS.has(key));
  const kept = {
    ...(name !== undefined && name !== file.source && { name }),
    ...Object.fromEntries(unknown),
    ...(Object.keys(others).length > 0 && { options: others }),
  };
  if (Object.keys(kept).length > 0) thing.change(`kept in config.prompty: ${Object.keys(kept).join(', ')}`);
  return {
    model: modelOf(given, settings, thing),
    fallback_models: [],
    parameters,
    ...content,
    ...(tools.length > 0 && { tools }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
    ...(Object.keys(kept).length > 0 && { config: storableObject({ prompty: kept }) }),
  };
}

/** Sample values from a file: its sample, or those of its inputs. */
function samplesOf({ settings }: PromptyFile): Json[] {
  const { sample } = settings;
  if (sample !== undefined) return (Array.isArray(sample) ? sample : [sample]).filter(isObject);
  const given = propertiesOf(settings['inputs']).map(({ name, given: input }) => ({
    name,
    sample: input['sample'] ?? input['example'],
    fallback: input['default'],
  }));
  if (given.every((one) => one.sample === undefined)) return [];
  const values = given.map((one) => [one.name, one.sample ?? one.fallback] as const);
  return [Object.fromEntries(values.filter(([, value]) => value !== undefined))];
}

async function* readSamples(samples: Json[], settings: ImportSettings, note: NoteExample) {
  for (const [index, input] of samples.entries()) {
    const example = readExample({ input }, settings.variables, note, `sample ${index + 1}`);
    if (example !== undefined) yield example;
  }
}

/**
 * Reads `.prompty` files of both versions.
 * @throws ImportError naming the line, if there is only one file and its front matter is invalid YAML
 */
export async function importPrompty(location: string, settings: ImportSettings): Promise<Import> {
  const files = await readEach(location, ['.prompty'], settings.report, readFile);
  const prompts = takePrompts(
    files.map((file): FoundPrompt => {
      const description = textOf(file.settings['description']);
      return { source: file.source, description, versions: [{ read: (thing) => readVersion(file, settings, thing) }] };
    }),
    settings,
  );
  const sampled = files.map((file) => ({ source: file.source, samples: samplesOf(file) }));
  const datasets = takeDatasets(
    sampled
      .filter(({ samples }) => samples.length > 0)
      .map(({ source, samples }) => ({ source, read: (note: NoteExample) => readSamples(samples, settings, note) })),
    settings,
  );
  return { ...emptyImport(), prompts, datasets };
}
