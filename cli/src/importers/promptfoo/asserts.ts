import { isObject, type Json, textOf } from '../../json.ts';
import { escapePattern } from '../patterns.ts';
import { parseYaml } from '../source-files.ts';
import { TemplateError } from '../template-text.ts';
import { requireContained, requireLimit, requireList, requirePattern, requireText } from './assert-values.ts';
import { compileGraded, compileSimilar, isGraded } from './grading.ts';
import { isCode, isRun, type Scorer } from './scorer.ts';

const MAX_LENGTH = 10_000_000;

/** An assert converted to an evaluator. */
export interface CompiledAssert {
  /** Without the name. */
  evaluator: Json;
  /** The expected value that it requires of the example. */
  expected?: { value: unknown; isRequired: boolean };
  /** The option for the comparison value if the example does not have it as expected value. Default: `value` */
  option?: 'values';
  /** Differences from the original. */
  notes: string[];
}

/** The context for converting an assert. */
export interface AssertContext {
  /** The test's own variables, which the values of asserts can name. */
  variables: Json;
  /** The grading provider for asserts that do not set one. */
  gradingProvider: unknown;
  /** The default grading model; undefined for none. */
  judge?: string | undefined;
  /** The default embedding model; undefined for promptfoo's own default. */
  embeddings?: string | undefined;
  /** The destination of asserts that run code; undefined if there is none. */
  scorer?: Scorer | undefined;
  /** Code that transforms the output before each assert of the test. */
  transforms?: string[];
  /** Whether scores count, rather than only whether an assert passes. */
  countsScores?: boolean;
}

const RE2_NOTE = "the pattern is read in RE2's syntax";
const NEEDS_SCORER = 'it runs code: --scorer-project writes a scorer that does';
const SERVICES = new Set(['ruby', 'webhook', 'perplexity', 'classifier', 'moderation', 'guardrails']);

function lengthOf(value: unknown, limit: 'at_least' | 'at_most'): CompiledAssert {
  const number = Number(value);
  if (!(Number.isInteger(number) && number >= 0 && number <= MAX_LENGTH))
    throw new TemplateError('its value is not a length');
  return { evaluator: { type: 'length', [limit]: number }, notes: [] };
}

function wordCount(value: unknown): CompiledAssert {
  const { min, max } = isObject(value) ? value : { min: value, max: value };
  const limits = Object.entries({ at_least: min, at_most: max }).filter(([, limit]) => limit !== undefined);
  if (limits.length === 0 || limits.some(([, limit]) => !Number.isInteger(Number(limit)) || Number(limit) < 0))
    throw new TemplateError('its value is not a number of words');
  const numbers = Object.fromEntries(limits.map(([name, limit]) => [name, Number(limit)]));
  return { evaluator: { type: 'length', unit: 'words', ...numbers }, notes: [] };
}

function schemaOf(value: unknown): Json {
  const schema = typeof value === 'string' ? parseYaml(value, 'schema') : value;
  if (!isObject(schema)) throw new TemplateError('its schema is not an object');
  return schema;
}

/** Converts an assert, without weight and name. @throws TemplateError if there is no equivalent */
function compileType(type: string, assert: Json, context: AssertContext): CompiledAssert {
  const { value } = assert;
  const contains = (extra: Json): CompiledAssert => {
    const text = requireContained(value, context);
    return { evaluator: { type: 'contains', ...extra }, expected: { value: text, isRequired: false }, notes: [] };
  };
  const containsAll = (mode: 'all' | 'any', extra: Json): CompiledAssert => ({
    evaluator: { type: 'contains', values: requireList(value, context, type === 'contains-any'), mode, ...extra },
    notes: [],
  });
  if (isGraded(type)) return compileGraded(type, assert, context);
  switch (type) {
    case 'equals': {
      const expected = isObject(value) || Array.isArray(value) ? value : requireText(value, context);
      return {
        evaluator: { type: 'exact_match', trim: false },
        expected: { value: expected, isRequired: true },
        notes: [],
      };
    }
    case 'contains':
      return contains({});
    case 'icontains':
      return contains({ case_sensitive: false });
    case 'contains-all':
      return containsAll('all', {});
    case 'contains-any':
      return containsAll('any', {});
    case 'icontains-all':
      return containsAll('all', { case_sensitive: false });
    case 'icontains-any':
      return containsAll('any', { case_sensitive: false });
    case 'starts-with': {
      const pattern = requirePattern(`^${escapePattern(requireText(value, context))}`);
      return { evaluator: { type: 'regex', pattern }, notes: ['it is a regular expression'] };
    }
    case 'regex': {
      const pattern = requirePattern(requireText(value, context));
      return { evaluator: { type: 'regex', pattern }, notes: [RE2_NOTE] };
    }
    case 'is-json':
      if (value === undefined) return { evaluator: { type: 'json_valid' }, notes: [] };
      return { evaluator: { type: 'json_schema', schema: schemaOf(value) }, notes: [] };
    case 'latency': {
      const limit = Math.floor(requireLimit(assert, 3_600_000));
      if (limit < 1) throw new TemplateError('it has no usable threshold');
      return { evaluator: { type: 'latency', at_most_ms: limit }, notes: [] };
    }
    case 'cost':
      return { evaluator: { type: 'cost', at_most_usd: requireLimit(assert, 1_000_000) }, notes: [] };
    case 'word-count':
      return wordCount(value);
    case 'min-length':
      return lengthOf(value, 'at_least');
    case 'max-length':
      return lengthOf(value, 'at_most');
    case 'similar':
      return compileSimilar(assert, context);
    default:
      if (SERVICES.has(type)) throw new TemplateError('it calls another service or a program');
      if (type === 'assert-set') throw new TemplateError('evaluators are not grouped');
      throw new TemplateError('no evaluator measures the same');
  }
}

/** Uses an evaluator, or the scorer if only that can do it. */
function compilePlain(type: string, isNegated: boolean, assert: Json, context: AssertContext): CompiledAssert {
  const { scorer, transforms = [] } = context;
  const isTransformed = transforms.length > 0 || assert['transform'] !== undefined;
  if (isCode(type) || isTransformed) {
    if (!isRun(type)) throw new TemplateError('it checks a transformed output, which evaluators do not receive');
    if (scorer === undefined) throw new TemplateError(NEEDS_SCORER);
    return scorer.compile(type, isNegated, assert, context);
  }
  try {
    const compiled = compileType(type, assert, context);
    return isNegated ? { ...compiled, evaluator: { ...compiled.evaluator, negate: true } } : compiled;
  } catch (error) {
    if (!(error instanceof TemplateError) || scorer === undefined || !isRun(type)) throw error;
    return scorer.compile(type, isNegated, assert, context);
  }
}

/**
 * Converts an assert to an evaluator.
 * @throws TemplateError if there is no equivalent
 */
export function compileAssert(assert: Json, context: AssertContext): CompiledAssert {
  const said = textOf(assert['type']) ?? 'none';
  const type = said.replace(/^not-/, '');
  for (const field of ['contextTransform', ...(isCode(type) ? [] : ['config'])])
    if (assert[field] !== undefined)
      throw new TemplateError(`it has "${field}", which is code or set for promptfoo's own`);
  const compiled =
    said === 'not-empty' ? lengthOf(1, 'at_least') : compilePlain(type, type !== said, { ...assert, type }, context);
  const { weight } = assert;
  if (weight === undefined || weight === 1) return compiled;
  if (weight === 0) throw new TemplateError('it has the weight 0, so it has no effect');
  if (typeof weight !== 'number' || !(weight > 0 && weight <= 1000))
    throw new TemplateError('its weight is not above 0 and at most 1,000');
  return { ...compiled, evaluator: { ...compiled.evaluator, weight } };
}
