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
import { pathId, publicIdInput, SpanIdInput, storableString, Timestamp, TraceIdInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';
import { DatasetName } from '../datasets/schema.ts';
import { ExecutionFilterBody } from '../executions/filter-schema.ts';
import { Measure } from '../scores/measure.ts';
import { TraceFilterBody } from '../traces/filter-schema.ts';

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
    description: storableString().max(2000, 'must be at most 2000 characters').optional().meta({
      description: 'Instructions for reviewers.',
      example: 'Is the answer correct and kind?',
    }),
    score_names: z
      .array(ScoreName, 'must be a list of names')
      .min(1, 'must name at least one score')
      .max(MAX_QUEUE_SCORES, `must be at most ${MAX_QUEUE_SCORES} names`)
      .refine((names) => new Set(names).size === names.length, 'must not name a score twice')
      .meta({ description: 'The scores that reviewers give.', example: ['helpful'] }),
    filter: ExecutionFilterBody.optional().meta({
      description:
        'From now on, matching executions are added automatically once they end or get a score. Default `status`: completed. If omitted, none are added.',
    }),
    trace_filter: TraceFilterBody.optional().meta({
      description: 'The same for traces: they are added when they settle or get a score. If omitted, none are.',
    }),
    sample_rate: SampleRate.default(1).meta({
      description: 'The share of matching executions and traces to add, chosen by a hash of their ids.',
      example: 0.1,
    }),
    reviewers_per_item: z
      .int(reviewers)
      .min(1, reviewers)
      .max(MAX_REVIEWERS, reviewers)
      .default(1)
      .meta({ description: 'The number of different reviewers per item.' }),
  })
  .refine(({ filter, trace_filter: traces }) => filter === undefined || traces === undefined, {
    message: 'give either filter or trace_filter, not both',
    path: ['trace_filter'],
  })
  .meta({ id: 'PutQueue' });

const Count = z.int();

export const Queue = z
  .object({
    name: shown(QueueName),
    description: z.string().nullable(),
    score_names: z.array(z.string()),
    filter: z.looseObject({}).nullable().meta({ description: 'As given in the request.' }),
    trace_filter: z.looseObject({}).nullable().meta({ description: 'As given in the request.' }),
    sample_rate: shown(z.number()),
    reviewers_per_item: shown(z.int()),
    progress: shown(
      z
        .object({ pending: Count, leased: Count, completed: Count, skipped: Count })
        .meta({ description: 'The number of items in each state.' }),
    ),
    full: shown(z.boolean().meta({ description: 'Whether the queue is full.' })),
    created_at: shown(Timestamp),
    updated_at: shown(Timestamp),
  })
  .meta({ id: 'Queue' });

export const QueuePage = pageOf(Queue).meta({ id: 'QueuePage' });

const ExampleSubject = z.strictObject({
  evaluation_id: publicIdInput('evaluation'),
  example_id: z.string('must be a string').min(1, 'must not be empty').max(300, 'must be at most 300 characters'),
});

const TraceItem = z.strictObject({
  trace_id: TraceIdInput,
  span_id: SpanIdInput.optional().meta({ description: 'Only this step. Omitted: the whole trace.' }),
});

const twoOf = (kind: 'execution' | 'evaluation') =>
  z
    .array(publicIdInput(kind), 'must be two ids')
    .length(2, 'must be two ids')
    .refine(([one, other]) => one !== other, 'must not be the same id twice');

const Pair = z.union([
  z.strictObject({ execution_ids: twoOf('execution') }),
  z.strictObject({ evaluation_ids: twoOf('evaluation'), example_id: ExampleSubject.shape.example_id }),
]);

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
      .meta({ description: 'Evaluation examples that have a score.' }),
    traces: z
      .array(TraceItem, 'must be a list of traces')
      .min(1, 'must not be empty')
      .max(MAX_NAMED_ITEMS, atMost)
      .optional()
      .meta({ description: 'Traces, or steps of traces.' }),
    pairs: z
      .array(Pair, 'must be a list of pairs')
      .min(1, 'must not be empty')
      .max(MAX_NAMED_ITEMS, atMost)
      .optional()
      .meta({
        description:
          'Pairs of completed executions with the same variables, or of two evaluations’ outputs for an example, to be compared. Their outputs must differ.',
      }),
    compared: z
      .strictObject({ evaluation_ids: twoOf('evaluation') })
      .optional()
      .meta({
        description:
          'Adds pairs of the outputs of two evaluations for the same examples, if they differ: a random choice of at most `limit`.',
      }),
    filter: ExecutionFilterBody.optional().meta({
      description: 'Adds the newest matching executions. Default `status`: completed.',
    }),
    trace_filter: TraceFilterBody.optional().meta({ description: 'Adds the newest matching traces that are settled.' }),
    sample_rate: SampleRate.optional().meta({ description: 'With a filter: the share of matches to add. Default: 1.' }),
    limit: z
      .int(limit)
      .min(1, limit)
      .max(MAX_FILTERED_ITEMS, limit)
      .optional()
      .meta({ description: 'With a filter or `compared`: the maximum number to add. Default: 1000.' }),
  })
  .check(({ value, issues }) => {
    const { execution_ids, examples, traces, pairs, compared, filter, trace_filter } = value;
    if ([execution_ids, examples, traces, pairs, compared, filter, trace_filter].every((each) => each === undefined))
      issues.push({
        code: 'custom',
        message: 'Give execution_ids, examples, traces, pairs, compared or a filter.',
        input: value,
        path: [],
      });
    if (filter !== undefined && trace_filter !== undefined)
      issues.push({
        code: 'custom',
        message: 'give either filter or trace_filter, not both',
        input: trace_filter,
        path: ['trace_filter'],
      });
    for (const field of ['sample_rate', 'limit'] as const)
      if (
        value[field] !== undefined &&
        filter === undefined &&
        trace_filter === undefined &&
        (field === 'sample_rate' || compared === undefined)
      )
        issues.push({ code: 'custom', message: 'needs a filter', input: value[field], path: [field] });
  })
  .meta({ id: 'AddQueueItems' });

export const AddedItems = z
  .object({
    added: shown(Count),
    present: shown(Count.meta({ description: 'The number already in the queue.' })),
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
    .meta({ description: 'The example that holds the correction.' }),
});

const Subject = z.object({
  execution_id: z.string().optional(),
  evaluation_id: z.string().optional(),
  example_id: z.string().optional(),
  trace_id: z.string().optional(),
  span_id: z.string().optional(),
});

export const QueueItem = z
  .object({
    id: shown(z.string().meta({ example: 'item_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' })),
    subject: shown(
      Subject.meta({ description: 'An execution, an example of an evaluation, a trace, or a step of one.' }),
    ),
    other: shown(
      Subject.optional().meta({
        description:
          'Only of pairs: the output to compare with that of `subject`. In a response to a reviewer, `subject` is the first and `other` the second in an order that was drawn for them; in lists, `other` is the earlier one.',
      }),
    ),
    state: shown(
      z.enum(ITEM_STATES).meta({
        description: '`skipped`: by a reviewer. Other reviewers may still get the item once nothing else is left.',
      }),
    ),
    completed: shown(Count.meta({ description: 'The number of reviewers who completed the item.' })),
    skipped: shown(Count.meta({ description: 'The number of reviewers who skipped the item.' })),
    reviews: shown(
      z
        .array(Review)
        .meta({ description: 'In lists, up to 20 reviews of all reviewers; otherwise only reviews of the caller.' }),
    ),
    created_at: shown(Timestamp),
    completed_at: shown(Timestamp.nullable()),
  })
  .meta({ id: 'QueueItem' });

export const QueueItemPage = pageOf(QueueItem).meta({ id: 'QueueItemPage' });

export const NextItem = z
  .object({
    item: shown(QueueItem.nullable().meta({ description: 'Null if nothing is left for this reviewer at the moment.' })),
  })
  .meta({ id: 'NextQueueItem' });

/** The value of a score. */
export const ScoreValue = z
  .union([z.number(), z.boolean(), z.string().max(MAX_SCORE_TEXT_LENGTH)], {
    error: `must be a number, true, false or a string of at most ${MAX_SCORE_TEXT_LENGTH} characters`,
  })
  .meta({ description: 'A number, boolean, category or text, as the score is defined.' });

const MAX_COMMENT_LENGTH = 2000;

const ReviewScore = z.strictObject({
  name: ScoreName,
  value: ScoreValue,
  comment: storableString().max(MAX_COMMENT_LENGTH, `must be at most ${MAX_COMMENT_LENGTH} characters`).optional(),
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
      override: {
        description: 'The correct output, stored as the `expected` value of an example in `dataset`. Any JSON.',
      },
    }),
    dataset: DatasetName.optional().meta({
      description: 'The dataset whose new version gets the correction as an example.',
    }),
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

const Share = z.number().nullable();

export const QueueAgreement = z
  .object({
    scores: z.array(
      z.object({
        name: z.string(),
        data_type: z.enum(['numeric', 'boolean', 'categorical']),
        items: Count.meta({ description: 'Items scored by at least two reviewers.' }),
        same: Share.meta({ description: 'The share of those items on which all reviewers agree.' }),
        measure: Measure,
        pairs: z
          .array(z.object({ reviewers: z.array(z.string()), items: Count, measure: Measure }))
          .meta({ description: 'The 20 pairs with the most items.' }),
      }),
    ),
  })
  .meta({ id: 'QueueAgreement' });
