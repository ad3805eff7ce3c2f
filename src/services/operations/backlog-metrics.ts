import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import { providerBatchStates, UNFINISHED_PROVIDER_BATCH } from '../../domain/batches/provider-batch-states.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluations/evaluation-states.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import { backfillStates } from '../../domain/rules/backfill-states.ts';
import { isOutOfBudget } from '../budget-reason.ts';
import { cachedReading, READ_TIMEOUT_MS } from './cached-reading.ts';

/** The maximum number of rows that a statement counts; larger numbers are lower bounds. A workspace can queue as many as it likes. */
const MAX_ROWS = 100_000;

/** For each status the number of rows, and how long the oldest has waited, in seconds. */
type ByStatus = { status: string; count: number; age: number }[];

const count = sql<number>`count(*)::int`.as('count');
const age = (since: string) =>
  sql<number>`coalesce(extract(epoch from greatest(now() - min(${sql.ref(since)}), interval '0')), 0)::float8`.as(
    'age',
  );

/** Uses the partial index of unfinished rows, whatever else the table contains. */
const readExecutions = (db: Builder) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('executions')
        .select(['status', 'created_at'])
        .where(inStates(executionStates, UNFINISHED_EXECUTION))
        .orderBy('check_at')
        .limit(MAX_ROWS)
        .as('unfinished'),
    )
    .select(['status', count, age('created_at')])
    .groupBy('status');

/** `age`: of those that are due. An evaluation planned for next week is not waiting. */
const readEvaluations = (db: Builder) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('evaluations')
        .select(['status', 'status_reason'])
        .select(
          sql<Date>`case when coalesce(start_at, created_at) <= now() then coalesce(start_at, created_at) end`.as(
            'due_at',
          ),
        )
        .where(inStates(evaluationStates, UNFINISHED_EVALUATION))
        // The others wait for a program of their caller.
        .where('results_due_at', 'is', null)
        .orderBy('id')
        .limit(MAX_ROWS)
        .as('unfinished'),
    )
    .select(['status', count, age('due_at')])
    .select(sql<number>`(count(*) filter (where ${isOutOfBudget}))::int`.as('out_of_budget'))
    .groupBy('status');

const readBatches = (db: Builder) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('provider_batches')
        .select(['status', 'created_at'])
        .where(inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH))
        .orderBy('check_at')
        .limit(MAX_ROWS)
        .as('unfinished'),
    )
    .select(['status', count, age('created_at')])
    .groupBy('status');

/** Backfills are few, because each is started by a person. */
const readBackfills = (db: Builder) =>
  db
    .selectFrom('rule_backfills')
    .select(sql<number>`count(*)::int`.as('count'))
    .where(inStates(backfillStates, ['paused']))
    .where(isOutOfBudget);

interface Backlog {
  executions: ByStatus;
  evaluations: (ByStatus[number] & { out_of_budget: number })[];
  batches: ByStatus;
  backfills: number;
}

/** The result if nothing can be read: each number is `NaN`. */
const UNKNOWN = undefined;

function createReader({ system }: Database): () => Promise<Backlog | undefined> {
  const read = () =>
    system.transaction(
      async (query): Promise<Backlog> => ({
        executions: await query(readExecutions),
        evaluations: await query(readEvaluations),
        batches: await query(readBatches),
        backfills: (await query(readBackfills))[0]?.count ?? 0,
      }),
      { statementTimeoutMs: READ_TIMEOUT_MS },
    );
  return cachedReading<Backlog | undefined>(read, { unknown: UNKNOWN });
}

/**
 * Registers gauges of unfinished work, read from the database at scrapes: at most every 5 s, from partial indexes, at most
 * 100,000 rows of each. They are `NaN` if that takes longer than 2 s.
 */
export function addBacklogMetrics(registry: Registry, db: Database): void {
  const backlog = createReader(db);
  const registers = [registry];

  function byStatus(
    of: 'executions' | 'evaluations' | 'batches',
    statuses: readonly string[],
    names: { count: { name: string; help: string }; age?: { name: string; help: string; statuses: readonly string[] } },
  ): void {
    const value = async (status: string, measure: 'count' | 'age') => {
      const read = (await backlog())?.[of];
      return read === undefined ? Number.NaN : (read.find((row) => row.status === status)?.[measure] ?? 0);
    };
    new Gauge({
      ...names.count,
      labelNames: ['status'],
      registers,
      async collect() {
        for (const status of statuses) this.set({ status }, await value(status, 'count'));
      },
    });
    if (names.age === undefined) return;
    const { statuses: aged, ...age } = names.age;
    new Gauge({
      ...age,
      labelNames: ['status'],
      registers,
      async collect() {
        for (const status of aged) this.set({ status }, await value(status, 'age'));
      },
    });
  }

  byStatus('executions', UNFINISHED_EXECUTION, {
    count: { name: 'pms_executions_unfinished', help: 'Executions that have not ended, up to 100,000' },
    age: {
      name: 'pms_oldest_execution_age_seconds',
      help: 'Time since the oldest execution that has not ended was created',
      statuses: UNFINISHED_EXECUTION,
    },
  });
  byStatus('evaluations', UNFINISHED_EVALUATION, {
    count: { name: 'pms_evaluations_unfinished', help: 'Evaluations that have not ended' },
    age: {
      name: 'pms_oldest_evaluation_age_seconds',
      help: 'Time since the oldest evaluation that has not ended was due',
      statuses: ['scheduled', 'running'],
    },
  });
  byStatus('batches', UNFINISHED_PROVIDER_BATCH, {
    count: { name: 'pms_provider_batches_unfinished', help: 'Batches at providers that have not ended' },
    age: {
      name: 'pms_oldest_provider_batch_age_seconds',
      help: 'Time since the oldest batch at a provider that has not ended was created',
      statuses: UNFINISHED_PROVIDER_BATCH,
    },
  });
  new Gauge({
    name: 'pms_out_of_budget',
    help: 'Evaluations and backfills that are paused since their max_cost is used up',
    labelNames: ['kind'],
    registers,
    async collect() {
      const read = await backlog();
      const evaluations = read?.evaluations.reduce((sum, row) => sum + row.out_of_budget, 0);
      this.set({ kind: 'evaluation' }, evaluations ?? Number.NaN);
      this.set({ kind: 'backfill' }, read?.backfills ?? Number.NaN);
    },
  });
}
