import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { asJson, prepared } from '../../db/statement.ts';
import { publicId, traceIdOf } from '../../domain/ids.ts';
import type { ScoreSubject } from '../../domain/scores/score-subject.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { ExecutionFilter } from '../executions/filter.ts';
import type { TraceFilter } from '../traces/traces.ts';

/** What a rule scores: an execution or a trace. */
export type RuleSubject = Extract<ScoreSubject, { executionId: string } | { traceId: string }>;

/** The id of a subject by which callers know it. */
export const subjectName = (subject: RuleSubject): string =>
  'traceId' in subject ? traceIdOf(subject.traceId) : publicId('execution', subject.executionId);

/** The reason to score executions or traces: a rule, as they complete, or one of its backfills. */
export interface RuleWork {
  kind: 'rule' | 'backfill';
  /** UUID of the row. */
  id: string;
}

/** What to do with executions or traces, and the budget for it. */
export interface RuleSpec {
  workspaceId: string;
  /** The name of the rule. */
  name: string;
  filter: ExecutionFilter | null;
  /** Set if traces are scored. */
  traceFilter: TraceFilter | null;
  evaluators: EvaluatorConfig[];
  /** The encrypted secrets of the evaluators; null if there are none. */
  evaluatorSecrets: Buffer | null;
  /** US dollars: for a rule per day, for a backfill in total; null: no limit. */
  limitUsd: number | null;
  /** The amount spent of it. */
  spentUsd: number;
  /** The number of executions or traces it was spent on. */
  counted: number;
  /** The UTC day on which it was read, `2026-01-31`. */
  day: string;
  /** Changes when the work has to be done differently. */
  revision: number;
}

const TODAY = sql<string>`to_char(now() at time zone 'UTC', 'YYYY-MM-DD')`;
const SPENT = sql<number>`coalesce(sum(d.spent), 0)::float8`;
const COUNTED = sql<number>`coalesce(sum(d.scored + d.failed), 0)::int`;
/** Columns of both tables. */
const COMMON = ['w.name', 'w.filter', 'w.evaluator_secrets as evaluatorSecrets'] as const;

const LOAD_RULE = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('rules as w')
    .leftJoin('rule_days as d', (join) =>
      join.onRef('d.work_id', '=', 'w.id').on(sql`d.day`, '=', sql`(now() at time zone 'UTC')::date`),
    )
    .select(COMMON)
    .select(['w.workspace_id as workspaceId', 'w.trace_filter as traceFilter', 'w.revision', TODAY.as('day')])
    .select([sql<EvaluatorConfig[]>`w.evaluators`.as('evaluators'), SPENT.as('spentUsd'), COUNTED.as('counted')])
    .select(sql<number | null>`w.max_cost_per_day::float8`.as('limitUsd'))
    .where('w.id', '=', id)
    .where('w.enabled', '=', sql.lit(true))
    .groupBy('w.id'),
);
const LOAD_BACKFILL = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('rule_backfills as w')
    .leftJoin('rule_days as d', 'd.work_id', 'w.id')
    .select(COMMON)
    .select(['w.workspace_id as workspaceId', sql<null>`null`.as('traceFilter')])
    .select([sql<number>`0`.as('revision'), TODAY.as('day')])
    .select([sql<EvaluatorConfig[]>`w.evaluators`.as('evaluators'), SPENT.as('spentUsd'), COUNTED.as('counted')])
    .select(sql<number | null>`w.max_cost::float8`.as('limitUsd'))
    .where('w.id', '=', id)
    .where('w.status', '=', 'running')
    .groupBy('w.id'),
);

/**
 * The work to do; undefined if there is none: the rule is disabled, the backfill is paused or has ended, or it is gone.
 * @param query across workspaces
 */
export async function loadRuleSpec(query: Query, { kind, id }: RuleWork): Promise<RuleSpec | undefined> {
  const [row] = await query(kind === 'rule' ? LOAD_RULE : LOAD_BACKFILL, { id });
  return row as RuleSpec | undefined;
}

const REVISION_OF_RULE = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('rules').select('revision').where('id', '=', id).where('enabled', '=', sql.lit(true)),
);
const REVISION_OF_BACKFILL = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('rule_backfills')
    .select(sql<number>`0`.as('revision'))
    .where('id', '=', id)
    .where('status', '=', 'running'),
);

/** Whether the work is unchanged since it was read. @param query across workspaces */
export async function isUnchanged(query: Query, { kind, id }: RuleWork, { revision }: RuleSpec): Promise<boolean> {
  const [row] = await query(kind === 'rule' ? REVISION_OF_RULE : REVISION_OF_BACKFILL, { id });
  return row?.revision === revision;
}

/** The table of the work. */
export const tableOf = ({ kind }: RuleWork): 'rules' | 'rule_backfills' =>
  kind === 'rule' ? 'rules' : 'rule_backfills';

/**
 * Stores with the work why an execution or trace could not be scored.
 * @param query bound to the workspace
 */
export async function keepLastError(
  query: Query,
  work: RuleWork,
  error: { code: string; message: string },
): Promise<void> {
  await query((db) =>
    db
      .updateTable(tableOf(work))
      .set({ last_error: asJson({ ...error, at: new Date().toISOString() }) })
      .where('id', '=', work.id),
  );
}

/** Called when its workflow has ended: if something is due by now, it is started immediately. @param query across workspaces */
export async function checkSoon(query: Query, work: RuleWork): Promise<void> {
  await query((db) => db.updateTable(tableOf(work)).set({ check_at: sql<Date>`now()` }).where('id', '=', work.id));
}
