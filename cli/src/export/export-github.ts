import { stat } from 'node:fs/promises';
import { Document, parse } from 'yaml';
import { writeGitHubEvaluator } from '../importers/github-evaluators.ts';
import type { Example } from '../importers/model.ts';
import type { Report, Thing } from '../importers/report.ts';
import { listFiles, readJson } from '../importers/source-files.ts';
import { PLACEHOLDER, parseTemplate, TemplateError } from '../importers/template-text.ts';
import type { PromptRecord, WorkspaceReader } from '../importers/workspace.ts';
import { isObject, isSameJson, type Json, objectOf, textOf } from '../json.ts';
import { requireName } from '../named-path.ts';
import type { PromptMessage } from '../prompt-version.ts';
import { collect, requireEmpty, writeInside } from './files.ts';
import { FileNames } from './layout.ts';

/** Maximum number of tests per file. */
const MAX_TESTS = 1000;

/** GitHub's names of parameters; the others keep theirs. */
const PARAMETERS: Record<string, string> = { max_tokens: 'maxTokens', top_p: 'topP', top_k: 'topK' };
const MINDED = new Set(['temperature', 'max_tokens', 'top_p', 'response_format']);

/** The evaluation of a prompt. */
interface Definition {
  dataset: string;
  evaluators: Json[];
}

/** Evaluations written by an import or by hand, by their prompts. */
async function readDefinitions(folder: string, report: Report): Promise<Map<string, Definition>> {
  const found = new Map<string, Definition>();
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) return found;
  for (const file of await listFiles(folder, ['.json']).catch(() => [])) {
    const { prompt_name, dataset: given, evaluators } = objectOf(await readJson(file));
    const dataset = isObject(given) ? given['name'] : given;
    if (typeof prompt_name !== 'string' || typeof dataset !== 'string' || !Array.isArray(evaluators)) continue;
    if (found.has(prompt_name))
      report.leaveOut(
        'evaluation',
        file.name,
        `"${prompt_name}" has another evaluation, and a GitHub file can hold only one`,
      );
    else found.set(prompt_name, { dataset, evaluators: evaluators.filter(isObject) });
  }
  return found;
}

/** @throws TemplateError if GitHub would interpret it differently */
function textAtGitHub(template: string): string {
  const pieces = parseTemplate(template).map((piece) => {
    if (typeof piece !== 'string') {
      if ('include' in piece) throw new TemplateError(`it includes "${piece.include}", which GitHub can't`);
      return `{{${piece.variable}}}`;
    }
    if (piece.search(PLACEHOLDER) !== -1) throw new TemplateError('it has text that GitHub would read as a variable');
    return piece;
  });
  return pieces.join('');
}

/** @throws TemplateError */
function messageAtGitHub(entry: PromptMessage): Json {
  if ('placeholder' in entry) throw new TemplateError(`it has a placeholder for messages ("${entry.placeholder}")`);
  const { role, content } = entry;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const texts = parts.map((part) => {
    if (part.type !== 'text') throw new TemplateError(`a message has a part of the type "${part.type}"`);
    return textAtGitHub(part.text);
  });
  return { role, content: texts.join('') };
}

function parametersAtGitHub(parameters: Json, thing: Thing): Json {
  const { response_format, ...others } = parameters;
  const renamed = Object.entries(others).map(([name, value]) => {
    if (!MINDED.has(name)) thing.change(`GitHub's command line ignores ${name}`);
    return [PARAMETERS[name] ?? name, value];
  });
  const { type, json_schema } = objectOf(response_format);
  return {
    ...(renamed.length > 0 && { modelParameters: Object.fromEntries(renamed) }),
    ...(type !== undefined && { responseFormat: type }),
    ...(json_schema !== undefined && { jsonSchema: JSON.stringify(json_schema, null, 2) }),
  };
}

function testOf({ id, variables, expected, metadata }: Example, thing: Thing): Json[] {
  const { expected: variable } = variables;
  if (variable !== undefined && expected !== undefined && !isSameJson(variable, expected)) {
    thing.change('left out: an example whose variable "expected" differs from its expected value', id);
    return [];
  }
  if (metadata !== undefined && metadata !== null) thing.change('metadata of examples are left out');
  return [{ ...variables, ...(expected !== undefined && expected !== null && { expected }) }];
}

async function readTests(dataset: string, reader: WorkspaceReader, thing: Thing): Promise<Json[]> {
  const tests: Json[] = [];
  for await (const example of reader.examples(dataset)) {
    if (tests.length === MAX_TESTS) {
      thing.leaveOut(`it has more than ${MAX_TESTS} examples, which are too many for one file`);
      return [];
    }
    tests.push(...testOf(example, thing));
  }
  return tests;
}

function evaluatorsAtGitHub({ evaluators }: Definition, prompt: string, report: Report): Json[] {
  return evaluators.flatMap((evaluator) => {
    const thing = report.add('evaluator', `${prompt}: ${textOf(evaluator['name']) ?? String(evaluator['type'])}`);
    try {
      return [writeGitHubEvaluator(evaluator, (what) => thing.change(what))];
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      thing.leaveOut(error.message);
      return [];
    }
  });
}

/** @throws TemplateError naming what GitHub does not support */
function promptAtGitHub(record: PromptRecord, thing: Thing): Json {
  const { name, description, model, template, messages, parameters, config } = record;
  const { name: shownName, modelParameters, ...unknown } = objectOf(objectOf(config)['github']);
  const leftOut = (['tools', 'tool_choice', 'inputs', 'fallback_models'] as const).filter((field) => {
    const value = record[field];
    return value !== null && Object.keys(value).length > 0;
  });
  const others = Object.keys(objectOf(config)).filter((key) => key !== 'github');
  for (const field of [...leftOut, ...[...others, ...Object.keys(unknown)].map((key) => `config.${key}`)])
    thing.change(`${field} is left out: GitHub does not support it`);
  if (template !== null) thing.change('its template becomes a user message');
  const own = parametersAtGitHub(parameters, thing);
  const settings = { ...objectOf(own['modelParameters']), ...objectOf(modelParameters) };
  return {
    name: textOf(shownName) ?? name,
    ...(description !== null && { description }),
    model,
    ...own,
    ...(Object.keys(settings).length > 0 && { modelParameters: settings }),
    messages:
      template === null ? (messages ?? []).map(messageAtGitHub) : [{ role: 'user', content: textAtGitHub(template) }],
  };
}

/** @throws TemplateError if YAML does not preserve it */
function yamlOf(content: Json): string {
  const document = new Document(content, { aliasDuplicateObjects: false });
  const text = document.toString({ lineWidth: 0, blockQuote: 'literal', flowCollectionPadding: false });
  if (!isSameJson(parse(text), content)) throw new TemplateError('it holds a value that YAML cannot represent');
  return text;
}

/** Numbers of written records. */
export interface ExportedToGitHub {
  files: number;
  tests: number;
}

/**
 * Writes the latest version of each prompt as a `.prompt.yml`, with the examples and evaluators of its evaluation, or the examples of
 * the dataset with the same name.
 * @param evaluations a folder of evaluations, each as the body of `POST /v1/evaluations`
 * @throws ImportError if the folder is not empty, or an evaluation can't be read
 */
export async function exportToGitHub(
  folder: string,
  reader: WorkspaceReader,
  evaluations: string,
  report: Report,
): Promise<ExportedToGitHub> {
  await requireEmpty(folder);
  const definitions = await readDefinitions(evaluations, report);
  const datasets = new Set((await collect(reader.datasets())).map(({ name }) => name));
  const files = new FileNames('.');
  const used = new Set<string>();
  const exported: ExportedToGitHub = { files: 0, tests: 0 };
  for await (const record of reader.prompts()) {
    const name = requireName('prompt', record.name);
    const thing = report.add('prompt', name);
    try {
      if (record.archived) throw new TemplateError('it is archived');
      const content = promptAtGitHub(record, thing);
      const definition = definitions.get(name);
      const dataset = definition?.dataset ?? name;
      if (datasets.has(dataset)) {
        used.add(dataset);
        const testData = await readTests(dataset, reader, report.add('dataset', dataset));
        if (testData.length > 0) content['testData'] = testData;
        exported.tests += testData.length;
      }
      const evaluators = definition === undefined ? [] : evaluatorsAtGitHub(definition, name, report);
      if (evaluators.length > 0) content['evaluators'] = evaluators;
      await writeInside(folder, `${files.of(name)}.prompt.yml`, yamlOf(content));
      exported.files += 1;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      thing.leaveOut(error.message);
    }
  }
  for (const name of datasets)
    if (!used.has(name))
      report.leaveOut('dataset', name, 'no evaluation uses it with a prompt, and no prompt has its name');
  return exported;
}
