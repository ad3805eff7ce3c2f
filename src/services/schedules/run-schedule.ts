import { bindWorkspace, type Database, type Query } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import type { Models } from '../../models/model.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import { createEvaluation, type StoredEvaluation } from '../evaluations/create-evaluation.ts';
import { startEvaluationWorkflow } from '../evaluations/evaluation-workflow.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import type { ScheduleRow } from './schedules.ts';
import { deleteInTemporal } from './temporal-schedule.ts';

export interface RunScheduleDeps {
  db: Database;
  models: Models;
  starter: WorkflowStarter;
  quotas: Quotas;
}

const FIND = {
  text: `select workspace_id, name, request, accepted_at is not null as accepted from schedules where id = $1 for update`,
};
/** The evaluation is null where it was deleted since. */
const FIND_STARTED = {
  text: `select o.evaluation_id, e.prompt_name, e.prompt_version, e.model, e.retries from schedule_occurrences o
         left join evaluations e on e.workspace_id = $1 and e.id = o.evaluation_id
         where o.workspace_id = $1 and o.schedule_id = $2 and o.workflow_id = $3`,
};
const NOTE_STARTED = {
  text: `insert into schedule_occurrences (workspace_id, schedule_id, workflow_id, evaluation_id, created_at)
         values ($1, $2, $3, $4, now())`,
};
const NOTE_ERROR = { text: 'update schedules set last_error = $2 where id = $1' };

type Stored = { evaluation: StoredEvaluation } | { notStarted: 'deleted' | 'not accepted' | 'evaluation deleted' };

/**
 * Starts the evaluation of a schedule that is due.
 * @param workflowId of the workflow that Temporal started for this occurrence; the same one starts one evaluation, however often
 *   this is repeated
 * @returns what happened, in words
 */
export async function runSchedule(deps: RunScheduleDeps, scheduleId: string, workflowId: string): Promise<string> {
  let stored: Stored;
  try {
    stored = await deps.db.system.transaction((query) => storeEvaluation(deps, query, scheduleId, workflowId));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // For the caller to fix: the prompt or the dataset is gone, or the provider has no credentials.
    const lastError = { code: error.code, message: error.message, at: new Date().toISOString() };
    await deps.db.system.query(NOTE_ERROR, [scheduleId, lastError]);
    return `not started: ${error.message}`;
  }
  if ('evaluation' in stored) {
    await startEvaluationWorkflow(deps.starter, stored.evaluation);
    return `started ${publicId('evaluation', stored.evaluation.id)}`;
  }
  switch (stored.notStarted) {
    case 'deleted':
      await deleteInTemporal(deps.starter, scheduleId);
      return 'not started: the schedule was deleted';
    case 'not accepted':
      return 'not started: the creation of this schedule was never confirmed to its caller';
    case 'evaluation deleted':
      return 'not started again: its evaluation was deleted';
  }
}

async function storeEvaluation(
  { models, quotas }: RunScheduleDeps,
  query: Query,
  scheduleId: string,
  workflowId: string,
): Promise<Stored> {
  const [schedule] = await query<Pick<ScheduleRow, 'name' | 'request'> & { workspace_id: string; accepted: boolean }>(
    FIND,
    [scheduleId],
  );
  if (schedule === undefined) return { notStarted: 'deleted' };
  if (!schedule.accepted) return { notStarted: 'not accepted' };
  const { workspace_id: workspaceId, request } = schedule;
  const own = bindWorkspace(query, workspaceId);
  const [started] = await own<{
    evaluation_id: string;
    prompt_name: string | null;
    prompt_version: number;
    model: string;
    retries: number;
  }>(FIND_STARTED, [scheduleId, workflowId]);
  if (started !== undefined) {
    const { evaluation_id: id, prompt_name: promptName, prompt_version: promptVersion, model, retries } = started;
    if (promptName === null) return { notStarted: 'evaluation deleted' };
    return { evaluation: { id, workspaceId, promptName, promptVersion, model, retries } };
  }
  const evaluation = await createEvaluation(own, workspaceId, models, { ...request.parsed, scheduleId });
  await own(NOTE_STARTED, [scheduleId, workflowId, evaluation.id]);
  await query(NOTE_ERROR, [scheduleId, null]);
  await quotas.require(own, 'evaluations');
  return { evaluation };
}
