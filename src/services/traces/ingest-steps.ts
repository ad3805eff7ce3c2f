import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { anyOf, arraysOf, now, unnestOf } from '../../db/sql.ts';
import { parsePublicId, traceUuid } from '../../domain/ids.ts';
import { MAX_TRACE_STEPS } from '../../domain/traces/limits.ts';
import type { Step, StepStatus } from '../../domain/traces/step.ts';
import { afterOthers, mapPaced } from '../../lib/event-loop.ts';
import type { Models } from '../../models/model.ts';
import { recordRuns } from '../executions/recording/record-runs.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { findRunsOf, joinRuns } from './join-runs.ts';
import { dayOf, type Partitions } from './partitions.ts';
import { insertSteps, type StepText, textOfStep } from './step-rows.ts';
import { createStepRuns, findNames, findOwn } from './step-runs.ts';
import { storeStepScores } from './step-scores.ts';
import { type Days, sumUpTraces } from './sum-up-traces.ts';

export interface IngestDeps {
  models: Pick<Models, 'priceOf'>;
  quotas: Pick<Quotas, 'check'>;
  partitions: Partitions;
}

const keyOf = ({ traceId, id }: Step) => `${traceId}:${id}`;
const parentKeyOf = ({ traceId, parentId }: Step) => `${traceId}:${parentId ?? ''}`;

/** Each step once, in the order in which all transactions lock rows. If a span repeats, the ended one counts, with the mark of any of them. */
function inOrder(steps: readonly Step[]): Step[] {
  const byKey = new Map<string, Step>();
  for (const step of steps) {
    const key = keyOf(step);
    const known = byKey.get(key);
    const counts = known === undefined || (known.endedAt === null && step.endedAt !== null) ? step : known;
    byKey.set(key, known?.complete || step.complete ? { ...counts, complete: true } : counts);
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, step]) => step);
}

/** Steps with a known model step below them: at any depth in this request, or directly below among stored steps. */
async function findWrappers(query: Query, steps: readonly Step[]): Promise<ReadonlySet<string>> {
  const byKey = new Map(steps.map((step) => [keyOf(step), step]));
  const wrappers = new Set<string>();
  const models = steps.filter(({ type }) => type === 'model');
  for (const model of models)
    for (let at = byKey.get(parentKeyOf(model)); at !== undefined && !wrappers.has(keyOf(at)); ) {
      wrappers.add(keyOf(at));
      at = byKey.get(parentKeyOf(at));
    }
  const open = models.filter((model) => !wrappers.has(keyOf(model)));
  if (open.length === 0) return wrappers;
  const parents = open.map(({ traceId, id }) => ({ trace: traceUuid(traceId), span: id }));
  const given = arraysOf(parents);
  const stored = await query((db) =>
    db
      .selectFrom(unnestOf('given', { trace: ['uuid', given.trace], span: ['text', given.span] }))
      .innerJoin('trace_steps as s', (join) =>
        join.onRef('s.trace_id', '=', 'given.trace').onRef('s.parent_id', '=', 'given.span').on('s.type', '=', 'model'),
      )
      .select(['given.trace', 'given.span'])
      .distinct(),
  );
  for (const { trace, span } of stored) wrappers.add(`${trace.replaceAll('-', '')}:${span}`);
  return wrappers;
}

interface TraceFacts {
  id: string;
  at: Date;
  first: number;
  last: number;
}

/** The id, first start and days of each trace, according to the steps of a request. */
export function tracesOf(steps: readonly Pick<Step, 'traceId' | 'startedAt'>[]): TraceFacts[] {
  const byTrace = Map.groupBy(steps, ({ traceId }) => traceUuid(traceId));
  return [...byTrace].map(([id, own]) => {
    const starts = own.map(({ startedAt }) => startedAt);
    const [first, last] = [Math.min(...starts), Math.max(...starts)];
    return { id, at: new Date(first / 1000), first: dayOf(first), last: dayOf(last) };
  });
}

/** Stores missing traces, and locks all of them. */
export async function lockTraces(query: Query, traces: readonly TraceFacts[]) {
  const { id, at, first, last } = arraysOf(traces);
  return query((db) =>
    db
      .insertInto('traces')
      .columns(['id', 'status', 'started_at', 'first_day', 'last_day', 'settle_at'])
      .expression((eb) =>
        eb
          .selectFrom(
            unnestOf('given', {
              id: ['uuid', id],
              at: ['timestamptz', at],
              first: ['integer', first],
              last: ['integer', last],
            }),
          )
          .select(['id', sql<StepStatus>`'running'`.as('status'), 'at', 'first', 'last', now.as('settle_at')])
          .orderBy('id'),
      )
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'id']).doUpdateSet({
          first_day: sql<number>`least(${sql.ref('traces.first_day')}, ${sql.ref('excluded.first_day')})`,
          last_day: sql<number>`greatest(${sql.ref('traces.last_day')}, ${sql.ref('excluded.last_day')})`,
        }),
      )
      .returning(['id', 'steps', 'first_day', 'last_day']),
  );
}

interface Ready {
  step: Step;
  text: StepText;
  isExecution: boolean;
}

/** Builds the texts of rows. */
function makeReady(steps: readonly Step[], wrappers: ReadonlySet<string>): Promise<Ready[]> {
  const keys = new Set(steps.map(keyOf));
  return mapPaced(steps, (step) => {
    const isExecution = step.type === 'model' && step.endedAt !== null && !wrappers.has(keyOf(step));
    const isTop = !keys.has(parentKeyOf(step));
    return { step, isExecution, text: textOfStep(step, { isExecution, isTop }) };
  });
}

/** Keys of the steps that are already stored with their end. They stay unchanged, even if their executions were taken back or deleted since. */
async function findEnded(query: Query, steps: readonly Step[]): Promise<ReadonlySet<string>> {
  if (steps.length === 0) return new Set();
  const given = arraysOf(
    steps.map(({ traceId, id }) => ({ key: `${traceId}:${id}`, trace: traceUuid(traceId), span: id })),
  );
  const rows = await query((db) =>
    db
      .selectFrom(
        unnestOf('given', { key: ['text', given.key], trace: ['uuid', given.trace], span: ['text', given.span] }),
      )
      .select((eb) => [
        'given.key',
        // A subquery for one value uses the key, also without statistics of a new day.
        eb
          .selectFrom('trace_steps as s')
          .select('s.ended_us')
          .whereRef('s.trace_id', '=', 'given.trace')
          .whereRef('s.span_id', '=', 'given.span')
          .where('s.ended_us', 'is not', null)
          .limit(1)
          .as('ended'),
      ]),
  );
  return new Set(rows.flatMap(({ key, ended }) => (ended === null ? [] : [key])));
}

/** Records the model steps. @returns UUIDs of the executions of all steps, in order */
async function recordSteps(
  deps: IngestDeps,
  query: Query,
  ready: readonly Ready[],
  runs: ReadonlyMap<string, string>,
): Promise<(string | null)[]> {
  const own = ready.map(({ step }) =>
    step.executionId === null ? undefined : parsePublicId('execution', step.executionId),
  );
  const known = await findOwn(
    query,
    own.flatMap((id) => (id === undefined ? [] : [id])),
  );
  const names = await findNames(
    query,
    ready.map(({ step }) => step),
  );
  const executions = ready.map(({ step }, index) => {
    const id = own[index];
    return id !== undefined && known.has(id) ? id : (runs.get(keyOf(step)) ?? null);
  });
  const missing = ready.flatMap(({ step, isExecution }, index) =>
    isExecution && executions[index] === null ? [{ step, index }] : [],
  );
  const ended = await findEnded(
    query,
    missing.map(({ step }) => step),
  );
  const toRecord = missing.filter(({ step }) => !ended.has(keyOf(step)));
  if (toRecord.length === 0) return executions;
  const stepRuns = createStepRuns(deps.models);
  const calls = await mapPaced(toRecord, ({ step }) => stepRuns.runOf(step, names));
  const ids = await recordRuns(deps, query, calls);
  for (const [at, { index }] of toRecord.entries()) executions[index] = ids[at] ?? null;
  return executions;
}

/** Leaves out new steps of traces that have reached their limit. */
async function withinLimits(query: Query, ready: readonly Ready[], traces: readonly { id: string; steps: number }[]) {
  const left = new Map(traces.map(({ id, steps }) => [id, MAX_TRACE_STEPS - steps]));
  const more = Map.groupBy(ready, ({ step }) => traceUuid(step.traceId));
  const full = [...more].flatMap(([id, own]) => (own.length > (left.get(id) ?? 0) ? [id] : []));
  if (full.length === 0) return { kept: ready, over: [] };
  const rows = await query((db) =>
    db.selectFrom('trace_steps').select(['trace_id', 'span_id']).where('trace_id', '=', anyOf(full)),
  );
  const stored = new Set(rows.map((row) => `${row.trace_id}:${row.span_id}`));
  const over = new Set<string>();
  const kept = ready.filter(({ step }) => {
    const id = traceUuid(step.traceId);
    if (stored.has(`${id}:${step.id}`)) return true;
    const room = left.get(id) ?? 0;
    left.set(id, room - 1);
    if (room <= 0) over.add(id);
    return room > 0;
  });
  return { kept, over: [...over] };
}

/**
 * Stores steps, with the model steps as recorded executions, in one transaction: all or none. Stored steps stay unchanged, except that a running
 * one is replaced by its end. Then stores the scores that they report.
 * @returns why scores were left out
 * @throws ApiError `quota_exceeded`
 */
export async function ingestSteps(deps: IngestDeps, db: WorkspaceDatabase, given: readonly Step[]): Promise<string[]> {
  if (given.length === 0) return [];
  await deps.quotas.check(db.query, 'executionBytes');
  const steps = inOrder(given);
  await afterOthers(Number.POSITIVE_INFINITY);
  const ready = await makeReady(steps, await findWrappers(db.query, steps));
  const traces = tracesOf(steps);
  const store = async (query: Query) => {
    const stored = await lockTraces(query, traces);
    const { kept, over } = await withinLimits(query, ready, stored);
    const uuids = stored.map(({ id }) => id);
    const runs = await findRunsOf(query, uuids);
    const executions = await recordSteps(deps, query, kept, runs);
    await insertSteps(
      query,
      kept.map(({ text }) => text),
      executions,
    );
    if (runs.size > 0) await joinRuns(query, uuids);
    await sumUpTraces(query, uuids, daysOf(stored), over);
  };
  const days = steps.map(({ startedAt }) => dayOf(startedAt));
  await deps.partitions.withDays(days, () => db.transaction(store));
  return storeStepScores(db, steps);
}

/** The range of days of some traces. */
export const daysOf = (rows: readonly { first_day: number; last_day: number }[]): Days => ({
  first: Math.min(...rows.map((row) => row.first_day)),
  last: Math.max(...rows.map((row) => row.last_day)),
});
