import type { Api } from 'pms-client';
import { EXIT, type ExitStatus } from '../exit-status.ts';

/** Requirements for a run in addition to its threshold. */
export interface Gates {
  /** Maximum number of examples that are worse than in the baseline. Default: no limit */
  maxRegressions?: number | undefined;
}

type VerdictStatus = Exclude<ExitStatus, typeof EXIT.interrupted>;

/** The verdict on a run, as printed, reported and returned as the exit status. */
export interface Verdict {
  status: VerdictStatus;
  word: 'passed' | 'failed' | 'inconclusive' | 'error';
  /** Sentences; the first one is the main reason. */
  reasons: string[];
}

const verdict = (status: VerdictStatus, ...reasons: string[]): Verdict => {
  const words = { 0: 'passed', 1: 'failed', 2: 'error', 3: 'error', 4: 'inconclusive' } as const;
  return { status, word: words[status], reasons };
};

/** The verdict if a run did not start, or its end is unknown. */
export const errorVerdict = (status: VerdictStatus, reason: string): Verdict => verdict(status, reason);

/** A score in readable form. */
export const scoreText = (score: number | null): string => (score === null ? '–' : score.toFixed(4));

/** How many examples failed and why, and how many have no score. Empty if all have one. */
export function gapsOf(evaluation: Api.Evaluation): string[] {
  const { examples_total: total, examples_failed: failed, examples_unscored: unscored = 0, failures = [] } = evaluation;
  const causes = failures.map(({ code, message, count }) => `${count} × ${code}: ${message.replace(/\.$/, '')}`);
  const by = Object.keys(evaluation.unscored_by_evaluator ?? {}).join(', ');
  return [
    ...(failed === 0
      ? []
      : [`${failed} of ${total} examples failed${causes.length === 0 ? '' : `: ${causes.join('; ')}`}.`]),
    ...(unscored === 0 ? [] : [`${unscored} of ${total} examples have no score of ${by}, and count in no mean.`]),
  ];
}

/** Whether a run will not continue without a person. */
export function isAtRest({ status, status_reason: reason }: Api.Evaluation): boolean {
  return ['completed', 'failed', 'canceled'].includes(status) || (status === 'paused' && isOutOfBudget(reason));
}

// Runs are paused by people, who can resume them, or because the budget is used up.
const isOutOfBudget = (reason: string | null) => reason !== 'paused by request';

/**
 * The verdict on a run at rest.
 * @param comparison with its baseline, whose differences count only if they are significant
 */
export function verdictOf(
  evaluation: Api.Evaluation,
  { maxRegressions }: Gates,
  comparison: Api.EvaluationComparison | undefined,
): Verdict {
  const {
    id,
    status,
    status_reason: why,
    error,
    score,
    threshold,
    passed,
    regressions,
    baseline_id: baseline,
  } = evaluation;
  if (status === 'paused') return verdict(EXIT.inconclusive, `${id} is paused: ${why}.`);
  if (status !== 'completed')
    return verdict(EXIT.service, `${id} is ${status}${error === null ? '.' : `: ${error.code}: ${error.message}`}`);
  const gaps = gapsOf(evaluation);
  const failed: string[] = [];
  if (passed !== true)
    failed.push(
      score === null ? 'No example has a score.' : `The score ${scoreText(score)} is below the threshold ${threshold}.`,
    );
  if (maxRegressions !== undefined && (regressions ?? 0) > maxRegressions)
    failed.push(
      baseline === null
        ? `${regressions} examples score below the threshold, and there is no run with the same evaluators to compare with; the limit is ${maxRegressions}.`
        : `${regressions} examples are worse than before; the limit is ${maxRegressions}.`,
    );
  const compared = comparison === undefined ? undefined : comparisonVerdict(comparison, true);
  if (compared?.status === EXIT.failed) failed.push(...compared.reasons);
  if (failed.length > 0) return verdict(EXIT.failed, ...failed, ...gaps);
  if (compared?.status === EXIT.inconclusive) return verdict(EXIT.inconclusive, ...compared.reasons, ...gaps);
  return verdict(
    EXIT.passed,
    `The score is ${scoreText(score)}, the threshold ${threshold}.`,
    ...(compared?.reasons ?? []),
    ...gaps,
  );
}

/**
 * The verdict on a run compared with an earlier one.
 * @param isSignificant whether differences count only if they are significant
 */
export function comparisonVerdict(comparison: Api.EvaluationComparison, isSignificant: boolean): Verdict {
  const { note, difference, verdict: found, withheld } = comparison;
  if (found === 'nothing_in_common' || withheld !== null) return verdict(EXIT.inconclusive, note);
  if (found === 'regression') return verdict(EXIT.failed, note);
  if ((difference ?? 0) >= 0) return verdict(EXIT.passed, note);
  return verdict(isSignificant ? EXIT.inconclusive : EXIT.failed, note);
}
