import { isObject, type Json, listOf, objectOf, shown, storableObject, textOf } from '../json.ts';
import { LongNumberError, parseExactly } from '../long-numbers.ts';
import { type ChatReader, chatReader, imagePart, readMessages, readText, readTools, readVariable } from './chat.ts';
import { type FoundDataset, type FoundPrompt, takeDatasets, takePrompts } from './collect.ts';
import { readExample } from './examples.ts';
import {
  type Example,
  emptyImport,
  type Import,
  ImportError,
  type ImportedVersion,
  type NoteExample,
} from './model.ts';
import { takeParameters } from './parameters.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { fetchedFiles, listFiles, readCsv, readJson, readJsonLines, type SourceFile } from './source-files.ts';
import { TemplateError } from './template-text.ts';

/** A serialized LangChain object: its class and its arguments. */
interface Serialized {
  className: string;
  kwargs: Json;
}

function serialized(value: unknown): Serialized | undefined {
  if (!isObject(value) || value['lc'] !== 1 || !Array.isArray(value['id'])) return undefined;
  return { className: shown(value['id'].at(-1)), kwargs: objectOf(value['kwargs']) };
}

const ROLES: Record<string, string> = {
  SystemMessagePromptTemplate: 'system',
  HumanMessagePromptTemplate: 'user',
  AIMessagePromptTemplate: 'assistant',
  SystemMessage: 'system',
  HumanMessage: 'user',
  AIMessage: 'assistant',
  SystemMessageChunk: 'system',
  HumanMessageChunk: 'user',
  AIMessageChunk: 'assistant',
};

const PROVIDERS: Record<string, string> = {
  ChatOpenAI: 'openai',
  OpenAI: 'openai',
  ChatAnthropic: 'anthropic',
  ChatGoogleGenerativeAI: 'google',
};

/** A prompt, with its bound model if there is one. */
interface Parts {
  prompt: Serialized;
  model: Serialized | undefined;
  bound: Json;
}

/** @throws TemplateError */
function partsOf(manifest: unknown): Parts {
  const root = serialized(manifest);
  if (root === undefined) throw new TemplateError('it is not a serialized prompt of LangChain');
  if (root.className !== 'RunnableSequence') return { prompt: root, model: undefined, bound: {} };
  const first = serialized(root.kwargs['first']);
  const last = serialized(root.kwargs['last']);
  if (first === undefined || last === undefined || listOf(root.kwargs['middle']).length > 0)
    throw new TemplateError('it is a chain of more than a prompt and a model');
  if (last.className !== 'RunnableBinding') return { prompt: first, model: last, bound: {} };
  return { prompt: first, model: serialized(last.kwargs['bound']), bound: objectOf(last.kwargs['kwargs']) };
}

class ManifestReader {
  readonly #settings: ImportSettings;
  readonly #thing: Thing;

  constructor(settings: ImportSettings, thing: Thing) {
    this.#settings = settings;
    this.#thing = thing;
  }

  #reader(syntax: ChatReader['syntax']): ChatReader {
    return chatReader(this.#thing, this.#settings.variables, syntax);
  }

  /** @throws TemplateError */
  read(manifest: unknown): ImportedVersion {
    const { prompt, model, bound } = partsOf(manifest);
    const { kwargs, className } = prompt;
    const content = this.#text(prompt);
    const version: ImportedVersion = { ...this.#model(model), fallback_models: [], ...content };
    const tools = readTools(listOf(bound['tools']));
    if (tools.length > 0) version.tools = tools;
    const schema = kwargs['schema_'] ?? kwargs['schema'];
    if (className === 'StructuredPrompt' && isObject(schema))
      version.parameters = {
        ...version.parameters,
        response_format: {
          type: 'json_schema',
          json_schema: { name: schemaName(schema), schema: storableObject(schema) },
        },
      };
    this.#addPartials(kwargs, version);
    return version;
  }

  /** @throws TemplateError */
  #text(prompt: Serialized): Pick<ImportedVersion, 'template' | 'messages'> {
    const { kwargs, className } = prompt;
    const { partial_variables: _, ...own } = kwargs;
    if (className === 'PromptTemplate') return { template: this.#template({ className, kwargs: own }) };
    if (className === 'ChatPromptTemplate' || className === 'StructuredPrompt')
      return { messages: listOf(kwargs['messages']).flatMap((message) => this.#message(message)) };
    throw new TemplateError(`it is a ${className}`);
  }

  /** Variables that are already filled in become inputs with a default. */
  #addPartials(kwargs: Json, version: ImportedVersion): void {
    for (const [name, value] of Object.entries(objectOf(kwargs['partial_variables']))) {
      if (typeof value !== 'string') throw new TemplateError(`its partial variable "${name}" is not a text`);
      const own = readVariable(name, this.#reader(null));
      version.inputs = { ...version.inputs, [own]: { type: 'string', default: value } };
      this.#thing.change(`the partial variable "${name}" is an input with a default that a run can replace`);
    }
  }

  #model(model: Serialized | undefined): Pick<ImportedVersion, 'model' | 'parameters' | 'config'> {
    const provider = model && (Object.hasOwn(PROVIDERS, model.className) ? PROVIDERS[model.className] : undefined);
    const { model: first, model_name: second, modelName: third, ...settings } = model?.kwargs ?? {};
    const name = textOf(first) ?? textOf(second) ?? textOf(third);
    if (model !== undefined && (provider === undefined || name === undefined))
      this.#thing.change(`its model is left out: no model here matches ${model.className}`);
    const chosen = provider === undefined || name === undefined ? this.#settings.defaultModel : `${provider}/${name}`;
    if (chosen === undefined) throw new TemplateError(NO_MODEL);
    const { parameters, others } = takeParameters(settings);
    // Placeholders for secrets are dropped; the remaining arguments determine the call.
    const kept = Object.entries(others).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
    if (kept.length > 0) this.#thing.change(`kept in config.langsmith: ${kept.map(([key]) => key).join(', ')}`);
    const config = storableObject({ langsmith: Object.fromEntries(kept) });
    return { model: chosen, parameters, ...(kept.length > 0 && { config }) };
  }

  /** @throws TemplateError */
  #template({ className, kwargs }: Serialized): string {
    if (className !== 'PromptTemplate') throw new TemplateError(`it has a ${className}`);
    const format = kwargs['template_format'] ?? 'f-string';
    if (format !== 'f-string' && format !== 'mustache')
      throw new TemplateError(`its template is in the format "${shown(format)}"`);
    if (Object.keys(objectOf(kwargs['partial_variables'])).length > 0)
      throw new TemplateError('one of its messages has partial variables');
    return readText(textOf(kwargs['template']) ?? '', this.#reader(format));
  }

  #content(prompt: unknown): string | Json[] {
    if (!Array.isArray(prompt)) {
      const one = serialized(prompt);
      if (one === undefined) throw new TemplateError('one of its messages has no template');
      return this.#template(one);
    }
    return prompt.map((part) => {
      const one = serialized(part);
      if (one?.className === 'ImagePromptTemplate')
        return imagePart(textOf(objectOf(one.kwargs['template'])['url']) ?? '');
      if (one === undefined) throw new TemplateError('one of its messages has a part without a template');
      return { type: 'text', text: this.#template(one) };
    });
  }

  /** @throws TemplateError */
  #message(message: unknown): NonNullable<ImportedVersion['messages']> {
    const one = serialized(message);
    if (one === undefined) throw new TemplateError('one of its messages is not serialized');
    const { className, kwargs } = one;
    if (className === 'MessagesPlaceholder') {
      const name = textOf(kwargs['variable_name']) ?? '';
      const placeholder = readVariable(name, this.#reader(null));
      return [kwargs['optional'] === true ? { placeholder, required: false } : { placeholder }];
    }
    const role =
      className === 'ChatMessagePromptTemplate' || className === 'ChatMessage'
        ? textOf(kwargs['role'])
        : Object.hasOwn(ROLES, className)
          ? ROLES[className]
          : undefined;
    if (role === undefined) throw new TemplateError(`it has a ${className}`);
    // A message that is not a template is sent verbatim.
    if ('content' in kwargs) return readMessages([{ role, content: kwargs['content'] }], this.#reader(null));
    const content = this.#content(kwargs['prompt']);
    const [read] = readMessages([{ role, content: '' }], this.#reader(null));
    if (read === undefined || 'placeholder' in read) throw new TemplateError(`a message has the role "${role}"`);
    return [{ ...read, content } as typeof read];
  }
}

function schemaName(schema: Json): string {
  return (textOf(schema['title']) ?? 'response').replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64);
}

/** A commit of a prompt: `{repo, commit_hash, manifest}`, or a manifest. */
interface Commit {
  prompt: string;
  hash: string;
  createdAt: string;
  manifest: unknown;
  description: string | undefined;
}

function commitsIn(value: unknown, file: string): Commit[] {
  if (Array.isArray(value)) return value.flatMap((item) => commitsIn(item, file));
  const stem = file.replace(/\.json$/, '');
  if (serialized(value)) return [{ prompt: stem, hash: '', createdAt: '', manifest: value, description: undefined }];
  if (!isObject(value)) throw new ImportError(`${file}: is not a prompt of LangSmith`);
  if (Array.isArray(value['commits']))
    return commitsIn(
      value['commits'].map((commit) => ({ repo: value['repo'], ...objectOf(commit) })),
      file,
    );
  if (!('manifest' in value)) throw new ImportError(`${file}: is not a prompt of LangSmith: it has no manifest`);
  return [
    {
      prompt: textOf(value['repo']) ?? textOf(value['repo_handle']) ?? stem,
      hash: textOf(value['commit_hash']) ?? '',
      createdAt: textOf(value['created_at']) ?? '',
      manifest: value['manifest'],
      description: textOf(value['description']),
    },
  ];
}

function promptsOf(commits: Commit[], settings: ImportSettings): FoundPrompt[] {
  return [...Map.groupBy(commits, ({ prompt }) => prompt)].map(([source, own]) => ({
    source,
    description: own.map((commit) => commit.description).find((text) => text !== undefined),
    versions: own
      .toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0))
      .map(({ hash, manifest }) => ({
        called: `commit ${hash.slice(0, 8)}`,
        read(thing) {
          const version = new ManifestReader(settings, thing).read(manifest);
          return hash === '' ? version : { ...version, commit_message: `LangSmith commit ${hash.slice(0, 64)}` };
        },
      })),
  }));
}

/** The expected value from an example's outputs: the only output, or all. */
function expectedOf(outputs: unknown, note: NoteExample, at: string): unknown {
  if (outputs === undefined || outputs === null) return undefined;
  const entries = isObject(outputs) ? Object.entries(outputs) : [];
  if (entries.length !== 1 || entries[0] === undefined) return outputs;
  note('changed', `the expected value is the only output, "${entries[0][0]}"`, at);
  return entries[0][1];
}

function exampleOf(value: unknown, settings: ImportSettings, note: NoteExample, at: string): Example | undefined {
  const { id, inputs, outputs, metadata } = objectOf(value);
  if (isObject(inputs)) {
    const raw = { id, input: inputs, expected: expectedOf(outputs, note, at), metadata };
    return readExample(raw, settings.variables, note, at);
  }
  note('left out', 'an example has no inputs', at);
  return undefined;
}

async function* readLinesOf(file: SourceFile, settings: ImportSettings, note: NoteExample) {
  for await (const { line, value } of readJsonLines(file)) {
    const example = exampleOf(value, settings, note, `line ${line}`);
    if (example !== undefined) yield example;
  }
}

async function* readList(values: unknown[], settings: ImportSettings, note: NoteExample) {
  for (const [index, value] of values.entries()) {
    const example = exampleOf(value, settings, note, `example ${index + 1}`);
    if (example !== undefined) yield example;
  }
}

/** Examples listed by the API; undefined if it is something else. */
function examplesIn(value: unknown): unknown[] | undefined {
  const list = isObject(value) ? listOf(value['examples']) : listOf(value);
  return list.length > 0 && list.every((one) => isObject(one) && 'inputs' in one) ? list : undefined;
}

/** `inputs` and `outputs` as JSON, or a column for each: `input_question`, `outputs.answer`. */
const COLUMN = /^(input|output|metadata)s?[_.](.+)$/;

async function* readRowsOf(file: SourceFile, settings: ImportSettings, note: NoteExample) {
  for await (const { line, row } of readCsv(file)) {
    const at = `line ${line}`;
    const parts: Record<string, Json> = { input: {}, output: {}, metadata: {} };
    try {
      for (const [column, cell] of row) {
        const [, part, name] = COLUMN.exec(column) ?? [];
        const whole = /^(input|output|metadata)s?$/.exec(column)?.[1];
        if (part !== undefined && name !== undefined) Object.assign(parts[part] ?? {}, { [name]: cell });
        else if (whole !== undefined && cell !== '') Object.assign(parts[whole] ?? {}, objectOf(parseExactly(cell)));
      }
    } catch (error) {
      const why =
        error instanceof LongNumberError
          ? `a row has a number that ${error.rule}`
          : 'a row has inputs or outputs that are not valid JSON';
      note('left out', why, at);
      continue;
    }
    const { input, output, metadata } = parts;
    if (Object.keys(input ?? {}).length === 0) {
      note('left out', 'a row has no columns "inputs", "input_…" or "inputs.…"', at);
      continue;
    }
    const outputs = Object.keys(output ?? {}).length === 0 ? undefined : output;
    const raw = { id: row.get('id') || undefined, input, expected: expectedOf(outputs, note, at), metadata };
    const example = readExample(raw, settings.variables, note, at);
    if (example !== undefined) yield example;
  }
}

/**
 * Reads prompts of LangSmith from commits or manifests (JSON), and datasets that it exported or its API listed (JSON Lines, CSV,
 * JSON).
 * @throws ImportError
 */
export async function importLangSmith(location: string, settings: ImportSettings): Promise<Import> {
  const commits: Commit[] = [];
  const sets: FoundDataset[] = [];
  for (const file of await fetchedFiles(
    await listFiles(location, ['.json', '.jsonl', '.ndjson', '.csv']),
    settings.report,
  )) {
    const source = file.name.replace(/\.[^./]*$/, '');
    if (!file.name.endsWith('.json')) {
      const read = file.name.endsWith('.csv') ? readRowsOf : readLinesOf;
      sets.push({ source, read: (note) => read(file, settings, note) });
      continue;
    }
    const value = await readJson(file);
    const examples = examplesIn(value);
    if (examples === undefined) commits.push(...commitsIn(value, file.name));
    else sets.push({ source, read: (note) => readList(examples, settings, note) });
  }
  const prompts = takePrompts(promptsOf(commits, settings), settings);
  return { ...emptyImport(), prompts, datasets: takeDatasets(sets, settings) };
}
