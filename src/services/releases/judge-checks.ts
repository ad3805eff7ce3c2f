import type { ReleaseCheck } from '../../domain/release.ts';
import type { Arms } from './numbers.ts';

/** What a check came to, and by which numbers. */
export interface CheckResult {
  metric: string;
  against: 'stable' | number;
  verdict: 'passed' | 'failed' | 'inconclusive';
  stable: number | null;
  candidate: number | null;
  difference: number | null;
  /** Where the difference lies; valid however often it is looked at. */
  low: number | null;
  high: number | null;
  /** What the difference may come to. */
  limit: number;
  /** In words. */
  note: string;
}

export function judgeCheck(check: ReleaseCheck, arms: Arms): CheckResult {
  const rate = (arm: Arms['stable']) => (arm.executions === 0 ? null : arm.errors / arm.executions);
  const [stable, candidate] = [rate(arms.stable), rate(arms.candidate)];
  const base = check.against === 'stable' ? stable : check.against;
  const limit = check.max_increase ?? 0;
  const n = arms.candidate.executions;
  const d = base === null || candidate === null ? null : candidate - base;
  const w = n === 0 ? 1 : 1.7 * Math.sqrt(Math.max(0.25 / n, 0));
  const verdict = d === null ? 'inconclusive' : d - w > limit ? 'failed' : d <= limit ? 'passed' : 'inconclusive';
  return { metric: check.metric, against: check.against, verdict, stable, candidate, difference: d, low: d === null ? null : d - w, high: d === null ? null : d + w, limit, note: `${check.metric} differs by ${d}` };
}

export const judgeChecks = (checks: readonly ReleaseCheck[], arms: Arms): CheckResult[] =>
  checks.map((check) => judgeCheck(check, arms));
