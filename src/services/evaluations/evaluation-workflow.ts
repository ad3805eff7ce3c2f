import { TypedSearchAttributes } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { notFound } from '../../domain/errors.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';
import { publicId } from '../../domain/ids.ts';
import { evaluationWorkflowId, SEARCH_ATTRIBUTES } from '../../temporal/names.ts';
import { signalWorkflow, startWorkflowOnce, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { evaluationRun } from '../../workflows/evaluation-run.ts';
import { IS_WANTED } from '../acceptance/is-wanted.ts';
import { holdMsOf, withdrawOrGoOn } from '../acceptance/withdrawal.ts';
import type { StoredEvaluation } from './create-evaluation.ts';

/** What every change sets that the workflow is to hear of, as SQL. The workflow takes `untold` back when it reads the row. */
export const UNTOLD = `untold = true, check_at = now() + interval '30 seconds'`;

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
 * Starts the workflow, or withdraws the evaluation: a caller who is told that it failed can simply try again.
 * @throws what kept the workflow from starting
 */
export async function startOrWithdrawEvaluation(
  deps: WorkflowStarter,
  db: WorkspaceDatabase,
  evaluation: StoredEvaluation,
): Promise<void> {
  try {
    await startEvaluationWorkflow(deps, evaluation);
  } catch (error) {
    if (await withdrawEvaluation(db, evaluation.id, false)) throw error;
  }
}

/**
 * Marks an evaluation as one whose caller is told of it now: it runs whatever happens.
 * @throws ApiError `not_found` where it was withdrawn
 */
export async function acceptEvaluation(db: WorkspaceDatabase, id: string): Promise<void> {
  const accepted = await db.query(
    {
      text: `update evaluations set accepted_at = coalesce(accepted_at, now()) where workspace_id = $1 and id = $2
             returning id`,
    },
    [id],
  );
  if (accepted.length === 0) throw notFound('This evaluation');
}

/**
 * Makes sure, before its caller is told that it failed, that an evaluation does not run later.
 * @param beganAt as for {@link holdMsOf}
 */
export async function giveUpEvaluation(
  { client, log }: Pick<WorkflowStarter, 'client'> & { log: Logger },
  db: WorkspaceDatabase,
  id: string,
  beganAt: number | undefined,
): Promise<void> {
  const withdraw = () => withdrawEvaluation(db, id, true);
  await withdrawOrGoOn(log, { field: 'evaluation_id', id, withdraw }, holdMsOf(beganAt));
  tellEvaluationWorkflow({ client }, { id, retries: 0 }).catch((error: unknown) =>
    log.warn({ err: error, evaluation_id: id }, 'cannot tell a workflow that its run was withdrawn'),
  );
}

/** With evaluations that are withdrawn (`gone`), their inline examples and their idempotency keys. */
const DELETE_BELONGINGS = `keys as (delete from idempotency_keys k using gone
               where k.workspace_id = gone.workspace_id and k.resource_id = gone.id::text),
             inline as (delete from dataset_versions v using gone
               where v.workspace_id = gone.workspace_id and v.dataset_id is null and v.id = gone.examples_id)`;
const CANCEL = evaluationStates.change({ to: 'canceled' });

/**
 * Withdraws an evaluation whose caller is told that it failed: one that has not begun is deleted.
 * @param force also one that a caller may have been told of; one that has begun is canceled
 * @returns false where it runs, or will
 */
async function withdrawEvaluation(db: WorkspaceDatabase, id: string, force: boolean): Promise<boolean> {
  const [row] = await db.query<{ runs: boolean }>(
    {
      text: `with gone as (
               delete from evaluations where workspace_id = $1 and id = $2 and status = 'scheduled' and (accepted_at is null or $3)
               returning id, workspace_id, examples_id
             ), ${DELETE_BELONGINGS}, canceled as (
               update evaluations set ${CANCEL.set}, finished_at = now(), ${UNTOLD}
               where workspace_id = $1 and id = $2 and status <> 'scheduled' and ${CANCEL.where} and $3 returning id
             ), canceled_keys as (
               delete from idempotency_keys k using canceled where k.workspace_id = $1 and k.resource_id = canceled.id::text)
             select not exists (select from gone) and not exists (select from canceled)
               and exists (select from evaluations where workspace_id = $1 and id = $2) as runs`,
    },
    [id, force],
  );
  return row?.runs !== true;
}

/**
 * Withdraws an evaluation that no caller was told of in time, with what belongs to it.
 * @returns whether it was withdrawn
 */
export async function withdrawUnacceptedEvaluation(query: Query, id: string): Promise<boolean> {
  const gone = await query(
    {
      text: `with gone as (
               delete from evaluations where id = $1 and status = 'scheduled' and not ${IS_WANTED}
               returning id, workspace_id, examples_id
             ), ${DELETE_BELONGINGS}
             select id from gone`,
    },
    [id],
  );
  return gone.length > 0;
}
