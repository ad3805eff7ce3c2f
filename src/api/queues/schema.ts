import { z } from 'zod';
import { nameSchema } from '../../domain/name-schema.ts';
import {
  ITEM_STATES,
  MAX_FILTERED_ITEMS,
  MAX_NAMED_ITEMS,
  MAX_QUEUE_SCORES,
  MAX_REVIEWERS,
} from '../../domain/queues/queue.ts';
import { queueNameProblem } from '../../domain/queues/queue-name.ts';
import { MAX_SCORE_TEXT_LENGTH } from '../../domain/scores/score.ts';
import { ScoreName } from '../../domain/scores/score-name.ts';
import { AnyJson } from '../../domain/text/json-object.ts';
import { pathId, publicIdInput, saneText, Timestamp } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { DatasetName } from '../datasets/schema.ts';
import { ExecutionFilterBody } from '../executions/filter-schema.ts';

export const QueueName = nameSchema(queueNameProblem, 'support/unhelpful');

export const QueueParams = z.object({ name: QueueName });
export const ItemParams = z.object({ name: QueueName, id: pathId('queueItem') });
export const ListQuery = z.strictObject(PageQuery);

const SampleRate = z
  .number('must be a number from 0 to 1')
  .min(0, 'must be a number from 0 to 1')
  .max(1, 'must be a number from 0 to 1');

const reviewers = `must be a whole number from 1 to ${MAX_REVIEWERS}`;

export const PutQueue = z
  .strictObject({
    description: saneText().max(2000, 'must be at most 2000 characters').optional().meta({
      description: 'What reviewers are to look at.',
      example: 'Is the answer right, and kind?',
    }),
    score_names: z
      .array(ScoreName, 'must be a list of names')
      .min(1, 'must name at least one score')
      .max(MAX_QUEUE_SCORES, `must be at most ${MAX_QUEUE_SCORES} names`)
      .refine((names) => new Set(names).size === names.length, 'must not name a score twice')
      .meta({ description: 'What reviewers score.', example: ['helpful'] }),
    filter: ExecutionFilterBody.optional().meta({
      description:
        'Executions that match enter by themselves from now on, once they have ended or got a score. Without `status`: completed ones. Omitted: none do.',
    }),
    sample_rate: SampleRate.default(1).meta({
      description: 'The share of matching executions that enters, by a hash of their ids.',
      example: 0.1,
    }),
    reviewers_per_item: z
      .int(reviewers)
      .min(1, reviewers)
      .max(MAX_REVIEWERS, reviewers)
      .default(1)
      .meta({ description: 'How many different reviewers complete an item.' }),
  })
  .meta({ id: 'PutQueue' });

const Count = z.int();

export const Queue = z
  .object({
    name: QueueName,
    description: z.string().nullable(),
    score_names: z.array(z.string()),
    filter: z.looseObject({}).nullable().meta({ description: 'As it was given.' }),
    sample_rate: z.number(),
    reviewers_per_item: z.int(),
    progress: z
      .object({ pending: Count, leased: Count, completed: Count, skipped: Count })
      .meta({ description: 'Items by state.' }),
    full: z.boolean().meta({ description: 'Whether it takes no more items.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Queue' });

export const QueuePage = pageOf(Queue).meta({ id: 'QueuePage' });

const ExampleSubject = z.strictObject({
  evaluation_id: publicIdInput('evaluation'),
  example_id: z.string('must be a string').min(1, 'must not be empty').max(300, 'must be at most 300 characters'),
});

const atMost = `must be at most ${MAX_NAMED_ITEMS}`;
const limit = `must be a whole number from 1 to ${MAX_FILTERED_ITEMS}`;

export const AddItems = z
  .strictObject({
    execution_ids: z
      .array(publicIdInput('execution'), 'must be a list of ids')
      .min(1, 'must not be empty')
      .max(MAX_NAMED_ITEMS, atMost)
      .optional(),
    examples: z
      .array(ExampleSubject, 'must be a list of examples')
      .min(1, 'must not be empty')
      .max(MAX_NAMED_ITEMS, atMost)
      .optional()
      .meta({ description: 'Examples of evaluations that have a score.' }),
    filter: ExecutionFilterBody.optional().meta({
      description: 'The newest executions that match. Without `status`: completed ones.',
    }),
    sample_rate: SampleRate.optional().meta({ description: 'With `filter`: the share of them. Default: 1.' }),
    limit: z
      .int(limit)
      .min(1, limit)
      .max(MAX_FILTERED_ITEMS, limit)
      .optional()
      .meta({ description: 'With `filter`: how many at most. Default: 1000.' }),
  })
  .check(({ value, issues }) => {
    const named = [value.execution_ids, value.examples, value.filter].some((each) => each !== undefined);
    if (!named)
      issues.push({ code: 'custom', message: 'Give execution_ids, examples or a filter.', input: value, path: [] });
    for (const field of ['sample_rate', 'limit'] as const)
      if (value[field] !== undefined && value.filter === undefined)
        issues.push({ code: 'custom', message: 'needs a filter', input: value[field], path: [field] });
  })
  .meta({ id: 'AddQueueItems' });

export const AddedItems = z
  .object({
    added: Count,
    present: Count.meta({ description: 'How many were in the queue already.' }),
  })
  .meta({ id: 'AddedQueueItems' });

export const ItemsQuery = z.strictObject({
  ...PageQuery,
  state: z.enum(ITEM_STATES, `must be one of ${ITEM_STATES.join(', ')}`).optional(),
});

const Review = z.object({
  reviewer: z.string().meta({ description: 'The id of a key or session.' }),
  state: z.enum(['leased', 'completed', 'skipped']),
  leased_until: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  correction: z
    .object({ dataset: z.string(), version: z.int() })
    .nullable()
    .meta({ description: 'Where the correction is an example.' }),
});

export const QueueItem = z
  .object({
    id: z.string().meta({ example: 'item_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    subject: z
      .object({
        execution_id: z.string().optional(),
        evaluation_id: z.string().optional(),
        example_id: z.string().optional(),
      })
      .meta({ description: 'An execution, or an example of an evaluation.' }),
    state: z
      .enum(ITEM_STATES)
      .meta({ description: '`skipped`: by somebody; others may still get it, once nothing else is left.' }),
    completed: Count.meta({ description: 'How many reviewers have completed it.' }),
    skipped: Count.meta({ description: 'How many have skipped it.' }),
    reviews: z.array(Review).meta({ description: "In the list everybody's, up to 20; else the caller's own." }),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'QueueItem' });

export const QueueItemPage = pageOf(QueueItem).meta({ id: 'QueueItemPage' });

export const NextItem = z
  .object({ item: QueueItem.nullable().meta({ description: 'Null: nothing is left for this reviewer now.' }) })
  .meta({ id: 'NextQueueItem' });

/** A score's value. */
export const ScoreValue = z
  .union([z.number(), z.boolean(), z.string().max(MAX_SCORE_TEXT_LENGTH)], {
    error: `must be a number, true, false or a string of at most ${MAX_SCORE_TEXT_LENGTH} characters`,
  })
  .meta({ description: 'A number, a boolean, a category or a text, as the definition of its name has it.' });

const MAX_COMMENT_LENGTH = 2000;

const ReviewScore = z.strictObject({
  name: ScoreName,
  value: ScoreValue,
  comment: saneText().max(MAX_COMMENT_LENGTH, `must be at most ${MAX_COMMENT_LENGTH} characters`).optional(),
});

export const CompleteItem = z
  .strictObject({
    scores: z
      .array(ReviewScore, 'must be a list of scores')
      .max(MAX_QUEUE_SCORES, `must be at most ${MAX_QUEUE_SCORES} scores`)
      .refine((scores) => new Set(scores.map(({ name }) => name)).size === scores.length, 'must not name a score twice')
      .default([])
      .meta({ description: "Values of the queue's scores." }),
    correction: AnyJson.optional().meta({
      override: { description: 'What the output should have been: `expected` of an example of `dataset`. Any JSON.' },
    }),
    dataset: DatasetName.optional().meta({ description: 'Where the correction becomes an example, in a new version.' }),
  })
  .check(({ value, issues }) => {
    if (value.correction !== undefined && value.dataset === undefined)
      issues.push({ code: 'custom', message: 'is required with a correction', input: value, path: ['dataset'] });
    if (value.correction === undefined && value.dataset !== undefined)
      issues.push({ code: 'custom', message: 'is required with a dataset', input: value, path: ['correction'] });
    if (value.correction === undefined && value.scores.length === 0)
      issues.push({ code: 'custom', message: 'Give at least one score or a correction.', input: value, path: [] });
  })
  .meta({ id: 'CompleteQueueItem' });

export const Interval = z.object({ lower: z.number(), upper: z.number() }).nullable();

export const Measure = z
  .object({
    name: z.enum([
      'cohen_kappa',
      'weighted_kappa_linear',
      'weighted_kappa_quadratic',
      'spearman_rho',
      'krippendorff_alpha',
    ]),
    value: z.number().nullable().meta({ description: '1: perfect; 0: as by chance. Null: it is not defined.' }),
    interval: Interval.meta({ description: 'Of 95 %.' }),
  })
  .meta({ id: 'AgreementMeasure' });

const Share = z.number().nullable();

export const QueueAgreement = z
  .object({
    scores: z.array(
      z.object({
        name: z.string(),
        data_type: z.enum(['numeric', 'boolean', 'categorical']),
        items: Count.meta({ description: 'That at least two reviewers have scored.' }),
        same: Share.meta({ description: 'The share of them on which all say the same.' }),
        measure: Measure,
        pairs: z
          .array(z.object({ reviewers: z.array(z.string()), items: Count, measure: Measure }))
          .meta({ description: 'The 20 pairs with the most items.' }),
      }),
    ),
  })
  .meta({ id: 'QueueAgreement' });
