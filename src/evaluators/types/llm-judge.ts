import { z } from 'zod';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { MAX_CATEGORY_LENGTH } from '../../domain/scores/score.ts';
import { isObject } from '../../domain/text/json.ts';
import { readableOutput } from '../../domain/text/readable-messages.ts';
import { type Example, type Judgement, type JudgingEvaluator, scored } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';
import { isJsonValue, toPlainText } from '../matching/json.ts';
import { jsonIn } from '../matching/json-in-text.ts';
import { quote } from '../matching/text.ts';
import { buildJudgePrompt } from './judge-prompt.ts';

const Scale = z
  .strictObject({
    min: z.int().min(-1_000).max(1_000).meta({ title: 'Lowest grade' }),
    max: z.int().min(-1_000).max(1_000).meta({ title: 'Highest grade' }),
  })
  .refine((scale) => scale.min < scale.max, { path: ['max'], error: 'must be above min' });

/** Normalizes a category for comparison: judges vary its case. */
const keyOf = (value: string) => value.trim().toLowerCase();

const Categories = z
  .array(
    z.strictObject({
      value: z.string().trim().min(1).max(MAX_CATEGORY_LENGTH).meta({ title: 'Category' }),
      score: z.number().min(0).max(1).meta({ title: 'Score', description: 'The score of the category, 0–1.' }),
    }),
  )
  .min(2)
  .max(50)
  .refine((all) => new Set(all.map(({ value }) => keyOf(value))).size === all.length, 'must differ from each other');
type Categories = z.output<typeof Categories>;

const LlmJudgeConfig = z
  .strictObject({
    ...evaluatorFields('llm_judge'),
    model: z
      .string()
      .min(1)
      .max(200)
      .meta({ title: 'Model of the judge', description: 'As in a prompt.', 'x-field': 'model' }),
    rubric: z.string().trim().min(1).max(20_000).meta({
      title: 'Rubric',
      description: 'Criteria of a good output, and the meaning of each grade.',
      'x-field': 'long-text',
    }),
    scale: Scale.default({ min: 1, max: 5 }).meta({ title: 'Grades', description: 'Scaled to a score of 0–1.' }),
    categories: Categories.optional().meta({
      title: 'Categories instead of grades',
      description:
        'The answers of the judge that replace a grade, and the score of each: [{"value": "polite", "score": 1}, …].',
      'x-field': 'json',
    }),
    include_expected: z.boolean().default(true).meta({ title: 'Show it the expected value' }),
    include_input: z.boolean().default(true).meta({ title: 'Show it the prompt' }),
    parameters: ModelParameters.omit({ response_format: true }).default({}).meta({
      title: 'Parameters of the judge',
      description: 'Such as {"temperature": 0}; all but `response_format`, which this evaluator sets.',
      'x-field': 'json',
    }),
  })
  .meta({ title: 'Model as a judge', description: 'A model grades the output.' });

type LlmJudgeConfig = z.output<typeof LlmJudgeConfig>;

/** Maximum characters read from a judge's response: a score and its reason take a few hundred. */
const MAX_RESPONSE_LENGTH = 100_000;

/** Asks a model for a grade according to a rubric, and scales it to 0..1. */
export const llmJudge: JudgingEvaluator<LlmJudgeConfig> & { config: typeof LlmJudgeConfig } = {
  kind: 'judging',
  config: LlmJudgeConfig,
  prepare: (config) => ({
    model: config.model,
    request: (example, fault) => ({
      input: buildJudgePrompt({
        rubric: config.rubric,
        scale: config.scale,
        categories: config.categories?.map(({ value }) => value),
        sections: sectionsOf(config, example),
        fault,
      }),
      parameters: { ...config.parameters, response_format: responseFormat(config) },
    }),
    read: (response) => readResponse(response, config),
  }),
  isPassOrFail: ({ categories }) => categories?.every(({ score }) => score === 0 || score === 1) ?? false,
};

function sectionsOf(config: LlmJudgeConfig, example: Example) {
  const { steps } = example;
  // The steps of a trace have its tool calls.
  const sections =
    steps === undefined
      ? [{ title: 'Output', text: readableOutput(example.output, example.toolCalls) }]
      : [
          { title: 'Steps', text: steps },
          { title: 'Output', text: example.output },
        ];
  if (config.include_expected && example.expected !== undefined) {
    const shown = isJsonValue(example.expected) ? toPlainText(example.expected) : '(nested too deeply to show)';
    sections.unshift({ title: 'Expected', text: shown });
  }
  if (config.include_input) sections.unshift({ title: 'Prompt', text: example.input });
  return sections;
}

/**
 * The reason comes first, so that the score follows from it. Providers differ in the bounds they accept; `read` checks them.
 */
export function responseFormat({
  scale,
  categories,
}: Pick<LlmJudgeConfig, 'scale' | 'categories'>): NonNullable<ModelParameters['response_format']> {
  return {
    type: 'json_schema',
    json_schema: {
      name: 'judgement',
      strict: true,
      schema: {
        type: 'object',
        properties: {
          reason: { type: 'string', description: 'Why, in one or two sentences.' },
          ...(categories === undefined
            ? { score: { type: 'integer', description: `A whole number from ${scale.min} to ${scale.max}.` } }
            : { category: { type: 'string', enum: categories.map(({ value }) => value) } }),
        },
        required: ['reason', categories === undefined ? 'score' : 'category'],
        additionalProperties: false,
      },
    },
  };
}

/** A grade or category from a response, before validation. */
interface Grade {
  given: unknown;
  reason: unknown;
}

/**
 * Accepts the grade or category if it is unambiguous: all objects with one have the same. A grade off the scale is rejected rather than
 * clamped: a judge that responds with 85 on a scale of 1 to 5 has misread the question, and 5 would be a guess in its favor.
 */
export function readResponse(
  response: string,
  { scale, categories }: Pick<LlmJudgeConfig, 'scale' | 'categories'>,
): Judgement {
  const what = categories === undefined ? 'score' : 'category';
  const unusable = (fault: string): Judgement => {
    const quoted = response.trim() === '' ? '' : `: ${quote(response.trim())}`;
    return { usable: false, reason: `the judge gave no usable ${what}: ${fault}${quoted}`, fault };
  };
  if (response.length > MAX_RESPONSE_LENGTH) return unusable(`it is longer than ${MAX_RESPONSE_LENGTH} characters`);
  if (response.trim() === '') return unusable('it is empty');
  const found = jsonIn(response);
  if (found.some((value) => Array.isArray(value) && value.some((item) => gradesOf(item, what).length > 0)))
    return unusable('it is a list');
  const objects = found.filter(isObject);
  if (objects.length === 0) return unusable('it has no JSON object');
  const grades = objects.flatMap((object) => gradesOf(object, what));
  if (grades.length === 0) return unusable(`its JSON object has no ${what}`);
  const reason = grades.at(-1)?.reason;
  const read = categories === undefined ? readGrade(grades, scale) : readCategory(grades, categories);
  if (typeof read === 'string') return unusable(read);
  const { score, ...category } = read;
  return { usable: true, score: { ...scored(score, typeof reason === 'string' ? reason : null), ...category } };
}

/** The score for grades, or the problem with them. */
function readGrade(grades: readonly Grade[], scale: LlmJudgeConfig['scale']): { score: number } | string {
  const scores = [...new Set(grades.map(({ given }) => toNumber(given)))];
  const [score = Number.NaN] = scores;
  if (scores.some(Number.isNaN)) return 'its score is not a number';
  if (scores.length > 1) return `it has several scores: ${scores.slice(0, 5).join(', ')}`;
  if (score < scale.min || score > scale.max) return `its score ${score} is not between ${scale.min} and ${scale.max}`;
  return { score: (score - scale.min) / (scale.max - scale.min) };
}

/** The same for categories. The message does not repeat the judge's text. */
function readCategory(grades: readonly Grade[], categories: Categories): { score: number; category: string } | string {
  const keys = new Set(grades.map(({ given }) => (typeof given === 'string' ? keyOf(given) : undefined)));
  if (keys.size > 1) return 'it has several categories';
  const [key] = keys;
  const found = categories.find(({ value }) => keyOf(value) === key);
  return found === undefined ? 'its category is none of those given' : { score: found.score, category: found.value };
}

/** The grades in an object, with case-insensitive keys: one, unless several keys differ only in case. */
function gradesOf(object: unknown, what: 'score' | 'category'): Grade[] {
  if (!isObject(object)) return [];
  const valuesOf = (name: string) =>
    Object.entries(object).flatMap(([key, value]) => (key.trim().toLowerCase() === name ? [value] : []));
  const [reason] = valuesOf('reason');
  return valuesOf(what).map((given) => ({ given, reason }));
}

/** Accepts numbers in strings; NaN if it is not a number. */
function toNumber(score: unknown): number {
  if (typeof score === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(score)) return Number(score);
  return typeof score === 'number' && Number.isFinite(score) ? score : Number.NaN;
}
