import { NameClashError, type VariableNames } from '../names.ts';

/** The tags of the service's templates, and a backslash that makes one literal. */
const TAG = /(\\)?\{\{(?:[ \t]*([A-Za-z_][A-Za-z0-9_]*)|>[ \t]*([A-Za-z0-9._/-]+(?:@[A-Za-z0-9._-]+)?))[ \t]*\}\}/g;

/** A piece of a text: literal text, a variable, or an include. */
export type Piece = string | { variable: string } | { include: string };

/** A text that the service's templates can't express. The message gives the reason for the report. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

/** Splits a template of the service into pieces. */
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

/** The includes of a template: `name`, `name@3` or `name@label`. */
export function includesOf(text: string): string[] {
  return parseTemplate(text).flatMap((piece) =>
    typeof piece !== 'string' && 'include' in piece ? [piece.include] : [],
  );
}

/** Escapes a text without variables to a template. */
export function escapeText(text: string): string {
  return text.replace(TAG, '\\$&');
}

/**
 * The template for these pieces.
 * @throws TemplateError if a backslash directly precedes a variable or include, which it would make literal
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

/** The variable syntaxes of other products. */
export type TemplateSyntax = 'mustache' | 'nunjucks' | 'f-string' | 'placeholders';

/** The syntax if nothing else is replaced: all other text is literal. */
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
 * Reads only `{{ name }}`: whatever a template engine would compute is rejected rather than guessed.
 * @param names renames variables whose names are invalid in the service
 * @param onRename called for each renamed variable
 * @throws TemplateError naming what is not a simple variable
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
    // Not closed: literal text.
    if (close === -1) break;
    const inside = rest.slice(start, close).trim();
    const first = inside.charAt(0);
    if (first in LOGIC && syntax === 'mustache') throw new TemplateError(`the template has ${LOGIC[first]}`);
    if (!DOTTED.test(inside)) {
      const shown = inside.slice(0, 40);
      throw new TemplateError(`the template has an expression that is not a plain variable ("{{ ${shown} }}")`);
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

/** Reads `{{ name }}`; anything else in braces is literal text. */
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
      throw new TemplateError('the template has a single "}", which is invalid in an f-string');
    } else if (text[at] === '{') {
      const close = text.indexOf('}', at);
      const inside = text.slice(at + 1, close === -1 ? undefined : close);
      if (close === -1 || !/^[^{}:!.[\]]+$/.test(inside))
        throw new TemplateError(
          `the template has an expression that is not a plain variable ("{${inside.slice(0, 40)}}")`,
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

/** The translation of a text. */
export interface Translated {
  text: string;
  /** Variables with another name here: from, to. */
  renamed: Map<string, string>;
}

/**
 * Translates a template of another product.
 * @param source its text, or texts with includes between them
 * @throws TemplateError if it computes something
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
