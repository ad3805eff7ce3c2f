import { isObject, type Json, listOf, objectOf, shown, storableObject, textOf } from '../json.ts';
import { LongNumberError, parseExactly } from '../long-numbers.ts';
import { chatReader, readMessages } from './chat.ts';
import { type FoundDataset, type FoundPrompt, readEach, takeDatasets, takePrompts } from './collect.ts';
import { readExample } from './examples.ts';
import { takeGitHubEvaluator } from './github-evaluators.ts';
import { type TakenGraders, takeGraders } from './graders.ts';
import { emptyImport, type Import, ImportError, type ImportedVersion, type NoteExample } from './model.ts';
import { takeParameters } from './parameters.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { parseYaml, readText, type SourceFile } from './source-files.ts';
import { TemplateError } from './template-text.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const ENDINGS = ['.prompt.yml', '.prompt.yaml'];
const FIELDS = new Set(
  'name description model modelParameters responseFormat jsonSchema messages testData evaluators'.split(' '),
);

/** A `.prompt.yml`. */
interface PromptYaml {
  /** Its path without the extension. */
  source: string;
  content: Json;
}

async function readFile(file: SourceFile): Promise<PromptYaml> {
  const content = parseYaml(await readText(file, MAX_FILE_BYTES), file.name);
  if (!isObject(content))
    throw new ImportError(`${file.name}:1: is not a mapping of fields such as messages and model`);
  return { source: file.name.replace(/\.prompt\.ya?ml$|\.ya?ml$/i, ''), content };
}

/** @throws TemplateError */
function responseFormat({ responseFormat: type, jsonSchema }: Json): unknown {
  if (type !== 'json_schema') return type === undefined || type === null ? undefined : { type };
  if (isObject(jsonSchema)) return { type, json_schema: jsonSchema };
  try {
    return { type, json_schema: objectOf(parseExactly(textOf(jsonSchema) ?? '')) };
  } catch (error) {
    if (error instanceof LongNumberError) throw new TemplateError(`its jsonSchema: ${error.message}`);
    throw new TemplateError('its jsonSchema is not valid JSON');
  }
}

/** @throws TemplateError */
function readVersion({ source, content }: PromptYaml, settings: ImportSettings, thing: Thing): ImportedVersion {
  const model = textOf(content['model']) ?? settings.defaultModel;
  if (model === undefined) throw new TemplateError(NO_MODEL);
  const messages = readMessages(listOf(content['messages']), chatReader(thing, settings.variables, 'placeholders'));
  const given = { ...objectOf(content['modelParameters']), response_format: responseFormat(content) };
  const { parameters, others } = takeParameters(given);
  const name = textOf(content['name']);
  const kept = {
    ...(name !== undefined && name !== source && { name }),
    ...(Object.keys(others).length > 0 && { modelParameters: others }),
  };
  const version = { model, fallback_models: [], parameters, messages };
  for (const field of Object.keys(content)) if (!FIELDS.has(field)) thing.change(`the field "${field}" is left out`);
  if (Object.keys(kept).length === 0) return version;
  thing.change(`kept in config.github: ${Object.keys(kept).join(', ')}`);
  return { ...version, config: storableObject({ github: kept }) };
}

/** Whether its messages use a variable of the tests. */
function usesVariable({ content }: PromptYaml, name: string): boolean {
  return new RegExp(`\\{\\{[ \\t]*${name}[ \\t]*\\}\\}`).test(JSON.stringify(content['messages'] ?? null));
}

async function* readTests(file: PromptYaml, field: string, settings: ImportSettings, note: NoteExample) {
  const keepsField = field !== 'expected' || usesVariable(file, field);
  for (const [index, test] of listOf(file.content['testData']).entries()) {
    const at = `test ${index + 1}`;
    if (!isObject(test)) {
      note('left out', 'a test is not a mapping of variables', at);
      continue;
    }
    const { [field]: value, ...others } = test;
    const isOther = typeof value === 'number' || typeof value === 'boolean';
    if (isOther) note('changed', 'the expected value becomes a text, as GitHub compares it', at);
    const raw = { input: keepsField ? test : others, expected: isOther ? String(value) : (value ?? undefined) };
    const example = readExample(raw, settings.variables, note, at);
    if (example !== undefined) yield example;
  }
}

/** The evaluators of a file, and the dataset created from its test data. */
interface Tested {
  dataset: FoundDataset;
  graders: TakenGraders;
}

function readTested(file: PromptYaml, settings: ImportSettings): Tested[] {
  const { source, content } = file;
  const evaluators = listOf(content['evaluators']).map(objectOf);
  const found = evaluators.map((evaluator) => ({
    name: textOf(evaluator['name']) ?? shown(evaluator['uses']),
    take: () => takeGitHubEvaluator(evaluator),
  }));
  const graders = takeGraders(found, settings.report, source);
  if (listOf(content['testData']).length > 0) {
    const field = graders.expectedField ?? 'expected';
    return [{ dataset: { source, read: (note) => readTests(file, field, settings, note) }, graders }];
  }
  if (evaluators.length > 0) settings.report.leaveOut('evaluation', source, 'there is no test data to evaluate with');
  return [];
}

/** On GitHub a test passes if each evaluator does, and a judge passes with any score above 0. */
function evaluationOf(prompt: string, dataset: string, { evaluators, leftOut }: TakenGraders, thing: Thing) {
  thing.rename(prompt);
  if (leftOut > 0) thing.change(`${leftOut} of its evaluators are left out`);
  const threshold = evaluators.every(({ type }) => type !== 'llm_judge') ? { threshold: 1 } : {};
  return { name: prompt, thing, definition: { prompt_name: prompt, dataset, evaluators, ...threshold } };
}

/**
 * Reads `.prompt.yml` files in GitHub's format: one prompt each, with test data and evaluators.
 * @throws ImportError naming the line, if there is only one file and it is invalid YAML
 */
export async function importGitHub(location: string, settings: ImportSettings): Promise<Import> {
  const files = await readEach(location, ENDINGS, settings.report, readFile);
  const found = files.map((file): FoundPrompt => {
    const { source, content } = file;
    const description = textOf(content['description']);
    return { source, description, versions: [{ read: (thing) => readVersion(file, settings, thing) }] };
  });
  const prompts = takePrompts(found, settings);
  const tested = files.flatMap((file) => readTested(file, settings));
  const datasets = takeDatasets(
    tested.map(({ dataset }) => dataset),
    settings,
  );
  const evaluations = datasets.flatMap(({ name, thing: { name: source } }) => {
    const graders = tested.find(({ dataset }) => dataset.source === source)?.graders;
    const prompt = prompts.find(({ thing }) => thing.name === source)?.name;
    if (graders === undefined || graders.evaluators.length === 0) return [];
    const thing = settings.report.add('evaluation', source);
    if (prompt === undefined) thing.leaveOut('its prompt is left out');
    return prompt === undefined ? [] : [evaluationOf(prompt, name, graders, thing)];
  });
  return { ...emptyImport(), prompts, datasets, evaluations };
}
