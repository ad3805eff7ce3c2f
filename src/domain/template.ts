import type { ErrorDetail } from './errors.ts';
import type { JsonValue } from './json.ts';

/**
 * `{{ name }}` with optional spaces; a backslash in front makes it literal text.
 * Anything else in braces is text too.
 */
const PLACEHOLDER = /(\\)?\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

/** Characters a filled template may have. A large value in many places would otherwise grow without bound. */
export const MAX_RENDERED_CHARS = 4 * 1024 * 1024;

/** Names of the placeholders in a template, each once, in order of appearance. */
export function placeholders(template: string): string[] {
  const names = new Set<string>();
  for (const [, escaped, name] of template.matchAll(PLACEHOLDER)) if (!escaped && name) names.add(name);
  return [...names];
}

/** Variables that can't fill the template: which, and why. */
export class TemplateVariablesError extends Error {
  readonly details: ErrorDetail[];

  constructor(details: ErrorDetail[]) {
    super(details.map((detail) => `${detail.path}: ${detail.message}`).join('; '));
    this.name = 'TemplateVariablesError';
    this.details = details;
  }
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Fills the placeholders in one pass: text that came from a value is never expanded again.
 * Strings go in as they are, numbers and booleans as text, objects and arrays as compact JSON. Extra variables are ignored.
 * @throws TemplateVariablesError naming every variable that is missing or null, or where the text gets longer than
 * {@link MAX_RENDERED_CHARS}
 */
export function render(template: string, variables: Record<string, JsonValue>): string {
  const details: ErrorDetail[] = [];
  const texts = new Map<string, string>();
  for (const name of placeholders(template)) {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) details.push({ path: `variables.${name}`, message: 'is missing: the template needs it' });
    else if (value === null)
      details.push({ path: `variables.${name}`, message: 'is null: give a string, number, boolean, object or array' });
    else texts.set(name, asText(value));
  }
  if (details.length > 0) throw new TemplateVariablesError(details);
  let chars = template.length;
  for (const [whole, escaped, name = ''] of template.matchAll(PLACEHOLDER))
    chars += escaped ? -1 : (texts.get(name) ?? '').length - whole.length;
  if (chars > MAX_RENDERED_CHARS)
    throw new TemplateVariablesError([
      { path: 'variables', message: `make the prompt longer than ${MAX_RENDERED_CHARS} characters` },
    ]);
  return template.replace(PLACEHOLDER, (whole: string, escaped: string | undefined, name: string) =>
    escaped ? whole.slice(1) : (texts.get(name) ?? ''),
  );
}
