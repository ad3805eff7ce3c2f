import { stat } from 'node:fs/promises';
import path from 'node:path';
import { isObject, type Json, objectOf, textOf } from '../../json.ts';
import { mapNames } from '../../names.ts';
import { readExample } from '../examples.ts';
import {
  emptyImport,
  type Import,
  ImportError,
  type ImportedDataset,
  type ImportedEvaluation,
  type ImportedPrompt,
  type NoteExample,
} from '../model.ts';
import { takeParameters } from '../parameters.ts';
import type { Report, Thing } from '../report.ts';
import type { ImportSettings } from '../settings.ts';
import { fileInside, readData, type SourceFile } from '../source-files.ts';
import { TemplateError } from '../template-text.ts';
import { type CompiledTest, compileTest, type NoteAsserts } from './compile-test.ts';
import { modelOf, providerConfig, providerId } from './models.ts';
import { type PromptModel, readPrompts } from './prompts.ts';
import { findTests, type TestSource } from './tests.ts';

const CONFIGURATIONS = ['promptfooconfig.yaml', 'promptfooconfig.yml', 'promptfooconfig.json'];
/** Tests with the same asserts become one dataset; of so many kinds at most. */
const MAX_GROUPS = 100;
const READ = new Set(['description', 'prompts', 'providers', 'targets', 'tests', 'defaultTest', '$schema']);

async function findConfiguration(location: string): Promise<{ file: SourceFile; folder: string }> {
  const found = await stat(location).catch(() => undefined);
  if (found === undefined) throw new ImportError(`${location}: there is no such file or folder`);
  if (!found.isDirectory())
    return { file: { path: location, name: path.basename(location) }, folder: path.dirname(location) };
  for (const name of CONFIGURATIONS) {
    const file = await fileInside(location, name);
    if (file !== undefined) return { file, folder: location };
  }
  throw new ImportError(`${location}: the folder has no ${CONFIGURATIONS.join(', ')}`);
}

/** The model of all prompts: the first provider that the service calls too. Prompts here have one model each. */
function chooseModel(providers: unknown, settings: ImportSettings): PromptModel | string {
  const all = Array.isArray(providers) ? providers : providers === undefined ? [] : [providers];
  let chosen: PromptModel | undefined;
  for (const provider of all) {
    const id = providerId(provider) ?? 'provider';
    const model = modelOf(provider);
    const thing = settings.report.add('provider', id);
    if (model === undefined) thing.leaveOut('no model here is known for it');
    else if (chosen !== undefined)
      thing.leaveOut('a prompt has one model: run it with another by the execution\'s "model"');
    else {
      const { parameters, others } = takeParameters(providerConfig(provider));
      if (Object.keys(others).length > 0)
        thing.change(`kept in the prompts' config: ${Object.keys(others).join(', ')}`);
      thing.change(`it is the model ${model} of the prompts`);
      chosen = { model, parameters, config: others };
    }
  }
  if (chosen !== undefined) return chosen;
  const { defaultModel } = settings;
  if (defaultModel === undefined) return 'no provider is one that is called here: name a model with --model';
  return { model: defaultModel, parameters: {}, config: {} };
}

async function readDefaults(defaultTest: unknown, folder: string, report: Report): Promise<Json> {
  if (typeof defaultTest !== 'string') return objectOf(defaultTest);
  const file = await fileInside(folder, defaultTest.replace(/^file:\/\//, ''));
  if (file !== undefined && /\.(?:ya?ml|json)$/.test(file.name)) return objectOf(await readData(file));
  report.leaveOut('defaultTest', defaultTest, 'there is no such YAML or JSON file in the folder of the configuration');
  return {};
}

/** One thing of the report for each type of assert and what becomes of it, however many tests there are. */
class AssertNotes {
  readonly #report: Report;
  readonly #things = new Map<string, Thing>();

  constructor(report: Report) {
    this.#report = report;
  }

  #thing(type: string, outcome: string): Thing {
    const key = `${outcome} ${type}`;
    const thing = this.#things.get(key) ?? this.#report.add('assert', type);
    this.#things.set(key, thing);
    return thing;
  }

  at(place: string): NoteAsserts {
    return {
      taken: (type, notes) => {
        const thing = this.#thing(type, 'taken');
        for (const note of notes) thing.change(note, place);
      },
      leftOut: (type, why) => this.#thing(type, 'left out').leaveOut(why, place),
    };
  }
}

const NO_NOTES: NoteAsserts = { taken: () => {}, leftOut: () => {} };

/** The tests of a configuration, by the evaluators that score them. */
interface Group {
  evaluators: Json[];
  /** Asserts of its tests that are left out. */
  leftOut: number;
}

function tryCompile(test: Json, defaults: Json, notes: NoteAsserts): CompiledTest[] | string {
  try {
    return compileTest(test, defaults, notes);
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** Reads all tests once, to find out which datasets they become. */
async function findGroups(sources: TestSource[], defaults: Json, report: Report): Promise<Map<string, Group>> {
  const groups = new Map<string, Group>();
  const notes = new AssertNotes(report);
  let leftOut: Thing | undefined;
  const drop = (why: string, at: string) => {
    leftOut ??= report.add('tests', 'those that are left out');
    leftOut.leaveOut(why, at);
  };
  for (const source of sources)
    for await (const { test, at } of source.read()) {
      const compiled = tryCompile(test, defaults, notes.at(at));
      if (typeof compiled === 'string') {
        drop(compiled, at);
        continue;
      }
      for (const { evaluators, leftOut: asserts } of compiled) {
        const key = JSON.stringify(evaluators);
        const known = groups.get(key);
        if (known !== undefined) {
          known.leftOut += asserts;
          continue;
        }
        if (groups.size === MAX_GROUPS) drop(`there are more than ${MAX_GROUPS} different sets of asserts`, at);
        else groups.set(key, { evaluators, leftOut: asserts });
      }
    }
  return groups;
}

async function* readGroup(
  sources: TestSource[],
  defaults: Json,
  key: string,
  settings: ImportSettings,
  note: NoteExample,
) {
  for (const source of sources)
    for await (const { test, at } of source.read()) {
      const compiled = tryCompile(test, defaults, NO_NOTES);
      if (typeof compiled === 'string') continue;
      for (const { example, evaluators } of compiled) {
        if (JSON.stringify(evaluators) !== key) continue;
        if (test['threshold'] !== undefined)
          note('changed', 'the threshold of a test is left out: only an evaluation as a whole has one', at);
        const read = readExample(example, settings.variables, note, at);
        if (read !== undefined) yield read;
      }
    }
}

/**
 * Reads a configuration of promptfoo and the files that it names in its folder.
 * @throws ImportError
 */
export async function importPromptfoo(location: string, settings: ImportSettings): Promise<Import> {
  const { file, folder } = await findConfiguration(location);
  const config = await readData(file);
  if (!isObject(config)) throw new ImportError(`${file.name}: is no configuration of promptfoo`);
  const { report } = settings;
  const group = textOf(config['description']) ?? 'promptfoo';
  const model = chooseModel(config['providers'] ?? config['targets'], settings);
  const prompts = await readPrompts(config['prompts'], { folder, group: group.replaceAll('/', '-'), model, settings });
  const defaults = await readDefaults(config['defaultTest'], folder, report);
  const sources = await findTests(config['tests'], folder, report);
  const groups = await findGroups(sources, defaults, report);
  const datasets: ImportedDataset[] = [];
  const evaluations: ImportedEvaluation[] = [];
  const base = group.replaceAll('/', '-');
  for (const [index, [key, tests]] of [...groups].entries()) {
    const source = groups.size === 1 ? `${base}/tests` : `${base}/tests-${index + 1}`;
    const name = mapNames('dataset', [source]).get(source) ?? source;
    const thing = report.add('dataset', name);
    if (groups.size > 1) thing.change('it holds the tests with the same asserts');
    datasets.push({ name, thing, read: (note) => readGroup(sources, defaults, key, settings, note) });
    if (tests.evaluators.length > 0) evaluations.push(...evaluationsOf(prompts, name, tests, report));
  }
  for (const key of Object.keys(config))
    if (!READ.has(key)) report.leaveOut('setting', key, "it is for promptfoo's own runs");
  return { ...emptyImport(), prompts, datasets, evaluations };
}

/** With promptfoo a run passes when each assert of each test does: that is a score of 1. */
function evaluationsOf(
  prompts: ImportedPrompt[],
  dataset: string,
  { evaluators, leftOut }: Group,
  report: Report,
): ImportedEvaluation[] {
  return prompts.map((prompt) => {
    const name = `${prompt.name}-${dataset.split('/').at(-1)}`;
    const thing = report.add('evaluation', name);
    if (leftOut > 0) thing.change(`${leftOut} asserts of its tests are left out`);
    return { name, thing, definition: { prompt_name: prompt.name, dataset, evaluators, threshold: 1 } };
  });
}
