import { Big } from 'big.js';
import { z } from 'zod';
import { isIdOf, parsePublicId, traceUuid } from '../../domain/ids.ts';
import { Label } from '../../domain/prompts/label.ts';
import { ChatMessage, MAX_MESSAGES, MAX_PARTS, MAX_RENDERED_CHARS, ToolCall } from '../../domain/prompts/messages.ts';
import { ModelName } from '../../domain/prompts/prompt-version.ts';
import { ARMS } from '../../domain/releases/rollout.ts';
import { shortList } from '../../domain/text/json-object.ts';
import { STEP_TYPES } from '../../domain/traces/step.ts';
import {
  BodyVersion,
  Metadata,
  Name,
  publicIdInput,
  SpanIdInput,
  storableString,
  TimestampInput,
  TraceIdInput,
  Variables,
} from '../../http/fields.ts';
import { shown } from '../../http/unread.ts';
import type { RecordedRun } from '../../services/executions/recording/recorded-run.ts';

export const MAX_RECORDS = 1_000;
const DAY_MS = 24 * 60 * 60_000;
const MAX_RUN_DAYS = 7;
const MAX_ERROR_CHARS = 10_000;

const KEY = /^[\x21-\x7e]{1,200}$/;

/** Maximum per kind and run: a caller can record many runs a day, and they are summed. */
const MAX_RECORDED_TOKENS = 100_000_000;

/** Fields that are preprocessed would appear as optional in the documentation. */
const requiring = (id: string, required: string[]) => ({
  id,
  override({ jsonSchema }: { jsonSchema: { required?: string[] | undefined } }) {
    jsonSchema.required = required;
  },
});

const Count = z
  .int('must be a whole number')
  .min(0, 'must not be negative')
  .max(MAX_RECORDED_TOKENS, `must be at most ${MAX_RECORDED_TOKENS}`);

const RecordTokens = z
  .strictObject({
    input: Count,
    output: Count,
    cached_input: Count.default(0).meta({ description: 'Part of `input`.' }),
    reasoning: Count.default(0).meta({ description: 'Part of `output`.' }),
    total: Count.optional().meta({ description: '`input` + `output`.' }),
  })
  .check(({ value, issues }) => {
    // Fields that are invalid on their own are already reported and are not compared.
    if (issues.length > 0) return;
    const wrong = (path: string, message: string) =>
      issues.push({ code: 'custom', path: [path], message, input: value });
    if (value.cached_input > value.input) wrong('cached_input', 'must not exceed input, which includes it');
    if (value.reasoning > value.output) wrong('reasoning', 'must not exceed output, which includes it');
    if (value.total !== undefined && value.total !== value.input + value.output)
      wrong('total', 'must be input + output');
  })
  .meta({ id: 'RecordTokens' });

const COST = 'must be an amount in US dollars from 0 to 1000000000: a number or a decimal string';
const Dollars = z.union(
  [z.number(COST).min(0, COST).max(1e9, COST), z.string(COST).regex(/^(1000000000|\d{1,9})(\.\d{1,20})?$/, COST)],
  COST,
);
const RecordCost = z
  .union(
    [
      Dollars,
      z.strictObject({ amount: Dollars, currency: z.literal('USD', 'must be "USD"').default('USD') }).meta({
        id: 'RecordCostAmount',
      }),
    ],
    COST,
  )
  .transform((cost) => new Big(typeof cost === 'object' ? cost.amount : cost).toFixed())
  .meta({ description: 'US dollars. Default: calculated from `tokens` and the price list.', example: 0.00021 });

const LATENCY = `must be a whole number of milliseconds, at most ${MAX_RUN_DAYS} days`;
const Milliseconds = z
  .int(LATENCY)
  .min(0, LATENCY)
  .max(MAX_RUN_DAYS * DAY_MS, LATENCY);
const RecordLatency = z
  .union([Milliseconds, z.strictObject({ model_ms: Milliseconds }).meta({ id: 'RecordLatencyMs' })], LATENCY)
  .transform((latency) => (typeof latency === 'object' ? latency.model_ms : latency))
  .meta({
    description: 'The response time of the model in milliseconds. Default: `finished_at` − `started_at`.',
    example: 611,
  });

const RecordInput = z
  .union(
    [
      z.string().max(MAX_RENDERED_CHARS, `must be at most ${MAX_RENDERED_CHARS} characters`),
      shortList(ChatMessage, 'messages', { min: 1, max: MAX_MESSAGES }),
    ],
    'must be a string or a list of messages',
  )
  .meta({ description: 'The input sent to the model: a string or messages.' });

const Run = z
  .strictObject({
    id: z
      .string('must be a string')
      .regex(KEY, 'must be 1–200 visible ASCII characters')
      .optional()
      .meta({
        description:
          'Recording the same id again changes nothing. Either an id of your application, or an execution id: `exec_` and a ' +
          'version 7 UUID with the time of `started_at`.',
      }),
    prompt_name: Name.optional(),
    prompt_version: BodyVersion.optional().meta({ description: 'The prompt version that ran. Required with a label.' }),
    label: Label.optional().meta({
      description: 'The label that chose the version. The run counts toward the release on that label.',
    }),
    model: ModelName.meta({ description: '`provider/model`, or with `provider` the name used by that provider.' }),
    provider: z
      .string('must be a string')
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1–64 letters, digits, ".", "_" or "-"')
      .optional()
      .meta({ example: 'openai' }),
    variables: Variables.default({}),
    input: RecordInput,
    output: z
      .string('must be a string or null')
      .max(MAX_RENDERED_CHARS, `must be at most ${MAX_RENDERED_CHARS} characters`)
      .nullable()
      .default(null),
    tool_calls: shortList(ToolCall, 'tool calls', { max: MAX_PARTS }).default([]),
    tokens: RecordTokens.optional(),
    cost: RecordCost.optional(),
    latency: RecordLatency.optional(),
    error: z
      .strictObject({
        code: z.string('must be a string').min(1, 'must not be empty').max(100, 'must be at most 100 characters'),
        message: z.string('must be a string').max(MAX_ERROR_CHARS, `must be at most ${MAX_ERROR_CHARS} characters`),
      })
      .nullable()
      .default(null)
      .meta({ description: 'Set if the run failed. Default: the run completed.' }),
    started_at: TimestampInput,
    finished_at: TimestampInput,
    metadata: Metadata.default({}),
    release: z
      .strictObject({
        id: publicIdInput('release'),
        arm: z.enum(ARMS, 'must be stable or candidate'),
        keyed: z.boolean('must be true or false').default(false),
      })
      .nullable()
      .optional()
      .meta({ description: 'The release that chose the version. The run counts toward its arm.' }),
    trace_id: TraceIdInput.optional().meta({ description: 'The trace that the run is a step of.' }),
    span_id: SpanIdInput.optional().meta({
      description: 'The id of the step. A span with this id is the same call. Default: a new id.',
    }),
    parent_id: SpanIdInput.optional().meta({
      description: 'The parent step. Default: none, so the step is at the top.',
    }),
    conversation_id: storableString()
      .min(1, 'must not be empty')
      .max(200, 'must be at most 200 characters')
      .optional()
      .meta({ description: 'The conversation of which the trace is a turn.' }),
    kind: z
      .enum(STEP_TYPES, `must be one of ${STEP_TYPES.join(', ')}`)
      .optional()
      .meta({ description: 'The type of the step. Default: `model`.' }),
  })
  .check(({ value, issues }) => {
    // Fields that are invalid on their own are already reported and are not compared.
    if (issues.length > 0) return;
    const wrong = (path: string, message: string) =>
      issues.push({ code: 'custom', path: [path], message, input: value });
    const { id, output, tool_calls, error, started_at: started, finished_at: finished } = value;
    for (const field of ['span_id', 'parent_id', 'kind'] as const)
      if (value[field] !== undefined && value.trace_id === undefined) wrong(field, 'needs a trace_id');
    if (finished < started) wrong('finished_at', 'must not be before started_at');
    if (finished.getTime() - started.getTime() > MAX_RUN_DAYS * DAY_MS)
      wrong('finished_at', `must be at most ${MAX_RUN_DAYS} days after started_at`);
    if (output === null && tool_calls.length === 0 && error === null)
      wrong('output', 'is required, unless there are tool_calls or an error');
    if (id?.startsWith('exec_') && !isIdOf(parsePublicId('execution', id) ?? '', started))
      wrong('id', 'must be exec_ and a version 7 UUID with the time of started_at, or not begin with exec_');
  })
  .meta(requiring('RecordedRun', ['model', 'input', 'started_at', 'finished_at']));

export const RecordRuns = z
  .strictObject({
    records: shortList(Run, 'records', { min: 1, max: MAX_RECORDS }),
  })
  .meta(requiring('RecordRuns', ['records']));

export const RecordedRuns = z
  .object({
    ids: shown(z.array(z.string()).meta({ description: 'The ids of the executions, in the order of the records.' })),
  })
  .meta({ id: 'RecordedRuns' });

type RunInput = z.output<typeof Run>;

function idOf(id: string | undefined): RecordedRun['id'] {
  if (id === undefined) return undefined;
  const uuid = parsePublicId('execution', id);
  return uuid === undefined ? { key: id } : { uuid };
}

const traceOf = (id: string, { span_id: spanId, parent_id: parentId, kind }: RunInput): RecordedRun['trace'] => ({
  id: traceUuid(id),
  spanId,
  parentId: parentId === undefined || parentId === spanId ? null : parentId,
  type: kind ?? 'model',
});

/** Converts a record from the body to the form that services use. */
export function toRun(run: RunInput): RecordedRun {
  const { tokens } = run;
  return {
    id: idOf(run.id),
    promptName: run.prompt_name,
    promptVersion: run.prompt_version,
    label: run.label,
    model: run.model,
    provider: run.provider,
    variables: run.variables,
    input: run.input,
    output: run.output,
    toolCalls: run.tool_calls,
    tokens: tokens && {
      input: tokens.input,
      output: tokens.output,
      cached_input: tokens.cached_input,
      reasoning: tokens.reasoning,
    },
    cost: run.cost,
    modelMs: run.latency,
    error: run.error,
    startedAt: run.started_at,
    finishedAt: run.finished_at,
    metadata: run.metadata,
    release: run.release ?? undefined,
    trace: run.trace_id === undefined ? undefined : traceOf(run.trace_id, run),
    conversationId: run.conversation_id,
  };
}
