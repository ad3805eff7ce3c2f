import path from 'node:path';
import { type Json, listOf, objectOf, shown, storableObject, textOf } from '../json.ts';
import { mapNames } from '../names.ts';
import type { PromptMessage, PromptTool } from '../prompt-version.ts';
import { type ChatReader, chatReader, imagePart, readVariable } from './chat.ts';
import { type FoundPrompt, readEach, takePrompts } from './collect.ts';
import { splitFrontMatter } from './front-matter.ts';
import { type HandlebarsPiece, readHandlebars } from './handlebars.ts';
import { type PromptInput, readInput } from './inputs.ts';
import { emptyImport, type Import, type ImportedVersion } from './model.ts';
import { takeParameters } from './parameters.ts';
import { readPicoschema } from './picoschema.ts';
import type { Thing } from './report.ts';
import { type ImportSettings, NO_MODEL } from './settings.ts';
import { readText } from './source-files.ts';
import { formatTemplate, type Piece, TemplateError } from './template-text.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const FIELDS = new Set('name description model config input output tools toolDefs'.split(' '));
const ROLES: Record<string, 'system' | 'user' | 'assistant'> = { system: 'system', user: 'user', model: 'assistant' };
const PROVIDERS: Record<string, string> = { googleai: 'google', vertexai: 'google' };

/** A `.prompt` file. */
interface DotpromptFile {
  /** Its path without the extension. */
  source: string;
  settings: Json;
  body: string;
}

/** The context for creating a version from a file. */
interface Context {
  settings: ImportSettings;
  /** The names of the prompts created from files, by source. */
  names: Map<string, string>;
  /** For a partial without a model. */
  modelOfIncluder: string | undefined;
}

/** The partial `footer` is the file `_footer.prompt`, `mail/footer` is `mail/_footer.prompt`. */
function sourceOfPartial(name: string): string {
  return path.posix.join(path.posix.dirname(name), `_${path.posix.basename(name)}`);
}

/** Files that a template includes. */
function partialsOf(body: string): string[] {
  return [...body.matchAll(/\{\{>\s*([\w./-]+)\s*\}\}/g)].map(([, name = '']) => sourceOfPartial(name));
}

/** The service's name for a model. */
function ownModel(named: string): string {
  const [, prefix = '', rest = ''] = /^([^/]+)\/(.+)$/.exec(named) ?? [];
  return Object.hasOwn(PROVIDERS, prefix) ? `${PROVIDERS[prefix]}/${rest}` : named;
}

function modelOf(file: DotpromptFile, { settings, modelOfIncluder }: Context, thing: Thing): string {
  const named = textOf(file.settings['model']);
  if (named !== undefined) {
    const own = ownModel(named);
    if (named.startsWith('vertexai/')) thing.change(`its model ${named} becomes ${own}`);
    return own;
  }
  if (settings.defaultModel !== undefined) return settings.defaultModel;
  if (modelOfIncluder === undefined) throw new TemplateError(NO_MODEL);
  const own = ownModel(modelOfIncluder);
  thing.change(`it names no model, and gets the model of the prompt that includes it: ${own}`);
  return own;
}

/** A message under construction: its text and its files. */
interface Draft {
  role: 'system' | 'user' | 'assistant';
  parts: (Piece[] | Json)[];
}

class BodyReader {
  readonly #context: Context;
  readonly #reader: ChatReader;
  readonly #thing: Thing;

  constructor(context: Context, thing: Thing) {
    this.#context = context;
    this.#thing = thing;
    this.#reader = chatReader(thing, context.settings.variables, null);
  }

  /** Without roles, files and history it is a single user text. */
  read(body: string): Pick<ImportedVersion, 'template' | 'messages'> {
    const pieces = readHandlebars(body);
    const isText = pieces.every((piece) => typeof piece === 'string' || 'variable' in piece || 'partial' in piece);
    if (isText) return { template: formatTemplate(pieces.map((piece) => this.#piece(piece))) };
    const messages: PromptMessage[] = [];
    let draft: Draft = { role: 'user', parts: [] };
    for (const piece of pieces) {
      if (typeof piece !== 'string' && 'role' in piece) {
        messages.push(...this.#message(draft));
        draft = { role: this.#role(piece.role), parts: [] };
      } else if (typeof piece !== 'string' && 'history' in piece) {
        messages.push(...this.#message(draft), {
          placeholder: readVariable('history', this.#reader),
          required: false,
        });
        draft = { role: 'assistant', parts: [] };
      } else if (typeof piece !== 'string' && 'media' in piece) draft.parts.push(this.#file(piece.media));
      else {
        const last = draft.parts.at(-1);
        if (Array.isArray(last)) last.push(this.#piece(piece));
        else draft.parts.push([this.#piece(piece)]);
      }
    }
    return { messages: [...messages, ...this.#message(draft)] };
  }

  #role(said: string): Draft['role'] {
    const role = Object.hasOwn(ROLES, said) ? ROLES[said] : undefined;
    if (role === undefined) throw new TemplateError(`a message has the role "${said}"`);
    return role;
  }

  #piece(piece: HandlebarsPiece): Piece {
    if (typeof piece === 'string') return piece;
    if ('variable' in piece) return { variable: readVariable(piece.variable, this.#reader) };
    const { partial } = piece as { partial: string };
    const include = this.#context.names.get(sourceOfPartial(partial));
    if (include === undefined) throw new TemplateError(`its partial "${partial}" is not in the folder`);
    return { include };
  }

  #file({ url, contentType }: Extract<HandlebarsPiece, { media: unknown }>['media']): Json {
    if (typeof url === 'string') return imagePart(url);
    if (contentType === undefined) throw new TemplateError(`the file "${url.variable}" needs a contentType`);
    const variable = readVariable(url.variable, this.#reader);
    this.#thing.change(`"${variable}" is a file: a run passes its address or its data`);
    return { type: 'file', media_type: contentType, variable };
  }

  /** The message, unless it is empty. */
  #message({ role, parts }: Draft): PromptMessage[] {
    const trimmed = parts.map((part, at) => {
      if (!Array.isArray(part)) return part;
      const pieces = [...part];
      const [first] = pieces;
      if (at === 0 && typeof first === 'string') pieces[0] = first.trimStart();
      const last = pieces.at(-1);
      if (at === parts.length - 1 && typeof last === 'string') pieces[pieces.length - 1] = last.trimEnd();
      if (pieces[0] !== first || pieces.at(-1) !== last)
        this.#thing.change('white space at the ends of messages is removed');
      return { type: 'text', text: formatTemplate(pieces) };
    });
    const content = trimmed.filter((part) => part.type !== 'text' || part['text'] !== '');
    const [only, ...more] = content;
    if (only === undefined) return [];
    const isText = only.type === 'text' && more.length === 0;
    // Validated later, together with the version.
    return [{ role, content: isText ? only['text'] : content } as PromptMessage];
  }
}

function readInputs({ settings }: DotpromptFile, reader: ChatReader, files: Set<string>): Record<string, PromptInput> {
  const { schema, default: defaults } = objectOf(settings['input']);
  const { properties, required } = schema === undefined ? {} : readPicoschema(schema);
  const given = objectOf(defaults);
  const names = new Set([...Object.keys(objectOf(properties)), ...Object.keys(given)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const own = readVariable(name, reader);
      const { type, description, enum: values } = objectOf(objectOf(properties)[name]);
      const kind = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
      const isDeclared = Object.hasOwn(objectOf(properties), name);
      const input = readInput({
        type: files.has(own) ? 'file' : (textOf(kind) ?? (Array.isArray(values) ? 'string' : undefined)),
        default: files.has(own) ? undefined : given[name],
        description: textOf(description),
        required: isDeclared && !listOf(required).includes(name) ? false : undefined,
        enum: Array.isArray(values) ? values.filter((value) => value !== null) : undefined,
      });
      return [own, input];
    }),
  );
}

function responseFormat({ settings }: DotpromptFile, thing: Thing): unknown {
  const { format, schema } = objectOf(settings['output']);
  if (schema !== undefined)
    return { type: 'json_schema', json_schema: { name: 'response', schema: readPicoschema(schema) } };
  if (format === 'json') return { type: 'json_object' };
  if (format !== undefined && format !== 'text') thing.change(`its output format "${shown(format)}" is left out`);
  return undefined;
}

function readTools({ settings }: DotpromptFile, thing: Thing): PromptTool[] {
  const defined = listOf(settings['toolDefs']).map(objectOf);
  const known = new Set(defined.map(({ name }) => name));
  const missing = listOf(settings['tools']).filter((name) => !known.has(name));
  if (missing.length > 0)
    thing.change(`tools that are defined elsewhere are left out: ${missing.map(shown).join(', ')}`);
  return defined.map(({ name, description, inputSchema }) => ({
    name: String(name),
    ...(typeof description === 'string' && { description }),
    input_schema: storableObject(inputSchema === undefined ? { type: 'object' } : readPicoschema(inputSchema)),
  }));
}

/** Variables used as files in the messages. */
function fileVariables(messages: ImportedVersion['messages'] = []): Set<string> {
  const parts = messages.flatMap((entry) => ('content' in entry ? listOf(entry.content).map(objectOf) : []));
  return new Set(parts.flatMap(({ variable }) => textOf(variable) ?? []));
}

/** @throws TemplateError */
function readVersion(file: DotpromptFile, context: Context, thing: Thing): ImportedVersion {
  const { settings } = file;
  const model = modelOf(file, context, thing);
  const content = new BodyReader(context, thing).read(file.body.trim());
  const inputs = readInputs(file, chatReader(thing, context.settings.variables, null), fileVariables(content.messages));
  const { parameters, others } = takeParameters({
    ...objectOf(settings['config']),
    response_format: responseFormat(file, thing),
  });
  const tools = readTools(file, thing);
  const unknown = Object.fromEntries(Object.entries(settings).filter(([key]) => !FIELDS.has(key)));
  const kept = { ...unknown, ...(Object.keys(others).length > 0 && { config: others }) };
  if (Object.keys(kept).length > 0) thing.change(`kept in config.dotprompt: ${Object.keys(kept).join(', ')}`);
  return {
    model,
    fallback_models: [],
    parameters,
    ...content,
    ...(tools.length > 0 && { tools }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
    ...(Object.keys(kept).length > 0 && { config: storableObject({ dotprompt: kept }) }),
  };
}

/**
 * Reads `.prompt` files of Dotprompt, as used by Genkit. Partials become prompts that others include.
 * @throws ImportError naming the line, if there is only one file and its front matter is invalid YAML
 */
export async function importDotprompt(location: string, settings: ImportSettings): Promise<Import> {
  const files = await readEach(location, ['.prompt'], settings.report, async (file): Promise<DotpromptFile> => {
    const text = await readText(file, MAX_FILE_BYTES);
    const front = splitFrontMatter(text, file.name) ?? { settings: {}, body: text };
    return { source: file.name.replace(/\.prompt$/, ''), ...front };
  });
  const names = mapNames(
    'prompt',
    files.map(({ source }) => source),
  );
  const found = files.map((file): FoundPrompt => {
    const includer = files.find(
      ({ body, settings: { model } }) => textOf(model) !== undefined && partialsOf(body).includes(file.source),
    );
    const modelOfIncluder = includer === undefined ? undefined : textOf(includer.settings['model']);
    const context = { settings, names, modelOfIncluder };
    const description = textOf(file.settings['description']);
    return { source: file.source, description, versions: [{ read: (thing) => readVersion(file, context, thing) }] };
  });
  return { ...emptyImport(), prompts: takePrompts(found, settings) };
}
