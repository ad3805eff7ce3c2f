import type { Json } from '../../json.ts';
import { TemplateError } from '../template-text.ts';
import { render } from './render.ts';

const MAX_VALUE_LENGTH = 10_000;
const MAX_VALUES = 100;
const MAX_PATTERN_LENGTH = 1000;

/** The variables of a test, which the values of its asserts can name. */
interface Variables {
  variables: Json;
}

/** @throws TemplateError, as all of these */
export function requireText(value: unknown, { variables }: Variables): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw new TemplateError('its value is not a text');
  const text = String(value);
  if (text.startsWith('file://') || text.startsWith('package:')) throw new TemplateError('its value is in a file');
  return render(text, variables);
}

export function requireContained(value: unknown, variables: Variables): string {
  const text = requireText(value, variables);
  if (text === '' || text.length > MAX_VALUE_LENGTH) throw new TemplateError('its value is empty or too long');
  return text;
}

/** A list, or a comma-separated text; some asserts allow quotes around items. */
export function requireList(value: unknown, variables: Variables, hasQuotes: boolean): string[] {
  let items = value;
  if (typeof value === 'string') {
    const text = requireText(value, variables);
    const parts = hasQuotes ? (text.match(/(".*?"|[^,]+)(?=\s*,|\s*$)/g) ?? []) : text.split(',');
    items = parts.map((part) => (hasQuotes ? part.trim().replace(/^"|"$/g, '') : part.trim()));
  }
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_VALUES)
    throw new TemplateError(`its value is not a list of up to ${MAX_VALUES} texts`);
  return items.map((item) => requireContained(item, variables));
}

export function requirePattern(pattern: string): string {
  if (pattern === '' || pattern.length > MAX_PATTERN_LENGTH)
    throw new TemplateError('its pattern is empty or too long');
  if (/\(\?<?[=!]|\\[1-9]|\\k</.test(pattern))
    throw new TemplateError('its pattern looks around or back, which no evaluator does');
  return pattern;
}

export function requireLimit({ threshold }: Json, max: number): number {
  if (typeof threshold !== 'number' || !(threshold >= 0 && threshold <= max))
    throw new TemplateError('it has no usable threshold');
  return threshold;
}
