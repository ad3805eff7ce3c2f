import { z } from 'zod';
import { TRACE_GAPS } from '../../db/entities/trace.ts';
import { notFound } from '../../domain/errors.ts';
import { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import { STEP_STATUSES, STEP_TYPES } from '../../domain/traces/step.ts';
import { TracePolicy } from '../../domain/traces/trace-policy.ts';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { CreationTime, storableString, Timestamp, wholeNumber } from '../../http/fields.ts';
import { PageQuery, pageOf, sortField } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';
import { SHOWN_SCORES } from '../../services/scores/scores.ts';
import {
  MAX_TRACE_FACET_VALUES,
  SORTED_TRACES,
  TRACE_FACETS,
  TRACE_SORTS,
  type TraceFacet,
} from '../../services/traces/trace-orders.ts';
import { EXAMINED_TRACES } from '../../services/traces/traces.ts';
import { Score } from '../scores/schema.ts';
import { hasPrompt, NEEDS_PROMPT, Text, traceFilterQuery } from './filter-schema.ts';

const TraceId = z.string().meta({
  description: '32 hexadecimal digits, as in OpenTelemetry.',
  example: '5b8efff798038103d269b633813fc60c',
});
const SpanId = z.string().meta({ description: '16 hexadecimal digits.', example: 'eee19b7ec3c1b174' });

/** Only for a single requested record. */
const Scores = z.array(Score).optional();

const TraceCost = z
  .object({
    ...CostAmount.shape,
    unpriced_calls: z
      .int()
      .meta({ description: 'The number of calls whose cost is unknown. `amount` leaves them out.' }),
  })
  .meta({ id: 'TraceCost' });

const Names = z.array(z.string());
const TracePrompt = z.object({ name: z.string(), version: z.int().nullable() }).meta({ id: 'TracePrompt' });

export const Trace = z
  .object({
    id: shown(TraceId),
    name: z.string().nullable(),
    status: shown(
      z
        .enum(STEP_STATUSES)
        .meta({ description: 'The status of its root, or of its first step while the root is missing.' }),
    ),
    settled: shown(
      z.boolean().meta({ description: 'Whether no more steps are expected. Tokens and cost are exact then.' }),
    ),
    started_at: shown(Timestamp),
    ended_at: shown(Timestamp.nullable()),
    duration_ms: shown(z.number().nullable()),
    steps: shown(z.int()),
    calls: shown(z.int().meta({ description: 'The number of model calls: its executions.' })),
    errors: shown(z.int().meta({ description: 'The number of steps that failed.' })),
    tokens: shown(TokenUsage),
    cost: shown(TraceCost),
    models: Names,
    tools: Names,
    agents: Names,
    prompts: z.array(TracePrompt),
    conversation_id: z.string().nullable(),
    user_id: z.string().nullable(),
    service: z.string().nullable(),
    environment: z.string().nullable(),
    tags: Names,
    metadata: z.record(z.string(), z.string()),
    input: z.string().nullable().meta({ description: 'The beginning of the input of the root step.' }),
    output: z.string().nullable().meta({ description: 'The beginning of the output of the root step.' }),
    incomplete: shown(z.array(z.enum(TRACE_GAPS)).meta({ description: 'The parts that are missing.' })),
    scores: Scores.meta({
      description: `The newest ${SHOWN_SCORES} scores of the trace itself, if any. Only in \`GET /traces/{id}\`.`,
    }),
  })
  .meta({ id: 'Trace' });

export const TracePage = pageOf(Trace).meta({ id: 'TracePage' });

const StepTokens = z
  .object({
    input: z.int(),
    output: z.int(),
    cached_input: z.int(),
    cache_write: z.int(),
    reasoning: z.int(),
  })
  .meta({ id: 'StepTokens' });

const step = {
  id: SpanId,
  parent_id: SpanId.nullable(),
  type: z.enum(STEP_TYPES),
  name: z.string(),
  status: z.enum(STEP_STATUSES),
  started_at: Timestamp,
  duration_ms: z.number().nullable().meta({ description: 'Null while it is running.' }),
  tokens: StepTokens.nullable().meta({
    description: 'As reported by the span. A step that contains calls can report their sum.',
  }),
  own_tokens: StepTokens.nullable().meta({ description: '`tokens` without those of the steps below it.' }),
  cost: CostAmount,
  execution_id: z.string().nullable().meta({ description: 'The execution that holds its texts and cost.' }),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  tool: z.string().nullable(),
  agent: z.string().nullable(),
  prompt: TracePrompt.nullable(),
  error: z.object({ type: z.string().nullable(), message: z.string().nullable() }).meta({ id: 'StepError' }).nullable(),
  has_input: z.boolean(),
  has_output: z.boolean(),
  cut: Names.meta({ description: 'Fields that were shortened when they were stored.' }),
};

export const TraceStep = z.object(step).meta({ id: 'TraceStep' });
export const TraceStepPage = pageOf(TraceStep).meta({ id: 'TraceStepPage' });

const Attributes = z.record(z.string(), z.unknown());

export const WholeTraceStep = z
  .object({
    ...step,
    input: z.union([z.string(), z.array(ChatMessage)]).nullable(),
    output: z.string().nullable(),
    tool_calls: z.array(ToolCall),
    parameters: Attributes,
    conversation_id: z.string().nullable(),
    user_id: z.string().nullable(),
    service: z.string().nullable(),
    environment: z.string().nullable(),
    tags: Names,
    metadata: z.record(z.string(), z.string()),
    attributes: Attributes.meta({ description: 'Attributes that no other field holds.' }),
    events: z.array(z.object({ name: z.string(), at: Timestamp, attributes: Attributes }).meta({ id: 'StepEvent' })),
    links: z.array(z.object({ trace_id: TraceId, span_id: SpanId, attributes: Attributes }).meta({ id: 'StepLink' })),
    resource: Attributes,
    scope: z.object({ name: z.string(), version: z.string().nullable() }).meta({ id: 'StepScope' }).nullable(),
    scores: Scores.meta({ description: `The newest ${SHOWN_SCORES} scores of the step, if any.` }),
  })
  .meta({ id: 'WholeTraceStep' });

export const Conversation = z
  .object({
    id: z.string(),
    traces: z.int(),
    started_at: Timestamp,
    last_at: Timestamp,
    user_id: z.string().nullable(),
    calls: z.int(),
    errors: z.int(),
    tokens: TokenUsage,
    cost: TraceCost,
  })
  .meta({ id: 'Conversation' });

export const ConversationPage = pageOf(Conversation).meta({ id: 'ConversationPage' });
export const WholeConversation = z
  .object({
    ...Conversation.shape,
    scores: Scores.meta({ description: `The newest ${SHOWN_SCORES} scores of the conversation, if any.` }),
    ...TracePage.shape,
  })
  .meta({ id: 'WholeConversation', description: 'A conversation with a page of its traces, oldest first, in `data`.' });
export const DeletedUser = z
  .object({ user_id: shown(z.string()), traces: shown(z.int()) })
  .meta({ id: 'DeletedTracesOfUser' });
export const DeletedConversation = z
  .object({ id: shown(z.string()), traces: shown(z.int()) })
  .meta({ id: 'DeletedConversation' });

const TRACE_ID = /^[0-9a-f]{32}$/i;
/** A malformed id is treated as unknown. */
const traceIdParam = z.string().transform((text) => {
  if (!TRACE_ID.test(text)) throw notFound('This trace');
  return text.toLowerCase();
});
export const TraceParams = z.object({ id: traceIdParam });
export const StepParams = z.object({ id: traceIdParam, span_id: z.string().max(100) });
export const ConversationParams = z.object({ name: storableString().min(1).max(200) });

export const FacetsQuery = z.strictObject(traceFilterQuery).refine(hasPrompt, NEEDS_PROMPT);
export const TracesQuery = z
  .strictObject({
    ...traceFilterQuery,
    ...PageQuery,
    sort: sortField(
      TRACE_SORTS,
      `Sorts the newest ${SORTED_TRACES.toLocaleString('en-US')} matches by this field; a minus sorts descending. Missing values count as the lowest.`,
    ),
  })
  .refine(hasPrompt, NEEDS_PROMPT);
export const UserQuery = z.strictObject({ user_id: Text.unwrap() });
export const EXAMINES =
  `With conditions other than name, conversation, user and time, a page examines ${EXAMINED_TRACES.toLocaleString('en-US')} traces, whether or not they ` +
  'match. It may hold fewer than `limit`, or none, and still have a `next_cursor`.';

const FacetValues = z
  .array(z.object({ value: z.string().meta({ description: 'The value to pass to the filter.' }), count: z.int() }))
  .meta({
    id: 'TraceFacetValues',
    description: `The ${MAX_TRACE_FACET_VALUES} values with the most traces.`,
  });
export const TraceFacets = z
  .object({
    facets: z.object(
      Object.fromEntries(TRACE_FACETS.map((name) => [name, FacetValues])) as Record<TraceFacet, typeof FacetValues>,
    ),
    counted: z.int().meta({ description: 'The number of traces counted.' }),
    complete: z.boolean().meta({ description: 'Whether all matches were counted. Otherwise only the newest were.' }),
  })
  .meta({ id: 'TraceFacets' });

export const TracePolicyRecord = z.object(TracePolicy.shape).meta({ id: 'TracePolicy' });

export const StepsQuery = z.strictObject({
  ...PageQuery,
  limit: wholeNumber({ min: 1, max: 10_000, description: 'The maximum number to return.', byDefault: 1000 }).default(
    1000,
  ),
});
export const ConversationsQuery = z.strictObject({ user_id: Text, ...CreationTime, ...PageQuery });
export const TurnsQuery = z.strictObject(PageQuery);
