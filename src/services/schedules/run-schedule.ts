import { ScheduleNotFoundError } from '@temporalio/client';
import { bindWorkspace, type Database, type Query } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import type { Models } from '../../models/model.ts';
import { evaluationScheduleId } from '../../temporal/names.ts';
import { TEMPORAL_DEADLINE_MS, type WorkflowStarter } from '../../temporal/workflows.ts';
import { createEvaluation, type StoredEvaluation } from '../evaluations/create-evaluation.ts';
import { startEvaluationWorkflow } from '../evaluations/evaluation-workflow.ts';
import { getEvaluation } from '../evaluations/evaluations.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import type { ScheduleRow } from './schedules.ts';

export interface RunScheduleDeps {
  db: Database;
  models: Models;
  starter: WorkflowStarter;
  quotas: Quotas;
}

const FIND = {
  text: `select workspace_id, name, request, accepted_at is not null as accepted from schedules where id = $1 for update`,
};
const FIND_STARTED = {
  text: 'select resource_id from idempotency_keys where workspace_id = $1 and key = $2',
};
const NOTE_STARTED = {
  text: `insert into idempotency_keys (workspace_id, id, key, request_hash, resource_id, created_at)
         values ($1, $2, $3, '', $4, now())`,
};
const NOTE_ERROR = { text: 'update schedules set last_error = $2 where id = $1' };

/**
 * Starts the evaluation of a schedule that is due.
 * @param occurrence names this time among all; the same one starts nothing twice
 * @returns what happened, in words
 */
export async function runSchedule(deps: RunScheduleDeps, scheduleId: string, occurrence: string): Promise<string> {
  let stored: StoredEvaluation | 'not accepted' | undefined;
  try {
    stored = await deps.db.system.transaction((query) => storeEvaluation(deps, query, scheduleId, occurrence));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The caller's to mend: the prompt or the dataset is gone, or the provider's credentials.
    const lastError = { code: error.code, message: error.message, at: new Date().toISOString() };
    await deps.db.system.query(NOTE_ERROR, [scheduleId, lastError]);
    return `not started: ${error.message}`;
  }
  if (stored === undefined) {
    await removeFromTemporal(deps.starter, scheduleId);
    return 'not started: the schedule was deleted';
  }
  if (stored === 'not accepted') return 'not started: no caller was told of this schedule';
  await startEvaluationWorkflow(deps.starter, stored);
  return `started ${publicId('evaluation', stored.id)}`;
}

async function storeEvaluation(
  { models, quotas }: RunScheduleDeps,
  query: Query,
  scheduleId: string,
  occurrence: string,
): Promise<StoredEvaluation | 'not accepted' | undefined> {
  const [schedule] = await query<Pick<ScheduleRow, 'name' | 'request'> & { workspace_id: string; accepted: boolean }>(
    FIND,
    [scheduleId],
  );
  if (schedule === undefined) return undefined;
  if (!schedule.accepted) return 'not accepted';
  const { workspace_id: workspaceId, request } = schedule;
  const own = bindWorkspace(query, workspaceId);
  const [started] = await own<{ resource_id: string }>(FIND_STARTED, [occurrence]);
  if (started !== undefined) {
    const row = await getEvaluation(own, started.resource_id);
    const { id, prompt_name: promptName, prompt_version: promptVersion, model, retries } = row;
    return { id, workspaceId, promptName, promptVersion, model, retries };
  }
  const stored = await createEvaluation(own, workspaceId, models, { ...request.parsed, scheduleId });
  await own(NOTE_STARTED, [newId(), occurrence, stored.id]);
  await query(NOTE_ERROR, [scheduleId, null]);
  await quotas.require(own, 'evaluations');
  return stored;
}

async function removeFromTemporal({ client }: WorkflowStarter, scheduleId: string): Promise<void> {
  try {
    await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.schedule.getHandle(evaluationScheduleId(scheduleId)).delete(),
    );
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
