import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { anyOf, arraysOf, unnestOf } from '../../db/sql.ts';
import type { TraceData } from '../../domain/capabilities/traces.ts';
import { traceIdOf } from '../../domain/ids.ts';
import { isSameUsage, isUsed, type OwnUsage, ownUsage } from '../../domain/traces/own-usage.ts';
import { afterOthers } from '../../lib/event-loop.ts';
import type { Models } from '../../models/model.ts';
import { writeEvent } from '../events/write-event.ts';
import { recordRuns } from '../executions/recording/record-runs.ts';
import { createRunModels, tokenUsage } from '../executions/recording/run-cost.ts';
import { removeTraces } from './delete-traces.ts';
import { daysOf } from './ingest-steps.ts';
import { hasUnfinishedRuns, joinRuns } from './join-runs.ts';
import { createStepRuns, findNames, type RunStep } from './step-runs.ts';
import { pagesOfSteps, stepsOf, type TraceDays } from './steps.ts';
import { sumUpTraces } from './sum-up-traces.ts';
import { type Correction, correct, takeBack } from './take-back.ts';
import { readTracePolicy } from './trace-policy.ts';
import { TRACE_COLUMNS, type TraceRow } from './traces.ts';

export interface SettleDeps {
  models: Pick<Models, 'priceOf'>;
  /** Called in the transaction that settles a trace which is new or has changed since it last settled. @param trace UUID */
  onSettled: (query: Query, trace: string) => Promise<void>;
}

/** Stored steps are counted, whatever the quota. */
const NO_QUOTA = { check: async () => {} };

/** The same as long as no step is added, ends or turns out to have used something else. */
const SETTLED_AS = sql<string>`md5(concat_ws(' ', ${sql.join(
  (
    [
      'steps',
      'bytes',
      'status',
      'errors',
      'started_at',
      'ended_at',
      'tokens_input',
      'tokens_output',
      'cost_amount',
    ] as const
  ).map((column) => sql.ref(`traces.${column}`)),
)}))`;

const IN_A_WHILE = sql<Date>`now() + interval '10 seconds'`;

/** Steps read at a time. */
const READ_AT_ONCE = 2_000;
const COLUMNS = [
  'span_id',
  'day',
  'parent_id',
  'type',
  'ended_us',
  'tokens',
  'own_tokens',
  'cost_amount',
  'execution_id',
] as const;

async function readSteps(query: Query, trace: TraceDays) {
  const steps = [];
  for await (const page of pagesOfSteps(query, trace, COLUMNS, READ_AT_ONCE)) {
    steps.push(...page);
    await afterOthers(Number.POSITIVE_INFINITY);
  }
  return steps;
}

type StoredStep = Awaited<ReturnType<typeof readSteps>>[number];

/** Whether a step is itself a call, or used tokens in addition to the calls below it. */
const isCall = ({ type, ended_us }: StoredStep, { tokens, hasBelow }: OwnUsage) =>
  ended_us !== null && ((type === 'model' && !hasBelow) || ((type === 'model' || type === 'agent') && isUsed(tokens)));

/** Executions recorded from steps. Runs of the service, and runs that were recorded without the trace, stay unchanged. */
async function findRecorded(query: Query, trace: string, steps: readonly StoredStep[]) {
  const ids = steps.flatMap(({ execution_id: id }) => (id === null ? [] : [id]));
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select(['id', 'model', 'step_type', 'tokens_input', 'tokens_output', 'tokens_cached_input', 'tokens_reasoning'])
      .where('id', '=', anyOf(ids))
      .where('recorded', '=', true)
      .where('trace_id', '=', trace),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Records steps that turned out to be calls. */
async function recordCalls(
  deps: Pick<SettleDeps, 'models'>,
  query: Query,
  trace: TraceDays,
  calls: readonly StoredStep[],
  own: ReadonlyMap<string, OwnUsage>,
) {
  if (calls.length === 0) return;
  const rows = await query((db) =>
    stepsOf(db, trace)
      .selectAll()
      .where(
        'span_id',
        'in',
        calls.map(({ span_id: id }) => id),
      ),
  );
  const steps = rows.map((row): RunStep => {
    const { input = null, output = null, toolCalls = [] } = row.content;
    return {
      traceId: traceIdOf(trace.id),
      id: row.span_id,
      parentId: row.parent_id,
      conversationId: row.conversation_id,
      status: row.status,
      error: row.error,
      errorType: row.error_type,
      startedAt: row.started_us,
      endedAt: row.ended_us,
      model: row.model,
      provider: row.provider,
      input,
      output,
      toolCalls,
      tokens: row.tokens,
      cost: row.cost_amount,
      fallbackCost: null,
      prompt: row.prompt_name === null ? null : { name: row.prompt_name, version: row.prompt_version },
      release: null,
      metadata: row.metadata ?? {},
    };
  });
  const names = await findNames(query, steps);
  const stepRuns = createStepRuns(deps.models);
  const ids = await recordRuns(
    { models: deps.models, quotas: NO_QUOTA },
    query,
    steps.map((step) => stepRuns.runOf(step, names, own.get(step.id))),
  );
  const given = arraysOf(rows.map(({ span_id, day }, at) => ({ span: span_id, day, execution: ids[at] ?? null })));
  await query((db) =>
    db
      .updateTable('trace_steps as s')
      .from(
        unnestOf('n', { span: ['text', given.span], day: ['bigint', given.day], execution: ['uuid', given.execution] }),
      )
      .where('s.trace_id', '=', trace.id)
      .whereRef('s.span_id', '=', 'n.span')
      .whereRef('s.day', '=', 'n.day')
      .set((eb) => ({ execution_id: eb.ref('n.execution') })),
  );
}

/** Stores the own usage of steps that contain others. */
async function noteOwn(query: Query, trace: string, steps: readonly StoredStep[], own: ReadonlyMap<string, OwnUsage>) {
  const changed = steps.flatMap(({ span_id: span, day, own_tokens: before, tokens }) => {
    const now = own.get(span);
    if (tokens === null || !now?.hasBelow || (before !== null && isSameUsage(before, now.tokens))) return [];
    return [{ span, day, tokens: JSON.stringify(now.tokens) }];
  });
  if (changed.length === 0) return;
  const given = arraysOf(changed);
  await query((db) =>
    db
      .updateTable('trace_steps as s')
      .from(unnestOf('n', { span: ['text', given.span], day: ['bigint', given.day], tokens: ['jsonb', given.tokens] }))
      .where('s.trace_id', '=', trace)
      .whereRef('s.span_id', '=', 'n.span')
      .whereRef('s.day', '=', 'n.day')
      .set((eb) => ({ own_tokens: eb.ref('n.tokens').$castTo<never>() })),
  );
}

async function hasAiStep(query: Query, trace: TraceDays): Promise<boolean> {
  const [step] = await query((db) =>
    stepsOf(db, trace)
      .select('span_id')
      .where((eb) => eb.or([eb('type', '<>', 'other'), eb('execution_id', 'is not', null)]))
      .limit(1),
  );
  return step !== undefined;
}

/** Corrects the executions of a trace to the own usage of its steps, so that each call counts once. */
async function correctUsage(deps: Pick<SettleDeps, 'models'>, query: Query, trace: TraceDays): Promise<void> {
  const steps = await readSteps(query, trace);
  const own = ownUsage(
    steps.map((row) => ({ id: row.span_id, parentId: row.parent_id, tokens: row.tokens, cost: row.cost_amount })),
  );
  const around = steps.filter((row) => own.get(row.span_id)?.hasBelow === true || row.execution_id === null);
  const recorded = await findRecorded(query, trace.id, around);
  const models = createRunModels(deps.models);
  const wrong: string[] = [];
  const corrections: Correction[] = [];
  const missing: StoredStep[] = [];
  for (const row of around) {
    const used = own.get(row.span_id);
    if (used === undefined) continue;
    const known = row.execution_id === null ? undefined : recorded.get(row.execution_id);
    if (row.execution_id === null && isCall(row, used)) missing.push(row);
    if (known === undefined) continue;
    const { tokens, cost } = used;
    if (!isCall(row, used) && !(known.step_type !== null && isUsed(tokens))) wrong.push(known.id);
    else if (
      tokens !== null &&
      (known.tokens_input !== tokens.input ||
        known.tokens_output !== tokens.output ||
        known.tokens_cached_input !== tokens.cached_input ||
        known.tokens_reasoning !== tokens.reasoning)
    ) {
      const { amount, pricing } = models.cost(known.model, { cost: cost ?? undefined, tokens });
      corrections.push({ id: known.id, tokens: tokenUsage(tokens), cost: amount, pricing });
    }
  }
  await noteOwn(query, trace.id, steps, own);
  await takeBack(query, wrong);
  await correct(query, corrections);
  await recordCalls(deps, query, trace, missing, own);
}

const dataOf = (row: TraceRow): TraceData => ({
  trace_id: traceIdOf(row.id),
  name: row.name,
  status: row.status,
  duration_ms: row.ended_at && row.ended_at.getTime() - row.started_at.getTime(),
  steps: row.steps,
  calls: row.calls,
  errors: row.errors,
  tokens: { input: row.tokens_input, output: row.tokens_output },
  cost: { amount: row.cost_amount, currency: 'USD' },
  conversation_id: row.conversation_id,
  user_id: row.user_id,
  service: row.service,
  environment: row.environment,
});

/**
 * Settles a trace of which no more steps are expected: from then on, each call is counted once. A step that arrives later makes it due again.
 * @param dueAt its `settle_at` as claimed: if that has changed, it is skipped
 * @returns whether it was settled
 */
export async function settleTrace(
  deps: SettleDeps,
  db: WorkspaceDatabase,
  { id, dueAt }: { id: string; dueAt: Date },
): Promise<boolean> {
  return db.transaction(async (query) => {
    const [row] = await query((own) =>
      own
        .selectFrom('traces')
        .select(['first_day', 'last_day', 'completed_at', 'settled_as'])
        .where('id', '=', id)
        .where('settle_at', '=', dueAt)
        // Scores of the trace can be stored at the same time.
        .forNoKeyUpdate(),
    );
    if (row === undefined) return false;
    // Its own runs have no tokens and cost until they finish.
    if (await hasUnfinishedRuns(query, id)) {
      await query((own) => own.updateTable('traces').set({ settle_at: IN_A_WHILE }).where('id', '=', id));
      return false;
    }
    const trace = { id, ...row };
    await joinRuns(query, [id]);
    if ((await readTracePolicy(query)).others !== 'keep' && !(await hasAiStep(query, trace))) {
      await removeTraces(query, [trace]);
      return true;
    }
    await correctUsage(deps, query, trace);
    await sumUpTraces(query, [id], daysOf([trace]));
    const [settled] = await query((own) =>
      own
        .updateTable('traces')
        .set({ settle_at: null, completed_at: sql<Date>`coalesce(completed_at, now())`, settled_as: SETTLED_AS })
        .where('id', '=', id)
        .returning([...TRACE_COLUMNS, 'settled_as']),
    );
    if (settled === undefined) return true;
    if (row.completed_at === null) await writeEvent(query, 'trace.completed', dataOf(settled));
    if (settled.settled_as !== row.settled_as) await deps.onSettled(query, id);
    return true;
  });
}
