import type { z } from 'zod';
import type * as improvements from '../../../../src/api/improvements/schema.ts';

export type Improvement = z.output<typeof improvements.Improvement>;
export type Verdict = NonNullable<Improvement['verdict']>;
export type Candidate = z.output<typeof improvements.Candidate>;
export type CreateImprovement = z.input<typeof improvements.CreateImprovement>;
export type AcceptImprovement = z.input<typeof improvements.AcceptImprovement>;
export type ImprovementEstimate = z.output<typeof improvements.ImprovementEstimate>;
