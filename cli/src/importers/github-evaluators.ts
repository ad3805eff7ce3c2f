import { isObject, isSameJson, type Json, listOf, objectOf, shown, textOf } from '../json.ts';
import type { TakenGrader } from './graders.ts';
import { takeJudge } from './judges.ts';
import { escapePattern } from './patterns.ts';
import { PLACEHOLDER, TemplateError } from './template-text.ts';

const MAX_PATTERN_LENGTH = 1000;
const MAX_VALUE_LENGTH = 10_000;
/** Maximum number of grades that an export lists as choices. */
const MAX_CHOICES = 21;

const EXPECTED = '{{expected}}';
const ALONE = /^\s*\{\{[ \t]*([A-Za-z_][\w.-]*)[ \t]*\}\}\s*$/;

const BUILT_IN_MODEL = 'openai/gpt-4o';
/** GitHub's built-in judges. Their prompts are GitHub's; these rubrics are equivalent. */
const BUILT_IN: Record<string, { rubric: string; include_expected: boolean; include_input: boolean }> = {
  similarity: {
    rubric:
      'How far does the output say the same as the expected answer? 1: nothing of it. 2: little of it. 3: some of it. 4: most of it. ' +
      '5: all of it.',
    include_expected: true,
    include_input: true,
  },
  coherence: {
    rubric:
      'How well do the sentences of the output belong together and follow from one another, as an answer to the prompt? ' +
      '1: not at all. 2: hardly. 3: in part. 4: well. 5: throughout.',
    include_expected: false,
    include_input: true,
  },
  fluency: {
    rubric:
      'How fluent is the language of the output: its grammar, its choice of words, how easily it reads? 1: broken. 2: poor. ' +
      '3: understandable. 4: good. 5: excellent. Ignore whether the content is right.',
    include_expected: false,
    include_input: false,
  },
  relevance: {
    rubric:
      'How far does the output answer what the prompt asks, and nothing else? 1: not at all. 2: hardly. 3: in part. 4: well, with small ' +
      'gaps. 5: fully.',
    include_expected: false,
    include_input: true,
  },
  groundedness: {
    rubric:
      'How far is what the output says supported by the expected value, which is its source? 1: not at all. 2: hardly. 3: in part. ' +
      '4: almost all of it. 5: all of it.',
    include_expected: true,
    include_input: true,
  },
};

function builtIn(name: string): Json | undefined {
  if (!Object.hasOwn(BUILT_IN, name)) return undefined;
  return { type: 'llm_judge', model: BUILT_IN_MODEL, scale: { min: 1, max: 5 }, ...BUILT_IN[name] };
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));

/** The text that a pattern matches literally; undefined if it is more than a text. */
function literalOf(pattern: string): string | undefined {
  const text = pattern.replace(/\\([\\^$.*+?()[\]{}|/-])/g, '$1');
  return escapePattern(text) === pattern ? text : undefined;
}

function patternOf(text: string, before: string, after: string): string {
  const pattern = `${before}${escapePattern(text)}${after}`;
  if (pattern.length > MAX_PATTERN_LENGTH) throw new TemplateError('its text is too long for a pattern');
  return pattern;
}

const CONDITIONS = ['equals', 'contains', 'startsWith', 'endsWith'] as const;

/** Only `equals` is case-sensitive on GitHub. */
function takeString(given: Json): TakenGrader {
  const [condition, ...more] = CONDITIONS.filter((name) => textOf(given[name]) !== undefined);
  if (condition === undefined) throw new TemplateError('it has no condition');
  if (more.length > 0) throw new TemplateError('it has several conditions, and GitHub uses only one of them');
  const text = textOf(given[condition]) ?? '';
  const field = ALONE.exec(text)?.[1];
  if (field !== undefined) {
    if (condition === 'equals')
      return { evaluator: { type: 'exact_match', trim: false }, expectedField: field, notes: [] };
    if (condition === 'contains')
      return { evaluator: { type: 'contains', case_sensitive: false }, expectedField: field, notes: [] };
    throw new TemplateError('no evaluator looks for the expected text only at the start or the end');
  }
  if (text.search(PLACEHOLDER) !== -1) throw new TemplateError('its text has variables');
  if (text.length > MAX_VALUE_LENGTH) throw new TemplateError('its text is too long');
  const evaluator = {
    equals: () => ({ type: 'regex', pattern: patternOf(text, '', ''), full_match: true }),
    contains: () => ({ type: 'contains', value: text, case_sensitive: false }),
    startsWith: () => ({ type: 'regex', pattern: patternOf(text, '^', ''), flags: 'i' }),
    endsWith: () => ({ type: 'regex', pattern: patternOf(text, '', '$'), flags: 'i' }),
  }[condition]();
  return { evaluator, notes: [] };
}

/** The answer format in exported judges. An import recognizes it. */
function gradeInstruction({ min, max }: { min: number; max: number }): string {
  return `Grade the output. Answer with a whole number from ${min} to ${max}, and nothing else.`;
}

function takeModel(given: Json): TakenGrader {
  const choices = listOf(given['choices']).map((choice) => ({
    choice: asText(objectOf(choice)['choice']),
    score: Number(objectOf(choice)['score']),
  }));
  const grades = choices.map(({ choice }) => Number(choice));
  const own = gradeInstruction({ min: Math.min(...grades), max: Math.max(...grades) });
  const system = textOf(given['systemPrompt']);
  const prompt = [system === own ? undefined : system, textOf(given['prompt'])].filter((text) => text !== undefined);
  const judge = takeJudge({
    model: textOf(given['modelId']),
    prompt: prompt.join('\n\n'),
    placeholder: PLACEHOLDER,
    shows: { completion: 'output', expected: 'expected', input: 'input' },
    choices,
  });
  return withExpected(judge.evaluator, judge.notes);
}

/** A judge that sees the expected value needs it as the example's `expected`. */
function withExpected(evaluator: Json, notes: string[]): TakenGrader {
  return evaluator['include_expected'] === true
    ? { evaluator, expectedField: 'expected', notes }
    : { evaluator, notes };
}

/**
 * Converts an evaluator of a `.prompt.yml`.
 * @throws TemplateError if there is no equivalent
 */
export function takeGitHubEvaluator(evaluator: Json): TakenGrader {
  if (isObject(evaluator['string'])) return takeString(evaluator['string']);
  if (isObject(evaluator['llm'])) return takeModel(evaluator['llm']);
  const uses = textOf(evaluator['uses']);
  if (uses === undefined) throw new TemplateError('it says neither "string", "llm" nor "uses"');
  const own = builtIn(/^github\/(.+)$/.exec(uses)?.[1] ?? '');
  if (own === undefined) throw new TemplateError(`no evaluator corresponds to ${uses}`);
  return withExpected(own, ['its rubric was reworded']);
}

function literal(text: string): string {
  if (text.search(PLACEHOLDER) !== -1) throw new TemplateError('GitHub would read its text as a variable');
  return text;
}

function regexAsString({ pattern, flags = '', full_match = false }: Json): Json {
  const text = String(pattern);
  if (full_match === true && flags === '') {
    const whole = literalOf(text);
    if (whole !== undefined) return { equals: literal(whole) };
  } else if (full_match !== true && flags === 'i') {
    const start = text.startsWith('^') ? literalOf(text.slice(1)) : undefined;
    if (start !== undefined) return { startsWith: literal(start) };
    const end = text.endsWith('$') ? literalOf(text.slice(0, -1)) : undefined;
    if (end !== undefined) return { endsWith: literal(end) };
  }
  throw new TemplateError('GitHub has no regular expressions');
}

function judgeAsModel(evaluator: Json, note: (what: string) => void): Json {
  const { model, rubric, scale, include_expected = true, include_input = true, parameters } = evaluator;
  const { min, max } = { min: 1, max: 5, ...objectOf(scale) } as { min: number; max: number };
  if (min < 0 || max - min >= MAX_CHOICES)
    throw new TemplateError(`it has negative grades, or more than ${MAX_CHOICES}`);
  if (Object.keys(objectOf(parameters)).length > 0) note('parameters of its judge are left out');
  const lines = [literal(String(rubric)), ''];
  if (include_input === true) lines.push('Input: {{input}}');
  if (include_expected === true) lines.push(`Expected: ${EXPECTED}`);
  lines.push('Output: {{completion}}');
  // Highest first: GitHub uses the first choice found in the answer, and "10" contains "1".
  const choices = Array.from({ length: max - min + 1 }, (_, at) => max - at).map((grade) => ({
    choice: String(grade),
    score: (grade - min) / (max - min),
  }));
  return { modelId: model, systemPrompt: gradeInstruction({ min, max }), prompt: lines.join('\n'), choices };
}

/**
 * Converts an evaluator for GitHub.
 * @param note called for inexact conversions
 * @throws TemplateError if GitHub has no equivalent
 */
export function writeGitHubEvaluator(evaluator: Json, note: (what: string) => void): Json {
  const { type, name = type, weight = 1, ...options } = evaluator;
  if (weight !== 1) note('its weight is left out');
  const { case_sensitive = true, trim = true, normalize_whitespace = false, value, values } = options;
  switch (type) {
    case 'exact_match':
      if (case_sensitive !== true || normalize_whitespace === true)
        throw new TemplateError('the comparison for equal texts in GitHub includes case and white space');
      if (trim === true) note('GitHub compares white space at both ends, too');
      return { name, string: { equals: EXPECTED } };
    case 'contains': {
      const [first, ...more] = values === undefined ? [value] : listOf(values);
      if (more.length > 0) throw new TemplateError('GitHub compares only one text');
      if (case_sensitive === true) note('GitHub ignores upper and lower case');
      return { name, string: { contains: first === undefined ? EXPECTED : literal(asText(first)) } };
    }
    case 'regex':
      return { name, string: regexAsString(options) };
    case 'llm_judge': {
      const known = Object.keys(BUILT_IN).find((one) => isSameJson(builtIn(one), { type, ...options }));
      return known === undefined ? { name, llm: judgeAsModel(options, note) } : { name, uses: `github/${known}` };
    }
    default:
      throw new TemplateError(`GitHub has no evaluator like "${shown(type)}"`);
  }
}
