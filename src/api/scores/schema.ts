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
  SpanIdInput,
  storableString,
  Timestamp,
  TimestampInput,
  TraceIdInput,
} from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';
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
  description: `The type that the name is defined with: a number (at most ${MAX_SCORE_NUMBER}), a boolean, a category (at most ${MAX_CATEGORY_LENGTH} characters) or a text (10,000).`,
  example: 0.8,
});
const Comment = z
  .string('must be a string')
  .max(MAX_COMMENT_LENGTH, `must be at most ${MAX_COMMENT_LENGTH} characters`)
  .nullable();
const DataType = z.enum(SCORE_DATA_TYPES, `must be one of ${SCORE_DATA_TYPES.join(', ')}`);
const Source = z.enum(SCORE_SOURCES, `must be one of ${SCORE_SOURCES.join(', ')}`);

export const TraceSubject = z.strictObject({
  trace_id: TraceIdInput,
  span_id: SpanIdInput.optional().meta({ description: 'A step of the trace. Default: the trace itself.' }),
});
export const ConversationSubject = z.strictObject({
  conversation_id: storableString().min(1, 'must not be empty').max(SHORT, `must be at most ${SHORT} characters`),
});

const SubjectInput = z
  .union([
    z.strictObject({ evaluation_id: publicIdInput('evaluation'), example_id: ExampleId }),
    z.strictObject({ execution_id: publicIdInput('execution') }),
    TraceSubject,
    ConversationSubject,
  ])
  .meta({ description: 'An execution, or an example of an evaluation that has a result.' });

const EvaluatorInput = z.strictObject({
  rule: Short.meta({ description: 'The question asked; the same for all versions.', example: 'tone-judge' }),
  version: Short.meta({ description: 'Changes with the settings of the evaluator.', example: '7' }),
  model: Short.nullable().default(null).meta({ description: 'The model of a judge.' }),
});

export const NewScore = z
  .strictObject({
    id: publicIdInput('score').optional().meta({
      description:
        '`score_` and a UUID of your choice. Replaces a stored score with this id if it has the same name and subject.',
    }),
    name: ScoreName,
    value: ValueInput,
    data_type: DataType.optional().meta({
      description: 'The type of a new name. Default: the type of the value; `categorical` for strings.',
    }),
    subject: SubjectInput,
    source: z
      .enum(['api', 'person'], 'must be api or person')
      .optional()
      .meta({ description: 'The source of the score. Default: `person` with a console session, otherwise `api`.' }),
    evaluator: EvaluatorInput.optional().meta({
      description:
        'Your own evaluator that gives the score. Without an id, each version scores a subject once; a repeat replaces it.',
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

const TracedSubject = z.object({ trace_id: z.string(), span_id: z.string().optional() });

export const Score = z
  .object({
    id: shown(z.string().meta({ example: 'score_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' })),
    name: shown(z.string()),
    value: Value,
    data_type: shown(z.enum(SCORE_DATA_TYPES)),
    subject: shown(
      z.union([
        z.object({ execution_id: z.string() }),
        z.object({ evaluation_id: z.string(), example_id: z.string() }),
        TracedSubject,
        z.object({ conversation_id: z.string() }),
      ]),
    ),
    source: shown(z.enum(SCORE_SOURCES)),
    author: z
      .string()
      .nullable()
      .meta({ description: 'The author of the score: a member, or a key or session without a member.' }),
    evaluator: z.object({ rule: z.string(), version: z.string(), model: z.string().nullable() }).nullable(),
    comment: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: shown(Timestamp),
    updated_at: shown(Timestamp),
  })
  .meta({ id: 'Score' });

export const ScorePage = pageOf(Score).meta({ id: 'ScorePage' });
export const CreatedScores = z.union([Score, z.object({ data: shown(z.array(Score)) }).meta({ id: 'Scores' })]);
export const ScoreParams = idParams('score');

const Rule = storableString().max(SHORT, `must be at most ${SHORT} characters`);

export const ListQuery = z.strictObject({
  ...PageQuery,
  name: ScoreName.optional(),
  execution_id: publicIdInput('execution').optional(),
  evaluation_id: publicIdInput('evaluation').optional(),
  example_id: storableString().max(SHORT, `must be at most ${SHORT} characters`).optional(),
  trace_id: TraceIdInput.optional().meta({ description: 'Only scores of this trace and its steps.' }),
  span_id: SpanIdInput.optional().meta({ description: 'Only scores of this step of the trace.' }),
  conversation_id: storableString().max(SHORT, `must be at most ${SHORT} characters`).optional(),
  subject: z.enum(['trace', 'conversation'], 'must be trace or conversation').optional().meta({
    description:
      'Only scores of traces and their steps, or of conversations. Without this field, `trace_id` or `conversation_id`, such scores are left out.',
  }),
  source: Source.optional(),
  rule: Rule.optional(),
  prompt_name: Name.optional(),
  ...CreationTime,
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .default('json')
    .meta({ description: '`csv`: all of them, streamed.' }),
});

/** The number of days that a summary covers unless `since` is set. */
export const DEFAULT_DAYS = 30;

export const SummaryQuery = z
  .strictObject({
    name: ScoreName.optional(),
    prompt_name: Name.optional(),
    source: Source.optional(),
    rule: Rule.optional(),
    since: TimestampInput.optional().meta({
      description: `Scores of subjects created at or after this time. Default: ${DEFAULT_DAYS} days before \`until\`.`,
    }),
    until: TimestampInput.optional().meta({
      description: 'Scores of subjects created before this time. Default: now.',
    }),
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
      .meta({ description: `Any of ${SCORE_GROUPS.join(', ')} (UTC), separated by commas, in addition to the name.` }),
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
        day: z.string().optional().meta({ description: 'The day of the subject, in UTC.', example: '2026-01-31' }),
        n: z.int(),
        mean: z.number().nullable().meta({ description: 'The mean of numeric scores.' }),
        share_true: z.number().nullable().meta({ description: 'The share of true among boolean scores, 0–1.' }),
        categories: z
          .record(z.string(), z.int())
          .nullable()
          .meta({ description: 'The number of scores in each of the 100 most frequent categories.' }),
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
  min: Bound.optional().meta({ description: 'For `numeric`, inclusive.' }),
  max: Bound.optional().meta({ description: 'For `numeric`, inclusive.' }),
  categories: shortList(
    z.strictObject({ value: Short, label: Label.optional().meta({ description: 'The display text.' }) }),
    'categories',
    { min: 1, max: MAX_CATEGORIES },
  )
    .nullable()
    .optional()
    .meta({ description: 'For `categorical`. If omitted, any category is allowed.' }),
  description: z.string('must be a string').max(2_000, 'must be at most 2000 characters').nullable().optional(),
};

export const SetScoreDefinition = z
  .strictObject(definitionFields)
  .check(({ value, issues }) => {
    const wrong = (path: string, message: string) =>
      issues.push({ code: 'custom', message, path: [path], input: value });
    for (const bound of ['min', 'max'] as const)
      if (value.data_type !== 'numeric' && typeof value[bound] === 'number')
        wrong(bound, 'requires data_type "numeric"');
    if (value.data_type !== 'categorical' && value.categories) wrong('categories', 'requires data_type "categorical"');
    if (typeof value.min === 'number' && typeof value.max === 'number' && value.min > value.max)
      wrong('max', 'must be at least min');
    const values = value.categories?.map((category) => category.value) ?? [];
    if (new Set(values).size < values.length) wrong('categories', 'must not have the same value twice');
  })
  .meta({ id: 'SetScoreDefinition' });

export const ScoreDefinition = z
  .object({
    name: shown(z.string()),
    data_type: shown(z.enum(SCORE_DATA_TYPES)),
    min: z.number().nullable(),
    max: z.number().nullable(),
    categories: z.array(z.object({ value: z.string(), label: z.string() })).nullable(),
    description: z.string().nullable(),
    defined: shown(z.boolean().meta({ description: 'False if the type comes from the first score.' })),
    created_at: shown(Timestamp),
    updated_at: shown(Timestamp),
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
      .meta({ description: 'The scores that the token can submit.', example: ['helpful'] }),
    expires_in: z
      .int(EXPIRES)
      .min(1, EXPIRES)
      .max(MAX_TOKEN_DAYS * DAY, EXPIRES)
      .default(DAY)
      .meta({ description: 'The lifetime of the token in seconds.' }),
  })
  .meta({ id: 'CreateFeedbackToken' });

export const FeedbackToken = z
  .object({
    token: shown(z.string().meta({ example: 'pmsf_…' })),
    execution_id: shown(z.string()),
    names: shown(z.array(z.string())),
    expires_at: shown(Timestamp),
  })
  .meta({ id: 'FeedbackToken' });

export const CreateSubjectFeedbackToken = z
  .strictObject({ subject: z.union([TraceSubject, ConversationSubject]), ...CreateFeedbackToken.shape })
  .meta({ id: 'CreateSubjectFeedbackToken' });

export const SubjectFeedbackToken = z
  .object({
    token: shown(z.string().meta({ example: 'pmsf_…' })),
    subject: shown(z.union([TracedSubject, z.object({ conversation_id: z.string() })])),
    names: shown(z.array(z.string())),
    expires_at: shown(Timestamp),
  })
  .meta({ id: 'SubjectFeedbackToken' });

export const CreateFeedback = z
  .strictObject({ name: ScoreName, value: ValueInput, comment: Comment.optional() })
  .meta({ id: 'CreateFeedback' });
export const Feedback = z
  .object({ name: shown(z.string()), value: shown(Value), comment: shown(z.string().nullable()) })
  .meta({ id: 'Feedback' });
