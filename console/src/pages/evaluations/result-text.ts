import { formatJson } from '../../format.ts';
import { t } from '../../strings.ts';
import type { Result } from './types.ts';

export const asText = (value: unknown) => (typeof value === 'string' ? value : formatJson(value));

/** The model's output, including its tool calls. */
export function outputOf({ output, tool_calls }: Pick<Result, 'output' | 'tool_calls'>): string | null {
  if (tool_calls.length === 0) return output;
  return [output, formatJson(tool_calls)].filter((part) => part !== null && part !== '').join('\n\n');
}

/** The name of an example: its id, or its position in the run. */
export const nameOf = (key: string, seq: number) => (key.startsWith('sha256:') ? t(`Example ${seq + 1}`) : key);

/** The output, or why there is none. */
export const textOf = (result: Result): string | null =>
  result.error !== null && result.output === null ? `${result.error.code}: ${result.error.message}` : outputOf(result);

/** A difference of scores in points, with its sign. */
export const difference = (value: number | null) =>
  value === null ? '' : `${value > 0 ? '+' : value < 0 ? '−' : ''}${Number((Math.abs(value) * 100).toFixed(1))}`;
