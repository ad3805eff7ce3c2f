import { isObject, type Json, listOf, objectOf, shown, textOf } from '../json.ts';
import { type FoundDataset, type FoundPrompt, takeDatasets, takePrompts } from './collect.ts';
import { readExample } from './examples.ts';
import { type FoundGrader, type TakenGrader, takeGraders } from './graders.ts';
import { takeJudge } from './judges.ts';
import type { Example, ImportedDataset, ImportedEvaluation, ImportedPrompt, NoteExample } from './model.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { isLfsPointer, parseYaml, readJsonLines, readText, type SourceFile } from './source-files.ts';
import { TemplateError } from './template-text.ts';

/** An eval of the open registry: a class that runs over samples. */
interface RegistryEval {
  /** Its name, from the entry that points to the class or from the class itself. */
  name: string;
  description: string | undefined;
  className: string;
  args: Json;
}

/** The content of a registry's YAML files. */
export interface Registry {
  evals: RegistryEval[];
  /** Grading specs for models, by name. */
  specs: Map<string, Json>;
}

/** @throws ImportError naming the file and the line */
export async function readRegistry(files: SourceFile[]): Promise<Registry> {
  const entries = new Map<string, Json>();
  for (const file of files) {
    // With the options of the registry's own reader.
    const content = parseYaml(await readText(file), file.name, { uniqueKeys: false });
    for (const [key, value] of Object.entries(objectOf(content))) if (isObject(value)) entries.set(key, value);
  }
  const aliases = new Map(
    [...entries].flatMap(([name, { id }]) => (typeof id === 'string' ? [[id, name] as const] : [])),
  );
  const evals: RegistryEval[] = [];
  const specs = new Map<string, Json>();
  for (const [key, entry] of entries) {
    const className = textOf(entry['class']);
    if ('prompt' in entry && 'choice_strings' in entry) specs.set(key, entry);
    else if (className !== undefined) {
      const name = aliases.get(key) ?? key;
      const description = textOf(entry['description']) ?? textOf(entries.get(name)?.['description']);
      evals.push({ name, description, className, args: objectOf(entry['args']) });
    }
  }
  return { evals, specs };
}

/** Messages for a placeholder; undefined if they are not messages. */
function messagesOf(input: unknown, note: NoteExample, at: string): Json[] | undefined {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input) || input.length === 0) return undefined;
  const messages = input.map((message) => {
    const { role, content, name } = objectOf(message);
    const known = role === 'developer' ? 'system' : role;
    if (!['system', 'user', 'assistant'].includes(String(known)) || typeof content !== 'string') return undefined;
    if (name !== undefined) note('changed', 'names of messages are left out', at);
    return { role: known, content };
  });
  return messages.every((message) => message !== undefined) ? messages : undefined;
}

/** Converts a sample to an example: its messages become the variable `input`, and `ideal` the expected value. */
export function sampleExample(
  { input, ideal, ...others }: Json,
  settings: ImportSettings,
  note: NoteExample,
  at: string,
): Example | undefined {
  const messages = messagesOf(input, note, at);
  if (messages === undefined) {
    note('left out', 'a sample whose input is neither a text nor messages of text', at);
    return undefined;
  }
  const expected = Array.isArray(ideal) && ideal.length === 1 ? ideal[0] : ideal;
  const metadata = Object.keys(others).length === 0 ? undefined : others;
  if (metadata !== undefined) note('changed', 'fields other than input and ideal are metadata', at);
  return readExample({ input: { input: messages }, expected, metadata }, settings.variables, note, at);
}

async function* readSamples(file: SourceFile, settings: ImportSettings, note: NoteExample) {
  for await (const { line, value } of readJsonLines(file)) {
    const example = sampleExample(objectOf(value), settings, note, `${file.name}:${line}`);
    if (example !== undefined) yield example;
  }
}

/** Classes with an equivalent evaluator. */
const KNOWN = new Set(['Match', 'Includes', 'FuzzyMatch', 'JsonMatch', 'ModelBasedClassify']);

const isNamed = ({ name }: SourceFile, named: string) => name === named || name.endsWith(`/${named}`);

/** The samples of an eval: in the registry's `data`, or in any file whose path ends with theirs. */
function samplesOf({ className, args }: RegistryEval, files: SourceFile[]): SourceFile {
  if (!KNOWN.has(className.split(':').at(-1) ?? '')) throw new TemplateError(`it is code of its own (${className})`);
  const named = textOf(args['samples_jsonl']);
  if (named === undefined) throw new TemplateError('it names no samples_jsonl');
  const found = files.find((file) => isNamed(file, named));
  if (found === undefined) throw new TemplateError(`its samples are not in the folder: ${named}`);
  return found;
}

async function hasSeveralAnswers(file: SourceFile): Promise<boolean> {
  for await (const { value } of readJsonLines(file)) if (listOf(objectOf(value)['ideal']).length > 1) return true;
  return false;
}

/** @throws TemplateError if there is no equivalent */
async function takeClass(
  { className, args }: RegistryEval,
  samples: SourceFile,
  { specs }: Registry,
  settings: ImportSettings,
): Promise<TakenGrader> {
  const contains = { type: 'contains', mode: 'any' };
  switch (className.split(':').at(-1)) {
    case 'Match':
      if (Number(args['num_few_shot'] ?? 0) > 0)
        throw new TemplateError('it puts examples in front of each sample (num_few_shot): write them into the prompt');
      return { evaluator: contains, notes: ['an answer counts anywhere in the output, not only at its start'] };
    case 'Includes':
      return { evaluator: args['ignore_case'] === true ? { ...contains, case_sensitive: false } : contains, notes: [] };
    case 'FuzzyMatch':
      return {
        evaluator: { ...contains, case_sensitive: false },
        notes: ['punctuation and articles count, and an output that is a part of the answer is not right'],
      };
    case 'JsonMatch':
      if (await hasSeveralAnswers(samples))
        throw new TemplateError('a sample has several right answers: json_match compares with one');
      return { evaluator: { type: 'json_match', partial_credit: false }, notes: [] };
    default:
      return takeSpec(args, specs, settings);
  }
}

/** @throws TemplateError */
function takeSpec(args: Json, specs: Map<string, Json>, { defaultModel }: ImportSettings): TakenGrader {
  const name = shown(args['modelgraded_spec']);
  const spec = specs.get(name);
  if (spec === undefined)
    throw new TemplateError(`its grading definition is not in the folder: modelgraded/${name}.yaml`);
  const given = objectOf(args['modelgraded_spec_args']);
  const { prompt, choice_strings, choice_scores } = spec;
  const texts = typeof prompt === 'string' ? [prompt] : listOf(prompt).map((message) => objectOf(message)['content']);
  const text = texts
    .map(String)
    .join('\n\n')
    .replace(/\{(\w+)\}/g, (whole, key: string) => (Object.hasOwn(given, key) ? String(given[key]) : whole));
  const choices = typeof choice_strings === 'string' ? choice_strings.split('') : listOf(choice_strings).map(String);
  const scores = choice_scores === 'from_strings' ? undefined : objectOf(choice_scores);
  if (defaultModel === undefined) throw new TemplateError('it names no grading model: set one with --model');
  const { evaluator, notes } = takeJudge({
    model: defaultModel,
    prompt: text,
    placeholder: /\{(\w+)\}/g,
    shows: { completion: 'output', ideal: 'expected', input: 'input' },
    choices: choices.map((choice) => ({
      choice,
      score: Number(scores === undefined ? choice : scores[choice]),
    })),
  });
  return { evaluator, notes: [...notes, 'the model of --model grades'] };
}

/** An eval with its samples. */
interface WithSamples {
  one: RegistryEval;
  samples: SourceFile;
}

async function findSamples(
  evals: RegistryEval[],
  files: SourceFile[],
  settings: ImportSettings,
): Promise<WithSamples[]> {
  const found: WithSamples[] = [];
  for (const one of evals) {
    try {
      const samples = samplesOf(one, files);
      if (await isLfsPointer(samples))
        throw new TemplateError(`its samples are still with Git LFS: run git lfs pull for ${samples.name}`);
      found.push({ one, samples });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      settings.report.leaveOut('eval', one.name, error.message);
    }
  }
  return found;
}

async function takeOne(found: WithSamples, registry: Registry, settings: ImportSettings): Promise<FoundGrader> {
  const name = found.one.className.split(':').at(-1) ?? '';
  try {
    const taken = await takeClass(found.one, found.samples, registry, settings);
    return { name, take: () => taken };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return {
      name,
      take() {
        throw error;
      },
    };
  }
}

/** The conversion of a registry. */
export interface ImportedRegistry {
  prompts: ImportedPrompt[];
  datasets: ImportedDataset[];
  evaluations: ImportedEvaluation[];
  /** Files with samples of its evals, whether imported or not. */
  samples: Set<SourceFile>;
}

/** Converts each eval to a prompt that passes on the messages of its samples, a dataset and an evaluation. */
export async function importRegistry(
  registry: Registry,
  files: SourceFile[],
  settings: ImportSettings,
): Promise<ImportedRegistry> {
  const found = await findSamples(registry.evals, files, settings);
  const graded: { name: string; samples: SourceFile; evaluators: Json[] }[] = [];
  for (const one of found) {
    const grader = await takeOne(one, registry, settings);
    const { evaluators } = takeGraders([grader], settings.report, one.one.name);
    if (evaluators.length > 0) graded.push({ name: one.one.name, samples: one.samples, evaluators });
  }
  const prompts = takePrompts(
    found
      .filter(({ one }) => graded.some(({ name }) => name === one.name))
      .map(({ one: { name, description } }): FoundPrompt => {
        const read = () => {
          if (settings.defaultModel === undefined) throw new TemplateError(NO_MODEL);
          return {
            model: settings.defaultModel,
            fallback_models: [],
            parameters: {},
            messages: [{ placeholder: 'input' }],
          };
        };
        return { source: name, description, versions: [{ read }] };
      }),
    settings,
  );
  const samples = new Set(graded.map((one) => one.samples));
  const stem = ({ name }: SourceFile) => name.replace(/^(?:.*\/)?data\//, '').replace(/\.[^./]*$/, '');
  const datasets = takeDatasets(
    [...samples].map(
      (file): FoundDataset => ({
        source: stem(file),
        read: (note) => readSamples(file, settings, note),
      }),
    ),
    settings,
  );
  const evaluations = graded.flatMap((one): ImportedEvaluation[] => {
    const prompt = prompts.find(({ thing }) => thing.name === one.name)?.name;
    const dataset = datasets.find(({ thing }) => thing.name === stem(one.samples))?.name;
    const thing = settings.report.add('evaluation', one.name);
    if (prompt === undefined || dataset === undefined) {
      thing.leaveOut(`its ${prompt === undefined ? 'prompt' : 'dataset'} is left out`);
      return [];
    }
    thing.rename(prompt);
    return [{ name: prompt, thing, definition: { prompt_name: prompt, dataset, evaluators: one.evaluators } }];
  });
  const named = new Set(registry.evals.flatMap(({ args }) => textOf(args['samples_jsonl']) ?? []));
  const own = files.filter((file) => [...named].some((one) => isNamed(file, one)));
  return { prompts, datasets, evaluations, samples: new Set(own) };
}
