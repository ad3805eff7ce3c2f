import { isObject, type Json, textOf } from '../../json.ts';
import { TemplateError } from '../template-text.ts';
import { modelOf } from './models.ts';
import { render } from './render.ts';

const MAX_VALUE_LENGTH = 10_000;
const MAX_VALUES = 100;
const MAX_PATTERN_LENGTH = 1000;

/** An assert as an evaluator. */
export interface CompiledAssert {
  /** Without the name. */
  evaluator: Json;
  /** What the example has to expect for it. */
  expected?: { value: unknown; isRequired: boolean };
  /** What is not quite the same. */
  notes: string[];
}

/** What an assert is compiled with. */
export interface AssertContext {
  /** The test's own, which the values of asserts may name. */
  variables: Json;
  /** Who grades where an assert does not say. */
  gradingProvider: unknown;
}

const CODE = new Set(['javascript', 'python', 'ruby', 'webhook', 'perplexity', 'classifier', 'moderation']);
const RUBRIC_NOTE = 'a judge grades with 0 or 1, in words of its own';
const RE2_NOTE = "the pattern is read in RE2's syntax";

function requireText(value: unknown, context: AssertContext): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw new TemplateError('its value is no text');
  const text = String(value);
  if (text.startsWith('file://') || text.startsWith('package:')) throw new TemplateError('its value is in a file');
  return render(text, context.variables);
}

function requireContained(value: unknown, context: AssertContext): string {
  const text = requireText(value, context);
  if (text === '' || text.length > MAX_VALUE_LENGTH) throw new TemplateError('its value is empty or too long');
  return text;
}

function requireList(value: unknown, context: AssertContext): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_VALUES)
    throw new TemplateError(`its value is no list of up to ${MAX_VALUES} texts`);
  return value.map((item) => requireContained(item, context));
}

function requirePattern(pattern: string): string {
  if (pattern === '' || pattern.length > MAX_PATTERN_LENGTH)
    throw new TemplateError('its pattern is empty or too long');
  if (/\(\?<?[=!]|\\[1-9]|\\k</.test(pattern))
    throw new TemplateError('its pattern looks around or back, which no evaluator does');
  return pattern;
}

function requireThreshold({ threshold }: Json, max: number): number {
  if (typeof threshold !== 'number' || !(threshold >= 0 && threshold <= max))
    throw new TemplateError('it has no usable threshold');
  return threshold;
}

const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** What an assert comes to, without weight and name. @throws TemplateError where nothing here says the same */
function compileType(type: string, assert: Json, context: AssertContext): CompiledAssert {
  const { value } = assert;
  const contains = (extra: Json): CompiledAssert => {
    const text = requireContained(value, context);
    return { evaluator: { type: 'contains', ...extra }, expected: { value: text, isRequired: false }, notes: [] };
  };
  const containsAll = (mode: 'all' | 'any', extra: Json): CompiledAssert => ({
    evaluator: { type: 'contains', values: requireList(value, context), mode, ...extra },
    notes: [],
  });
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
      if (!isObject(value)) throw new TemplateError('its schema is no object');
      return { evaluator: { type: 'json_schema', schema: value }, notes: [] };
    case 'latency': {
      const limit = Math.floor(requireThreshold(assert, 3_600_000));
      if (limit < 1) throw new TemplateError('it has no usable threshold');
      return { evaluator: { type: 'latency', at_most_ms: limit }, notes: [] };
    }
    case 'cost':
      return { evaluator: { type: 'cost', at_most_usd: requireThreshold(assert, 1_000_000) }, notes: [] };
    case 'llm-rubric': {
      if (assert['rubricPrompt'] !== undefined) throw new TemplateError('it has a grading prompt of its own');
      if (assert['threshold'] !== undefined) throw new TemplateError('it has a threshold for the grade');
      const rubric = requireText(value, context);
      const model = modelOf(assert['provider'] ?? context.gradingProvider);
      if (rubric.trim() === '' || rubric.length > 20_000) throw new TemplateError('its rubric is empty or too long');
      if (model === undefined)
        throw new TemplateError('it names no grading model that is called here: set options.provider');
      const evaluator = {
        type: 'llm_judge',
        model,
        rubric,
        scale: { min: 0, max: 1 },
        include_expected: false,
        include_input: false,
      };
      return { evaluator, notes: [RUBRIC_NOTE] };
    }
    default:
      if (CODE.has(type)) throw new TemplateError('it runs code or asks a service of its own');
      if (type.startsWith('not-')) throw new TemplateError('no evaluator says the opposite of another');
      if (type === 'assert-set') throw new TemplateError('evaluators are not grouped');
      throw new TemplateError('no evaluator measures the same');
  }
}

/**
 * An assert as an evaluator.
 * @throws TemplateError where nothing here says the same
 */
export function compileAssert(assert: Json, context: AssertContext): CompiledAssert {
  const type = textOf(assert['type']) ?? 'none';
  for (const field of ['transform', 'contextTransform', 'config'])
    if (assert[field] !== undefined)
      throw new TemplateError(`it has "${field}", which is code or set for promptfoo's own`);
  const compiled = compileType(type, assert, context);
  const { weight } = assert;
  if (weight === undefined || weight === 1) return compiled;
  if (typeof weight !== 'number' || !(weight > 0 && weight <= 1000))
    throw new TemplateError('its weight is not above 0 and at most 1,000');
  return { ...compiled, evaluator: { ...compiled.evaluator, weight } };
}

const FROM_TEXT = /^(not-)?([a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?$/;
const TEXT_TYPES = new Set(
  `equals contains icontains contains-all contains-any icontains-all icontains-any starts-with regex is-json contains-json latency cost
   llm-rubric similar levenshtein javascript python factuality model-graded-closedqa answer-relevance context-recall context-relevance
   context-faithfulness is-sql contains-sql is-xml contains-xml is-html contains-html webhook rouge-n bleu gleu meteor g-eval moderation
   perplexity classifier is-refusal word-count search-rubric`.split(/\s+/),
);
const ALIASES: Record<string, string> = { fn: 'javascript', eval: 'javascript', grade: 'llm-rubric' };

/** The assert that a cell of the column `__expected` stands for. */
export function assertFromText(text: string): Json {
  if (text.startsWith('file://')) return { type: 'javascript', value: text };
  const [, not = '', said = '', threshold, value] = FROM_TEXT.exec(text) ?? [];
  const type = Object.hasOwn(ALIASES, said) && value !== undefined ? (ALIASES[said] ?? '') : said;
  if (!TEXT_TYPES.has(type) || (value === undefined && threshold === undefined && !/^(is|contains)-/.test(type)))
    return { type: 'equals', value: text };
  const assert: Json = { type: `${not}${type}` };
  if (threshold !== undefined) assert['threshold'] = Number(threshold);
  if (value === undefined) return assert;
  const trimmed = value.trim();
  assert['value'] = /-(?:all|any)$/.test(type) ? trimmed.split(',').map((item) => item.trim()) : trimmed;
  if (type === 'is-json') {
    try {
      assert['value'] = JSON.parse(trimmed);
    } catch {
      // Refused as no schema.
    }
  }
  return assert;
}
