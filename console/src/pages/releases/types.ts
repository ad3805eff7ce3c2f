import type { z } from 'zod';
import type * as releases from '../../../../src/api/releases/schema.ts';
import type { CheckResult } from '../../../../src/domain/analysis/check.ts';
import type { ReleaseCheck, ReleaseStep, StepRun } from '../../../../src/domain/releases/release.ts';

export type { ReleaseCheck, ReleaseStep };

export type Release = z.output<typeof releases.Release>;
export type CreateRelease = z.input<typeof releases.CreateRelease>;
export type Moment = z.output<typeof releases.ReleaseNumbers>['data'][number];
export type Arm = Release['arms']['stable'];
export type Check = CheckResult;

/** The numbers of an `evaluate` step: ids immediately, the rest when both evaluations have ended. */
export interface EvaluateNumbers {
  evaluation_id: string;
  baseline_evaluation_id: string | null;
  score?: number | null;
  baseline_score?: number | null;
  verdict?: string;
  note?: string;
  regressions?: number;
  improvements?: number;
}

/** The numbers of a step with checks; the arms count from the last change of the share. */
export interface AnalyzeNumbers {
  at: string;
  arms: { stable: Arm; candidate: Arm };
  checks: Check[];
}

/** What people decide about. */
export interface ApproveNumbers {
  candidate_version: number;
  evaluation_id: string | null;
  results: unknown;
}

/** A step as given, and its outcome. */
export type ReleaseRunStep = ReleaseStep & Omit<StepRun, 'numbers'> & { numbers: unknown };
