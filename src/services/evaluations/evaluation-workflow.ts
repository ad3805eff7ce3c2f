import { setTimeout as delay } from 'node:timers/promises';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { evaluationWorkflowId, SEARCH_ATTRIBUTES } from '../../temporal/names.ts';
import { signalWorkflow, startWorkflowOnce, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { evaluationRun } from '../../workflows/evaluation-run.ts';
import type { StoredEvaluation } from './create-evaluation.ts';

const WITHDRAW_AGAIN_MS = 1_000;

/**
 * Starts the workflow of a stored evaluation. Doing it again for the same run and retry changes nothing.
 * @returns false where the workflow was started before
 */
export function startEvaluationWorkflow(starter: WorkflowStarter, evaluation: StoredEvaluation): Promise<boolean> {
  const workspace = publicId('workspace', evaluation.workspaceId);
  return startWorkflowOnce<typeof evaluationRun>({ ...starter, eager: false }, 'evaluationRun', {
    // Activities inherit it: servers that know fairness dispatch tasks in turns round the workspaces.
    priority: { fairnessKey: workspace },
    workflowId: evaluationWorkflowId(evaluation.id, evaluation.retries),
    taskQueue: starter.taskQueues.evaluations,
    args: [{ evaluationId: evaluation.id, round: evaluation.retries, workspace }],
    staticSummary: `${evaluation.promptName} v${evaluation.promptVersion} on ${evaluation.model}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.workspace, value: workspace },
      { key: SEARCH_ATTRIBUTES.prompt, value: evaluation.promptName },
      { key: SEARCH_ATTRIBUTES.model, value: evaluation.model },
      { key: SEARCH_ATTRIBUTES.evaluation, value: publicId('evaluation', evaluation.id) },
    ]),
  });
}

/**
 * Tells the workflow that the row has changed. It reads the row, so telling it twice or for nothing does no harm.
 * @returns false where there is no such workflow at work
 */
export function tellEvaluationWorkflow(
  { client }: Pick<WorkflowStarter, 'client'>,
  { id, retries }: Pick<StoredEvaluation, 'id' | 'retries'>,
): Promise<boolean> {
  return signalWorkflow(client, evaluationWorkflowId(id, retries), 'controlChanged');
}

/**
 * Starts the workflow, or makes sure that nothing runs later: a caller who is told that it failed can simply try again.
 * @throws what kept the workflow from starting, once the evaluation is withdrawn
 */
export async function startOrWithdrawEvaluation(
  deps: WorkflowStarter & { log: Logger },
  db: WorkspaceDatabase,
  evaluation: StoredEvaluation,
): Promise<void> {
  try {
    await startEvaluationWorkflow(deps, evaluation);
  } catch (error) {
    try {
      if (!(await withdrawEvaluation(db, evaluation.id))) return;
    } catch (failure) {
      deps.log.error(
        { err: failure, evaluation_id: evaluation.id },
        'cannot withdraw an evaluation yet; going on trying',
      );
      void withdrawLater(deps.log, db, evaluation.id);
    }
    throw error;
  }
}

/**
 * Takes back an evaluation that was stored but whose workflow could not be started, with its inline examples and its
 * idempotency key.
 * @returns false where it has begun: it stays
 */
async function withdrawEvaluation(db: WorkspaceDatabase, id: string): Promise<boolean> {
  const gone = await db.query(
    {
      text: `with gone as (delete from evaluations where workspace_id = $1 and id = $2 and status = 'scheduled'
                             returning id, examples_id),
               keys as (delete from idempotency_keys
                        where workspace_id = $1 and resource_id in (select id::text from gone)),
               inline as (delete from dataset_versions
                          where workspace_id = $1 and dataset_id is null and id in (select examples_id from gone))
             select id from gone`,
    },
    [id],
  );
  return gone.length > 0;
}

/** Goes on until the database answers, so that what was answered with a 500 does not run later. */
async function withdrawLater(log: Logger, db: WorkspaceDatabase, id: string): Promise<void> {
  for (;;) {
    await delay(WITHDRAW_AGAIN_MS, undefined, { ref: false });
    try {
      await withdrawEvaluation(db, id);
      return;
    } catch (error) {
      if (isDatabaseUnavailable(error)) continue;
      log.error({ err: error, evaluation_id: id }, 'cannot withdraw an evaluation');
      return;
    }
  }
}
