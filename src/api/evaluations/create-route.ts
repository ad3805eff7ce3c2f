import { newId } from '../../domain/ids.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { unlessWithdrawn } from '../../services/acceptance/withdrawal.ts';
import {
  acceptEvaluation,
  giveUpEvaluation,
  startOrWithdrawEvaluation,
} from '../../services/evaluations/accept-evaluation.ts';
import type { ControlDeps } from '../../services/evaluations/change-evaluation.ts';
import { createEvaluation, toStored } from '../../services/evaluations/create-evaluation.ts';
import { getEvaluation } from '../../services/evaluations/evaluations.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { CreateEvaluation } from './create-schema.ts';
import { presentEvaluation } from './presenter.ts';
import { CREATE_SAMPLES, EVALUATION_SAMPLE } from './samples.ts';
import { Evaluation } from './schema.ts';
import { toNewEvaluation } from './to-new-evaluation.ts';

export interface CreateEvaluationDeps extends ControlDeps {
  idempotency: Idempotency;
  quotas: Quotas;
  models: Models;
  evaluatorPool: EvaluatorPool;
}

export function createEvaluationRoute(deps: CreateEvaluationDeps): Route {
  return defineRoute({
    method: 'post',
    path: '/evaluations',
    operationId: 'createEvaluation',
    tag: 'Evaluations',
    summary: 'Evaluate a prompt over a dataset or inline examples',
    description:
      'Responds at once. The run goes on in the background, also through restarts of the service, and pays for no model call ' +
      'twice. An example of a dataset that lacks a variable of the prompt counts as failed.',
    scope: 'execute',
    status: 201,
    idempotent: true,
    body: CreateEvaluation,
    bodyExamples: CREATE_SAMPLES,
    response: Evaluation,
    responseExample: { ...EVALUATION_SAMPLE, status: 'scheduled', score: null, passed: null, finished_at: null },
    errors: ['not_found', 'prompt_archived', 'quota_exceeded', 'payload_too_large', 'temporarily_unavailable'],
    async handler(request) {
      const { db, body } = request;
      // Before the transaction: it may take seconds.
      await deps.evaluatorPool.check(db.workspaceId, body.evaluators, 'evaluators');
      const id = newId();
      const start = async (id: string) => {
        const row = await unlessWithdrawn(getEvaluation(db.query, id));
        await startOrWithdrawEvaluation(deps, db, toStored(row));
        await unlessWithdrawn(acceptEvaluation(db, id));
        return presentEvaluation(row);
      };
      return deps.idempotency.startOnce(request, {
        id,
        async store(query) {
          const { start_at: startAt, ...fields } = body;
          await createEvaluation(query, db.workspaceId, deps.models, { ...toNewEvaluation(fields), startAt, id });
          await deps.quotas.require(query, 'evaluations');
        },
        start: () => start(id),
        resume: start,
        withdraw: (beganAt) => giveUpEvaluation(deps, db, id, beganAt),
      });
    },
  });
}
