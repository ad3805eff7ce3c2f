import { isObject, type Json, listOf, objectOf, shown, storableObject, textOf } from '../json.ts';
import { chatReader, readMessages, readText as readTemplate, readTools } from './chat.ts';
import { type FoundPrompt, takeDatasets, takePrompts } from './collect.ts';
import { readExample } from './examples.ts';
import { parseHumanloopPrompt } from './humanloop-prompt-file.ts';
import { emptyImport, type Import, ImportError, type ImportedVersion, type NoteExample } from './model.ts';
import { takeParameters } from './parameters.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { fetchedFiles, listFiles, readJson, readJsonLines, readText, type SourceFile } from './source-files.ts';
import { TemplateError } from './template-text.ts';

const MAX_PROMPT_BYTES = 1024 * 1024;

const PROVIDERS: Record<string, string> = { openai: 'openai', anthropic: 'anthropic', google: 'google' };

/** Fields about the storage of a version in Humanloop rather than its content. */
const BOOKKEEPING = new Set(
  `path id directory_id version_id type environments created_at updated_at created_by last_used_at status version_status name schema
   inputs tags readme description commit_message version_name version_description version_logs_count total_logs_count evaluators
   evaluator_aggregates raw_file_content endpoint template model provider tools linked_tools template_language attributes
   committed_by committed_at`.split(/\s+/),
);

/** A saved version of a prompt. */
interface Saved {
  path: string;
  /** Settings and template under Humanloop's names. */
  json: Json;
}

function readVersion({ json }: Saved, settings: ImportSettings, thing: Thing): ImportedVersion {
  if (
    json['template_language'] !== undefined &&
    json['template_language'] !== null &&
    json['template_language'] !== 'default'
  )
    throw new TemplateError(`its template is in the language "${shown(json['template_language'])}"`);
  const { parameters, others } = takeParameters(json);
  const provider = textOf(json['provider']);
  const name = textOf(json['model']);
  const prefix = provider === undefined || !Object.hasOwn(PROVIDERS, provider) ? undefined : PROVIDERS[provider];
  const model =
    name === undefined || (provider !== undefined && prefix === undefined)
      ? settings.defaultModel
      : prefix === undefined
        ? name
        : `${prefix}/${name}`;
  if (model === undefined)
    throw new TemplateError(
      name === undefined ? NO_MODEL : `its provider "${provider}" is not called here: name a model with --model`,
    );
  if (name !== undefined && !model.endsWith(name)) thing.change(`its model ${provider}/${name} becomes ${model}`);
  if (listOf(json['linked_tools']).length > 0)
    thing.change('tools that it links to are left out: their definitions are not in the file');
  const tools = readTools(listOf(json['tools']));
  const reader = chatReader(thing, settings.variables, 'mustache');
  const version: ImportedVersion = { model, fallback_models: [], parameters };
  const { template } = json;
  if (typeof template === 'string') version.template = readTemplate(template, reader);
  else version.messages = readMessages(listOf(template), reader);
  if (tools.length > 0) version.tools = tools;
  const kept = {
    ...Object.fromEntries(Object.entries(others).filter(([key, value]) => !BOOKKEEPING.has(key) && value !== null)),
    ...objectOf(json['attributes']),
  };
  if (Object.keys(kept).length > 0) {
    version.config = storableObject(kept);
    thing.change(`kept in its config: ${Object.keys(kept).join(', ')}`);
  }
  const message = textOf(json['version_description']) ?? textOf(json['commit_message']) ?? textOf(json['version_name']);
  if (message !== undefined) version.commit_message = message;
  return version;
}

const createdAt = ({ json }: Saved) => textOf(json['created_at']) ?? '';

/** Environments to which a version is deployed. */
function labelsOf(json: Json): string[] {
  return listOf(json['environments']).flatMap((environment) => textOf(objectOf(environment)['name']) ?? []);
}

interface SavedDataset {
  path: string;
  description: string | undefined;
  datapoints(): AsyncIterable<{ json: Json; at: string }> | Iterable<{ json: Json; at: string }>;
}

async function* readDatapoints(dataset: SavedDataset, settings: ImportSettings, note: NoteExample) {
  for await (const { json, at } of dataset.datapoints()) {
    const { id, inputs, messages, target } = json;
    const input = { ...objectOf(inputs) };
    if (listOf(messages).length > 0) {
      if ('messages' in input) {
        note('left out', 'a datapoint has messages and an input of that name', at);
        continue;
      }
      input['messages'] = messages;
      note('changed', 'the messages of a datapoint are the variable "messages"', at);
    }
    const output = isObject(target) && Object.keys(target).length === 1 ? (target['output'] ?? target) : target;
    const example = readExample({ id, input, expected: output ?? undefined }, settings.variables, note, at);
    if (example !== undefined) yield example;
  }
}

class SavedFiles {
  readonly prompts: Saved[] = [];
  readonly datasets: SavedDataset[] = [];
  readonly #settings: ImportSettings;

  constructor(settings: ImportSettings) {
    this.#settings = settings;
  }

  async add(file: SourceFile): Promise<void> {
    const stem = file.name.replace(/\.[^./]*$/, '');
    if (file.name.endsWith('.prompt')) await this.#addPromptFile(file, stem);
    else if (file.name.endsWith('.agent')) this.#settings.report.leaveOut('agent', stem, 'agents are not supported');
    else if (file.name.endsWith('.jsonl'))
      this.datasets.push({
        path: stem,
        description: undefined,
        async *datapoints() {
          for await (const { line, value } of readJsonLines(file)) yield { json: objectOf(value), at: `line ${line}` };
        },
      });
    else this.#addJson(await readJson(file), file, stem);
  }

  async #addPromptFile(file: SourceFile, path: string): Promise<void> {
    try {
      const { settings, template } = parseHumanloopPrompt(await readText(file, MAX_PROMPT_BYTES), file.name);
      this.prompts.push({ path, json: { ...settings, template } });
    } catch (error) {
      if (!(error instanceof TemplateError) && !(error instanceof ImportError)) throw error;
      this.#settings.report.leaveOut('prompt', path, error.message);
    }
  }

  #addJson(value: unknown, file: SourceFile, stem: string): void {
    if (Array.isArray(value)) for (const item of value) this.#addJson(item, file, stem);
    else if (!isObject(value)) throw new ImportError(`${file.name}: holds something that Humanloop does not export`);
    else if (Array.isArray(value['records'])) this.#addJson(value['records'], file, stem);
    else {
      const path = textOf(value['path']) ?? textOf(value['name']) ?? stem;
      const type = textOf(value['type']);
      if (Array.isArray(value['datapoints'])) {
        const datapoints = value['datapoints'].map((json, index) => ({
          json: objectOf(json),
          at: `datapoint ${index + 1}`,
        }));
        this.datasets.push({ path, description: textOf(value['description']), datapoints: () => datapoints });
      } else if (type === 'prompt' || 'template' in value) this.prompts.push({ path, json: value });
      else if (type === undefined)
        throw new ImportError(`${file.name}: is neither a prompt nor a dataset of Humanloop`);
      else
        this.#settings.report.leaveOut(
          type,
          path,
          type === 'evaluator'
            ? 'it is code, or set for Humanloop’s own models'
            : `the service has no equivalent of a ${type}`,
        );
    }
  }
}

/**
 * Reads `.prompt` files of Humanloop, and prompts and datasets saved as JSON.
 * @throws ImportError
 */
export async function importHumanloop(location: string, settings: ImportSettings): Promise<Import> {
  const saved = new SavedFiles(settings);
  for (const file of await fetchedFiles(
    await listFiles(location, ['.prompt', '.agent', '.json', '.jsonl']),
    settings.report,
  ))
    await saved.add(file);
  const found = [...Map.groupBy(saved.prompts, ({ path }) => path)].map(
    ([source, all]): FoundPrompt => ({
      source,
      description: all.map(({ json }) => textOf(json['description'])).find((text) => text !== undefined),
      versions: all
        .toSorted((a, b) => (createdAt(a) < createdAt(b) ? -1 : createdAt(a) > createdAt(b) ? 1 : 0))
        .map((one) => ({
          called: `version ${textOf(one.json['version_id']) ?? '?'}`,
          labels: labelsOf(one.json),
          read: (thing) => readVersion(one, settings, thing),
        })),
    }),
  );
  const prompts = takePrompts(found, settings);
  const datasets = takeDatasets(
    saved.datasets.map((dataset) => ({
      source: dataset.path,
      description: dataset.description,
      read: (note: NoteExample) => readDatapoints(dataset, settings, note),
    })),
    settings,
  );
  return { ...emptyImport(), prompts, datasets };
}
