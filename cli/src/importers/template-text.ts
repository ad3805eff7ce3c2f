import { NameClashError, type VariableNames } from '../names.ts';

/** The tags of the service's templates, and a backslash that makes one literal. */
const TAG = /(\\)?\{\{(?:[ \t]*([A-Za-z_][A-Za-z0-9_]*)|>[ \t]*([A-Za-z0-9._/-]+(?:@[A-Za-z0-9._-]+)?))[ \t]*\}\}/g;

/** A text in parts: what stands there, and what is put in. */
export type Piece = string | { variable: string } | { include: string };

/** A text that can't be said in the service's templates. Its message says why, for the report. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

/** The parts of a template of the service. */
export function parseTemplate(text: string): Piece[] {
  const pieces: Piece[] = [];
  let literal = '';
  let end = 0;
  const flush = () => {
    if (literal !== '') pieces.push(literal);
    literal = '';
  };
  for (const { 0: whole, 1: backslash, 2: variable, 3: include, index } of text.matchAll(TAG)) {
    literal += text.slice(end, index);
    end = index + whole.length;
    if (backslash !== undefined) {
      literal += whole.slice(1);
      continue;
    }
    flush();
    pieces.push(variable === undefined ? { include: include ?? '' } : { variable });
  }
  literal += text.slice(end);
  flush();
  return pieces;
}

/** Prompts that a template includes: `name`, `name@3` or `name@label`. */
export function includesOf(text: string): string[] {
  return parseTemplate(text).flatMap((piece) =>
    typeof piece !== 'string' && 'include' in piece ? [piece.include] : [],
  );
}

/** A text in which nothing is filled in, as a template. */
export function escapeText(text: string): string {
  return text.replace(TAG, '\\$&');
}

/**
 * The template that says these parts.
 * @throws TemplateError where a backslash comes right before something that is put in: there it would make it literal
 */
export function formatTemplate(pieces: readonly Piece[]): string {
  let text = '';
  let literal = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      literal += piece;
      continue;
    }
    if (literal.endsWith('\\'))
      throw new TemplateError('a backslash stands right before a placeholder, which would make it literal text here');
    text += escapeText(literal) + ('variable' in piece ? `{{ ${piece.variable} }}` : `{{> ${piece.include} }}`);
    literal = '';
  }
  return text + escapeText(literal);
}

/** How other products write what is put in. */
export type TemplateSyntax = 'mustache' | 'nunjucks' | 'f-string' | 'placeholders';

/** What is replaced where nothing else is: all other text stands for itself. */
export const PLACEHOLDER = /\{\{[ \t]*([A-Za-z_][\w.-]*)[ \t]*\}\}/g;

const BRACES = /\{\{\{|\{\{|\{%|\{#/;
const DOTTED = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;

const LOGIC: Record<string, string> = {
  '#': 'a section ("{{#…}}")',
  '^': 'an inverted section ("{{^…}}")',
  '/': 'a section ("{{/…}}")',
  '>': 'a partial ("{{>…}}")',
  '!': 'a comment ("{{!…}}")',
  '&': 'an unescaped variable ("{{&…}}")',
  '=': 'other delimiters ("{{=…}}")',
};

/**
 * Reads `{{ name }}` and nothing else: whatever a template engine would compute is refused, and not guessed.
 * @param names renames variables that the service can't call so
 * @param onRename told of each variable that gets another name
 * @throws TemplateError saying what the text has that is no simple variable
 */
function readMustache(
  text: string,
  syntax: 'mustache' | 'nunjucks',
  names: VariableNames,
  onRename: (from: string, to: string) => void,
): Piece[] {
  const pieces: Piece[] = [];
  let rest = text;
  for (;;) {
    const open = BRACES.exec(rest);
    if (open === null) break;
    const [braces] = open;
    if (braces === '{%' || braces === '{#') {
      if (syntax === 'nunjucks') throw new TemplateError(`the template has logic ("${braces} …")`);
      pieces.push(rest.slice(0, open.index + 2));
      rest = rest.slice(open.index + 2);
      continue;
    }
    if (braces === '{{{') throw new TemplateError('the template has an unescaped variable ("{{{…}}}")');
    const start = open.index + braces.length;
    const close = rest.indexOf('}}', start);
    // Not closed: a text as any other.
    if (close === -1) break;
    const inside = rest.slice(start, close).trim();
    const first = inside.charAt(0);
    if (first in LOGIC && syntax === 'mustache') throw new TemplateError(`the template has ${LOGIC[first]}`);
    if (!DOTTED.test(inside)) {
      const shown = inside.slice(0, 40);
      throw new TemplateError(`the template has an expression that is no plain variable ("{{ ${shown} }}")`);
    }
    if (inside.includes('.') && syntax === 'nunjucks')
      throw new TemplateError(`the template looks into a variable ("{{ ${inside} }}")`);
    const variable = names.of(inside);
    if (variable !== inside) onRename(inside, variable);
    pieces.push(rest.slice(0, open.index), { variable });
    rest = rest.slice(close + 2);
  }
  pieces.push(rest);
  return pieces;
}

/** Reads `{{ name }}`; whatever else stands in braces is text. */
function readPlaceholders(text: string, names: VariableNames, onRename: (from: string, to: string) => void): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: whole, 1: inside = '', index } of text.matchAll(PLACEHOLDER)) {
    const variable = names.of(inside);
    if (variable !== inside) onRename(inside, variable);
    pieces.push(text.slice(end, index), { variable });
    end = index + whole.length;
  }
  pieces.push(text.slice(end));
  return pieces;
}

/** Python's `str.format`, without its conversions: `{name}`, and `{{` for a brace. */
function readFString(text: string, names: VariableNames, onRename: (from: string, to: string) => void): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length; ) {
    const two = text.slice(at, at + 2);
    if (two === '{{' || two === '}}') {
      pieces.push(two.charAt(0));
      at += 2;
    } else if (text[at] === '}') {
      throw new TemplateError('the template has a single "}", which an f-string does not take');
    } else if (text[at] === '{') {
      const close = text.indexOf('}', at);
      const inside = text.slice(at + 1, close === -1 ? undefined : close);
      if (close === -1 || !/^[^{}:!.[\]]+$/.test(inside))
        throw new TemplateError(
          `the template has an expression that is no plain variable ("{${inside.slice(0, 40)}}")`,
        );
      const variable = names.of(inside.trim());
      if (variable !== inside.trim()) onRename(inside.trim(), variable);
      pieces.push({ variable });
      at = close + 1;
    } else {
      const next = text.slice(at).search(/[{}]/);
      const end = next === -1 ? text.length : at + next;
      pieces.push(text.slice(at, end));
      at = end;
    }
  }
  return pieces;
}

/** What a text of another product comes to here. */
export interface Translated {
  text: string;
  /** Variables that have another name here: from, to. */
  renamed: Map<string, string>;
}

/**
 * A template of another product as one of the service.
 * @param source its text, or texts with includes between them
 * @throws TemplateError where it computes something
 */
export function translate(source: string | readonly Piece[], syntax: TemplateSyntax, names: VariableNames): Translated {
  const renamed = new Map<string, string>();
  const onRename = (from: string, to: string) => renamed.set(from, to);
  const read = (text: string) => {
    if (syntax === 'f-string') return readFString(text, names, onRename);
    if (syntax === 'placeholders') return readPlaceholders(text, names, onRename);
    return readMustache(text, syntax, names, onRename);
  };
  const parts = typeof source === 'string' ? [source] : source;
  try {
    return { text: formatTemplate(parts.flatMap((part) => (typeof part === 'string' ? read(part) : [part]))), renamed };
  } catch (error) {
    throw error instanceof NameClashError ? new TemplateError(error.message) : error;
  }
}
