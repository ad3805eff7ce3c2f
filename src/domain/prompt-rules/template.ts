import type { IncludeRef, IncludeSet } from './types.ts';

/**
 * `{{ name }}` and `{{> prompt }}`, `{{> prompt@3 }}`, `{{> prompt@label }}`, with optional spaces; a leading backslash makes it
 * literal text. Anything else in braces is text, too.
 */
export const TAG =
  /(\\)?\{\{(?:[ \t]*([A-Za-z_][A-Za-z0-9_]*)|>[ \t]*([A-Za-z0-9._/-]+(?:@[A-Za-z0-9._-]+)?))[ \t]*\}\}/g;

type Tag = { variable: string } | { include: IncludeRef };

/** Literal texts and tags in order; no literal is empty. */
function* piecesOf(text: string): Generator<string | Tag> {
  let literal = '';
  let end = 0;
  for (const { 0: whole, 1: backslash, 2: variable, 3: include, index } of text.matchAll(TAG)) {
    literal += text.slice(end, index);
    end = index + whole.length;
    if (backslash !== undefined) {
      literal += whole.slice(1);
      continue;
    }
    if (literal !== '') yield literal;
    literal = '';
    if (variable !== undefined) yield { variable };
    else if (include !== undefined) yield { include };
  }
  literal += text.slice(end);
  if (literal !== '') yield literal;
}

/** The includes in the text itself, each once, in order of appearance. */
export function includesIn(text: string): IncludeRef[] {
  if (!text.includes('{{>')) return [];
  const refs = new Set<IncludeRef>();
  for (const piece of piecesOf(text)) if (typeof piece !== 'string' && 'include' in piece) refs.add(piece.include);
  return [...refs];
}

/** The values for the templates of a prompt. A text that is included repeatedly is counted and rendered once. */
export class Filling {
  /** By variable name; a variable without a text inserts nothing. */
  readonly texts: ReadonlyMap<string, string>;
  readonly chars = new Map<Template, number>();
  readonly rendered = new Map<Template, string>();

  constructor(texts: ReadonlyMap<string, string>) {
    this.texts = texts;
  }
}

/** A parsed text, for any number of fillings. */
export class Template {
  /** Each include is a separate piece, so that no placeholder arises where texts meet. */
  readonly #pieces: readonly (string | { variable: string } | Template)[];

  /** Called by {@link templateParser}. */
  constructor(pieces: readonly (string | { variable: string } | Template)[]) {
    this.#pieces = pieces;
  }

  /**
   * Adds the names of its placeholders, in order, including those of its includes.
   * @param seen templates already visited
   */
  addNames(names: Set<string>, seen: Set<Template>): void {
    if (seen.has(this)) return;
    seen.add(this);
    for (const piece of this.#pieces) {
      if (piece instanceof Template) piece.addNames(names, seen);
      else if (typeof piece !== 'string') names.add(piece.variable);
    }
  }

  /** The number of characters once filled, calculated without filling it. */
  countChars(filling: Filling): number {
    const known = filling.chars.get(this);
    if (known !== undefined) return known;
    let chars = 0;
    for (const piece of this.#pieces) {
      if (piece instanceof Template) chars += piece.countChars(filling);
      else chars += (typeof piece === 'string' ? piece : filling.texts.get(piece.variable))?.length ?? 0;
    }
    filling.chars.set(this, chars);
    return chars;
  }

  /** Fills the placeholders in one pass: text from a value is never expanded again. Count the characters first. */
  render(filling: Filling): string {
    const known = filling.rendered.get(this);
    if (known !== undefined) return known;
    let text = '';
    for (const piece of this.#pieces) {
      if (piece instanceof Template) text += piece.render(filling);
      else text += typeof piece === 'string' ? piece : (filling.texts.get(piece.variable) ?? '');
    }
    filling.rendered.set(this, text);
    return text;
  }
}

/**
 * Parses the texts of a prompt; each include is parsed once for all of them.
 * @param includes everything that the texts include, without a cycle
 * @returns a function that throws Error for an include that is not among them
 */
export function templateParser(includes: IncludeSet): (text: string) => Template {
  const parsed = new Map<IncludeRef, Template>();

  function included(ref: IncludeRef): Template {
    const known = parsed.get(ref);
    if (known !== undefined) return known;
    const found = Object.hasOwn(includes, ref) ? includes[ref] : undefined;
    if (found === undefined) throw new Error(`The include "${ref}" was not resolved.`);
    const template = parse(found.template);
    parsed.set(ref, template);
    return template;
  }

  function parse(text: string): Template {
    return new Template(
      [...piecesOf(text)].map((piece) =>
        typeof piece !== 'string' && 'include' in piece ? included(piece.include) : piece,
      ),
    );
  }

  return parse;
}
