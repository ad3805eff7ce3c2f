import { queryOptions } from '@tanstack/react-query';
import { get, type Page } from '../../api.ts';
import { t } from '../../strings.ts';
import type { ScoreDefinition, ScoreValue } from './types.ts';

/** The definitions of all score names. */
export const definitionsQuery = queryOptions({
  queryKey: ['score-definitions'],
  queryFn: ({ signal }) => get<Page<ScoreDefinition>>('/score-definitions', { limit: 1000 }, signal),
});

/** The allowed values of a score: its type, and the limits of its definition, if any. */
export type ValueType = Pick<ScoreDefinition, 'data_type'> &
  Partial<Pick<ScoreDefinition, 'min' | 'max' | 'categories'>>;

/** The selectable values; undefined for free input. */
export function choicesOf({ data_type, categories }: ValueType): { value: string; label: string }[] | undefined {
  if (data_type === 'boolean')
    return [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ];
  return data_type === 'categorical' && categories ? categories : undefined;
}

/** Converts input to an API value; undefined if it is empty. */
export function readValue({ data_type }: ValueType, typed: string): ScoreValue | undefined {
  if (typed.trim() === '') return undefined;
  if (data_type === 'boolean') return typed === 'true';
  return data_type === 'numeric' ? Number(typed) : typed;
}

/** A value in words. */
export function scoreWords(value: ScoreValue): string {
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  return typeof value === 'number' ? String(Number(value.toPrecision(6))) : value;
}

/** The limits of a number in words: "from 1 to 5". */
export function limitsOf({ min, max }: ValueType): string | undefined {
  if (min != null && max != null) return t(`From ${min} to ${max}.`);
  if (min != null) return t(`At least ${min}.`);
  return max != null ? t(`At most ${max}.`) : undefined;
}

/** With more values than keys, a number is typed. */
const MAX_KEYS = 9;

/** The values that can be selected with a key each; undefined for free input. Numbers are their own keys. */
export function keyedChoicesOf(
  type: ValueType,
): { value: string; label: string; key: string | undefined }[] | undefined {
  const { data_type, min, max } = type;
  if (data_type === 'numeric' && Number.isInteger(min) && Number.isInteger(max)) {
    const [from, to] = [min ?? 0, max ?? 0];
    // Between 0 and 1, intermediate values are likely.
    if (from < 0 || to > MAX_KEYS || to - from < 2) return undefined;
    return Array.from({ length: to - from + 1 }, (_, index) => {
      const value = String(from + index);
      return { value, label: value, key: value };
    });
  }
  return choicesOf(type)?.map((choice, index) => ({
    ...choice,
    key: index < MAX_KEYS ? String(index + 1) : undefined,
  }));
}
