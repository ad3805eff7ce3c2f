import { isObject, type Json, listOf, objectOf, shown, storableObject, textOf } from '../json.ts';
import type { PromptMessage } from '../prompt-version.ts';
import { chatReader, readMessages, readText, readTools, readVariable } from './chat.ts';
import { type FoundPrompt, takePrompts } from './collect.ts';
import { emptyImport, type Import, ImportError, type ImportedVersion } from './model.ts';
import { toolChoice } from './openai-prompts.ts';
import { takeParameters } from './parameters.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { fetchedFiles, listFiles, readJson } from './source-files.ts';
import { TemplateError, type TemplateSyntax } from './template-text.ts';

const SYNTAXES: Record<string, TemplateSyntax> = { 'f-string': 'f-string', jinja2: 'nunjucks' };
const PROVIDERS: Record<string, string> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  mistral: 'mistral',
};

/** @throws TemplateError */
function syntaxOf({ template_format }: Json): TemplateSyntax {
  const format = textOf(template_format) ?? 'f-string';
  const syntax = Object.hasOwn(SYNTAXES, format) ? SYNTAXES[format] : undefined;
  if (syntax === undefined) throw new TemplateError(`its template is in the format "${format}"`);
  return syntax;
}

/** Unwraps a content that consists of one text. */
function contentOf({ content }: Json): unknown {
  const [part, ...more] = listOf(content);
  const { type, text } = objectOf(part);
  return type === 'text' && more.length === 0 ? text : content;
}

/** @throws TemplateError */
function readMessage(message: Json, settings: ImportSettings, thing: Thing): PromptMessage[] {
  const reader = chatReader(thing, settings.variables, syntaxOf(message));
  if (message['role'] !== 'placeholder') {
    const content = contentOf(message);
    if (JSON.stringify(content ?? null).includes('@@@'))
      throw new TemplateError(
        'it has a snippet ("@@@…@@@"): save the prompt as the API returns it, with its snippets filled in',
      );
    return readMessages([{ ...message, content }], reader);
  }
  const name = textOf(message['name']);
  if (name === undefined) throw new TemplateError('a placeholder for messages has no name');
  return [{ placeholder: readVariable(name, reader) }];
}

function modelOf(metadata: Json, { defaultModel }: ImportSettings, thing: Thing): string {
  const { provider, name } = objectOf(metadata['model']);
  const model = textOf(name);
  if (model === undefined) {
    if (defaultModel === undefined) throw new TemplateError(NO_MODEL);
    return defaultModel;
  }
  const said = textOf(provider);
  if (said !== undefined && Object.hasOwn(PROVIDERS, said)) return `${PROVIDERS[said]}/${model}`;
  if (said !== undefined) thing.change(`its provider "${said}" is left out: its model is called ${model}`);
  return model;
}

/** @throws TemplateError */
function readVersion(json: Json, settings: ImportSettings, thing: Thing): ImportedVersion {
  const template = objectOf(json['prompt_template']);
  const metadata = objectOf(json['metadata']);
  const { model: modelSettings, ...others } = metadata;
  const { parameters, others: unplaced } = takeParameters(objectOf(objectOf(modelSettings)['parameters']));
  const tools = readTools([...listOf(template['tools']), ...listOf(template['functions'])]);
  const choice = tools.length === 0 ? undefined : toolChoice(template['tool_choice'] ?? template['function_call']);
  const tags = listOf(json['tags']);
  const kept = {
    ...(Object.keys(others).length > 0 && { metadata: others }),
    ...(Object.keys(unplaced).length > 0 && { parameters: unplaced }),
    ...(tags.length > 0 && { tags }),
  };
  if (Object.keys(kept).length > 0) thing.change(`kept in config.promptlayer: ${Object.keys(kept).join(', ')}`);
  if (isObject(json['provider_base_url']))
    thing.change('the address of its provider is left out: that is set up with the service');
  const content =
    template['type'] === 'completion'
      ? { template: completion(template, settings, thing) }
      : {
          messages: listOf(template['messages']).flatMap((message) => readMessage(objectOf(message), settings, thing)),
        };
  const message = textOf(json['commit_message']);
  return {
    model: modelOf(metadata, settings, thing),
    fallback_models: [],
    parameters,
    ...content,
    ...(tools.length > 0 && { tools }),
    ...(choice !== undefined && { tool_choice: choice }),
    ...(Object.keys(kept).length > 0 && { config: storableObject({ promptlayer: kept }) }),
    ...(message !== undefined && { commit_message: message }),
  };
}

/** @throws TemplateError */
function completion(template: Json, settings: ImportSettings, thing: Thing): string {
  const content = contentOf(template);
  if (typeof content !== 'string') throw new TemplateError('it has more than one text');
  return readText(content, chatReader(thing, settings.variables, syntaxOf(template)));
}

/** A template from the API, or lists of them. */
function templatesIn(value: unknown, file: string): Json[] {
  if (Array.isArray(value)) return value.flatMap((one) => templatesIn(one, file));
  if (!isObject(value)) throw new ImportError(`${file}: is not a response of PromptLayer's API`);
  if (isObject(value['prompt_template'])) return [value];
  for (const key of ['items', 'prompt_templates', 'versions', 'data'])
    if (Array.isArray(value[key])) return templatesIn(value[key], file);
  throw new ImportError(`${file}: is not a prompt template of PromptLayer`);
}

/** Labels of a version, if they were saved with it. */
function labelsOf(json: Json): string[] {
  return [...listOf(json['release_labels']), ...listOf(json['labels'])].flatMap((label) => {
    const name = textOf(label) ?? textOf(objectOf(label)['name']);
    return name === undefined ? [] : [name];
  });
}

/**
 * Reads prompt templates from PromptLayer's API and SDKs, one version or a list of them per file.
 * @throws ImportError naming the file
 */
export async function importPromptLayer(location: string, settings: ImportSettings): Promise<Import> {
  const templates: Json[] = [];
  for (const file of await fetchedFiles(await listFiles(location, ['.json']), settings.report))
    templates.push(...templatesIn(await readJson(file), file.name));
  const byName = Map.groupBy(templates, (json) => textOf(json['prompt_name']) ?? String(json['id']));
  const found = [...byName].map(
    ([source, all]): FoundPrompt => ({
      source,
      versions: all
        .toSorted((a, b) => Number(a['version'] ?? 0) - Number(b['version'] ?? 0))
        .map((json) => ({
          called: `version ${shown(json['version'])}`,
          labels: labelsOf(json),
          read: (thing) => readVersion(json, settings, thing),
        })),
    }),
  );
  return { ...emptyImport(), prompts: takePrompts(found, settings) };
}
