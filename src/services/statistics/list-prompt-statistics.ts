import { type Expression, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { selectPage } from '../../db/read-page.ts';
import { unnestOf } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { NO_VERSION } from '../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../domain/evaluations/evaluation-states.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import { isInGroup } from '../prompts/list-prompts.ts';
import { sumUsage, type UsageRow } from '../usage/sum-usage.ts';
import { type UsageSpan, usageSpan } from '../usage/usage-span.ts';
import type { StatisticsSpan } from './statistics-span.ts';

/** The maximum number of runs for the latency of a prompt, so that a page of prompts takes milliseconds. */
export const LATENCY_RUNS = 100;

/** The usage of a prompt in a time span, and its latest score. */
export interface PromptStatistics {
  name: string;
  /** Undefined if it was not run. */
  usage: UsageRow | undefined;
  /** The latency of the model's responses to the newest completed runs of the span, at most {@link LATENCY_RUNS}. */
  p50Ms: number | null;
  p95Ms: number | null;
  /** Not limited to the span. */
  lastRunAt: Date | null;
  /** The newest completed evaluation, not limited to the span. */
  lastEvaluation: { id: string; score: number | null } | undefined;
}

/** The latest runs and evaluations, by name; the latency is of the span. */
export function readLatest(query: Query, names: readonly string[], { since, until }: StatisticsSpan) {
  const { from, to } = idsOfSpan(since, until);
  return query((db) =>
    db
      .selectFrom(unnestOf('given', { name: ['text', names] }))
      .leftJoinLateral(
        (eb) =>
          eb
            .selectFrom('evaluations')
            .select(['id', 'score'])
            .whereRef('prompt_name', '=', 'given.name')
            .where('target', '=', 'prompt')
            .where('prompt_version', '<>', NO_VERSION)
            .where('improvement_id', 'is', null)
            .where(inStates(evaluationStates, ['completed']))
            .orderBy('id', 'desc')
            .limit(1)
            .as('evaluation'),
        (join) => join.onTrue(),
      )
      .leftJoinLateral(
        (eb) =>
          eb
            .selectFrom('executions')
            .select('created_at')
            .whereRef('prompt_name', '=', 'given.name')
            .orderBy('id', 'desc')
            .limit(1)
            .as('run'),
        (join) => join.onTrue(),
      )
      .leftJoinLateral(
        (eb) =>
          eb
            .selectFrom(
              eb
                .selectFrom('executions')
                .select('model_ms')
                .whereRef('prompt_name', '=', 'given.name')
                .where(inStates(executionStates, ['completed']))
                .where('id', '>=', from)
                .where('id', '<', to)
                .where('created_at', '>=', since)
                .where('created_at', '<', until)
                .orderBy('id', 'desc')
                .limit(LATENCY_RUNS)
                .as('newest'),
            )
            .select([
              sql<number | null>`percentile_disc(0.5) within group (order by model_ms)`.as('p50_ms'),
              sql<number | null>`percentile_disc(0.95) within group (order by model_ms)`.as('p95_ms'),
            ])
            .as('latency'),
        (join) => join.onTrue(),
      )
      .select(['given.name', 'evaluation.id as evaluation_id', 'evaluation.score', 'run.created_at as last_run_at'])
      .select(['latency.p50_ms', 'latency.p95_ms']),
  );
}

/** Statistics of the workspace's prompts in order of name: a page of at most `limit` after `after`. */
export function listPromptStatistics(
  db: WorkspaceDatabase,
  { group, span, now }: { group: string | undefined; span: StatisticsSpan; now: Date },
  limit: number,
  after: string | undefined,
): Promise<{ rows: PromptStatistics[]; more: boolean; span: UsageSpan }> {
  const summed = usageSpan(span.since, span.until, now);
  return db.heavy.transaction(async (query) => {
    const { rows, more } = await selectPage(
      query,
      {
        select: (own) =>
          own
            .selectFrom('prompts')
            .select('name')
            .where((eb) => {
              const conditions: Expression<SqlBool>[] = [];
              if (group !== undefined) conditions.push(isInGroup('name', group));
              if (after !== undefined) conditions.push(eb('name', '>', after));
              return eb.and(conditions);
            }),
        orderBy: [['name', 'asc']],
        bytes: () => sql<number>`octet_length(name)`,
      },
      limit,
    );
    const names = rows.map(({ name }) => name);
    const usage = new Map(
      (await sumUsage(query, { span: summed, promptNames: names }, ['prompt'])).map((row) => [row.prompt_name, row]),
    );
    const latest = new Map((await readLatest(query, names, summed)).map((row) => [row.name, row]));
    return {
      more,
      span: summed,
      rows: names.map((name): PromptStatistics => {
        const { evaluation_id: id, score = null, last_run_at, p50_ms, p95_ms } = latest.get(name) ?? {};
        return {
          name,
          usage: usage.get(name),
          p50Ms: p50_ms ?? null,
          p95Ms: p95_ms ?? null,
          lastRunAt: last_run_at ?? null,
          lastEvaluation: id === undefined || id === null ? undefined : { id, score },
        };
      }),
    };
  });
}
