import { z } from 'zod';
import { Cost, CostAmount } from '../../domain/usage.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { estimateEvaluation } from '../../services/evaluations/creation/estimate-evaluation.ts';
import { sealEvaluators } from '../../services/evaluations/creation/evaluator-secrets.ts';
import { checkChange } from '../../services/prompts/version.ts';
import { toEvaluators } from '../saved-evaluators/given-evaluators.ts';
import type { CreateEvaluationDeps } from './create-route.ts';
import { CreateEvaluation } from './create-schema.ts';
import { CREATE_SAMPLES } from './samples.ts';
import { toNewEvaluation } from './to-new-evaluation.ts';

const Estimate = z
  .object({
    examples: z.int(),
    model_calls: z
      .int()
      .meta({ description: 'Examples that fit the prompt, estimated from a sample of a large dataset.' }),
    judge_calls: z.int(),
    tokens: z.object({ input: z.int(), output: z.int() }).meta({ description: 'Model and judges together.' }),
    cost: Cost.pick({ currency: true })
      .extend({ amount: z.string() })
      .nullable()
      .meta({ description: 'US dollars, judges included; null if a model has no known price.' }),
    savings: CostAmount.nullable().meta({
      description:
        'The savings by batches, already part of `cost`; null if calls are made one by one or a model has no known price.',
    }),
    basis: z.string().meta({ description: 'How the estimate was calculated, in words.' }),
  })
  .meta({ id: 'EvaluationEstimate' });

const estimateSample: z.input<typeof Estimate> = {
  examples: 2000,
  model_calls: 2000,
  judge_calls: 0,
  tokens: { input: 48_000, output: 32_000 },
  cost: { amount: '0.0264', currency: 'USD' },
  savings: null,
  basis:
    'Calls to openai/gpt-4o-mini, one per example, without retries and fallbacks. Input tokens: the prompt filled with 50 of 2,000 ' +
    'examples, one token per 3 characters. Output tokens: 16 per call, the mean of its newest evaluation on this model.',
};

/** `POST /evaluations/estimate` */
export function estimateEvaluationRoute(deps: CreateEvaluationDeps): Route {
  return defineRoute({
    method: 'post',
    path: '/evaluations/estimate',
    operationId: 'estimateEvaluation',
    audit: 'none',
    tag: 'Evaluations',
    summary: 'Estimate what an evaluation would cost',
    description:
      'Accepts and validates the same body as `POST /evaluations`, and creates nothing. Token counts come from a sample of the examples ' +
      'and from past runs of the prompt.',
    scope: 'read',
    body: CreateEvaluation,
    bodyExamples: CREATE_SAMPLES,
    response: Estimate,
    responseExample: estimateSample,
    errors: ['not_found', 'prompt_archived'],
    async handler(request) {
      const { db, body } = request;
      const { start_at: startAt, ...fields } = body;
      const given = await toEvaluators(request, deps.evaluatorPool, body.evaluators, 'evaluators');
      if (body.draft !== undefined) await checkChange(deps.evaluatorPool, db.workspaceId, body.draft, 'draft.');
      const { evaluators } = sealEvaluators(deps, given, 'evaluators');
      const { modelCalls, judgeCalls, costUsd, savingsUsd, ...estimate } = await estimateEvaluation(db, deps.models, {
        ...toNewEvaluation({ ...fields, evaluators }),
        startAt,
      });
      return {
        ...estimate,
        model_calls: modelCalls,
        judge_calls: judgeCalls,
        cost: costUsd === null ? null : { amount: costUsd, currency: 'USD' },
        savings: savingsUsd === null ? null : { amount: savingsUsd, currency: 'USD' },
      };
    },
  });
}
