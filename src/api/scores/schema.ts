import { z } from 'zod';
import { ARMS } from '../../domain/releases/rollout.ts';
import {
  MAX_CATEGORIES,
  MAX_CATEGORY_LENGTH,
  MAX_SCORE_NUMBER,
  MAX_SCORES_AT_ONCE,
  SCORE_DATA_TYPES,
  SCORE_SOURCES,
} from '../../domain/scores/score.ts';
import { ScoreName } from '../../domain/scores/score-name.ts';
import { shortList } from '../../domain/text/json-object.ts';
import {
  CreationTime,
  idParams,
  Metadata,
  Name,
  publicIdInput,
  saneText,
  Timestamp,
  TimestampInput,
} from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { MAX_TOKEN_NAMES } from '../../services/scores/feedback-token.ts';
import { SCORE_GROUPS } from '../../services/scores/summarize-scores.ts';

const MAX_COMMENT_LENGTH = 4_000;
const SHORT = 200;
const Short = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .max(SHORT, `must be at most ${SHORT} characters`);
const ExampleId = Short.meta({ description: 'The `example_id` of the result.' });

const VALUE = 'must be a number, true, false or a string';
const Value = z.union([z.number(VALUE), z.boolean(VALUE), z.string(VALUE)], VALUE);
const ValueInput = Value.meta({
  description: `As the name is defined: a number (at most ${MAX_SCORE_NUMBER}), a boolean, a category (at most ${MAX_CATEGORY_LENGTH} characters) or a text (10,000).`,
  example: 0.8,
});
const Comment = z
  .string('must be a string')
  .max(MAX_COMMENT_LENGTH, `must be at most ${MAX_COMMENT_LENGTH} characters`)
  .nullable();
const DataType = z.enum(SCORE_DATA_TYPES, `must be one of ${SCORE_DATA_TYPES.join(', ')}`);
const Source = z.enum(SCORE_SOURCES, `must be one of ${SCORE_SOURCES.join(', ')}`);

const SubjectInput = z
  .union([
    z.strictObject({ evaluation_id: publicIdInput('evaluation'), example_id: ExampleId }),
    z.strictObject({ execution_id: publicIdInput('execution') }),
  ])
  .meta({ description: 'An execution, or an example of an evaluation that has a result.' });

const EvaluatorInput = z.strictObject({
  rule: Short.meta({ description: 'What is asked: the same for all its versions.', example: 'tone-judge' }),
  version: Short.meta({ description: 'Changes with the settings of the evaluator.', example: '7' }),
  model: Short.nullable().default(null).meta({ description: 'Of a judge.' }),
});

export const NewScore = z
  .strictObject({
    id: publicIdInput('score').optional().meta({
      description: '`score_` and a UUID of yours. One that is stored is replaced, if it has this name and subject.',
    }),
    name: ScoreName,
    value: ValueInput,
    data_type: DataType.optional().meta({
      description: 'What a name takes that is new. Default: that of the value; of a string `categorical`.',
    }),
    subject: SubjectInput,
    source: z
      .enum(['api', 'person'], 'must be api or person')
      .optional()
      .meta({ description: 'Who says it. Default: `person` with a session of the console, else `api`.' }),
    evaluator: EvaluatorInput.optional().meta({
      description:
        'Who says it, where that is an evaluator of yours. Without an id, the same version scores a subject once: again replaces.',
    }),
    comment: Comment.optional(),
    metadata: Metadata.optional(),
  })
  .refine(({ source, evaluator }) => source === undefined || evaluator === undefined, {
    message: 'give either source or evaluator, not both',
    path: ['source'],
  })
  .meta({ id: 'NewScore' });

export const CreateScores = z.union([
  z.strictObject({ scores: shortList(NewScore, 'scores', { min: 1, max: MAX_SCORES_AT_ONCE }) }),
  NewScore,
]);

export const Score = z
  .object({
    id: z.string().meta({ example: 'score_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    name: z.string(),
    value: Value,
    data_type: z.enum(SCORE_DATA_TYPES),
    subject: z.union([
      z.object({ execution_id: z.string() }),
      z.object({ evaluation_id: z.string(), example_id: z.string() }),
    ]),
    source: z.enum(SCORE_SOURCES),
    author: z
      .string()
      .nullable()
      .meta({ description: 'Who stored it: a member, or a key or session that is nobody’s.' }),
    evaluator: z.object({ rule: z.string(), version: z.string(), model: z.string().nullable() }).nullable(),
    comment: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Score' });

export const ScorePage = pageOf(Score).meta({ id: 'ScorePage' });
export const CreatedScores = z.union([Score, z.object({ data: z.array(Score) }).meta({ id: 'Scores' })]);
export const ScoreParams = idParams('score');

const Rule = saneText().max(SHORT, `must be at most ${SHORT} characters`);

export const ListQuery = z.strictObject({
  ...PageQuery,
  name: ScoreName.optional(),
  execution_id: publicIdInput('execution').optional(),
  evaluation_id: publicIdInput('evaluation').optional(),
  example_id: saneText().max(SHORT, `must be at most ${SHORT} characters`).optional(),
  source: Source.optional(),
  rule: Rule.optional(),
  prompt_name: Name.optional(),
  ...CreationTime,
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .default('json')
    .meta({ description: '`csv`: all of them, streamed.' }),
});

/** Days that a summary reaches back unless `since` is given. */
export const DEFAULT_DAYS = 30;

export const SummaryQuery = z
  .strictObject({
    name: ScoreName.optional(),
    prompt_name: Name.optional(),
    source: Source.optional(),
    rule: Rule.optional(),
    since: TimestampInput.optional().meta({
      description: `Of subjects created at or after this; ${DEFAULT_DAYS} days before \`until\` unless given.`,
    }),
    until: TimestampInput.optional().meta({ description: 'Of subjects created before this; now unless given.' }),
    group_by: z
      .string()
      .max(100)
      .default('')
      .transform((text, context) => {
        const groups = new Set(text.split(',').filter((group) => group !== ''));
        const { success, data } = z.array(z.enum(SCORE_GROUPS)).safeParse([...groups]);
        if (success) return data;
        context.addIssue({ code: 'custom', message: `must be any of ${SCORE_GROUPS.join(', ')}, separated by commas` });
        return z.NEVER;
      })
      .meta({ description: `Any of ${SCORE_GROUPS.join(', ')} (UTC), separated by commas, beside the name.` }),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || since < until, {
    message: 'must be after since',
    path: ['until'],
  });

export const ScoreSummary = z
  .object({
    data: z.array(
      z.object({
        name: z.string(),
        data_type: z.enum(SCORE_DATA_TYPES),
        prompt_name: z.string().nullable().optional(),
        prompt_version: z.int().nullable().optional(),
        label: z.string().nullable().optional(),
        release_id: z.string().nullable().optional().meta({ description: 'With `arm`.' }),
        arm: z.enum(ARMS).nullable().optional(),
        day: z.string().optional().meta({ description: 'Of the subject, in UTC.', example: '2026-01-31' }),
        n: z.int(),
        mean: z.number().nullable().meta({ description: 'Of numbers.' }),
        share_true: z.number().nullable().meta({ description: 'Of booleans, 0–1.' }),
        categories: z
          .record(z.string(), z.int())
          .nullable()
          .meta({ description: 'How often each was given, the 100 most frequent.' }),
      }),
    ),
    since: Timestamp,
    until: Timestamp,
  })
  .meta({ id: 'ScoreSummary' });

const Bound = z
  .number('must be a number')
  .min(-MAX_SCORE_NUMBER, `must be at least -${MAX_SCORE_NUMBER}`)
  .max(MAX_SCORE_NUMBER, `must be at most ${MAX_SCORE_NUMBER}`)
  .nullable();
const Label = z.string('must be a string').max(SHORT, `must be at most ${SHORT} characters`);
const definitionFields = {
  data_type: DataType,
  min: Bound.optional().meta({ description: 'Of `numeric`, included.' }),
  max: Bound.optional().meta({ description: 'Of `numeric`, included.' }),
  categories: shortList(
    z.strictObject({ value: Short, label: Label.optional().meta({ description: 'What people are shown.' }) }),
    'categories',
    { min: 1, max: MAX_CATEGORIES },
  )
    .nullable()
    .optional()
    .meta({ description: 'Of `categorical`; none: any.' }),
  description: z.string('must be a string').max(2_000, 'must be at most 2000 characters').nullable().optional(),
};

export const SetScoreDefinition = z
  .strictObject(definitionFields)
  .check(({ value, issues }) => {
    const wrong = (path: string, message: string) =>
      issues.push({ code: 'custom', message, path: [path], input: value });
    for (const bound of ['min', 'max'] as const)
      if (value.data_type !== 'numeric' && typeof value[bound] === 'number')
        wrong(bound, 'is for the data_type "numeric"');
    if (value.data_type !== 'categorical' && value.categories)
      wrong('categories', 'is for the data_type "categorical"');
    if (typeof value.min === 'number' && typeof value.max === 'number' && value.min > value.max)
      wrong('max', 'must be at least min');
    const values = value.categories?.map((category) => category.value) ?? [];
    if (new Set(values).size < values.length) wrong('categories', 'must not have the same value twice');
  })
  .meta({ id: 'SetScoreDefinition' });

export const ScoreDefinition = z
  .object({
    name: z.string(),
    data_type: z.enum(SCORE_DATA_TYPES),
    min: z.number().nullable(),
    max: z.number().nullable(),
    categories: z.array(z.object({ value: z.string(), label: z.string() })).nullable(),
    description: z.string().nullable(),
    defined: z.boolean().meta({ description: 'False: its first score has given the name its type.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'ScoreDefinition' });
export const ScoreDefinitionPage = pageOf(ScoreDefinition).meta({ id: 'ScoreDefinitionPage' });
export const DefinitionParams = z.object({ name: ScoreName });
export const DefinitionsQuery = z.strictObject(PageQuery);

const DAY = 24 * 60 * 60;
const MAX_TOKEN_DAYS = 30;
const EXPIRES = `must be a whole number of seconds from 1 to ${MAX_TOKEN_DAYS * DAY}`;

export const CreateFeedbackToken = z
  .strictObject({
    names: z
      .array(ScoreName, 'must be a list of names')
      .min(1, 'must not be empty')
      .max(MAX_TOKEN_NAMES, `must be at most ${MAX_TOKEN_NAMES} names`)
      .meta({ description: 'Which scores it may say.', example: ['helpful'] }),
    expires_in: z
      .int(EXPIRES)
      .min(1, EXPIRES)
      .max(MAX_TOKEN_DAYS * DAY, EXPIRES)
      .default(DAY)
      .meta({ description: 'Seconds.' }),
  })
  .meta({ id: 'CreateFeedbackToken' });

export const FeedbackToken = z
  .object({
    token: z.string().meta({ example: 'pmsf_…' }),
    execution_id: z.string(),
    names: z.array(z.string()),
    expires_at: Timestamp,
  })
  .meta({ id: 'FeedbackToken' });

export const CreateFeedback = z
  .strictObject({ name: ScoreName, value: ValueInput, comment: Comment.optional() })
  .meta({ id: 'CreateFeedback' });
export const Feedback = z
  .object({ name: z.string(), value: Value, comment: z.string().nullable() })
  .meta({ id: 'Feedback' });
