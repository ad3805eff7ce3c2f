import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { containing, given } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import type { ExecutionStatus } from '../../domain/execution-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
import type { ScoreCondition } from '../../domain/scores/score-condition.ts';
import { isInGroup } from '../prompts/list-prompts.ts';

/** Selects the executions that match every given condition. Plain JSON if times are strings: it can be stored and read again. */
export interface ExecutionFilter {
  promptName?: string | undefined;
  /** Prompts whose name starts with this and a `/`. */
  group?: string | undefined;
  status?: ExecutionStatus | undefined;
  model?: string | undefined;
  /** The label named in the request. */
  label?: string | undefined;
  /** UUID. */
  release?: string | undefined;
  arm?: Arm | undefined;
  /** Whether the run was recorded from elsewhere, or made here. */
  recorded?: boolean | undefined;
  /** Created at or after this time. */
  since?: Date | string | undefined;
  /** Created before this time. */
  until?: Date | string | undefined;
  /** All conditions must hold, each for any score of its name. */
  score?: readonly ScoreCondition[] | undefined;
  /** The version of the prompt. */
  promptVersion?: number | undefined;
  /** The error code of the execution. */
  errorCode?: string | undefined;
  /** US dollars, decimal. Executions with unknown cost do not match. */
  minCost?: string | undefined;
  maxCost?: string | undefined;
  /** Milliseconds from creation to the end. Unfinished executions do not match. */
  minLatencyMs?: number | undefined;
  maxLatencyMs?: number | undefined;
  /** Names and values that its metadata contains. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

/** A filter that is only for reading, and never stored. */
export interface ExecutionSearch extends ExecutionFilter {
  /** Words and phrases that must all occur in its input, output, tool calls or error, ignoring case. */
  terms?: readonly string[] | undefined;
  /** UUID of the trace that has it as a step. */
  traceId?: string | undefined;
  /** UUIDs: the first and the last possible id. */
  ids?: { from: string; to: string } | undefined;
}

/** The conditions with an index, and whether there are others. */
export function splitFilter({
  promptName,
  status,
  model,
  release,
  since,
  until,
  ids,
  recorded,
  arm,
  traceId,
  ...others
}: ExecutionSearch): { indexed: ExecutionSearch; examinesMany: boolean } {
  const indexed = { promptName, status, model, release, since, until, ids, traceId };
  const rest = Object.values(others).some(
    (value) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  const isRare = recorded === false || (arm !== undefined && release === undefined);
  return {
    indexed: isRare ? indexed : { ...indexed, recorded, arm },
    examinesMany: isRare || rest,
  };
}

const timeOf = (time: Date | string | undefined) => (time === undefined ? undefined : new Date(time));

/** The conditions of a filter, for a statement that selects from `executions` under that name. */
export function executionConditions(
  eb: ExpressionBuilder<Tables, 'executions'>,
  filter: ExecutionSearch,
): Expression<SqlBool>[] {
  const { promptName, group, status, model, label, release, arm, recorded, traceId, since, until, score = [] } = filter;
  const conditions: Expression<SqlBool>[] = valueConditions(eb, filter);
  const [from, to] = [timeOf(since), timeOf(until)];
  const ids = idsOfSpan(from, to);
  if (promptName !== undefined) conditions.push(eb('executions.prompt_name', '=', promptName));
  if (group !== undefined) conditions.push(isInGroup('executions.prompt_name', group));
  if (status !== undefined) conditions.push(eb('executions.status', '=', status));
  if (model !== undefined) conditions.push(eb('executions.model', '=', model));
  if (label !== undefined) conditions.push(eb('executions.label', '=', label));
  if (release !== undefined) conditions.push(eb('executions.release_id', '=', release));
  if (arm !== undefined) conditions.push(eb('executions.release_arm', '=', arm));
  if (recorded !== undefined) conditions.push(eb('executions.recorded', '=', recorded));
  if (traceId !== undefined) conditions.push(eb('executions.trace_id', '=', traceId));
  if (from !== undefined) conditions.push(eb('executions.created_at', '>=', from), eb('executions.id', '>=', ids.from));
  if (to !== undefined) conditions.push(eb('executions.created_at', '<', to), eb('executions.id', '<', ids.to));
  for (const condition of score)
    conditions.push(
      eb.exists(
        eb
          .selectFrom('scores as s')
          .select('s.id')
          .whereRef('s.execution_id', '=', 'executions.id')
          .where('s.name', '=', condition.name)
          .where(fitsScore(condition)),
      ),
    );
  return conditions;
}

/** From creation to the end, in milliseconds. */
export const TOTAL_MS = sql<number>`extract(epoch from ${sql.ref('executions.finished_at')} - ${sql.ref('executions.created_at')}) * 1000`;

/** The conditions on the content of an execution. */
function valueConditions(
  eb: ExpressionBuilder<Tables, 'executions'>,
  { promptVersion, errorCode, minCost, maxCost, minLatencyMs, maxLatencyMs, metadata, terms, ids }: ExecutionSearch,
): Expression<SqlBool>[] {
  return [
    ...given(ids, ({ from, to }) => eb.and([eb('executions.id', '>=', from), eb('executions.id', '<=', to)])),
    ...given(promptVersion, (version) => eb('executions.prompt_version', '=', version)),
    ...given(errorCode, (code) => sql<SqlBool>`${sql.ref('executions.error')} ->> 'code' = ${code}`),
    ...given(minCost, (cost) => eb('executions.cost_amount', '>=', cost)),
    ...given(maxCost, (cost) => eb('executions.cost_amount', '<=', cost)),
    ...given(minLatencyMs, (ms) => sql<SqlBool>`${TOTAL_MS} >= ${ms}`),
    ...given(maxLatencyMs, (ms) => sql<SqlBool>`${TOTAL_MS} <= ${ms}`),
    ...given(
      metadata,
      (entries) => sql<SqlBool>`${sql.ref('executions.metadata')} @> ${JSON.stringify(entries)}::jsonb`,
    ),
    ...(terms ?? []).map(hasTerm),
  ];
}

/** Whether a text occurs in the input or the outcome of an execution. Names and types in messages do not count. */
export function hasTerm(term: string): Expression<SqlBool> {
  const pattern = containing(term);
  const column = (name: string) => sql.ref(`executions.${name}`);
  const inJson = (name: string, path: string) =>
    sql`exists (select from jsonb_path_query(${column(name)}, ${sql.lit(path)}) as said where said #>> '{}' ilike ${pattern})`;
  return sql<SqlBool>`(${column('output')} ilike ${pattern} or ${column('input')} ilike ${pattern}
    or ${inJson('input_messages', '$[*].content ? (@.type() == "string")')}
    or ${inJson('input_messages', '$[*].content[*].text ? (@.type() == "string")')}
    or ${inJson('tool_calls', 'strict $.** ? (@.type() == "string")')}
    or ${column('error')} ->> 'message' ilike ${pattern})`;
}

/** Compares a score `s`. */
export function fitsScore({ operator, number, text }: ScoreCondition): Expression<SqlBool> {
  const [ofScore, written] = [sql.ref('s.number'), sql.ref('s.text')];
  const equals = sql<SqlBool>`coalesce(${ofScore} = ${number}::float8, ${written} = ${text}, false)`;
  if (operator === '=') return equals;
  return operator === '!='
    ? sql<SqlBool>`not ${equals}`
    : sql<SqlBool>`${ofScore} ${sql.raw(operator)} ${number}::float8`;
}
