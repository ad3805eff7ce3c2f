import { isObject, type Json, listOf, objectOf, shown, storableObject, textOf } from '../json.ts';
import { isLabel, mapLabels, mapNames } from '../names.ts';
import { versionProblem } from '../prompt-version.ts';
import { type ChatReader, readMessages, readText, readVariable } from './chat.ts';
import { readExample } from './examples.ts';
import {
  datasetsOfExperiments,
  experimentKindOf,
  type LangfuseExperiments,
  noExperiments,
  withExperiments,
} from './langfuse-experiments.ts';
import { emptyScoring, importLangfuseScoring, type LangfuseScoring } from './langfuse-scores.ts';
import {
  emptyImport,
  type Import,
  ImportError,
  type ImportedPrompt,
  type ImportedVersion,
  type NoteExample,
} from './model.ts';
import { takeParameters } from './parameters.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { fetchedFiles, listFiles, readJson, readJsonLines } from './source-files.ts';
import { type Piece, TemplateError } from './template-text.ts';

const REFERENCE = /@@@langfusePrompt:(.*?)@@@/g;

/** One version of a prompt from Langfuse's API. */
export interface LangfusePrompt {
  name: string;
  version: number;
  record: Json;
}

/** A Langfuse dataset. Its items are read on demand. */
export interface LangfuseDataset {
  name: string;
  description?: string | undefined;
  items(): AsyncIterable<Json> | Iterable<Json>;
}

/** The content of Langfuse's files or API. */
export interface LangfuseContents {
  prompts: LangfusePrompt[];
  datasets: LangfuseDataset[];
  /** Listed versions. Those without content are reported as missing. */
  listed: { name: string; version: number }[];
  scoring: LangfuseScoring;
  experiments: LangfuseExperiments;
}

/** A reference to another prompt: `name=…|version=3` or `name=…|label=…`. */
interface Reference {
  name: string;
  version?: number;
  label?: string;
}

function parseReference(inside: string): Reference {
  const fields = new Map(inside.split('|').map((field) => field.split(/=(.*)/s, 2) as [string, string]));
  const name = fields.get('name');
  const version = fields.get('version');
  const label = fields.get('label');
  if (
    name === undefined ||
    (version === undefined) === (label === undefined) ||
    (version !== undefined && !/^\d+$/.test(version))
  )
    throw new TemplateError(`the prompt has a reference that can't be read ("${inside.slice(0, 60)}")`);
  return version === undefined ? { name, label: label ?? '' } : { name, version: Number(version) };
}

function describeReference({ name, version, label }: Reference): string {
  return version === undefined ? `"${name}" at the label "${label}"` : `version ${version} of "${name}"`;
}

/** A version being imported. */
interface Draft {
  source: LangfusePrompt;
  references: Reference[];
  /** Why it is not imported. */
  fault?: string;
}

function labelsOf(record: Json): string[] {
  return listOf(record['labels']).filter((label) => typeof label === 'string');
}

/** Reads all versions of all prompts together, because some depend on others. */
class PromptReader {
  readonly #settings: ImportSettings;
  readonly #drafts = new Map<string, Draft[]>();
  readonly #names: Map<string, string>;
  readonly #labels: Map<string, string>;

  constructor(prompts: LangfusePrompt[], settings: ImportSettings) {
    this.#settings = settings;
    for (const source of prompts) {
      const drafts = this.#drafts.get(source.name) ?? [];
      if (!drafts.some((draft) => draft.source.version === source.version)) drafts.push({ source, references: [] });
      this.#drafts.set(source.name, drafts);
    }
    for (const drafts of this.#drafts.values()) drafts.sort((a, b) => a.source.version - b.source.version);
    this.#names = mapNames('prompt', this.#drafts.keys());
    this.#labels = mapLabels(prompts.flatMap(({ record }) => labelsOf(record)));
  }

  read(listed: LangfuseContents['listed']): ImportedPrompt[] {
    for (const draft of [...this.#drafts.values()].flat()) this.#check(draft);
    while (this.#dropUnresolved());
    return [...this.#drafts].flatMap(([name, drafts]) => {
      const missed = listed.filter(
        (one) => one.name === name && !drafts.some(({ source }) => source.version === one.version),
      );
      return this.#finish(
        name,
        drafts,
        missed.map(({ version }) => version),
      );
    });
  }

  /** The new position of a version: its index among the imported ones, from 1, if it is one of them. */
  placeOf(name: string, version: number): { name: string; place: number | undefined } {
    const at = this.#kept(name).findIndex(({ source }) => source.version === version);
    const own = this.#names.get(name) ?? mapNames('prompt', [name]).get(name) ?? name;
    return { name: own, place: at === -1 ? undefined : at + 1 };
  }

  /** Translates a version to check whether it can be imported and what it refers to. */
  #check(draft: Draft): void {
    const note = () => {};
    try {
      const version = this.#build(draft.source, note, (reference) => {
        draft.references.push(reference);
        return 'any';
      });
      const problem = versionProblem(version);
      if (problem !== undefined) draft.fault = problem;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      draft.fault = error.message;
    }
  }

  #kept(name: string): Draft[] {
    return (this.#drafts.get(name) ?? []).filter(({ fault }) => fault === undefined);
  }

  /** The version that a reference resolves to; undefined if it is not imported or can't be included. */
  #target({ name, version, label }: Reference): Draft | undefined {
    const kept = this.#kept(name);
    const target = kept.find(({ source }) =>
      version === undefined ? labelsOf(source.record).includes(label ?? '') : source.version === version,
    );
    const found = target ?? (label === 'latest' ? kept.at(-1) : undefined);
    return found?.source.record['type'] === 'chat' ? undefined : found;
  }

  /** One round; returns whether it dropped anything. */
  #dropUnresolved(): boolean {
    let dropped = false;
    for (const draft of [...this.#drafts.values()].flat()) {
      const open =
        draft.fault === undefined ? draft.references.find((one) => this.#target(one) === undefined) : undefined;
      if (open === undefined) continue;
      draft.fault = `it refers to ${describeReference(open)}, which is not among the imported text prompts`;
      dropped = true;
    }
    return dropped;
  }

  /** The name of a reference here. */
  #includeOf(reference: Reference): string {
    const name = this.#names.get(reference.name) ?? reference.name;
    if (reference.label === 'latest') return name;
    if (reference.label !== undefined) return `${name}@${this.#labels.get(reference.label) ?? reference.label}`;
    const target = this.#target(reference);
    return `${name}@${target === undefined ? 0 : this.#kept(reference.name).indexOf(target) + 1}`;
  }

  #build(source: LangfusePrompt, note: (what: string) => void, include: (one: Reference) => string): ImportedVersion {
    const { record } = source;
    const config = objectOf(record['config']);
    const { parameters, others } = takeParameters(config);
    const model = textOf(config['model']) ?? this.#settings.defaultModel;
    if (model === undefined) throw new TemplateError(NO_MODEL);
    if (Object.keys(parameters).length > 0) note('parameters are read from its config, which is kept too');
    if (listOf(others['tools']).length > 0) note('tools stay in its config and are not sent to the model');
    const reader: ChatReader = {
      syntax: 'mustache',
      names: this.#settings.variables,
      onRename: (from, to) => note(`the variable "${from}" is called "${to}"`),
      onChange: note,
      split: (text) => splitReferences(text, include),
    };
    const tags = listOf(record['tags']);
    if (tags.length > 0) note('tags are kept in config.langfuse_tags');
    const kept = tags.length > 0 ? { ...config, langfuse_tags: tags } : config;
    const version: ImportedVersion = { model, fallback_models: [], parameters };
    if (typeof record['prompt'] === 'string') version.template = readText(record['prompt'], reader);
    else version.messages = listOf(record['prompt']).flatMap((entry) => readEntry(entry, reader));
    if (Object.keys(kept).length > 0) version.config = storableObject(kept);
    const message = textOf(record['commitMessage']);
    if (message !== undefined) version.commit_message = message.slice(0, 1000);
    return version;
  }

  #finish(source: string, drafts: Draft[], missed: number[]): ImportedPrompt[] {
    const name = this.#names.get(source) ?? source;
    const thing = this.#settings.report.add('prompt', source);
    const kept = this.#kept(source);
    if (kept.length === 0) {
      const faults = drafts.map(({ source: { version }, fault }) => `version ${version}: ${fault}`);
      thing.leaveOut(faults.length === 1 ? (drafts[0]?.fault ?? '') : faults.join('; '));
      return [];
    }
    thing.rename(name);
    for (const version of missed)
      thing.change(`version ${version} is left out: only the list names it, its content is missing`);
    for (const { source: draft, fault } of drafts) {
      if (fault === undefined) continue;
      const labels = labelsOf(draft.record).filter((label) => label !== 'latest');
      const lost = labels.length === 0 ? '' : `, and so are its labels (${labels.join(', ')})`;
      thing.change(`version ${draft.version} is left out${lost}: ${fault}`);
    }
    const versions = kept.map((draft, index) => {
      const { version } = draft.source;
      if (version !== index + 1) thing.change(`version ${version} becomes version ${index + 1}`);
      if (draft.source.record['resolutionGraph'])
        thing.change(
          'references were filled in when it was saved; save it with resolve=false to keep them',
          `version ${version}`,
        );
      return this.#build(
        draft.source,
        (what) => thing.change(what, `version ${version}`),
        (one) => this.#includeOf(one),
      );
    });
    return [{ name, archived: false, versions, labels: this.#labelsOf(kept, thing), thing }];
  }

  #labelsOf(kept: Draft[], thing: Thing): Record<string, number> {
    const labels = new Map<string, number>();
    for (const [index, { source }] of kept.entries())
      for (const label of labelsOf(source.record)) {
        if (label === 'latest') continue;
        const own = this.#labels.get(label) ?? label;
        if (!isLabel(label)) thing.change(`the label "${label}" is called "${own}"`);
        labels.set(own, index + 1);
      }
    return Object.fromEntries(labels);
  }
}

function splitReferences(text: string, include: (reference: Reference) => string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: whole, 1: inside = '', index } of text.matchAll(REFERENCE)) {
    pieces.push(text.slice(end, index), { include: include(parseReference(inside)) });
    end = index + whole.length;
  }
  pieces.push(text.slice(end));
  return pieces;
}

/** A message of a chat prompt, or a placeholder for messages. */
function readEntry(entry: unknown, reader: ChatReader): NonNullable<ImportedVersion['messages']> {
  if (!isObject(entry) || entry['type'] !== 'placeholder') return readMessages([entry], reader);
  const name = textOf(entry['name']);
  if (name === undefined) throw new TemplateError('a placeholder for messages has no name');
  const placeholder = readVariable(name, reader);
  // Langfuse drops a placeholder without a value.
  return [{ placeholder, required: false }];
}

/** @returns the conversion of Langfuse's prompts and datasets */
export function importLangfuse(contents: LangfuseContents, settings: ImportSettings): Import {
  const reader = new PromptReader(contents.prompts, settings);
  const prompts = reader.read(contents.listed);
  const found = new Set(contents.prompts.map(({ name }) => name));
  for (const name of new Set(contents.listed.map((one) => one.name)))
    if (!found.has(name))
      settings.report.leaveOut('prompt', name, 'only a list names it: save each of its versions too');
  const all = [...contents.datasets, ...datasetsOfExperiments(contents.experiments, settings.report)];
  const names = mapNames(
    'dataset',
    all.map(({ name }) => name),
  );
  const taken = new Set<string>();
  const datasets = all.flatMap((dataset: LangfuseDataset) => {
    const thing = settings.report.add('dataset', dataset.name);
    const name = names.get(dataset.name) ?? dataset.name;
    if (taken.has(name)) thing.leaveOut('another dataset has this name');
    else thing.rename(name);
    taken.add(name);
    const read = (note: NoteExample) => readItems(dataset, settings, note);
    return thing.isLeftOut ? [] : [{ name, description: dataset.description, thing, read }];
  });
  const scored = withExperiments(contents.scoring, contents.experiments);
  const scoring = importLangfuseScoring(scored, settings, (name, version) => reader.placeOf(name, version));
  return { ...emptyImport(), prompts, datasets, scoring };
}

async function* readItems(dataset: LangfuseDataset, settings: ImportSettings, note: NoteExample) {
  let place = 0;
  for await (const item of dataset.items()) {
    place += 1;
    const { id, input, expectedOutput, metadata, status } = item;
    const at = typeof id === 'string' ? id : `item ${place}`;
    if (status === 'ARCHIVED') {
      note('left out', 'an item is archived', at);
      continue;
    }
    const raw = { id, input, expected: expectedOutput ?? undefined, metadata };
    const example = readExample(raw, settings.variables, note, at);
    if (example !== undefined) yield example;
  }
}

/** The kind of score data; undefined if it is something else. */
function scoringKindOf(value: Json): keyof LangfuseScoring | undefined {
  if ('startTime' in value && 'type' in value && 'id' in value) return 'observations';
  if ('objectType' in value && 'queueId' in value) return 'items';
  if (Array.isArray(value['scoreConfigIds'])) return 'queues';
  if (typeof value['dataType'] !== 'string') return undefined;
  return 'source' in value ? 'scores' : 'configs';
}

/** Sorts the content of saved responses: prompts, lists of them, datasets, items. */
class SavedAnswers {
  readonly prompts: LangfusePrompt[] = [];
  readonly listed: LangfuseContents['listed'] = [];
  readonly scoring = emptyScoring();
  readonly experiments = noExperiments();
  readonly #items = new Map<string, Json[]>();
  readonly #descriptions = new Map<string, string | undefined>();
  #unknown = 0;

  add(value: unknown, file: string): void {
    if (Array.isArray(value)) for (const item of value) this.#addOne(item, file);
    else if (isObject(value) && Array.isArray(value['data'])) this.add(value['data'], file);
    else if (isObject(value) && Array.isArray(value['prompts'])) this.add(value['prompts'], file);
    else this.#addOne(value, file);
  }

  #addOne(value: unknown, file: string): void {
    if (!isObject(value)) throw new ImportError(`${file}: is not a response of Langfuse's API`);
    const { name, version } = value;
    const experiment = experimentKindOf(value);
    const scoring = scoringKindOf(value);
    if (experiment !== undefined) this.experiments[experiment].push(value);
    else if (scoring !== undefined) this.scoring[scoring].push(value);
    else if (typeof name === 'string' && 'prompt' in value && Number.isSafeInteger(version))
      this.prompts.push({ name, version: Number(version), record: value });
    else if (typeof name === 'string' && Array.isArray(value['versions']))
      for (const one of value['versions']) this.listed.push({ name, version: Number(one) });
    else if ('input' in value && ('datasetName' in value || 'datasetId' in value))
      this.addItem(textOf(value['datasetName']) ?? shown(value['datasetId']), value);
    else if (typeof name === 'string' && ('projectId' in value || Array.isArray(value['items']))) {
      this.#descriptions.set(name, textOf(value['description']));
      for (const item of listOf(value['items'])) this.addItem(name, objectOf(item));
      if (!this.#items.has(name)) this.#items.set(name, []);
    } else this.#unknown += 1;
    if (this.#unknown > 0)
      throw new ImportError(
        `${file}: is neither a prompt, a list of prompts, a dataset, items of one, an experiment, nor what belongs to scores, from Langfuse's API`,
      );
  }

  addItem(dataset: string, item: Json): void {
    const items = this.#items.get(dataset) ?? [];
    items.push(item);
    this.#items.set(dataset, items);
  }

  get contents(): LangfuseContents {
    const datasets = [...this.#items].map(([name, items]) => ({
      name,
      description: this.#descriptions.get(name),
      items: () => items,
    }));
    const { prompts, listed, scoring, experiments } = this;
    return { prompts, listed, datasets, scoring, experiments };
  }
}

/**
 * Reads saved responses of Langfuse's API, and its own exports.
 * @throws ImportError
 */
export async function importLangfuseFiles(location: string, settings: ImportSettings): Promise<Import> {
  const saved = new SavedAnswers();
  for (const file of await fetchedFiles(await listFiles(location, ['.json', '.jsonl', '.ndjson']), settings.report)) {
    if (file.name.endsWith('.json')) saved.add(await readJson(file), file.name);
    else for await (const { line, value } of readJsonLines(file)) saved.add(value, `${file.name}:${line}`);
  }
  return importLangfuse(saved.contents, settings);
}
