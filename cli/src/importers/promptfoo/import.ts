import { stat } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { isObject, isSameJson, type Json, objectOf, textOf } from '../../json.ts';
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
import { type CompiledTest, type CompileSettings, compileTest, type NoteAsserts } from './compile-test.ts';
import { modelOf, providerConfig, providerId } from './models.ts';
import { prepareTest, type TestSettings } from './prepare-test.ts';
import { type PromptModel, readPrompts } from './prompts.ts';
import { Scorer } from './scorer.ts';
import { scorerProject } from './scorer-project.ts';
import { findTests, type TestSource } from './tests.ts';

const CONFIGURATIONS = ['promptfooconfig.yaml', 'promptfooconfig.yml', 'promptfooconfig.json'];
/** Tests with the same asserts become one dataset; maximum number of such groups. */
const MAX_GROUPS = 100;
const MAX_CONCURRENCY = 200;
const READ = new Set([
  'description',
  'prompts',
  'providers',
  'targets',
  'tests',
  'defaultTest',
  'assertionTemplates',
  '$schema',
]);
/** The description that `promptfoo init` writes. */
const NO_DESCRIPTION = 'My eval';
/** Settings for running promptfoo and its output, and their replacement here. */
const KEPT = 'the service keeps the results, and pms eval run --report writes them to a file';
const OF_RUNS: Record<string, string> = {
  outputPath: KEPT,
  outputs: KEPT,
  sharing: KEPT,
  writeLatestResults: KEPT,
  commandLineOptions: 'use the options of pms eval run',
  evaluateOptions: 'its maxConcurrency is the concurrency of the evaluations; the others are left out',
};

/** Reasons for leaving out other settings. */
const LEFT_OUT: Record<string, string> = {
  scenarios: 'scenarios are not read: write their tests as tests',
  assert: 'asserts at the top of a configuration do not belong to a test: write them in defaultTest',
  ...Object.fromEntries(
    ['env', 'extensions', 'metadata', 'nunjucksFilters', 'redteam', 'tags', 'tracing'].map((key) => [
      key,
      "it is for promptfoo's own runs",
    ]),
  ),
};

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

/**
 * The location of a configuration, the same on every machine: its path in the repository, otherwise relative to the working directory,
 * otherwise its folder and file name.
 */
async function placeOf(file: SourceFile): Promise<string> {
  const whole = path.resolve(file.path);
  const inside = (folder: string) => path.relative(folder, whole).replaceAll(path.sep, '/');
  for (let folder = path.dirname(whole); folder !== path.dirname(folder); folder = path.dirname(folder))
    if (await stat(path.join(folder, '.git')).catch(() => undefined)) return inside(folder);
  const fromHere = inside(process.cwd());
  const hasFolder = fromHere.includes('/') && !/^(\.\.\/|\/|[A-Za-z]:)/.test(fromHere);
  return hasFolder ? fromHere : inside(path.dirname(path.dirname(whole)));
}

/**
 * The name of a configuration: its description; otherwise its folder, plus the file name unless it is the default. If prompts of another
 * configuration have that name, the full location.
 * @returns `place`: the location as in the descriptions of its prompts
 */
async function nameOf(
  config: Json,
  file: SourceFile,
  { report, isFromElsewhere }: ImportSettings,
): Promise<{ name: string; place: string }> {
  const description = textOf(config['description']);
  const folder = path.basename(path.dirname(path.resolve(file.path)));
  const ownName = CONFIGURATIONS.includes(path.basename(file.path)) ? [] : [path.parse(file.path).name];
  const found = await placeOf(file);
  const place = `promptfoo: ${found}`;
  const hasOwn = description !== undefined && description !== NO_DESCRIPTION;
  const name = hasOwn ? description.replaceAll('/', '-') : [folder, ...ownName].join('-');
  const isTaken = (await isFromElsewhere?.(name, place)) ?? false;
  if (hasOwn && !isTaken) return { name, place };
  const thing = report.add('configuration', file.name);
  if (!isTaken) {
    thing.change(`it has no description: its prompts are in "${name}"`);
    return { name, place };
  }
  const folders = found.split('/').slice(0, -1);
  const parts = [...(hasOwn ? [name] : []), ...(folders.length === 0 ? [folder] : folders), ...ownName];
  const other = parts.join('-');
  thing.change(`"${name}" has the prompts of another configuration: its own are in "${other}"`);
  return { name: other, place };
}

/** The suffix of prompt names for an additional provider: its label or model, each only once. */
function suffixOf(provider: unknown, model: string, others: readonly PromptModel[]): string {
  const own = (isObject(provider) ? textOf(provider['label']) : undefined) ?? model.slice(model.indexOf('/') + 1);
  const used = new Set(others.map(({ suffix }) => suffix));
  let suffix = `-${own.replaceAll('/', '-')}`;
  for (let number = 2; used.has(suffix); number += 1) suffix = `-${own.replaceAll('/', '-')}-${number}`;
  return suffix;
}

/**
 * Chooses the models of the prompts: the model of the first supported provider, or of all of them; otherwise the
 * one from the user. A prompt here has one model.
 * @returns why there is none
 */
function chooseModels(providers: unknown, settings: ImportSettings): PromptModel[] | string {
  const all = Array.isArray(providers) ? providers : providers === undefined ? [] : [providers];
  const { defaultModel, allModels = false, report } = settings;
  const isKnown = all.some((provider) => modelOf(provider) !== undefined);
  const chosen: PromptModel[] = [];
  let replaced: PromptModel | undefined;
  for (const provider of all) {
    const thing = report.add('provider', providerId(provider) ?? 'provider');
    const model = modelOf(provider);
    const { parameters, others } = takeParameters(providerConfig(provider));
    if (model !== undefined && (chosen.length === 0 || allModels)) {
      if (Object.keys(others).length > 0)
        thing.change(`kept in the prompts' config: ${Object.keys(others).join(', ')}`);
      const suffix = chosen.length === 0 ? '' : suffixOf(provider, model, chosen);
      thing.change(
        suffix === '' ? `it is the model ${model} of the prompts` : `it has its own prompts, called …${suffix}`,
      );
      chosen.push({ model, parameters, config: others, suffix });
    } else if (model !== undefined) thing.leaveOut('a prompt has one model: --all-models makes prompts for each');
    else if (!isKnown && defaultModel !== undefined) {
      thing.change(`the prompts use ${defaultModel} instead`);
      if (replaced === undefined) replaced = { model: defaultModel, parameters, config: others, suffix: '' };
      else if (!isSameJson([parameters, others], [replaced.parameters, replaced.config]))
        thing.change('its parameters are left out: the prompts have those of the first provider');
    } else thing.leaveOut('no model here matches it');
  }
  if (chosen.length > 0) return chosen;
  if (defaultModel === undefined) return 'none of its providers can be called here: name a model with --model';
  return [replaced ?? { model: defaultModel, parameters: {}, config: {}, suffix: '' }];
}

async function readDefaults(defaultTest: unknown, folder: string, report: Report): Promise<Json> {
  if (typeof defaultTest !== 'string') return objectOf(defaultTest);
  const file = await fileInside(folder, defaultTest.replace(/^file:\/\//, ''));
  if (file !== undefined && /\.(?:ya?ml|json)$/.test(file.name)) return objectOf(await readData(file));
  report.leaveOut('defaultTest', defaultTest, 'there is no such YAML or JSON file in the folder of the configuration');
  return {};
}

/** A report entry for each type of assert and outcome, however many tests there are. */
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

/** The context for reading a configuration's tests. */
interface Reading {
  sources: TestSource[];
  tests: TestSettings;
  compile: CompileSettings;
  settings: ImportSettings;
}

/** Tests of a configuration with the same evaluators. */
interface Group {
  evaluators: Json[];
  threshold: number | undefined;
  /** Number of asserts left out of its tests. */
  leftOut: number;
}

const keyOf = ({ evaluators, threshold }: Pick<CompiledTest, 'evaluators' | 'threshold'>) =>
  JSON.stringify([evaluators, threshold]);

async function tryCompile(
  test: Json,
  { tests, compile }: Reading,
  notes: NoteAsserts,
): Promise<CompiledTest[] | string> {
  try {
    return compileTest(await prepareTest(test, tests), compile, notes);
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** Reads all tests once to determine their datasets. */
async function findGroups(reading: Reading): Promise<Map<string, Group>> {
  const { report } = reading.settings;
  const groups = new Map<string, Group>();
  const notes = new AssertNotes(report);
  let leftOut: Thing | undefined;
  const drop = (why: string, at: string) => {
    leftOut ??= report.add('tests', 'those that are left out');
    leftOut.leaveOut(why, at);
  };
  for (const source of reading.sources)
    for await (const { test, at } of source.read()) {
      const compiled = await tryCompile(test, reading, notes.at(at));
      if (typeof compiled === 'string') {
        drop(compiled, at);
        continue;
      }
      for (const { evaluators, threshold, leftOut: asserts } of compiled) {
        const key = keyOf({ evaluators, threshold });
        const known = groups.get(key);
        if (known !== undefined) {
          known.leftOut += asserts;
          continue;
        }
        if (groups.size === MAX_GROUPS) drop(`there are more than ${MAX_GROUPS} different sets of asserts`, at);
        else groups.set(key, { evaluators, threshold, leftOut: asserts });
      }
    }
  return groups;
}

async function* readGroup(reading: Reading, key: string, note: NoteExample) {
  for (const source of reading.sources)
    for await (const { test, at } of source.read()) {
      const compiled = await tryCompile(test, reading, NO_NOTES);
      if (typeof compiled === 'string') continue;
      for (const one of compiled) {
        if (keyOf(one) !== key) continue;
        const read = readExample(one.example, reading.settings.variables, note, at);
        if (read !== undefined) yield read;
      }
    }
}

/** Reports what happens to the settings other than prompts, providers and tests. */
function reportSettings(config: Json, report: Report): void {
  for (const key of Object.keys(config)) {
    if (READ.has(key)) continue;
    if (Object.hasOwn(OF_RUNS, key)) report.add('setting', key).change(OF_RUNS[key] ?? '');
    else report.leaveOut('setting', key, (Object.hasOwn(LEFT_OUT, key) && LEFT_OUT[key]) || 'it is unknown here');
  }
}

/**
 * Reads a promptfoo configuration and the files in its folder that it names.
 * @throws ImportError
 */
export async function importPromptfoo(location: string, settings: ImportSettings): Promise<Import> {
  const { file, folder } = await findConfiguration(location);
  const config = await readData(file);
  if (!isObject(config)) throw new ImportError(`${file.name}: is not a configuration of promptfoo`);
  const { report, judge, embeddings, variables } = settings;
  const { name: base, place } = await nameOf(config, file, settings);
  const models = chooseModels(config['providers'] ?? config['targets'], settings);
  const prompts = await readPrompts(config['prompts'], { folder, group: base, place, models, settings });
  const scorer = settings.scorer && new Scorer(variables, settings.scorer.url);
  const reading: Reading = {
    sources: await findTests(config['tests'], folder, report),
    tests: {
      defaults: await readDefaults(config['defaultTest'], folder, report),
      templates: objectOf(config['assertionTemplates']),
      folder,
    },
    compile: { judge, embeddings, scorer },
    settings,
  };
  const groups = await findGroups(reading);
  const concurrency = concurrencyOf(config['evaluateOptions']);
  const datasets: ImportedDataset[] = [];
  const evaluations: ImportedEvaluation[] = [];
  for (const [index, [key, tests]] of [...groups].entries()) {
    const source = groups.size === 1 ? `${base}/tests` : `${base}/tests-${index + 1}`;
    const name = mapNames('dataset', [source]).get(source) ?? source;
    const thing = report.add('dataset', name);
    if (groups.size > 1) thing.change('it holds the tests with the same asserts');
    datasets.push({ name, thing, read: (note) => readGroup(reading, key, note) });
    if (tests.evaluators.length > 0) evaluations.push(...evaluationsOf(prompts, name, tests, concurrency, report));
  }
  reportSettings(config, report);
  const project = scorer && (await scorerProject(scorer, { folder, parsesJson: parsesJson(models) }));
  return { ...emptyImport(), prompts, datasets, evaluations, project };
}

/** Whether promptfoo parses outputs before the asserts. */
function parsesJson(models: PromptModel[] | string): boolean {
  return typeof models !== 'string' && models[0]?.parameters?.response_format?.type === 'json_schema';
}

function concurrencyOf(options: unknown): number | undefined {
  const concurrency = objectOf(options)['maxConcurrency'];
  const isUsable = typeof concurrency === 'number' && Number.isInteger(concurrency) && concurrency >= 1;
  return isUsable ? Math.min(concurrency, MAX_CONCURRENCY) : undefined;
}

/** In promptfoo a run passes if each test does, and a test if each assert does or its score reaches its threshold. */
function evaluationsOf(
  prompts: ImportedPrompt[],
  dataset: string,
  { evaluators, threshold, leftOut }: Group,
  concurrency: number | undefined,
  report: Report,
): ImportedEvaluation[] {
  const definition = {
    dataset,
    evaluators,
    threshold: 1,
    ...(threshold !== undefined && { example_threshold: threshold }),
    ...(concurrency !== undefined && { concurrency }),
  };
  return prompts.map((prompt) => {
    const name = `${prompt.name}-${dataset.split('/').at(-1)}`;
    const thing = report.add('evaluation', name);
    if (leftOut > 0) thing.change(`${leftOut} asserts of its tests are left out`);
    return { name, thing, definition: { prompt_name: prompt.name, ...definition } };
  });
}
