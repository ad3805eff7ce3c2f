import type { Query } from '../../db/database.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluation-states.ts';
import { IS_WANTED } from '../acceptance/is-wanted.ts';
import type { RunRef } from './results-store.ts';
import { withdrawUnacceptedEvaluation } from './withdraw-evaluation.ts';

/** What the caller wants of a run, as the workflow needs it. */
export interface RunControl {
  /** `ended`: completed, failed or canceled, or retried since. */
  status: 'scheduled' | 'running' | 'paused' | 'ended';
  /** When it is due, ISO 8601; null: at once. */
  startAt: string | null;
  /** Until it is due. */
  waitMs: number;
  examplesTotal: number;
  concurrency: number;
  maxCostUsd: number | null;
}

const COLUMNS = `case when retries = $2 and ${evaluationStates.in(UNFINISHED_EVALUATION)} then status else 'ended' end as status,
  status = 'scheduled' and not ${IS_WANTED} as unwanted,
  start_at as "startAt", examples_total as "examplesTotal", concurrency, max_cost::float8 as "maxCostUsd",
  greatest(0, ceil(extract(epoch from start_at - now()) * 1000))::float8 as "waitMs"`;
const READ = { text: `select ${COLUMNS} from evaluations where id = $1` };
/** In one statement with the reading, so that no change is taken for told that was not read. */
const READ_NEWS = {
  text: `update evaluations set untold = false where id = $1 and retries = $2 and untold returning ${COLUMNS}`,
};

type ControlRow = Omit<RunControl, 'startAt' | 'waitMs'> & {
  startAt: Date | null;
  waitMs: number | null;
  unwanted: boolean;
};

/**
 * One that no caller was told of in time is withdrawn: its workflow ends, so nobody may be told of it any more.
 * @returns null where the run's row is gone
 */
export async function readRunControl(query: Query, { evaluationId, round }: RunRef): Promise<RunControl | null> {
  for (;;) {
    const [row] = await query<ControlRow>(READ, [evaluationId, round]);
    if (row === undefined) return null;
    const control = controlOf(row);
    if (control !== undefined) return control;
    if (await withdrawUnacceptedEvaluation(query, evaluationId)) return null;
    // A caller was told of it just now.
  }
}

/** The same for the run's workflow, which is told of all changes by it. */
export async function readNewRunControl(query: Query, run: RunRef): Promise<RunControl | null> {
  const [row] = await query<ControlRow>(READ_NEWS, [run.evaluationId, run.round]);
  return (row && controlOf(row)) ?? readRunControl(query, run);
}

function controlOf({ unwanted, startAt, waitMs, ...control }: ControlRow): RunControl | undefined {
  return unwanted ? undefined : { ...control, startAt: startAt?.toISOString() ?? null, waitMs: waitMs ?? 0 };
}

/** The newest completed run of the same prompt over the same examples. */
const PREVIOUS_RUN = `select b.id from evaluations b
  where b.workspace_id = e.workspace_id and b.prompt_name = e.prompt_name and b.status = 'completed' and b.id <> e.id
    and case when e.dataset_name is null then b.examples_hash = e.examples_hash else b.dataset_name = e.dataset_name end
  order by b.finished_at desc, b.id desc limit 1`;

const RUNNING = evaluationStates.change({ to: 'running', from: ['scheduled'] });

/** From `scheduled` to `running`; now is when `previous` is settled. Doing it again changes nothing. */
export async function markRunRunning(query: Query, { evaluationId, round }: RunRef): Promise<void> {
  await query(
    {
      text: `update evaluations e set ${RUNNING.set}, started_at = coalesce(started_at, now()),
               baseline_id = case when baseline_mode = 'previous' then (${PREVIOUS_RUN}) else baseline_id end
             where id = $1 and retries = $2 and ${RUNNING.where} and ${IS_WANTED}`,
    },
    [evaluationId, round],
  );
}

const OUT_OF_BUDGET = evaluationStates.change({ to: 'paused', from: ['running'] });

/** Pauses a run whose budget is used up, unless its cap was raised meanwhile. */
export async function pauseRunForBudget(
  query: Query,
  { evaluationId, round }: RunRef,
  maxCostUsd: number,
): Promise<void> {
  await query(
    {
      text: `update evaluations set ${OUT_OF_BUDGET.set}, status_reason = 'of max_cost, ' || trim_scale(max_cost)
               || ' USD, too little is left for another example: resume with a higher max_cost to go on'
             where id = $1 and retries = $2 and ${OUT_OF_BUDGET.where} and max_cost::float8 <= $3`,
    },
    [evaluationId, round, maxCostUsd],
  );
}

const FAILED = evaluationStates.change({ to: 'failed' });

/** Ends a run that has no hope. What was paid for stays. */
export async function failRun(
  query: Query,
  { evaluationId, round }: RunRef,
  error: { code: string; message: string },
): Promise<void> {
  await query(
    {
      text: `update evaluations set ${FAILED.set}, status_reason = null, error = $3, finished_at = now()
             where id = $1 and retries = $2 and ${FAILED.where}`,
    },
    [evaluationId, round, error],
  );
}
