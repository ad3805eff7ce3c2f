import path from 'node:path';
import { isObject, type Json, listOf, objectOf, shown, textOf } from '../json.ts';
import { mapNames } from '../names.ts';
import { type FoundVersion, takeDatasets, takePrompts } from './collect.ts';
import { readExample } from './examples.ts';
import { takeGraders } from './graders.ts';
import { emptyImport, type Import, ImportError, type ImportedEvaluation, type NoteExample } from './model.ts';
import { takeGrader } from './openai-graders.ts';
import { storedPrompt, versionOfRun, versionOfStored } from './openai-prompts.ts';
import { importRegistry, readRegistry, sampleExample } from './openai-registry.ts';
import type { ImportSettings } from './settings.ts';
import { fetchedFiles, listFiles, readJson, readJsonLines, type SourceFile } from './source-files.ts';

/** The items of an eval, from a file or from a run. */
interface Items {
  name: string;
  read(): AsyncIterable<{ item: Json; at: string }> | Iterable<{ item: Json; at: string }>;
}

interface Saved {
  json: Json;
  file: string;
}

interface Found {
  evals: Saved[];
  runs: Saved[];
  prompts: Saved[];
  items: Items[];
}

const stemOf = (name: string) => path.posix.basename(name).replace(/\.[^.]*$/, '');
const nameOf = ({ json, file }: Saved) => textOf(json['name']) ?? stemOf(file);

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

/** Sorts an object of a saved response: an eval, a run, a stored prompt. */
function sort(value: unknown, file: string, found: Found): void {
  if (Array.isArray(value)) for (const item of value) sort(item, file, found);
  else if (!isObject(value)) throw new ImportError(`${file}: is not a response of OpenAI's API`);
  else if (Array.isArray(value['data']) && value['object'] === 'list') sort(value['data'], file, found);
  else if ('testing_criteria' in value && 'data_source_config' in value) found.evals.push({ json: value, file });
  else if ('data_source' in value) found.runs.push({ json: value, file });
  else if ('instructions' in value || Array.isArray(value['input']) || Array.isArray(value['messages']))
    found.prompts.push({ json: value, file });
  else throw new ImportError(`${file}: is neither an eval, a run of one, nor a stored prompt`);
}

/** An eval and the objects that belong to it. */
interface OwnedEval {
  saved: Saved;
  runs: Saved[];
  items: Items[];
}

/** Items inside a run. */
function itemsIn(run: Saved): Items[] {
  const source = objectOf(objectOf(run.json['data_source'])['source']);
  if (source['type'] !== 'file_content') return [];
  const items = listOf(source['content']).map((one, index) => ({
    item: objectOf(objectOf(one)['item']),
    at: `item ${index + 1}`,
  }));
  return [{ name: nameOf(run), read: () => items }];
}

class OpenAiReader {
  readonly #found: Found;
  readonly #settings: ImportSettings;
  readonly #inline: Map<Saved, Items[]>;

  constructor(found: Found, settings: ImportSettings) {
    this.#found = found;
    this.#settings = settings;
    this.#inline = new Map(found.runs.map((run) => [run, itemsIn(run)]));
  }

  read(): Import {
    const { items } = this.#found;
    const prompts = takePrompts(this.#prompts(), this.#settings);
    const all = [...items, ...[...this.#inline.values()].flat()];
    for (const run of this.#found.runs) this.#missItems(run);
    const names = mapNames(
      'dataset',
      all.map(({ name }) => name),
    );
    const fields = new Map<Items, string | undefined>();
    const evaluations = this.#owned(all).flatMap((owned) => {
      const promptNames = prompts
        .filter(({ thing }) => owned.runs.some((run) => nameOf(run) === thing.name))
        .map(({ name }) => name);
      const datasets = owned.items.map(({ name }) => names.get(name) ?? name);
      const { field, evaluations: own } = this.#readEval(owned.saved, promptNames, datasets);
      for (const one of owned.items) fields.set(one, field);
      return own;
    });
    const datasets = takeDatasets(
      all.map((one) => ({ source: one.name, read: (note: NoteExample) => this.#examples(one, fields.get(one), note) })),
      this.#settings,
    );
    for (const dataset of datasets) {
      const field = fields.get(all.find(({ name }) => name === dataset.thing.name) ?? NO_ITEMS);
      if (field !== undefined)
        dataset.thing.change(`the expected value is the field "${field}", which also stays a variable`);
    }
    return { ...emptyImport(), prompts, datasets, evaluations };
  }

  /** Runs and stored prompts with the same name become versions of one prompt. */
  #prompts() {
    const byName = new Map<string, FoundVersion[]>();
    const add = (source: string, version: FoundVersion) => {
      const versions = byName.get(source) ?? [];
      versions.push(version);
      byName.set(source, versions);
    };
    for (const run of this.#found.runs) add(nameOf(run), versionOfRun(run.json, this.#settings));
    const stored = this.#found.prompts.map(({ json, file }) => ({ json, ...storedPrompt(json, stemOf(file)) }));
    for (const { json, source, version } of stored.toSorted((a, b) => a.version - b.version))
      add(source, versionOfStored(json, version, this.#settings));
    return [...byName].map(([source, versions]) => ({ source, versions }));
  }

  /** Reports the missing items of a run. */
  #missItems(run: Saved): void {
    const source = objectOf(objectOf(run.json['data_source'])['source']);
    if (source['type'] === 'file_content' || this.#found.items.length > 0) return;
    const id = textOf(source['id']);
    const missing =
      id === undefined ? 'they are made from logs' : `they are in the file ${id}: save its content as ${id}.jsonl`;
    this.#settings.report.leaveOut('dataset', nameOf(run), missing);
  }

  /** Items do not name their eval. If there is only one eval, all belong to it; otherwise its runs tell. */
  #owned(all: Items[]): OwnedEval[] {
    const { evals, runs, items } = this.#found;
    const [only] = evals;
    if (evals.length === 1 && only !== undefined) return [{ saved: only, runs, items: all }];
    return evals.map((saved) => {
      const own = runs.filter(({ json }) => json['eval_id'] === saved.json['id']);
      const ids = new Set(own.map(({ json }) => objectOf(objectOf(json['data_source'])['source'])['id']));
      const files = items.filter(({ name }) => ids.has(path.posix.basename(name)));
      return { saved, runs: own, items: [...files, ...own.flatMap((run) => this.#inline.get(run) ?? [])] };
    });
  }

  async *#examples(items: Items, field: string | undefined, note: NoteExample) {
    for await (const { item, at } of items.read()) {
      const example = field === undefined ? this.#sample(item, note, at) : this.#item(item, field, note, at);
      if (example !== undefined) yield example;
    }
  }

  #item(item: Json, field: string, note: NoteExample, at: string) {
    const value = item[field];
    // Graders compare texts, so other values are serialized.
    const expected = value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
    return readExample({ input: item, expected }, this.#settings.variables, note, at);
  }

  /** If no grader names the expected field, it is `ideal`, as in the open registry. */
  #sample(item: Json, note: NoteExample, at: string) {
    if (!('ideal' in item)) return readExample({ input: item }, this.#settings.variables, note, at);
    note('changed', 'the expected value is the field "ideal"', at);
    if (Array.isArray(item['input'])) return sampleExample(item, this.#settings, note, at);
    const { ideal: expected, ...input } = item;
    return readExample({ input, expected }, this.#settings.variables, note, at);
  }

  /** @returns the item field that its graders compare with */
  #readEval(
    saved: Saved,
    prompts: string[],
    datasets: string[],
  ): { field: string | undefined; evaluations: ImportedEvaluation[] } {
    const { report } = this.#settings;
    const source = nameOf(saved);
    const criteria = listOf(saved.json['testing_criteria']).map(objectOf);
    const { evaluators, expectedField, leftOut } = takeGraders(
      criteria.map((grader) => ({
        name: textOf(grader['name']) ?? shown(grader['type']),
        take: () => takeGrader(grader),
      })),
      report,
      this.#found.evals.length > 1 ? source : undefined,
    );
    const thing = report.add('eval', source);
    if (leftOut > 0) thing.change(`${leftOut} of its graders are left out`);
    if (evaluators.length === 0) thing.leaveOut('none of its graders can be imported');
    else if (datasets.length === 0)
      thing.leaveOut(
        this.#found.evals.length === 1
          ? 'its items are missing: save them as .jsonl, or a run that has them'
          : 'its items cannot be identified: save a run that has them or names their file, or import only this eval',
      );
    else if (prompts.length === 0) thing.leaveOut('there is no prompt to evaluate: save a run with its input messages');
    else return { field: expectedField, evaluations: this.#evaluations(source, evaluators, prompts, datasets) };
    return { field: expectedField, evaluations: [] };
  }

  #evaluations(source: string, evaluators: Json[], prompts: string[], datasets: string[]): ImportedEvaluation[] {
    const own = source.replaceAll('/', '-');
    const base = mapNames('prompt', [own]).get(own) ?? 'eval';
    return prompts.flatMap((prompt_name) =>
      datasets.map((dataset) => {
        const name = `${base}/${prompt_name.replaceAll('/', '-')}-${dataset.replaceAll('/', '-')}`;
        const thing = this.#settings.report.add('evaluation', name);
        return { name, thing, definition: { prompt_name, dataset, evaluators } };
      }),
    );
  }
}

const NO_ITEMS: Items = { name: '', read: () => [] };

/**
 * Reads saved responses of OpenAI's evals API, the items of evals as JSON Lines, stored prompts of the Responses API, and the YAML
 * and JSON Lines of the open registry.
 * @throws ImportError naming the file and, for invalid YAML or JSON, the line
 */
export async function importOpenAiEvals(location: string, settings: ImportSettings): Promise<Import> {
  const found: Found = { evals: [], runs: [], prompts: [], items: [] };
  const yaml: SourceFile[] = [];
  const lines: SourceFile[] = [];
  const others: SourceFile[] = [];
  for (const file of await listFiles(location, ['.json', '.jsonl', '.ndjson', '.yaml', '.yml'])) {
    // Evals report missing samples themselves.
    if (/\.(?:ya?ml|json)$/i.test(file.name)) others.push(file);
    else lines.push(file);
  }
  for (const file of await fetchedFiles(others, settings.report))
    if (/\.ya?ml$/i.test(file.name)) yaml.push(file);
    else sort(await readJson(file), file.name, found);
  const registry = await importRegistry(await readRegistry(yaml), lines, settings);
  const items = lines.filter((file) => !registry.samples.has(file));
  found.items.push(...(await fetchedFiles(items, settings.report)).map(itemsOf));
  const read = new OpenAiReader(found, settings).read();
  return {
    ...read,
    prompts: [...registry.prompts, ...read.prompts],
    datasets: [...registry.datasets, ...read.datasets],
    evaluations: [...registry.evaluations, ...read.evaluations],
  };
}
