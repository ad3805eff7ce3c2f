import path from 'node:path';
import { isObject, type Json, listOf, objectOf, shown, textOf } from '../json.ts';
import { mapNames } from '../names.ts';
import { versionProblem } from '../prompt-version.ts';
import { type ChatReader, readMessages, readTools } from './chat.ts';
import { readExample } from './examples.ts';
import {
  emptyImport,
  type Import,
  ImportError,
  type ImportedPrompt,
  type ImportedVersion,
  type NoteExample,
} from './model.ts';
import { takeGrader } from './openai-graders.ts';
import { takeParameters } from './parameters.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { listFiles, readJson, readJsonLines, type SourceFile } from './source-files.ts';
import { TemplateError } from './template-text.ts';

/** Items of an eval: a file of them, or those that stand in a run. */
interface Items {
  name: string;
  read(): AsyncIterable<{ item: Json; at: string }> | Iterable<{ item: Json; at: string }>;
}

interface Found {
  evals: { json: Json; file: string }[];
  runs: { json: Json; file: string }[];
  prompts: { json: Json; file: string }[];
  items: Items[];
}

const stemOf = (name: string) => path.posix.basename(name).replace(/\.[^.]*$/, '');

function itemsOf(file: SourceFile): Items {
  return {
    name: file.name.replace(/\.[^./]*$/, ''),
    async *read() {
      for await (const { line, value } of readJsonLines(file)) {
        const line_ = objectOf(value);
        yield { item: objectOf(line_['item'] ?? value), at: `${file.name}:${line}` };
      }
    },
  };
}

/** What one object of a saved answer is: an eval, a run, a stored prompt. */
function sort(value: unknown, file: string, found: Found): void {
  if (Array.isArray(value)) for (const item of value) sort(item, file, found);
  else if (!isObject(value)) throw new ImportError(`${file}: holds something that OpenAI's API does not answer with`);
  else if (Array.isArray(value['data']) && value['object'] === 'list') sort(value['data'], file, found);
  else if ('testing_criteria' in value && 'data_source_config' in value) found.evals.push({ json: value, file });
  else if ('data_source' in value) found.runs.push({ json: value, file });
  else if ('instructions' in value || Array.isArray(value['input']) || Array.isArray(value['messages']))
    found.prompts.push({ json: value, file });
  else throw new ImportError(`${file}: is neither an eval, a run of one, nor a stored prompt`);
}

class OpenAiReader {
  readonly #found: Found;
  readonly #settings: ImportSettings;
  readonly #import: Import = emptyImport();
  /** Prompts whose variables are the fields of items. */
  readonly #ofRuns = new Set<string>();

  constructor(found: Found, settings: ImportSettings) {
    this.#found = found;
    this.#settings = settings;
  }

  read(): Import {
    const { evals, runs, prompts, items } = this.#found;
    const inline = runs.flatMap(({ json, file }) => this.#itemsIn(json, file));
    const [only] = evals;
    for (const run of runs) this.#readRun(run.json, run.file);
    for (const one of prompts) this.#readStored(one.json, one.file);
    // An eval does not name its files. Where there is one eval, all items are its own.
    const expected =
      evals.length === 1 && only !== undefined
        ? this.#readEval(only.json, only.file, [...items, ...inline])
        : undefined;
    if (evals.length > 1)
      for (const { json, file } of evals)
        this.#settings.report.leaveOut(
          'eval',
          textOf(json['name']) ?? stemOf(file),
          'it is not known which items are its own: import one eval at a time',
        );
    for (const one of [...items, ...inline]) this.#addDataset(one, expected);
    return this.#import;
  }

  /** Items that stand in a run itself. */
  #itemsIn(run: Json, file: string): Items[] {
    const source = objectOf(objectOf(run['data_source'])['source']);
    const name = textOf(run['name']) ?? stemOf(file);
    if (source['type'] !== 'file_content') {
      const id = textOf(source['id']);
      const missing =
        id === undefined ? 'they are made of logs' : `they are in the file ${id}: save its content as .jsonl`;
      if (this.#found.items.length === 0) this.#settings.report.leaveOut('dataset', name, missing);
      return [];
    }
    const items = listOf(source['content']).map((one, index) => ({
      item: objectOf(objectOf(one)['item']),
      at: `item ${index + 1}`,
    }));
    return [{ name, read: () => items }];
  }

  #addDataset(items: Items, expectedField: string | undefined): void {
    const { report } = this.#settings;
    const thing = report.add('dataset', items.name);
    const name = this.#datasetName(items);
    thing.rename(name);
    if (this.#import.datasets.some((dataset) => dataset.name === name)) {
      thing.leaveOut('another dataset has this name');
      return;
    }
    const { variables } = this.#settings;
    async function* read(note: NoteExample) {
      for await (const { item, at } of items.read()) {
        const value = expectedField === undefined ? undefined : item[expectedField];
        // Graders compare texts: what is none is written as one.
        const expected = value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
        const example = readExample({ input: item, expected }, variables, note, at);
        if (example !== undefined) yield example;
      }
    }
    if (expectedField !== undefined)
      thing.change(`what is expected is the field "${expectedField}", which stays a variable too`);
    this.#import.datasets.push({ name, thing, read });
  }

  #datasetName(items: Items): string {
    return mapNames('dataset', [items.name]).get(items.name) ?? items.name;
  }

  /** @returns the field of the items that its graders compare with */
  #readEval(json: Json, file: string, items: Items[]): string | undefined {
    const { report } = this.#settings;
    const source = textOf(json['name']) ?? stemOf(file);
    let field: string | undefined;
    const evaluators: Json[] = [];
    for (const grader of listOf(json['testing_criteria']).map(objectOf)) {
      const name = textOf(grader['name']) ?? shown(grader['type']);
      const thing = report.add('grader', name);
      try {
        const { evaluator, expectedField, notes } = takeGrader(grader);
        if (expectedField !== undefined && field !== undefined && expectedField !== field)
          throw new TemplateError(
            `it compares with "${expectedField}", and another grader with "${field}": an example expects one value`,
          );
        if (evaluators.length === 10) throw new TemplateError('an evaluation has at most 10 evaluators');
        field = expectedField ?? field;
        for (const note of notes) thing.change(note);
        const own = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60) || 'grader';
        const isTaken = evaluators.some((known) => known['name'] === own);
        evaluators.push({ ...evaluator, name: isTaken ? `${own}-${evaluators.length + 1}` : own });
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        thing.leaveOut(error.message);
      }
    }
    const thing = report.add('eval', source);
    const prompts = this.#import.prompts.filter(({ name }) => this.#ofRuns.has(name));
    const leftOut = listOf(json['testing_criteria']).length - evaluators.length;
    if (leftOut > 0) thing.change(`${leftOut} of its graders are left out`);
    if (evaluators.length === 0) thing.leaveOut('none of its graders can be taken');
    else if (items.length === 0) thing.leaveOut('its items are missing: save them as .jsonl, or a run that has them');
    else if (prompts.length === 0) thing.leaveOut('there is no prompt to evaluate: save a run with its input messages');
    else this.#addEvaluations(source, evaluators, items, prompts);
    return field;
  }

  #addEvaluations(source: string, evaluators: Json[], items: Items[], prompts: ImportedPrompt[]): void {
    const base =
      mapNames('prompt', [source.replaceAll('/', '-')])
        .values()
        .next().value ?? 'eval';
    for (const prompt of prompts)
      for (const one of items) {
        const dataset = this.#datasetName(one);
        const name = `${base}/${prompt.name.replaceAll('/', '-')}-${dataset.replaceAll('/', '-')}`;
        const definition = { prompt_name: prompt.name, dataset, evaluators };
        this.#import.evaluations.push({ name, thing: this.#settings.report.add('evaluation', name), definition });
      }
  }

  #addPrompt(source: string, build: (reader: ChatReader) => ImportedVersion): void {
    const thing = this.#settings.report.add('prompt', source);
    const name = mapNames('prompt', [source]).get(source) ?? source;
    thing.rename(name);
    const reader: ChatReader = {
      syntax: 'mustache',
      names: this.#settings.variables,
      onRename: (from, to) => thing.change(`the variable "${from}" is called "${to}"`),
      onChange: (what) => thing.change(what),
    };
    try {
      const version = build(reader);
      const problem = versionProblem(version);
      if (problem !== undefined) throw new TemplateError(problem);
      const known = this.#import.prompts.find((prompt) => prompt.name === name);
      if (known === undefined)
        this.#import.prompts.push({ name, archived: false, versions: [version], labels: {}, thing });
      else {
        known.versions.push(version);
        thing.change(`it is version ${known.versions.length} of "${name}"`);
      }
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      thing.leaveOut(error.message);
    }
  }

  /** The input messages of a run are a prompt: fields of items are its variables. */
  #readRun(run: Json, file: string): void {
    const source = objectOf(run['data_source']);
    const name = textOf(run['name']) ?? stemOf(file);
    const messages = objectOf(source['input_messages']);
    if (messages['type'] !== 'template') {
      this.#settings.report.leaveOut(
        'prompt',
        name,
        'the run has no messages of its own: its items hold them, or stored completions',
      );
      return;
    }
    this.#addPrompt(name, (reader) => {
      const template = listOf(messages['template']).map((message) => itemVariables(message));
      const version = this.#version(source, objectOf(source['sampling_params']), readMessages(template, reader));
      this.#ofRuns.add(mapNames('prompt', [name]).get(name) ?? name);
      return version;
    });
  }

  /** A prompt of the Responses API: the fields of a request, as the dashboard shows them. */
  #readStored(json: Json, file: string): void {
    const id = textOf(objectOf(json['prompt'])['id']) ?? textOf(json['id']);
    this.#addPrompt(textOf(json['name']) ?? id ?? stemOf(file), (reader) => {
      const instructions = textOf(json['instructions']);
      const input = json['input'] ?? json['messages'];
      const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input);
      const all = instructions === undefined ? messages : [{ role: 'system', content: instructions }, ...messages];
      const settings = { ...json, response_format: objectOf(json['text'])['format'] ?? json['response_format'] };
      const effort = textOf(objectOf(json['reasoning'])['effort']);
      return this.#version(
        json,
        effort === undefined ? settings : { ...settings, reasoning_effort: effort },
        readMessages(all, reader),
      );
    });
  }

  #version(source: Json, settings: Json, messages: NonNullable<ImportedVersion['messages']>): ImportedVersion {
    const model = textOf(source['model']) ?? this.#settings.defaultModel;
    if (model === undefined) throw new TemplateError(NO_MODEL);
    const { parameters } = takeParameters(settings);
    const tools = readTools(listOf(settings['tools']));
    return { model, fallback_models: [], parameters, messages, ...(tools.length > 0 && { tools }) };
  }
}

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

/**
 * Reads saved answers of OpenAI's evals API, the items of evals as JSON Lines, and stored prompts of the Responses API.
 * @throws ImportError
 */
export async function importOpenAiEvals(location: string, settings: ImportSettings): Promise<Import> {
  const found: Found = { evals: [], runs: [], prompts: [], items: [] };
  for (const file of await listFiles(location, ['.json', '.jsonl', '.ndjson'])) {
    if (file.name.endsWith('.json')) sort(await readJson(file), file.name, found);
    else found.items.push(itemsOf(file));
  }
  return new OpenAiReader(found, settings).read();
}
