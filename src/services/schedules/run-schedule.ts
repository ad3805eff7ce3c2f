import { bindWorkspace, type Database, type Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson } from '../../db/statement.ts';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import type { Models } from '../../models/model.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import { startEvaluationWorkflow } from '../evaluations/control/evaluation-workflow.ts';
import { createEvaluation, STORED_COLUMNS, type StoredEvaluation } from '../evaluations/creation/create-evaluation.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import type { ScheduledRequest, ScheduleRow } from './schedules.ts';
import { deleteInTemporal } from './temporal-schedule.ts';

export interface RunScheduleDeps {
  db: Database;
  models: Models;
  starter: WorkflowStarter;
  quotas: Quotas;
}

type LastError = ScheduleRow['last_error'];

const noteError = (query: Query, id: string, lastError: LastError) =>
  query((db) =>
    db
      .updateTable('schedules')
      .set({ last_error: asJson(lastError) })
      .where('id', '=', id),
  );

type Stored = { evaluation: StoredEvaluation } | { notStarted: 'deleted' | 'not accepted' | 'evaluation deleted' };

/**
 * Starts the evaluation of a due schedule.
 * @param workflowId of the workflow that Temporal started for this occurrence; each id starts only one evaluation, however often
 * this is repeated
 * @returns what happened, in words
 */
export async function runSchedule(deps: RunScheduleDeps, scheduleId: string, workflowId: string): Promise<string> {
  let stored: Stored;
  try {
    stored = await deps.db.system.transaction((query) => storeEvaluation(deps, query, scheduleId, workflowId));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Only the caller can fix this: the prompt or the dataset is gone, or the provider has no credentials.
    const lastError = { code: error.code, message: error.message, at: new Date().toISOString() };
    await noteError(deps.db.system.query, scheduleId, lastError);
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
  const [schedule] = await query((db) =>
    db
      .selectFrom('schedules')
      .select(['workspace_id', 'request', 'evaluator_secrets', 'accepted_at'])
      .$narrowType<{ request: ScheduledRequest }>()
      .where('id', '=', scheduleId)
      .forUpdate(),
  );
  if (schedule === undefined) return { notStarted: 'deleted' };
  if (schedule.accepted_at === null) return { notStarted: 'not accepted' };
  const { workspace_id: workspaceId, request } = schedule;
  const own = bindWorkspace(query, workspaceId);
  const [occurrence] = await own((db) =>
    db
      .selectFrom('schedule_occurrences')
      .select('evaluation_id')
      .where('schedule_id', '=', scheduleId)
      .where('workflow_id', '=', workflowId),
  );
  if (occurrence !== undefined) {
    const [started] = await own((db) =>
      db.selectFrom('evaluations').select('id').select(STORED_COLUMNS).where('id', '=', occurrence.evaluation_id),
    );
    return started ? { evaluation: { ...started, workspaceId } } : { notStarted: 'evaluation deleted' };
  }
  const evaluation = await createEvaluation(
    own,
    workspaceId,
    { models, quotas },
    {
      ...request.parsed,
      evaluatorSecrets: schedule.evaluator_secrets,
      scheduleId,
    },
  );
  await own((db) =>
    db.insertInto('schedule_occurrences').values({
      schedule_id: scheduleId,
      workflow_id: workflowId,
      evaluation_id: evaluation.id,
      created_at: now,
    }),
  );
  await noteError(query, scheduleId, null);
  await quotas.require(own, 'evaluations');
  return { evaluation };
}
