import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import type { ExecutionStatus } from '../../domain/execution-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
import type { ScoreCondition } from '../../domain/scores/score-condition.ts';
import { isInGroup } from '../prompts/list-prompts.ts';

/** Which executions are meant: those that fit everything that is given. JSON as it is, where times are texts: it can be stored and read again. */
export interface ExecutionFilter {
  promptName?: string | undefined;
  /** Prompts whose name begins with this and a `/`. */
  group?: string | undefined;
  status?: ExecutionStatus | undefined;
  model?: string | undefined;
  /** By which the version was asked for. */
  label?: string | undefined;
  /** UUID. */
  release?: string | undefined;
  arm?: Arm | undefined;
  /** Made elsewhere, or here. */
  recorded?: boolean | undefined;
  /** Created at or after this. */
  since?: Date | string | undefined;
  /** Created before this. */
  until?: Date | string | undefined;
  /** All of them hold, each of any score of its name. */
  score?: readonly ScoreCondition[] | undefined;
}

/** The conditions that no index serves, and all that some index does. */
export function splitFilter({ group, label, score = [], ...filter }: ExecutionFilter): {
  indexed: ExecutionFilter;
  examinesMany: boolean;
} {
  const { recorded, arm, ...others } = filter;
  const isRare = recorded === false || (arm !== undefined && filter.release === undefined);
  return {
    indexed: isRare ? others : filter,
    examinesMany: isRare || group !== undefined || label !== undefined || score.length > 0,
  };
}

const timeOf = (time: Date | string | undefined) => (time === undefined ? undefined : new Date(time));

/** The conditions of a filter, on a statement that selects from `executions` under that name. */
export function executionConditions(
  eb: ExpressionBuilder<Tables, 'executions'>,
  { promptName, group, status, model, label, release, arm, recorded, since, until, score = [] }: ExecutionFilter,
): Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = [];
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
          .where(compare(condition)),
      ),
    );
  return conditions;
}

/** Of a score `s`. */
function compare({ operator, number, text }: ScoreCondition): Expression<SqlBool> {
  const [ofScore, written] = [sql.ref('s.number'), sql.ref('s.text')];
  const equals = sql<SqlBool>`coalesce(${ofScore} = ${number}::float8, ${written} = ${text}, false)`;
  if (operator === '=') return equals;
  return operator === '!='
    ? sql<SqlBool>`not ${equals}`
    : sql<SqlBool>`${ofScore} ${sql.raw(operator)} ${number}::float8`;
}
