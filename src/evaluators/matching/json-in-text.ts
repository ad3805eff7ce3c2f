import { jsonrepair } from 'jsonrepair';
import type { JsonValue } from '../../domain/text/json.ts';
import { parseJson } from './json.ts';

/** Longer parts must be valid JSON: repairing can take quadratic time. */
const MAX_REPAIRED_LENGTH = 10_000;

/**
 * The JSON objects and arrays in a model's output: the whole text, or the outermost ones in it, even with slips such as a trailing
 * comma or a line break inside a string. Reasoning before the answer is ignored.
 */
export function jsonIn(text: string): JsonValue[] {
  const whole = parseJson(text.trim());
  if (whole.ok) return [whole.value];
  return partsOf(withoutThinking(text)).flatMap((part) => {
    const value = parsed(part);
    return value === undefined ? [] : [value];
  });
}

function withoutThinking(text: string): string {
  const end = '</think>';
  const answer = text.includes(end) ? text.slice(text.lastIndexOf(end) + end.length) : text;
  const [said = ''] = answer.split('<think>', 1);
  return said;
}

function parsed(part: string): JsonValue | undefined {
  const asItIs = parseJson(part);
  if (asItIs.ok) return asItIs.value;
  if (part.length > MAX_REPAIRED_LENGTH) return undefined;
  try {
    const repaired = parseJson(jsonrepair(part));
    return repaired.ok ? repaired.value : undefined;
  } catch {
    return undefined;
  }
}

/** The outermost parts between matching brackets. An unmatched bracket is prose, and one inside a string is part of the string. */
function partsOf(text: string): string[] {
  const open: number[] = [];
  const parts: { from: number; to: number }[] = [];
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (isInString && char === '\\') at += 1;
    else if (char === '"') isInString = !isInString && open.length > 0;
    else if (isInString) continue;
    else if (char === '{' || char === '[') open.push(at);
    else if (char === '}' || char === ']') {
      const from = open.pop();
      if (from === undefined) continue;
      while ((parts.at(-1)?.from ?? -1) > from) parts.pop();
      parts.push({ from, to: at + 1 });
    }
  }
  return parts.map(({ from, to }) => text.slice(from, to));
}
