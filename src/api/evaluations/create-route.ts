import type { Query } from '../../db/database.ts';
import { allows, requireAlso } from '../../domain/scopes.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import { firstResponse, type Idempotency, idempotencyKeyOf } from '../../http/idempotency.ts';
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { EVALUATION } from '../../services/acceptance/kinds.ts';
import { storeOnce } from '../../services/acceptance/store-once.ts';
import { giveUp, giveUpFailed } from '../../services/acceptance/withdrawal.ts';
import type { ControlDeps } from '../../services/evaluations/control/change-evaluation.ts';
import { createEvaluation } from '../../services/evaluations/creation/create-evaluation.ts';
import { readSecrets, revealSecrets, sealEvaluators } from '../../services/evaluations/creation/evaluator-secrets.ts';
import { rescoreEvaluation } from '../../services/evaluations/creation/rescore-evaluation.ts';
import { startEvaluation } from '../../services/evaluations/creation/start-evaluation.ts';
import { withNearest } from '../../services/prompts/nearest-prompt.ts';
import { checkChange } from '../../services/prompts/version.ts';
import type { EndpointRules } from '../../services/webhooks/webhooks.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { requireSavedScope, toEvaluators } from '../saved-evaluators/given-evaluators.ts';
import { toMode } from './batch-options.ts';
import { CreateEvaluation, RescoreEvaluation } from './create-schema.ts';
import { presentEvaluation } from './presenter.ts';
import { CREATE_SAMPLES, EVALUATION_SAMPLE } from './samples.ts';
import { CreatedEvaluation, EvaluationParams, HIDDEN } from './schema.ts';
import { hasScorer, requireScorerScope } from './scorer-scope.ts';
import { toNewEvaluation } from './to-new-evaluation.ts';

export interface CreateEvaluationDeps extends ControlDeps, EndpointRules {
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
    audit: 'none',
    tag: 'Evaluations',
    summary: 'Evaluate a prompt over a dataset or inline examples',
    description:
      'Responds immediately. The run continues in the background, survives restarts of the service, and pays for no model call ' +
      'twice. Dataset examples that lack a variable of the prompt count as failed. The response contains the secrets ' +
      'of `http` evaluators, which are not shown again. An `http` evaluator sends dataset examples to another service, which ' +
      'also requires the scope `read`.',
    scope: 'execute',
    shows: HIDDEN,
    status: 201,
    idempotent: true,
    body: CreateEvaluation,
    bodyExamples: CREATE_SAMPLES,
    response: CreatedEvaluation,
    responseExample: { ...EVALUATION_SAMPLE, status: 'scheduled', score: null, passed: null, finished_at: null },
    errors: ['not_found', 'prompt_archived', 'quota_exceeded', 'payload_too_large', 'temporarily_unavailable'],
    async handler(request) {
      const { db, body, key } = request;
      requireScorerScope(key, body);
      requireSavedScope(key, body.evaluators);
      if (body.executions !== undefined) requireAlso(key.scopes, 'read', 'An evaluation of executions');
      const asked = { name: body.prompt_name, label: body.label };
      return storeAndStart(deps, request, async () => {
        const given = await toEvaluators(request, deps.evaluatorPool, body.evaluators, 'evaluators');
        if (body.draft !== undefined) await checkChange(deps.evaluatorPool, db.workspaceId, body.draft, 'draft.');
        return (query, id) => {
          const { start_at: startAt, ...fields } = body;
          const { evaluators, secrets: evaluatorSecrets } = sealEvaluators(deps, given, 'evaluators');
          const evaluation = { ...toNewEvaluation({ ...fields, evaluators }), evaluatorSecrets, startAt, id };
          return createEvaluation(query, db.workspaceId, deps, evaluation);
        };
      }).catch(async (error: unknown) => {
        throw allows(key.scopes, 'read') ? await withNearest(db.query, error, asked) : error;
      });
    },
  });
}

/** `POST /evaluations/{id}/rescore`. */
export function rescoreEvaluationRoute(deps: CreateEvaluationDeps): Route {
  return defineRoute({
    method: 'post',
    path: '/evaluations/{id}/rescore',
    operationId: 'rescoreEvaluation',
    audit: 'none',
    tag: 'Evaluations',
    summary: 'Rescore the outputs of a completed evaluation',
    description:
      'Creates a run over the same outputs with other evaluators or another threshold. The model is not called; only judges cost money. ' +
      'If omitted, the evaluators and their secrets come from the source run. ' +
      'Examples without an output count as failed. If the source is deleted during the run, the remaining examples count as failed, too. ' +
      'An `http` evaluator in the request receives stored data, which also requires the scope `read`.',
    scope: 'execute',
    shows: HIDDEN.filter((field) => !['parameters', 'includes', 'evaluators', 'metadata'].includes(field)),
    status: 201,
    idempotent: true,
    params: EvaluationParams,
    body: RescoreEvaluation,
    bodyOptional: true,
    bodyExamples: {
      'With a judge': {
        evaluators: [{ type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Is it polite?' }],
        threshold: 0.7,
      },
    },
    response: CreatedEvaluation,
    responseExample: {
      ...EVALUATION_SAMPLE,
      id: 'eval_0198f0ab-1c2d-7e3f-8a4b-5c6d7e8f9a0b',
      source_evaluation_id: EVALUATION_SAMPLE.id,
      baseline_id: null,
      status: 'scheduled',
      score: null,
      passed: null,
      finished_at: null,
    },
    errors: ['not_found', 'invalid_state', 'quota_exceeded', 'payload_too_large', 'temporarily_unavailable'],
    async handler(request) {
      const { params, body } = request;
      const { evaluators, threshold, max_cost: maxCost } = body;
      if (hasScorer(evaluators ?? []))
        requireAlso(request.key.scopes, 'read', 'An "http" evaluator over stored outputs');
      requireSavedScope(request.key, evaluators ?? []);
      return storeAndStart(deps, request, async () => {
        const given = evaluators && (await toEvaluators(request, deps.evaluatorPool, evaluators, 'evaluators'));
        return (query, id) =>
          rescoreEvaluation(query, deps.models, {
            id,
            sourceId: params.id,
            sealed: given && sealEvaluators(deps, given, 'evaluators'),
            threshold,
            maxCost,
            ...toMode(body),
          });
      });
    },
  });
}

/**
 * The response shows only the secrets of the evaluators in the request. If it cannot be produced, the evaluation is withdrawn
 * before the error is thrown.
 * @param prepare checks what can take seconds; what it returns stores the evaluation with an id, in a transaction
 */
async function storeAndStart(
  deps: CreateEvaluationDeps,
  request: RouteRequest<unknown, unknown, { evaluators?: { type: string }[] | undefined }>,
  prepare: () => Promise<(query: Query, id: string) => Promise<unknown>>,
): Promise<unknown> {
  const { db, body } = request;
  const hasSecret = hasScorer(body.evaluators ?? []);
  const run = await storeOnce(deps, db, idempotencyKeyOf(request, { hasSecret }), {
    quota: 'evaluations',
    prepare,
    giveUp: (id) => giveUp(EVALUATION, deps, db, id, undefined),
  });
  const first = firstResponse(request, run);
  if (first !== undefined) return first.response;
  try {
    const row = await startEvaluation(deps, db, run.resourceId);
    const evaluators = hasSecret
      ? revealSecrets(row.evaluators, await readSecrets(db.query, deps.cipher, 'evaluations', row.id))
      : row.evaluators;
    return await deps.idempotency.remember(request, run, presentEvaluation({ ...row, evaluators }));
  } catch (error) {
    throw await giveUpFailed(EVALUATION, deps, db, run, error);
  }
}
