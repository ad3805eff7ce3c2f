import { z } from 'zod';
import { RESULT_STATUSES } from '../../db/entities/evaluation.ts';
import { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import { AnyJson } from '../../domain/text/json-object.ts';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { Flag, pathId, saneText, Variables, wholeNumber } from '../../http/fields.ts';
import { PageQuery, pageOf, sortField } from '../../http/pagination.ts';
import { MAX_SORTED, RESULT_SORTS, SUMMED_RESULTS } from '../../services/evaluations/results/results.ts';
import { SHOWN_SCORES } from '../../services/scores/scores.ts';
import { Score } from '../scores/schema.ts';

/** A bound of a score in a query. */
function scoreBound(description: string) {
  const message = 'must be a number from 0 to 1, such as 0.5';
  return z
    .string()
    .regex(/^\d(\.\d{1,20})?(e-\d{1,2})?$/i, { error: message, abort: true })
    .transform(Number)
    .refine((value) => value <= 1, { message, abort: true })
    .optional()
    .meta({
      override({ jsonSchema }) {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, { type: 'number', minimum: 0, maximum: 1, description });
      },
    });
}

export const ResultParams = z.object({
  id: pathId('evaluation'),
  seq: wholeNumber({ min: 0, max: 2_147_483_647, description: 'The `seq` of the result.' }),
});

/** A filter by the examples' metadata. */
export const MetadataQuery = {
  metadata_key: saneText().min(1, 'must not be empty').max(200, 'must be at most 200 characters').optional().meta({
    description:
      "With `metadata_value`: only examples whose metadata has this value. None once the run's dataset was deleted.",
    example: 'topic',
  }),
  metadata_value: saneText().max(1000, 'must be at most 1,000 characters').optional().meta({
    description: 'As text: `true`, `3`, or what the text says.',
    example: 'billing',
  }),
};

type Metadata = { metadata_key?: string | undefined; metadata_value?: string | undefined };

/** For `refine`: one without the other says nothing. */
export const metadataGoesTogether: [(query: Metadata) => boolean, { message: string; path: string[] }] = [
  ({ metadata_key: key, metadata_value: value }) => (key === undefined) === (value === undefined),
  { message: 'goes together with metadata_key: give both, or neither', path: ['metadata_value'] },
];

export const toMetadata = ({ metadata_key: key, metadata_value: value }: Metadata) =>
  key === undefined || value === undefined ? undefined : { key, value };

const FILTERS = {
  regression: Flag.meta({ description: 'Only examples that got worse.' }),
  improvement: Flag.meta({ description: 'Only examples that got better.' }),
  failed: Flag.meta({ description: 'Only examples that failed: without a response of the model or of a judge.' }),
  example_id: saneText().max(200, 'must be at most 200 characters').optional().meta({
    description: 'Only this example. Several have the same one where they are equal and were given none.',
  }),
  min_score: scoreBound('Only examples that score this or more. One that failed scores 0 when the run has ended.'),
  max_score: scoreBound('Only examples that score this or less. One that failed scores 0 when the run has ended.'),
  evaluator: saneText().max(200, 'must be at most 200 characters').optional().meta({
    description:
      'Whose score `min_score`, `max_score` and sorting by score are about; one that failed has none. Default: the score of the example.',
  }),
  q: saneText()
    .min(1, 'must not be empty: leave it out for all results')
    .max(200, 'must be at most 200 characters')
    .optional()
    .meta({
      description:
        "Only examples with this, in any case, in the output, in what is expected, in the example's id, or in a value of its variables.",
    }),
  ...MetadataQuery,
};

const isRange = ({
  min_score = 0,
  max_score = 1,
}: {
  min_score?: number | undefined;
  max_score?: number | undefined;
}) => min_score <= max_score;
const RANGE = { message: 'must be at least min_score', path: ['max_score'] };

const Results = z.strictObject({
  ...PageQuery,
  ...FILTERS,
  sort: sortField(
    RESULT_SORTS,
    `In this order instead of that of the examples, of runs of at most ${MAX_SORTED.toLocaleString('en-US')} examples; with a minus the greatest come first. What has no value counts less than anything. \`change\`: the score less that of the baseline.`,
  ),
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .default('json')
    .meta({ description: '`csv`: all of them, streamed.' }),
});
export const ResultsQuery = Results.refine(isRange, RANGE)
  .refine(
    ({ evaluator, min_score, max_score, sort }) =>
      evaluator === undefined || /^-?score$/.test(sort ?? '') || (min_score ?? max_score) !== undefined,
    { message: 'says whose score is meant: give min_score or max_score, or sort by score', path: ['evaluator'] },
  )
  .refine(({ sort, format }) => sort === undefined || format === 'json', {
    message: 'is for JSON alone: a CSV has the order of the examples',
    path: ['sort'],
  })
  .refine(...metadataGoesTogether);

export const SummaryQuery = z
  .strictObject(FILTERS)
  .refine(isRange, RANGE)
  .refine(...metadataGoesTogether);

/** The response of `GET /evaluations/{id}/results/summary`. */
export const ResultsSummary = z
  .object({
    results: z.int().meta({ description: 'How many the filters let through.' }),
    failed: z.int(),
    scored: z.int().meta({
      description: 'How many have a score: that of `evaluator` where it is given. One that failed scores 0.',
    }),
    unscored: z.int().optional().meta({ description: 'How many have none, since an evaluator has given none.' }),
    passed: z.int().meta({
      description: "How many of those reach the run's `example_threshold`, or its `threshold` where it has none.",
    }),
    score: z.number().nullable().meta({ description: 'Their mean.' }),
    histogram: z
      .array(z.int())
      .meta({ description: 'How many scores are in each tenth from 0 to 1; a score of 1 is in the last.' }),
    by_evaluator: z
      .record(z.string(), z.number().nullable())
      .meta({ description: 'The mean score of each evaluator. An example that failed counts 0.' }),
    unscored_by_evaluator: z
      .record(z.string(), z.int())
      .optional()
      .meta({ description: 'How many examples each evaluator has given no score.' }),
    tokens: z.int(),
    cost: CostAmount.meta({ description: 'Without calls whose price is not known, and without judges.' }),
    latency: z.object({ p50_ms: z.int().nullable(), p95_ms: z.int().nullable() }),
    complete: z.boolean().meta({
      description: `False: only the first results were gone through, ${SUMMED_RESULTS.toLocaleString('en-US')} at most, or with \`q\` those of 64 MiB.`,
    }),
  })
  .meta({ id: 'EvaluationResultsSummary' });

export const Result = z
  .object({
    seq: z.int(),
    example_id: z.string(),
    status: z.enum(RESULT_STATUSES),
    variables: Variables,
    expected: AnyJson,
    output: z.string().nullable(),
    tool_calls: z.array(ToolCall).meta({ description: 'The tools that the model asks for. The service runs none.' }),
    model: z.string().nullable().meta({
      description: "The model that responded, or that failed last: the run's, or one of its fallback models.",
    }),
    reused_from: z.string().nullable().meta({
      description: 'The execution or evaluation that paid for the output, where it was reused.',
    }),
    finish_reason: z.string().nullable(),
    score: z.number().nullable(),
    scores: z.record(z.string(), z.object({ score: z.number(), reason: z.string().nullable() })).nullable(),
    unscored: z
      .record(z.string(), z.object({ reason: z.string().nullable() }))
      .optional()
      .meta({
        description:
          'Evaluators that have given no score, and why. The example then has no score, and counts in no mean.',
      }),
    stored_scores: z
      .array(Score)
      .optional()
      .meta({ description: `The newest ${SHOWN_SCORES} of \`POST /scores\`. Only where one result is read.` }),
    baseline_score: z.number().nullable(),
    regression: z.boolean().nullable(),
    improvement: z.boolean().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    attempts: z.int(),
    tokens: TokenUsage,
    cost: CostAmount,
    model_ms: z.int().nullable(),
  })
  .meta({ id: 'EvaluationResult' });

export const ExampleInput = z
  .object({
    input: z
      .union([z.string(), z.array(ChatMessage)])
      .nullable()
      .meta({
        description:
          "The text of a template, which is sent as one user message, or messages. Null where the example's variables don't fill the prompt: nothing was sent.",
      }),
  })
  .meta({ id: 'EvaluationInput' });

export const ResultPage = pageOf(Result).meta({ id: 'EvaluationResultPage' });
