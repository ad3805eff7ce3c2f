/** What a score's value is. */
export const SCORE_DATA_TYPES = ['numeric', 'boolean', 'categorical', 'text'] as const;
export type ScoreDataType = (typeof SCORE_DATA_TYPES)[number];

/** Who says it: a program, a person, an evaluator, or a user by a feedback token. */
export const SCORE_SOURCES = ['api', 'person', 'evaluator', 'feedback'] as const;
export type ScoreSource = (typeof SCORE_SOURCES)[number];

export type ScoreValue = number | boolean | string;

/** A category that a score may be; `label`: what people are shown. */
export interface ScoreCategory {
  value: string;
  label: string;
}

/** What scores of a name may be. */
export interface ScoreLimits {
  name: string;
  data_type: ScoreDataType;
  /** Of numbers, both included. */
  min: number | null;
  max: number | null;
  /** Null: any. */
  categories: ScoreCategory[] | null;
}

/** How a value is stored. */
export interface StoredValue {
  data_type: ScoreDataType;
  /** Of a boolean 0 or 1. */
  number: number | null;
  text: string | null;
}

/** Characters of a category, and of a text. */
export const MAX_CATEGORY_LENGTH = 200;
export const MAX_SCORE_TEXT_LENGTH = 10_000;
/** Categories of a definition. */
export const MAX_CATEGORIES = 200;
/** Numbers, positive and negative. */
export const MAX_SCORE_NUMBER = 1e100;
/** Numbers nearer to 0 are stored as 0: their squares, which statistics need, are no numbers to PostgreSQL. */
const MIN_SCORE_NUMBER = 1e-100;
/** Scores of one execution or example. */
export const MAX_SCORES_OF_SUBJECT = 1_000;
/** Scores that are stored at once. */
export const MAX_SCORES_AT_ONCE = 1_000;
/** Names of scores in a workspace. */
export const MAX_SCORE_NAMES = 1_000;

const SHOWN_CATEGORIES = 20;

/** The type that a name takes from its first value. */
export function dataTypeOf(value: ScoreValue): ScoreDataType {
  if (typeof value === 'number') return 'numeric';
  return typeof value === 'boolean' ? 'boolean' : 'categorical';
}

/**
 * How a value is stored, or what is wrong with it, in words for the caller.
 * @param dataType the one that the caller names, where it does
 * @param source of an evaluator, 0 and 1 are false and true where the name is boolean
 */
export function storedValue(
  limits: ScoreLimits,
  value: ScoreValue,
  dataType: ScoreDataType | undefined,
  source?: ScoreSource,
): StoredValue | { problem: string; field?: 'data_type' } {
  const { name, data_type: type } = limits;
  if (dataType !== undefined && dataType !== type)
    return { problem: `must not be "${dataType}": scores named "${name}" are ${type}`, field: 'data_type' };
  switch (type) {
    case 'numeric':
      return numeric(limits, value);
    case 'boolean':
      if (source === 'evaluator' && (value === 0 || value === 1)) return { data_type: type, number: value, text: null };
      if (typeof value !== 'boolean') return { problem: `must be true or false: scores named "${name}" are boolean` };
      return { data_type: type, number: value ? 1 : 0, text: null };
    case 'categorical':
      return categorical(limits, value);
    case 'text':
      if (typeof value !== 'string') return { problem: `must be a string: scores named "${name}" are text` };
      if (value.length > MAX_SCORE_TEXT_LENGTH)
        return { problem: `must be at most ${MAX_SCORE_TEXT_LENGTH} characters` };
      return { data_type: type, number: null, text: value };
  }
}

function numeric({ name, min, max }: ScoreLimits, value: ScoreValue): StoredValue | { problem: string } {
  if (typeof value !== 'number') return { problem: `must be a number: scores named "${name}" are numeric` };
  if (!(Math.abs(value) <= MAX_SCORE_NUMBER))
    return { problem: `must be between -${MAX_SCORE_NUMBER} and ${MAX_SCORE_NUMBER}` };
  if (min !== null && value < min) return { problem: `must be at least ${min}, as "${name}" is defined` };
  if (max !== null && value > max) return { problem: `must be at most ${max}, as "${name}" is defined` };
  return { data_type: 'numeric', number: Math.abs(value) < MIN_SCORE_NUMBER ? 0 : value, text: null };
}

function categorical({ name, categories }: ScoreLimits, value: ScoreValue): StoredValue | { problem: string } {
  if (typeof value !== 'string') return { problem: `must be a string: scores named "${name}" are categories` };
  if (value.length === 0) return { problem: 'must not be empty' };
  if (value.length > MAX_CATEGORY_LENGTH)
    return {
      problem: `must be at most ${MAX_CATEGORY_LENGTH} characters: "${name}" is categorical. For longer texts, use a new name with the data_type "text"`,
    };
  if (categories !== null && !categories.some((category) => category.value === value)) {
    const shown = categories.slice(0, SHOWN_CATEGORIES).map((category) => `"${category.value}"`);
    const more = categories.length > SHOWN_CATEGORIES ? ', …' : '';
    return { problem: `must be one of ${shown.join(', ')}${more}, as "${name}" is defined` };
  }
  return { data_type: 'categorical', number: null, text: value };
}

/** A stored value as callers give and get it. */
export function scoreValueOf({ data_type: type, number, text }: StoredValue): ScoreValue {
  if (type === 'boolean') return number === 1;
  return type === 'numeric' ? (number ?? 0) : (text ?? '');
}
