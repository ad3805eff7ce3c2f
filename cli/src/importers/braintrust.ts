import { isObject, type Json, listOf, objectOf, shown, storableObject, textOf } from '../json.ts';
import { LongNumberError, parseExactly } from '../long-numbers.ts';
import { chatReader, readMessages, readText, readTools } from './chat.ts';
import { type FoundDataset, type FoundPrompt, takeDatasets, takePrompts } from './collect.ts';
import { readExample } from './examples.ts';
import { takeGraders } from './graders.ts';
import { takeJudge } from './judges.ts';
import { emptyImport, type Import, ImportError, type ImportedVersion, type NoteExample } from './model.ts';
import { toolChoice } from './openai-prompts.ts';
import { takeParameters } from './parameters.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { fetchedFiles, listFiles, readCsv, readJson, readJsonLines, type SourceFile } from './source-files.ts';
import { PLACEHOLDER, TemplateError, type TemplateSyntax } from './template-text.ts';

const SYNTAXES: Record<string, TemplateSyntax | null> = { mustache: 'mustache', nunjucks: 'nunjucks', none: null };

/** A row and its location. */
interface Row {
  row: Json;
  at: string;
}

interface FoundRows {
  source: string;
  rows(): AsyncIterable<Row> | Iterable<Row>;
}

/** The content of saved files. */
interface Found {
  /** Prompts and scorers, and other functions. */
  functions: Json[];
  datasets: FoundRows[];
}

/** Fields of dataset rows are variables themselves: `{{input.question}}` is `question`. */
function withoutInput(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\{\{\s*input\.([\w.-]+)\s*\}\}/g, '{{$1}}');
  if (Array.isArray(value)) return value.map(withoutInput);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutInput(inner)]));
}

function parseTools(tools: unknown): unknown[] {
  if (typeof tools !== 'string' || tools === '') return listOf(tools);
  try {
    return listOf(parseExactly(tools));
  } catch (error) {
    if (error instanceof LongNumberError) throw new TemplateError(`its tools: ${error.message}`);
    throw new TemplateError('its tools are not valid JSON');
  }
}

/** @throws TemplateError */
function readVersion(json: Json, settings: ImportSettings, thing: Thing): ImportedVersion {
  const data = objectOf(json['prompt_data']);
  const { model: named, params } = objectOf(data['options']);
  const model = textOf(named) ?? settings.defaultModel;
  if (model === undefined) throw new TemplateError(NO_MODEL);
  const format = textOf(data['template_format']) ?? 'mustache';
  const syntax = Object.hasOwn(SYNTAXES, format) ? SYNTAXES[format] : undefined;
  if (syntax === undefined) throw new TemplateError(`its template is in the format "${format}"`);
  const reader = chatReader(thing, settings.variables, syntax);
  const prompt = objectOf(data['prompt']);
  const { type, messages, content } = syntax === null ? prompt : objectOf(withoutInput(prompt));
  if (type !== 'chat' && type !== 'completion') throw new TemplateError(`it is of the type "${shown(type)}"`);
  const tools = readTools(parseTools(prompt['tools']));
  if (listOf(data['tool_functions']).length > 0)
    thing.change('tools that are Braintrust functions are left out, because they run there');
  const { tool_choice, ...sent } = objectOf(params);
  const choice = tools.length === 0 ? undefined : toolChoice(tool_choice);
  const { parameters, others } = takeParameters(sent);
  const tags = listOf(json['tags']);
  const kept = {
    ...(Object.keys(others).length > 0 && { params: others }),
    ...(tags.length > 0 && { tags }),
    ...(Object.keys(objectOf(json['metadata'])).length > 0 && { metadata: json['metadata'] }),
  };
  if (Object.keys(kept).length > 0) thing.change(`kept in config.braintrust: ${Object.keys(kept).join(', ')}`);
  const transaction = textOf(json['_xact_id']);
  return {
    model,
    fallback_models: [],
    parameters,
    ...(type === 'completion'
      ? { template: readText(textOf(content) ?? '', reader) }
      : { messages: readMessages(listOf(messages), reader) }),
    ...(tools.length > 0 && { tools }),
    ...(choice !== undefined && { tool_choice: choice }),
    ...(Object.keys(kept).length > 0 && { config: storableObject({ braintrust: kept }) }),
    ...(transaction !== undefined && { commit_message: `Braintrust version ${transaction}` }),
  };
}

/** Orders versions by the transactions that created them: numbers of many digits, as strings. */
const byTransaction = (a: Json, b: Json) => {
  const [one, other] = [a, b].map((json) => (textOf(json['_xact_id']) ?? '').padStart(40, '0'));
  return (one ?? '') < (other ?? '') ? -1 : (one ?? '') > (other ?? '') ? 1 : 0;
};

const slugOf = (json: Json) => textOf(json['slug']) ?? textOf(json['name']) ?? shown(json['id']);

function takeScorer(json: Json) {
  const data = objectOf(json['prompt_data']);
  const parser = objectOf(data['parser']);
  if (parser['type'] !== 'llm_classifier') throw new TemplateError('it is code, or has no choices');
  const { messages, content } = objectOf(data['prompt']);
  const texts = messages === undefined ? [content] : listOf(messages).map((message) => objectOf(message)['content']);
  const parts = texts.flatMap((text) => (Array.isArray(text) ? text.map((part) => objectOf(part)['text']) : [text]));
  return takeJudge({
    model: textOf(objectOf(data['options'])['model']),
    prompt: parts.map((part) => textOf(part) ?? '').join('\n\n'),
    placeholder: PLACEHOLDER,
    shows: { output: 'output', expected: 'expected', input: 'input' },
    choices: Object.entries(objectOf(parser['choice_scores'])).map(([choice, score]) => ({
      choice,
      score: Number(score),
    })),
  });
}

/** A cell of a CSV file: JSON or text. */
function cell(text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  if (!/^\s*[[{"]/.test(text)) return text;
  try {
    return parseExactly(text);
  } catch {
    // Also if a number would lose digits: the text preserves them.
    return text;
  }
}

async function* rowsOf(file: SourceFile): AsyncGenerator<Row, void, undefined> {
  if (file.name.endsWith('.csv'))
    for await (const { line, row } of readCsv(file)) {
      const fields = ['id', 'input', 'expected', 'metadata', 'tags', 'output', 'scores'];
      const values = fields.map((field) => [field, cell(row.get(field))] as const);
      yield { row: Object.fromEntries(values.filter(([, value]) => value !== undefined)), at: `line ${line}` };
    }
  else for await (const { line, value } of readJsonLines(file)) yield { row: objectOf(value), at: `line ${line}` };
}

async function* readRows(found: FoundRows, settings: ImportSettings, note: NoteExample) {
  for await (const { row, at } of found.rows()) {
    const { id, input, expected, metadata, tags, output, scores } = row;
    if (listOf(row['span_parents']).length > 0) {
      note('left out', 'a row that is part of another row (span_parents)', at);
      continue;
    }
    if (input === undefined || input === null) {
      note('left out', 'a row has no input', at);
      continue;
    }
    if (output !== undefined || scores !== undefined)
      note('changed', 'results of an experiment (output, scores) are left out', at);
    const kept = listOf(tags).length > 0 ? { ...objectOf(metadata), tags } : (metadata ?? undefined);
    const example = readExample(
      { id, input, expected: expected ?? undefined, metadata: kept },
      settings.variables,
      note,
      at,
    );
    if (example !== undefined) yield example;
  }
}

/** Sorts the content of a saved response: prompts, functions, rows. */
function sort(value: unknown, file: SourceFile, found: Found): void {
  const list = Array.isArray(value)
    ? value
    : ['objects', 'events', 'data', 'rows'].flatMap((key) => listOf(objectOf(value)[key]));
  if (list.length > 0 && list.every((one) => isObject(one) && 'input' in one && !('prompt_data' in one))) {
    const rows = list.map((row, index) => ({ row: objectOf(row), at: `row ${index + 1}` }));
    found.datasets.push({ source: file.name.replace(/\.[^./]*$/, ''), rows: () => rows });
  } else if (list.length > 0) for (const one of list) sort(one, file, found);
  else if (isObject(value) && ('prompt_data' in value || 'function_data' in value)) found.functions.push(value);
  else if (!Array.isArray(value) && !(isObject(value) && Array.isArray(value['objects'])))
    throw new ImportError(`${file.name}: is neither a prompt, a function nor rows of a dataset from Braintrust`);
}

/**
 * Reads prompts and scorers from Braintrust's API (JSON), and its exported datasets (JSON, JSON Lines, CSV).
 * @throws ImportError naming the file and, if it has lines, the line
 */
export async function importBraintrust(location: string, settings: ImportSettings): Promise<Import> {
  const found: Found = { functions: [], datasets: [] };
  for (const file of await fetchedFiles(
    await listFiles(location, ['.json', '.jsonl', '.ndjson', '.csv']),
    settings.report,
  )) {
    if (file.name.endsWith('.json')) sort(await readJson(file), file, found);
    else found.datasets.push({ source: file.name.replace(/\.[^./]*$/, ''), rows: () => rowsOf(file) });
  }
  const { report } = settings;
  const isPrompt = ({ prompt_data, function_type }: Json) =>
    isObject(prompt_data) && (function_type === undefined || function_type === null || function_type === 'llm');
  const bySlug = Map.groupBy(found.functions.filter(isPrompt).toSorted(byTransaction), slugOf);
  const prompts = takePrompts(
    [...bySlug].map(
      ([source, all]): FoundPrompt => ({
        source,
        description: textOf(all.at(-1)?.['description']),
        versions: all.map((json) => ({
          called: `version ${shown(json['_xact_id'])}`,
          read: (thing) => readVersion(json, settings, thing),
        })),
      }),
    ),
    settings,
  );
  const datasets = takeDatasets(
    found.datasets.map((one): FoundDataset => ({ source: one.source, read: (note) => readRows(one, settings, note) })),
    settings,
  );
  const others = found.functions.filter((json) => !isPrompt(json));
  const isScorer = (json: Json) => json['function_type'] === 'scorer' && isObject(json['prompt_data']);
  for (const json of others)
    if (!isScorer(json))
      report.leaveOut(textOf(json['function_type']) ?? 'function', slugOf(json), 'it is code, or runs in Braintrust');
  const scorers = others.filter(isScorer);
  const { evaluators } = takeGraders(
    scorers.map((json) => ({ name: slugOf(json), take: () => takeScorer(json) })),
    report,
  );
  const evaluations: Import['evaluations'] = [];
  const [[prompt, ...otherPrompts], [dataset, ...otherDatasets]] = [prompts, datasets];
  if (evaluators.length > 0) {
    const thing = report.add('evaluation', prompt?.name ?? 'scorers');
    if (prompt === undefined || dataset === undefined || otherPrompts.length > 0 || otherDatasets.length > 0)
      thing.leaveOut('it is unclear what is scored: import the scorers with one prompt and one dataset');
    else
      evaluations.push({
        name: prompt.name,
        thing,
        definition: { prompt_name: prompt.name, dataset: dataset.name, evaluators },
      });
  }
  return { ...emptyImport(), prompts, datasets, evaluations };
}
