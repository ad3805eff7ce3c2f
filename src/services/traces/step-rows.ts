import { type Selectable, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { StepContent } from '../../db/entities/trace.ts';
import { inParts, recordset } from '../../db/recordset.ts';
import { prepared } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { traceUuid } from '../../domain/ids.ts';
import { type ChatMessage, textOf } from '../../domain/prompts/messages.ts';
import type { Step } from '../../domain/traces/step.ts';
import { dayOf } from './partitions.ts';

/** Characters of the top step's input and output in lists. */
export const HEAD_CHARS = 2_000;
/** Bytes of a step in addition to its content. */
export const STEP_ROW_BYTES = 512;

/** The columns of `trace_steps` to insert, with their types. */
const TYPES = {
  trace_id: 'uuid',
  span_id: 'text',
  day: 'bigint',
  parent_id: 'text',
  type: 'text',
  name: 'text',
  status: 'text',
  error: 'text',
  error_type: 'text',
  started_us: 'bigint',
  ended_us: 'bigint',
  model: 'text',
  provider: 'text',
  tool: 'text',
  agent: 'text',
  tokens: 'jsonb',
  cost_amount: 'numeric',
  execution_id: 'uuid',
  prompt_name: 'text',
  prompt_version: 'bigint',
  conversation_id: 'text',
  user_id: 'text',
  service: 'text',
  environment: 'text',
  tags: 'text[]',
  metadata: 'jsonb',
  input_head: 'text',
  output_head: 'text',
  has_input: 'boolean',
  has_output: 'boolean',
  cut: 'text[]',
  complete: 'boolean',
  content: 'jsonb',
  bytes: 'bigint',
} satisfies Partial<Record<keyof Tables['trace_steps'], string>>;
type StepRow = Pick<Selectable<Tables['trace_steps']>, keyof typeof TYPES>;
const NAMES = Object.keys(TYPES) as (keyof StepRow)[];
const KEY = ['workspace_id', 'trace_id', 'span_id', 'day'] as const;
const IS_RUNNING = sql<boolean>`${sql.ref('trace_steps.ended_us')} is null`;
const CHANGES = {
  ...Object.fromEntries(
    NAMES.filter((name) => !KEY.some((each) => each === name)).map((name) => [
      name,
      sql`case when ${IS_RUNNING} then ${sql.ref(`excluded.${name}`)} else ${sql.ref(`trace_steps.${name}`)} end`,
    ]),
  ),
  complete: sql<boolean>`${sql.ref('trace_steps.complete')} or ${sql.ref('excluded.complete')}`,
};

/**
 * An ended step stays unchanged; a running one is replaced by its end. The mark that a trace is complete is kept from any report of a step: a
 * recorded run of the same step has none.
 */
const INSERT = prepared<{ rows: Buffer }>()((db, { rows }) =>
  db
    .insertInto('trace_steps')
    .columns(NAMES)
    .expression((eb) =>
      eb.selectFrom(recordset<StepRow>(rows, TYPES)).select(NAMES).orderBy('trace_id').orderBy('span_id'),
    )
    .onConflict((conflict) =>
      conflict
        .columns(KEY)
        .doUpdateSet(CHANGES)
        .where(
          sql<boolean>`(${IS_RUNNING} and ${sql.ref('excluded.ended_us')} is not null)
            or (${sql.ref('excluded.complete')} and not ${sql.ref('trace_steps.complete')})`,
        ),
    ),
);

/** The beginning of the last message from the user, or of another text. */
function headOf(input: string | ChatMessage[] | null): string | null {
  if (input === null || typeof input === 'string') return input?.slice(0, HEAD_CHARS).toWellFormed() ?? null;
  const last = input.findLast(({ role }) => role === 'user') ?? input.at(-1);
  return last === undefined ? null : textOf(last).slice(0, HEAD_CHARS).toWellFormed();
}

const orUndefined = <Value>(value: Value | null) => value ?? undefined;
const unlessEmpty = <Value extends object>(value: Value) => (Object.keys(value).length === 0 ? undefined : value);

/** @param hasTexts whether the step stores its texts */
function contentOf(step: Step, hasTexts: boolean): StepContent {
  const { input, output, toolCalls, parameters, attributes, resource, events, links, scope } = step;
  const texts = hasTexts && {
    input: orUndefined(input),
    output: orUndefined(output),
    toolCalls: unlessEmpty(toolCalls),
  };
  const others = {
    parameters: unlessEmpty(parameters),
    attributes: unlessEmpty(attributes),
    resource: unlessEmpty(resource),
    events: unlessEmpty(events),
    links: unlessEmpty(links),
    scope: orUndefined(scope),
  };
  return { ...texts, ...others };
}

/** A step as part of the JSON text of {@link insertSteps}, without its execution. */
export interface StepText {
  head: string;
  bytes: number;
}

/**
 * @param isExecution whether an execution has its texts
 * @param isTop whether it may be at the top of its trace
 */
export function textOfStep(step: Step, { isExecution, isTop }: { isExecution: boolean; isTop: boolean }): StepText {
  const content = JSON.stringify(contentOf(step, !isExecution));
  const bytes = Buffer.byteLength(content) + STEP_ROW_BYTES;
  const row: Omit<StepRow, 'content' | 'execution_id'> = {
    trace_id: traceUuid(step.traceId),
    span_id: step.id,
    day: dayOf(step.startedAt),
    parent_id: step.parentId,
    type: step.type,
    name: step.name,
    status: step.status,
    error: step.error,
    error_type: step.errorType,
    started_us: step.startedAt,
    ended_us: step.endedAt,
    model: step.model,
    provider: step.provider,
    tool: step.tool,
    agent: step.agent,
    tokens: step.tokens,
    cost_amount: step.cost,
    prompt_name: step.prompt?.name ?? null,
    prompt_version: step.prompt?.version ?? null,
    conversation_id: step.conversationId,
    user_id: step.userId,
    service: step.service,
    environment: step.environment,
    tags: step.tags.length === 0 ? null : step.tags,
    metadata: unlessEmpty(step.metadata) ?? null,
    input_head: isTop ? headOf(step.input) : null,
    output_head: isTop ? headOf(step.output) : null,
    has_input: step.input !== null,
    has_output: step.output !== null || step.toolCalls.length > 0,
    cut: step.cut,
    complete: step.complete,
    bytes,
  };
  return { head: `${JSON.stringify(row).slice(0, -1)},"content":${content}`, bytes };
}

/** Stores new steps, and the ends of running ones. @param executions UUIDs of their executions, in order */
export async function insertSteps(
  query: Query,
  texts: readonly StepText[],
  executions: readonly (string | null)[],
): Promise<void> {
  const rows = texts.map(({ head }, at) => `${head},"execution_id":${JSON.stringify(executions[at] ?? null)}}`);
  for (const part of inParts(rows)) await query(INSERT, { rows: part });
}
