import { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { ARMS } from '../../domain/releases/rollout.ts';
import { showScoreCondition } from '../../domain/scores/score-condition.ts';
import { MAX_TRACE_STEPS } from '../../domain/traces/limits.ts';
import { STEP_STATUSES } from '../../domain/traces/step.ts';
import {
  CreationTime,
  Flag,
  Name,
  publicIdInput,
  storableString,
  VersionNumber,
  wholeNumber,
} from '../../http/fields.ts';
import { toCamel, toSnake } from '../../lib/field-names.ts';
import type { TraceFilter } from '../../services/traces/traces.ts';
import { ExecutionFilterBody, executionFilterQuery } from '../executions/filter-schema.ts';

export const Text = storableString().min(1, 'must not be empty').max(200, 'must be at most 200 characters').optional();
const COST = 'US dollars. Traces of unknown cost do not match.';
const LATENCY = 'Milliseconds from the first start to the last end. Running traces do not match.';
const SCORE = 'Conditions on scores of the trace or of its steps, such as `helpful=false`.';
const METADATA = 'Metadata that the trace must include';
const STEPS = 'The minimum number of steps.';
const ERRORS = 'The minimum number of failed steps.';

/** For a filter with a version, which is one of a prompt. */
export const hasPrompt = (filter: { prompt_name?: string | undefined; prompt_version?: number | undefined }) =>
  filter.prompt_version === undefined || filter.prompt_name !== undefined;
export const NEEDS_PROMPT = { message: 'needs a prompt_name', path: ['prompt_version'] };

/** Conditions that a query string and a body write alike. */
const fields = {
  name: Text,
  status: z.enum(STEP_STATUSES, `must be one of ${STEP_STATUSES.join(', ')}`).optional(),
  user_id: Text,
  prompt_name: Name.optional(),
  group: executionFilterQuery.group,
  release: publicIdInput('release')
    .optional()
    .meta({ description: 'Only traces with executions whose version this release chose.' }),
  arm: z.enum(ARMS, 'must be stable or candidate').optional().meta({ description: 'The arm of these executions.' }),
  model: Text,
  tool: Text,
  agent: Text,
  tag: Text,
  service: Text,
  environment: Text,
};

const { min_cost, max_cost, min_latency_ms, max_latency_ms, metadata, score, q } = executionFilterQuery;

/** The filter for traces, as fields of a query string. */
export const traceFilterQuery = {
  ...fields,
  conversation_id: Text,
  prompt_version: VersionNumber.optional().meta({
    description: 'Only this version of the prompt. Requires `prompt_name`.',
  }),
  min_steps: wholeNumber({ min: 0, max: MAX_TRACE_STEPS, description: STEPS }).optional(),
  min_errors: wholeNumber({ min: 0, max: MAX_TRACE_STEPS, description: ERRORS }).optional(),
  settled: Flag.meta({ description: 'Only settled traces, or (`false`) only traces that expect more steps.' }),
  min_cost: min_cost.meta({ description: COST, example: '0.05' }),
  max_cost: max_cost.meta({ description: `${COST} Inclusive.`, example: '1' }),
  min_latency_ms: min_latency_ms.meta({ description: LATENCY }),
  max_latency_ms: max_latency_ms.meta({ description: `${LATENCY} Inclusive.` }),
  score: score.meta({ description: `${SCORE} May be repeated; all must hold.` }),
  metadata: metadata.meta({ description: `${METADATA}: \`NAME=VALUE\`. May be repeated.` }),
  q: q.meta({
    description:
      'Words and quoted phrases that must all occur in the name, or in the beginnings of input and output (case-insensitive). With an index (`SEARCH_INDEX`), in any text of a step, from the beginning of a word.',
  }),
  ...CreationTime,
};

const inBody = ExecutionFilterBody.shape;
const steps = `must be a whole number from 0 to ${MAX_TRACE_STEPS}`;
const Steps = z.int(steps).min(0, steps).max(MAX_TRACE_STEPS, steps).optional();

/** The filter for settled traces in a body. An empty filter matches all. */
export const TraceFilterBody = z
  .strictObject({
    ...fields,
    prompt_version: inBody.prompt_version.meta({
      description: 'Only this version of the prompt. Requires `prompt_name`.',
    }),
    min_steps: Steps.meta({ description: STEPS }),
    min_errors: Steps.meta({ description: ERRORS }),
    min_cost: inBody.min_cost.meta({ description: COST, example: '0.05' }),
    max_cost: inBody.max_cost.meta({ description: `${COST} Inclusive.`, example: '1' }),
    min_latency_ms: inBody.min_latency_ms.meta({ description: LATENCY }),
    max_latency_ms: inBody.max_latency_ms.meta({ description: `${LATENCY} Inclusive.` }),
    metadata: inBody.metadata.meta({ description: `${METADATA}.` }),
    score: inBody.score.meta({ description: `${SCORE} All must hold.` }),
  })
  .refine(hasPrompt, NEEDS_PROMPT)
  .meta({ id: 'TraceFilter' });

const TraceFilterQuery = z.strictObject(traceFilterQuery);

/** Converts a filter to the form that services use. */
export const toTraceFilter = ({
  q: terms,
  ...filter
}: z.output<typeof TraceFilterQuery> | (z.output<typeof TraceFilterBody> & { q?: undefined })): TraceFilter => ({
  ...toCamel(filter),
  terms,
});

/** Presents a stored filter as the caller sent it. */
export const presentTraceFilter = ({ release, score, ...filter }: TraceFilter): Record<string, unknown> =>
  toSnake(
    { ...filter, release: release && publicId('release', release), score: score?.map(showScoreCondition) },
    Object.keys(TraceFilterBody.shape),
  );
