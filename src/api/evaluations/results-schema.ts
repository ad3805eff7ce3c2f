import { z } from 'zod';
import { RESULT_STATUSES } from '../../db/entities/evaluation.ts';
import { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import { AnyJson } from '../../domain/text/json-object.ts';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { Flag, pathId, storableString, Variables, Warnings, wholeNumber } from '../../http/fields.ts';
import { PageQuery, pageOf, sortField } from '../../http/pagination.ts';
import { MAX_SORTED, RESULT_SORTS, SUMMED_RESULTS } from '../../services/evaluations/results/results.ts';
import { SHOWN_SCORES } from '../../services/scores/scores.ts';
import { Score } from '../scores/schema.ts';

/** A score bound in a query. */
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

/** A filter by example metadata. */
export const MetadataQuery = {
  metadata_key: storableString()
    .min(1, 'must not be empty')
    .max(200, 'must be at most 200 characters')
    .optional()
    .meta({
      description:
        'With `metadata_value`: only examples whose metadata has this value. Matches nothing after the dataset is deleted.',
      example: 'topic',
    }),
  metadata_value: storableString().max(1000, 'must be at most 1,000 characters').optional().meta({
    description: 'As text: `true`, `3`, or the string itself.',
    example: 'billing',
  }),
};

type Metadata = { metadata_key?: string | undefined; metadata_value?: string | undefined };

/** For `refine`: each is useless without the other. */
export const metadataGoesTogether: [(query: Metadata) => boolean, { message: string; path: string[] }] = [
  ({ metadata_key: key, metadata_value: value }) => (key === undefined) === (value === undefined),
  { message: 'must be given together with metadata_key', path: ['metadata_value'] },
];

export const toMetadata = ({ metadata_key: key, metadata_value: value }: Metadata) =>
  key === undefined || value === undefined ? undefined : { key, value };

const FILTERS = {
  regression: Flag.meta({ description: 'Only examples that got worse.' }),
  improvement: Flag.meta({ description: 'Only examples that got better.' }),
  failed: Flag.meta({ description: 'Only failed examples: those without a response from the model or a judge.' }),
  example_id: storableString().max(200, 'must be at most 200 characters').optional().meta({
    description: 'Only this example. Identical examples without an id share one.',
  }),
  min_score: scoreBound('Only examples with at least this score. Failed examples score 0 once the run has ended.'),
  max_score: scoreBound('Only examples with at most this score. Failed examples score 0 once the run has ended.'),
  evaluator: storableString().max(200, 'must be at most 200 characters').optional().meta({
    description:
      'The evaluator whose score `min_score`, `max_score` and sorting by score use; failed examples have none. Default: the score of the example.',
  }),
  q: storableString()
    .min(1, 'must not be empty: omit it for all results')
    .max(200, 'must be at most 200 characters')
    .optional()
    .meta({
      description:
        "Only examples that contain this text (case-insensitive) in the output, the expected value, the example's id, or a value of its variables.",
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
    `Sorts by this field instead of example order, for runs of at most ${MAX_SORTED.toLocaleString('en-US')} examples; a minus sorts descending. Missing values count as the lowest. \`change\`: the score minus the baseline score.`,
  ),
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .default('json')
    .meta({ description: '`csv`: all results, streamed.' }),
});
export const ResultsQuery = Results.refine(isRange, RANGE)
  .refine(
    ({ evaluator, min_score, max_score, sort }) =>
      evaluator === undefined || /^-?score$/.test(sort ?? '') || (min_score ?? max_score) !== undefined,
    { message: 'requires min_score, max_score or sorting by score', path: ['evaluator'] },
  )
  .refine(({ sort, format }) => sort === undefined || format === 'json', {
    message: 'is supported only for JSON: a CSV keeps the order of the examples',
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
    results: z.int().meta({ description: 'The number of results that match the filters.' }),
    failed: z.int(),
    scored: z.int().meta({
      description: 'The number of results with a score (of `evaluator`, if given). Failed examples score 0.',
    }),
    unscored: z
      .int()
      .optional()
      .meta({ description: 'The number of results without a score, because an evaluator gave none.' }),
    passed: z.int().meta({
      description: "The number of results that reach the run's `example_threshold`, or its `threshold` if it has none.",
    }),
    score: z.number().nullable().meta({ description: 'The mean of the scores.' }),
    histogram: z
      .array(z.int())
      .meta({ description: 'The number of scores in each tenth from 0 to 1; a score of 1 is in the last.' }),
    by_evaluator: z
      .record(z.string(), z.number().nullable())
      .meta({ description: 'The mean score of each evaluator. An example that failed counts 0.' }),
    unscored_by_evaluator: z
      .record(z.string(), z.int())
      .optional()
      .meta({ description: 'The number of examples that each evaluator could not score.' }),
    tokens: z.int(),
    tokens_unknown_calls: z.int().optional().meta({
      description: 'The number of calls that `tokens` leaves out, because the provider has not reported their usage.',
    }),
    cost: CostAmount.meta({ description: 'Excludes calls of unknown price and judges.' }),
    latency: z.object({ p50_ms: z.int().nullable(), p95_ms: z.int().nullable() }),
    complete: z.boolean().meta({
      description: `False if only the first results were examined: at most ${SUMMED_RESULTS.toLocaleString('en-US')}, or with \`q\` at most 64 MiB.`,
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
    tool_calls: z
      .array(ToolCall)
      .meta({ description: 'The tool calls that the model requested. The service never runs tools.' }),
    model: z.string().nullable().meta({
      description:
        "The model that responded, or the last one that failed: the run's model or one of its fallback models.",
    }),
    reused_from: z.string().nullable().meta({
      description: 'The execution or evaluation that paid for the output, if it was reused.',
    }),
    finish_reason: z.string().nullable(),
    score: z.number().nullable(),
    scores: z
      .record(
        z.string(),
        z.object({
          score: z.number(),
          reason: z.string().nullable(),
          category: z
            .exactOptional(z.string())
            .meta({ description: 'The category that the judge gave, if it gives categories.' }),
        }),
      )
      .nullable(),
    unscored: z
      .record(z.string(), z.object({ reason: z.string().nullable() }))
      .optional()
      .meta({
        description:
          'Evaluators that gave no score, and why. The example then has no score and is left out of the means.',
      }),
    stored_scores: z
      .array(Score)
      .optional()
      .meta({
        description: `The newest ${SHOWN_SCORES} scores stored with \`POST /scores\`. Only when a single result is read.`,
      }),
    baseline_score: z.number().nullable(),
    regression: z.boolean().nullable(),
    improvement: z.boolean().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    attempts: z.int(),
    tokens: TokenUsage,
    tokens_unknown: z.boolean().optional().meta({
      description: 'True if a provider has not reported what a call used: `tokens` leaves that call out.',
    }),
    skipped: z
      .array(z.string())
      .optional()
      .meta({
        description: 'Kinds of parts and events of the response that the service does not know. They were left out.',
        example: ['part audio'],
      }),
    warnings: Warnings.optional().meta({
      description: 'Parts of the request that were changed or left out because the provider does not support them.',
    }),
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
          "The text of a template, sent as one user message, or the messages. Null if the example's variables do not fill the prompt and nothing was sent.",
      }),
  })
  .meta({ id: 'EvaluationInput' });

export const ResultPage = pageOf(Result).meta({ id: 'EvaluationResultPage' });
