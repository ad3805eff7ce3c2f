import { z } from 'zod';
import { type Declaration, event } from '../capability.ts';
import { publicIdPattern } from '../ids.ts';

const EvaluationCompletedData = z
  .strictObject({
    evaluation_id: z.string().regex(publicIdPattern('evaluation')),
    prompt_name: z.string(),
    score: z.number(),
    examples_evaluated: z.int(),
    regressions: z.int(),
  })
  .meta({ id: 'EvaluationCompletedData' });

const EvaluationRegressionData = EvaluationCompletedData.extend({ threshold: z.number() }).meta({
  id: 'EvaluationRegressionData',
});

const evaluation = {
  evaluation_id: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt_name: 'support/greeting',
  score: 0.875,
  examples_evaluated: 8,
  regressions: 1,
};

export const evaluations = {
  name: 'evaluations',
  folders: ['batches'],
  tags: { Evaluations: 'Runs of a prompt over examples, with scores, and comparisons of two of them.' },
  ids: ['evaluation', 'providerBatch'],
  audit: {
    'evaluation.updated': 'evaluation',
    'evaluation.paused': 'evaluation',
    'evaluation.resumed': 'evaluation',
    'evaluation.canceled': 'evaluation',
    'evaluation.retried': 'evaluation',
    'evaluation.batch_resubmitted': 'evaluation',
    'evaluation.deleted': 'evaluation',
  },
  events: {
    'evaluation.completed': event(EvaluationCompletedData, evaluation, true),
    'evaluation.regression': event(EvaluationRegressionData, { ...evaluation, threshold: 0.9 }, true),
  },
  quotas: {
    evaluations: {
      setting: 'QUOTA_EVALUATIONS',
      default: 100,
      what: 'unfinished evaluations',
      remedy: 'Cancel one, or wait for its end',
    },
  },
  retention: { evaluations: { setting: 'EVALUATION_RETENTION', atLeast: 24 * 60 * 60_000 } },
  guides: {
    evaluations: 'Evaluations: datasets, runs, comparisons',
    evaluators: 'Evaluators: all types and their options',
    batches: 'Evaluations through the batch APIs of providers',
  },
} as const satisfies Declaration;
