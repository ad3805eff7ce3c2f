import { type Json, objectOf, textOf } from '../json.ts';
import type { PromptMessage } from '../prompt-version.ts';
import { type ChatReader, chatReader, imagePart, readText as readTemplate, readVariable } from './chat.ts';
import { kindOf, propertiesOf } from './prompty-schema.ts';
import type { Thing } from './report.ts';
import type { ImportSettings } from './settings.ts';
import { TemplateError, type TemplateSyntax } from './template-text.ts';

const ROLE = /^\s*(?:#\s*)?(system|user|assistant|developer|function|tools?)(\[[^\]]*\])?\s*:\s*$/i;
const THREAD = /^!\[thread\]/;
const IMAGE = /!\[[^\]\n]{0,500}\]\(/g;
/** Kinds that cannot appear inside a text. */
const RICH_KINDS = new Set(['image', 'file', 'audio', 'thread']);

/** A `.prompty` file with its references to other files resolved. */
export interface PromptyFile {
  /** Its path without the extension. */
  source: string;
  settings: Json;
  body: string;
  isV2: boolean;
}

/** @throws TemplateError */
function syntaxOf({ template }: Json): TemplateSyntax {
  const { format, type } = objectOf(template);
  const said = textOf(template) ?? textOf(format) ?? textOf(objectOf(format)['kind']) ?? textOf(type) ?? 'jinja2';
  if (said === 'jinja2' || said === 'jinja') return 'nunjucks';
  if (said === 'mustache') return 'mustache';
  throw new TemplateError(`its template is in the format "${said}"`);
}

/** Removes blank lines at the start and end. */
function trimBlankLines(lines: string[]): string {
  const isFull = (line: string) => line.trim() !== '';
  const first = lines.findIndex(isFull);
  return first === -1 ? '' : lines.slice(first, lines.findLastIndex(isFull) + 1).join('\n');
}

/** Reads the body of a file: its messages, or its single text. Each method throws TemplateError. */
export class PromptyBodyReader {
  readonly #file: PromptyFile;
  readonly #reader: ChatReader;
  readonly #thing: Thing;
  readonly #kinds: Map<string, string | undefined>;

  constructor(file: PromptyFile, settings: ImportSettings, thing: Thing) {
    this.#file = file;
    this.#thing = thing;
    this.#reader = chatReader(thing, settings.variables, syntaxOf(file.settings));
    this.#kinds = new Map(propertiesOf(file.settings['inputs']).map(({ name, given }) => [name, kindOf(given)]));
  }

  template(): string {
    return readTemplate(trimBlankLines(this.#file.body.split(/\r?\n/)), this.#reader);
  }

  messages(): PromptMessage[] {
    const messages: PromptMessage[] = [];
    let role = 'system';
    let lines: string[] = [];
    const flush = () => {
      messages.push(...this.#message(role, lines));
      lines = [];
    };
    for (const line of this.#file.body.split(/\r?\n/)) {
      const [marker, said = '', attributes] = ROLE.exec(line) ?? [];
      if (marker !== undefined) {
        flush();
        role = said.toLowerCase();
        if (attributes !== undefined) this.#thing.change('attributes of messages are left out');
        continue;
      }
      const thread = this.#threadIn(line);
      if (thread === undefined) lines.push(line);
      else {
        flush();
        messages.push({ placeholder: readVariable(thread, this.#reader), required: false });
      }
    }
    flush();
    return messages;
  }

  /** The variable for messages on a separate line. */
  #threadIn(line: string): string | undefined {
    if (!this.#file.isV2) return THREAD.test(line.trim()) ? 'thread' : undefined;
    const name = /^\s*\{\{\s*([\w.]+)\s*\}\}\s*$/.exec(line)?.[1];
    return name !== undefined && this.#kinds.get(name) === 'thread' ? name : undefined;
  }

  /** The message, unless it is empty. */
  #message(role: string, lines: string[]): PromptMessage[] {
    const text = trimBlankLines(lines);
    if (text === '') return [];
    const own = role === 'developer' ? 'system' : role;
    if (own !== 'system' && own !== 'user' && own !== 'assistant')
      throw new TemplateError(`a message has the role "${role}"`);
    if (own !== role) this.#thing.change('developer messages are system messages');
    for (const [, name = ''] of text.matchAll(/\{\{\s*([\w.-]+)\s*\}\}/g)) {
      const kind = this.#kinds.get(name) ?? '';
      if (RICH_KINDS.has(kind))
        throw new TemplateError(`the input "${name}" is of the kind "${kind}" and is within a text`);
    }
    const content = this.#file.isV2 ? readTemplate(text, this.#reader) : this.#withImages(text);
    // Validated later, together with the version.
    return [{ role: own, content } as PromptMessage];
  }

  /** In v1 a Markdown image is an image part. */
  #withImages(text: string): string | Json[] {
    const parts: Json[] = [];
    let end = 0;
    const addText = (piece: string) => {
      if (piece.trim() !== '') parts.push({ type: 'text', text: readTemplate(piece.trim(), this.#reader) });
    };
    for (const { 0: opening, index } of text.matchAll(IMAGE)) {
      if (index < end) continue;
      const start = index + opening.length;
      const close = text.indexOf(')', start);
      if (close === -1) break;
      addText(text.slice(end, index));
      // A title may follow the address.
      parts.push(imagePart(text.slice(start, close).trim().split(/\s/, 1)[0] ?? ''));
      end = close + 1;
    }
    if (end === 0) return readTemplate(text, this.#reader);
    addText(text.slice(end));
    return parts;
  }
}
