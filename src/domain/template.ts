import type { ErrorDetail } from './errors.ts';
import type { JsonValue } from './json.ts';

/**
 * `{{ name }}` with optional spaces; a backslash in front makes it literal text.
 * Anything else in braces is text too.
 */
const PLACEHOLDER = /(\\)?\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

/** Characters a filled template may have. A large value in many places would otherwise grow without bound. */
export const MAX_RENDERED_CHARS = 4 * 1024 * 1024;

/** Variables named in one error: a template may have tens of thousands. */
const MAX_DETAILS = 1_000;

/** Variables that can't fill the template: which, and why. */
export class TemplateVariablesError extends Error {
  readonly details: ErrorDetail[];

  constructor(details: ErrorDetail[]) {
    super(details.map((detail) => `${detail.path}: ${detail.message}`).join('; '));
    this.name = 'TemplateVariablesError';
    this.details = details;
  }
}

/** A template that has been parsed, once for however many examples. */
export interface Template {
  /** Names of its placeholders, each once, in order of appearance. */
  names: readonly string[];
  /**
   * Variables that are missing or null, without filling anything in.
   * @param limit of how many are named. Default: 1,000
   */
  faults(variables: Record<string, JsonValue>, limit?: number): ErrorDetail[];
  /**
   * Fills the placeholders in one pass: text that came from a value is never expanded again.
   * Strings go in as they are, numbers and booleans as text, objects and arrays as compact JSON. Extra variables are ignored.
   * @throws TemplateVariablesError naming the variables that are missing or null, or where the text gets longer than
   * {@link MAX_RENDERED_CHARS}
   */
  render(variables: Record<string, JsonValue>): string;
}

export function parseTemplate(template: string): Template {
  /** Literal text and names by turns: one more of the former. */
  const literals: string[] = [];
  const slots: string[] = [];
  let literal = '';
  let end = 0;
  for (const { 0: whole, 1: backslash, 2: name = '', index } of template.matchAll(PLACEHOLDER)) {
    literal += template.slice(end, index);
    end = index + whole.length;
    if (backslash !== undefined) {
      literal += whole.slice(1);
    } else {
      literals.push(literal);
      slots.push(name);
      literal = '';
    }
  }
  literals.push(literal + template.slice(end));
  const literalChars = literals.reduce((sum, text) => sum + text.length, 0);
  const names = [...new Set(slots)];

  function faults(variables: Record<string, JsonValue>, limit = MAX_DETAILS): ErrorDetail[] {
    const details: ErrorDetail[] = [];
    for (const name of names) {
      if (details.length >= limit) break;
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (value === undefined)
        details.push({ path: `variables.${name}`, message: 'is missing: the template needs it' });
      else if (value === null)
        details.push({
          path: `variables.${name}`,
          message: 'is null: give a string, number, boolean, object or array',
        });
    }
    return details;
  }

  return {
    names,
    faults,
    render(variables) {
      const details = faults(variables);
      if (details.length > 0) throw new TemplateVariablesError(details);
      const texts = new Map(names.map((name) => [name, asText(variables[name] ?? null)]));
      let chars = literalChars;
      for (const name of slots) chars += texts.get(name)?.length ?? 0;
      if (chars > MAX_RENDERED_CHARS)
        throw new TemplateVariablesError([
          { path: 'variables', message: `make the prompt longer than ${MAX_RENDERED_CHARS} characters` },
        ]);
      return literals.map((text, index) => text + (texts.get(slots[index] ?? '') ?? '')).join('');
    },
  };
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
