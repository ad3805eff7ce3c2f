/** The type of a score's value. */
export const SCORE_DATA_TYPES = ['numeric', 'boolean', 'categorical', 'text'] as const;
export type ScoreDataType = (typeof SCORE_DATA_TYPES)[number];

/** Who submits it: a program, a person, an evaluator, or a user with a feedback token. */
export const SCORE_SOURCES = ['api', 'person', 'evaluator', 'feedback'] as const;
export type ScoreSource = (typeof SCORE_SOURCES)[number];

export type ScoreValue = number | boolean | string;

/** An allowed category; `label`: the text shown to people. */
export interface ScoreCategory {
  value: string;
  label: string;
}

/** The allowed scores of a name. */
export interface ScoreLimits {
  name: string;
  data_type: ScoreDataType;
  /** For numbers, inclusive. */
  min: number | null;
  max: number | null;
  /** Null for no limit. */
  categories: ScoreCategory[] | null;
}

/** A value in its stored form. */
export interface StoredValue {
  data_type: ScoreDataType;
  /** For a boolean 0 or 1. */
  number: number | null;
  text: string | null;
}

/** The maximum number of characters of a category, and of a text. */
export const MAX_CATEGORY_LENGTH = 200;
export const MAX_SCORE_TEXT_LENGTH = 10_000;
/** The maximum number of categories of a definition. */
export const MAX_CATEGORIES = 200;
/** The largest absolute value of a number. */
export const MAX_SCORE_NUMBER = 1e100;
/** Numbers closer to 0 are stored as 0: PostgreSQL can't represent their squares, which statistics need. */
const MIN_SCORE_NUMBER = 1e-100;
/** The maximum number of scores of one execution or example. */
export const MAX_SCORES_OF_SUBJECT = 1_000;
/** The maximum number of scores in one request. */
export const MAX_SCORES_AT_ONCE = 1_000;
/** The maximum number of score names in a workspace. */
export const MAX_SCORE_NAMES = 1_000;

const SHOWN_CATEGORIES = 20;

/** The type that a name gets from its first value. */
export function dataTypeOf(value: ScoreValue): ScoreDataType {
  if (typeof value === 'number') return 'numeric';
  return typeof value === 'boolean' ? 'boolean' : 'categorical';
}

/**
 * The stored form of a value, or what is wrong with it, in words for the caller.
 * @param dataType the type named by the caller, if any
 * @param source if it is an evaluator, 0 and 1 mean false and true for a boolean name
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

/** A stored value in the form that callers send and receive. */
export function scoreValueOf({ data_type: type, number, text }: StoredValue): ScoreValue {
  if (type === 'boolean') return number === 1;
  return type === 'numeric' ? (number ?? 0) : (text ?? '');
}
