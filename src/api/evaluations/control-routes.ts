import type { WorkspaceDatabase } from '../../db/database.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { resubmitBatch } from '../../services/batches/resubmit-batch.ts';
import type { ControlDeps } from '../../services/evaluations/control/change-evaluation.ts';
import { cancelEvaluation, pauseEvaluation } from '../../services/evaluations/control/control-evaluation.ts';
import { nameEvaluation } from '../../services/evaluations/control/name-evaluation.ts';
import { resumeEvaluation } from '../../services/evaluations/control/resume-evaluation.ts';
import { retryEvaluation } from '../../services/evaluations/creation/retry-evaluation.ts';
import { type EvaluationRow, getCurrentEvaluation } from '../../services/evaluations/evaluations.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { ResumeEvaluation, UpdateEvaluation } from './create-schema.ts';
import { presentEvaluation } from './presenter.ts';
import { BATCHED_SAMPLE, EVALUATION_SAMPLE } from './samples.ts';
import { Evaluation, EvaluationParams, ProviderBatchParams } from './schema.ts';

export interface ControlEvaluationDeps extends ControlDeps {
  quotas: Quotas;
  models: Models;
}

const tag = 'Evaluations';

/** Name, pause, resume, cancel and retry evaluations, and resubmit their batches. */
export function controlEvaluationRoutes(deps: ControlEvaluationDeps): Route[] {
  /** `POST /evaluations/{id}/pause`, `/cancel` and `/retry`. */
  const control = (
    action: string,
    audited: AuditAction,
    summary: string,
    description: string,
    run: (deps: ControlEvaluationDeps, db: WorkspaceDatabase, id: string) => Promise<EvaluationRow>,
    sample: object,
  ) =>
    defineRoute({
      method: 'post',
      path: `/evaluations/{id}/${action}`,
      operationId: `${action}Evaluation`,
      audit: [audited],
      tag,
      summary,
      description,
      scope: 'execute',
      params: EvaluationParams,
      response: Evaluation,
      responseExample: { ...EVALUATION_SAMPLE, ...sample },
      errors: ['invalid_state'],
      handler: async ({ db, params }) => presentEvaluation(await run(deps, db, params.id)),
    });

  return [
    defineRoute({
      method: 'patch',
      path: '/evaluations/{id}',
      operationId: 'updateEvaluation',
      audit: ['evaluation.updated'],
      tag,
      summary: 'Name an evaluation',
      scope: 'execute',
      params: EvaluationParams,
      body: UpdateEvaluation,
      bodyExamples: { 'A name': { name: EVALUATION_SAMPLE.name } },
      response: Evaluation,
      responseExample: EVALUATION_SAMPLE,
      handler: async ({ db, params, body }) => presentEvaluation(await nameEvaluation(db, params.id, body.name)),
    }),
    control(
      'pause',
      'evaluation.paused',
      'Pause an evaluation',
      'No new examples start; those in flight finish and are kept.',
      pauseEvaluation,
      { status: 'paused', status_reason: 'paused by request' },
    ),
    defineRoute({
      method: 'post',
      path: '/evaluations/{id}/resume',
      operationId: 'resumeEvaluation',
      audit: ['evaluation.resumed'],
      tag,
      summary: 'Resume a paused evaluation, optionally with a higher budget',
      description:
        '`max_cost` also sets the budget of an evaluation that is still running or scheduled, so it need not pause first.',
      scope: 'execute',
      params: EvaluationParams,
      body: ResumeEvaluation,
      bodyOptional: true,
      bodyExamples: { Unchanged: {}, 'With a higher budget': { max_cost: 5 } },
      response: Evaluation,
      responseExample: { ...EVALUATION_SAMPLE, status: 'running' },
      errors: ['invalid_state'],
      handler: async ({ db, params, body }) =>
        presentEvaluation(await resumeEvaluation(deps, db, params.id, body.max_cost)),
    }),
    control(
      'cancel',
      'evaluation.canceled',
      'Cancel an evaluation',
      'Calls in flight are abandoned; results so far stay readable.',
      cancelEvaluation,
      { status: 'canceled', score: null, passed: null },
    ),
    control(
      'retry',
      'evaluation.retried',
      'Retry the failed examples of an ended evaluation',
      'Scored examples keep their scores and are not paid for again. Examples that never ran are run, too.',
      retryEvaluation,
      { status: 'running', retries: 1 },
    ),
    defineRoute({
      method: 'post',
      path: '/evaluations/{id}/batches/{number}/resubmit',
      operationId: 'resubmitBatch',
      audit: ['evaluation.batch_resubmitted'],
      tag,
      summary: 'Resubmit a batch in an unknown state',
      description: 'If the provider already has the batch, both copies are processed and its calls are paid for twice.',
      scope: 'execute',
      params: ProviderBatchParams,
      response: Evaluation,
      responseExample: BATCHED_SAMPLE,
      errors: ['invalid_state'],
      async handler({ db, params: { id, number } }) {
        await resubmitBatch({ db, client: deps.client }, { evaluationId: id, number });
        return presentEvaluation(await getCurrentEvaluation(db, id));
      },
    }),
  ];
}
