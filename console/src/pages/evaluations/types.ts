import type { z } from 'zod';
import type * as compared from '../../../../src/api/evaluations/compare-schema.ts';
import type * as created from '../../../../src/api/evaluations/create-schema.ts';
import type * as results from '../../../../src/api/evaluations/results-schema.ts';

export type Comparison = z.output<typeof compared.EvaluationComparison>;
export type CreateEvaluation = z.input<typeof created.CreateEvaluation>;
export type ScheduledEvaluation = z.input<typeof created.ScheduledEvaluation>;
export type ExampleInput = z.output<typeof results.ExampleInput>;
export type ResultsSummary = z.output<typeof results.ResultsSummary>;
export type Result = z.output<typeof results.Result>;

/** The response of `POST /evaluations/estimate`. */
export interface Estimate {
  examples: number;
  model_calls: number;
  judge_calls: number;
  tokens: { input: number; output: number };
  cost: { amount: string; currency: string } | null;
  savings: { amount: string | null; currency: string } | null;
  basis: string;
}
