import { z } from 'zod';
import { invalidField } from '../../domain/errors.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { idsOfPrefix, publicId, traceUuid } from '../../domain/ids.ts';
import { Label } from '../../domain/prompts/label.ts';
import { ModelName } from '../../domain/prompts/prompt-version.ts';
import { ARMS } from '../../domain/releases/rollout.ts';
import { MAX_SCORE_CONDITIONS, ScoreConditionText, showScoreCondition } from '../../domain/scores/score-condition.ts';
import { MAX_SEARCH_LENGTH, parseSearchTerms } from '../../domain/text/search-terms.ts';
import {
  BodyVersion,
  CreationTime,
  Flag,
  Metadata,
  Name,
  publicIdInput,
  storableString,
  TraceIdInput,
  VersionNumber,
  wholeNumber,
} from '../../http/fields.ts';
import { toCamel, toSnake } from '../../lib/field-names.ts';
import type { ExecutionFilter, ExecutionSearch } from '../../services/executions/filter.ts';

const MAX_ERROR_CODE = 100;

const CONDITIONS =
  'Conditions on scores that must all hold: `NAME OPERATOR VALUE` with `<`, `<=`, `>`, `>=`, `=` or `!=`.';

/** Score conditions in a body. */
const ScoreConditions = z
  .array(ScoreConditionText, 'must be a list of conditions, such as ["helpful<0.5"]')
  .max(MAX_SCORE_CONDITIONS, `must be at most ${MAX_SCORE_CONDITIONS} conditions`)
  .meta({ description: CONDITIONS, example: ['helpful<0.5', 'topic=billing'] });

/** Score conditions in a query string, where `score` is repeated. */
const RepeatedScore = z
  .preprocess((given) => (typeof given === 'string' ? [given] : given), ScoreConditions)
  .meta({ description: `${CONDITIONS} May be repeated.` });

/** The filter for executions, as fields of a query string. */
export const executionFilterFields = {
  prompt_name: Name.optional(),
  group: Name.optional().meta({
    description: 'Only prompts whose name starts with this and a "/".',
    example: 'support',
  }),
  status: z.enum(executionStates.states, `must be one of ${executionStates.states.join(', ')}`).optional(),
  model: ModelName.optional(),
  label: Label.optional().meta({ description: 'The label that the request named.' }),
  release: publicIdInput('release')
    .optional()
    .meta({ description: 'Only executions whose version this release chose.' }),
  arm: z.enum(ARMS, 'must be stable or candidate').optional().meta({ description: 'The arm of that release.' }),
  error_code: storableString()
    .min(1, 'must not be empty')
    .max(MAX_ERROR_CODE, `must be at most ${MAX_ERROR_CODE} characters`)
    .optional()
    .meta({ description: 'The error code of the execution.', example: 'provider_error' }),
  ...CreationTime,
};

const COST_FORM = 'must be US dollars: a decimal such as 0.05, of at most 9 digits before and 12 after the point';
const CostText = z.string().regex(/^\d{1,9}(\.\d{1,12})?$/, COST_FORM);
/** The filter for cost in a body, which can also be a number. */
const CostInput = z
  .union([CostText, z.number().min(0, COST_FORM).max(999_999_999, COST_FORM)], COST_FORM)
  .transform((cost) => (typeof cost === 'number' ? cost.toFixed(12) : cost));

const MIN_COST = { description: 'US dollars. Executions of unknown cost do not match.', example: '0.05' };
const MAX_COST = { description: 'US dollars, inclusive. Executions of unknown cost do not match.', example: '1' };

const MAX_LATENCY_MS = 9_999_999_999;
const MS_FORM = `must be a whole number of milliseconds from 0 to ${MAX_LATENCY_MS}`;
const Milliseconds = z.int(MS_FORM).min(0, MS_FORM).max(MAX_LATENCY_MS, MS_FORM);
const milliseconds = (description: string) => wholeNumber({ min: 0, max: MAX_LATENCY_MS, description });
const MIN_LATENCY = 'Milliseconds from creation to the end. Unfinished executions do not match.';
const MAX_LATENCY = `${MIN_LATENCY} Inclusive.`;

/** Maximum number of metadata conditions in a filter. */
const MAX_METADATA_CONDITIONS = 10;
const METADATA = 'Metadata that the execution must include';

/** `NAME=VALUE`, repeated for each condition. */
const RepeatedMetadata = z
  .preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    z
      .array(storableString().regex(/^[^=]{1,64}=.{0,512}$/s, 'must be NAME=VALUE, such as customer=acme'))
      .max(MAX_METADATA_CONDITIONS, `must have at most ${MAX_METADATA_CONDITIONS} conditions`),
  )
  .transform((pairs, context) => {
    const entries = pairs.map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    });
    if (new Set(entries.map(([name]) => name)).size < entries.length)
      context.addIssue({ code: 'custom', message: 'has a duplicate name: an execution has one value per name' });
    return Object.fromEntries(entries);
  })
  .meta({
    override: { type: 'array', items: { type: 'string' }, maxItems: MAX_METADATA_CONDITIONS },
    description: `${METADATA}: \`NAME=VALUE\`. May be repeated.`,
    example: ['customer=acme'],
  });

/** The text to search for. */
const SearchText = storableString()
  .max(MAX_SEARCH_LENGTH, `must be at most ${MAX_SEARCH_LENGTH} characters`)
  .transform((text, context) => {
    const terms = parseSearchTerms(text);
    if (typeof terms !== 'string') return terms;
    context.addIssue({ code: 'custom', message: terms });
    return z.NEVER;
  })
  .meta({
    description:
      'Words and quoted phrases that must all occur in the input, output, tool calls or error (case-insensitive). Without an index (`SEARCH_INDEX`), a page ' +
      'searches part of the executions, and may be empty even if there is a next page; with one, words match from their beginning.',
    example: 'refund "order 17"',
  });

/** An execution id or its first characters. */
const IdPrefix = z
  .string()
  .max(100)
  .transform((text, context) => {
    const ids = idsOfPrefix('execution', text);
    if (ids !== undefined) return ids;
    context.addIssue({
      code: 'custom',
      message: 'must be an execution id or its beginning, such as exec_0198f0aa',
    });
    return z.NEVER;
  })
  .meta({ description: 'An execution id, or the beginning of one.', example: 'exec_0198f0aa' });

const RECORDED = 'Only executions recorded by an application, or (`false`) run by the service.';

/** The same in a query string, with `score` and `metadata`, which are repeatable: the route declares it (`REPEATABLE`). */
export const executionFilterQuery = {
  q: SearchText.optional(),
  id: IdPrefix.optional(),
  ...executionFilterFields,
  prompt_version: VersionNumber.optional(),
  min_cost: CostText.optional().meta(MIN_COST),
  max_cost: CostText.optional().meta(MAX_COST),
  min_latency_ms: milliseconds(MIN_LATENCY).optional(),
  max_latency_ms: milliseconds(MAX_LATENCY).optional(),
  metadata: RepeatedMetadata.optional(),
  recorded: Flag.meta({ description: RECORDED }),
  trace_id: TraceIdInput.optional().meta({ description: 'Only the executions of this trace.' }),
  score: RepeatedScore.optional(),
};

/** Query parameters that are repeatable. */
export const REPEATABLE = ['score', 'metadata'];

/** The filter for executions in a body. An empty filter matches all. */
export const ExecutionFilterBody = z
  .strictObject({
    ...executionFilterFields,
    prompt_version: BodyVersion.optional(),
    min_cost: CostInput.optional().meta(MIN_COST),
    max_cost: CostInput.optional().meta(MAX_COST),
    min_latency_ms: Milliseconds.optional().meta({ description: MIN_LATENCY }),
    max_latency_ms: Milliseconds.optional().meta({ description: MAX_LATENCY }),
    metadata: Metadata.optional().meta({ description: `${METADATA}.` }),
    recorded: z.boolean().optional().meta({ description: RECORDED }),
    score: ScoreConditions.optional(),
  })
  .meta({ id: 'ExecutionFilter' });

/** Converts a filter to the form that services use. */
export const toExecutionFilter = (filter: z.output<typeof ExecutionFilterBody>): ExecutionFilter => toCamel(filter);

const SearchQuery = z.strictObject(executionFilterQuery);

/** The same for reading. @param at path of the filter in the request. @throws ApiError `invalid_request` if nothing can match it */
export function toExecutionSearch(
  { q: terms, id: ids, trace_id: traceId, ...filter }: z.output<typeof SearchQuery>,
  at = '',
): ExecutionSearch {
  const search = { ...toExecutionFilter(filter), terms, ids, traceId: traceId && traceUuid(traceId) };
  const { minCost, maxCost, minLatencyMs, maxLatencyMs } = search;
  if (minCost !== undefined && maxCost !== undefined && Number(minCost) > Number(maxCost))
    throw invalidField(`${at}max_cost`, 'must not be less than min_cost');
  if (minLatencyMs !== undefined && maxLatencyMs !== undefined && minLatencyMs > maxLatencyMs)
    throw invalidField(`${at}max_latency_ms`, 'must not be less than min_latency_ms');
  return search;
}

/** Presents a filter as the caller sent it; in stored filters, times can be strings. */
export function presentExecutionFilter({
  release,
  since,
  until,
  score,
  metadata,
  ...filter
}: ExecutionFilter): z.input<typeof ExecutionFilterBody> {
  const time = (given: Date | string | undefined) => given && new Date(given).toISOString();
  const fields = {
    ...filter,
    metadata: metadata && { ...metadata },
    release: release && publicId('release', release),
    since: time(since),
    until: time(until),
    score: score?.map(showScoreCondition),
  };
  return toSnake(fields, Object.keys(ExecutionFilterBody.shape));
}
