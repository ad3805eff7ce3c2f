import type { AnalysisOptions, ArmEstimate, Check, CheckResult, CheckVerdict, ScoreRange } from './check.ts';
import { isOfTraces, scoreOf, withoutTrace } from './check.ts';
import { describeCheck } from './describe-check.ts';
import { type Bounds, boundedEvidence, boundsOf, differenceBounds, type Evidence, rateEvidence } from './evidence.ts';
import { meanBounds, meanDifferenceBounds, meanOf, meanRatioBounds } from './means.ts';
import { percentileBounds, percentileOf, percentileRatioBounds } from './quantiles.ts';
import { type ArmSums, NO_SUMS, NO_VALUES, type ValueSums } from './sums.ts';

/** Sums over the same minutes; `stable` can be omitted if no check is against it. */
export interface AnalysedArms {
  candidate: ArmSums;
  stable?: ArmSums | undefined;
}

const DEFAULT_ALPHA = 0.05;

/**
 * Judges checks of a candidate from sums since the start of the analysis. Can be called at any time, after every minute or execution:
 * the probability that any check ever gives a wrong `failed` or `passed` is at most alpha, which the checks share equally
 * (Bonferroni). This has two conditions. Both arms' sums cover the same minutes, all of them since the start. And the share of the
 * traffic was constant in that time: after a change, start again (an arm that got more of the traffic in bad hours would look bad).
 *
 * @throws RangeError for a check without a limit, with a negative one, or of latency or cost against a number that is not above 0
 */
export function judgeChecks(
  checks: readonly Check[],
  arms: AnalysedArms,
  { alpha = DEFAULT_ALPHA, scoreRanges = {} }: AnalysisOptions = {},
): CheckResult[] {
  return checks.map((check) => judgeCheck(check, arms, alpha / checks.length, scoreRanges));
}

/** `failed` if one failed, `passed` if all passed (or there is none). */
export function overallVerdict(results: readonly Pick<CheckResult, 'verdict'>[]): CheckVerdict {
  if (results.some(({ verdict }) => verdict === 'failed')) return 'failed';
  return results.every(({ verdict }) => verdict === 'passed') ? 'passed' : 'inconclusive';
}

function judgeCheck(
  check: Check,
  arms: AnalysedArms,
  alpha: number,
  scoreRanges: Readonly<Record<string, ScoreRange>>,
): CheckResult {
  const limit = limitOf(check);
  const own = withoutTrace(check.metric);
  const scale = own === 'latency_p95' || own === 'cost_mean' ? 'relative' : 'absolute';
  if (scale === 'relative' && check.against !== 'stable' && !(check.against > 0))
    throw new RangeError(`A check of ${check.metric} is against "stable" or a number above 0.`);
  const { candidate, stable, bounds } = measure(check, arms, alpha, scoreRanges);
  const reference = stable === null ? Number(check.against) : stable.estimate;
  const result = {
    metric: check.metric,
    against: check.against,
    verdict: verdictOf(bounds, limit),
    candidate,
    stable,
    scale,
    difference: differenceOf(candidate.estimate, reference, scale),
    lower: finite(bounds.lower),
    upper: finite(bounds.upper),
    confidence: 1 - alpha,
    limit: { lower: finite(limit.lower), upper: finite(limit.upper) },
  } as const;
  return { ...result, note: describeCheck(result) };
}

function limitOf({ max_increase, max_decrease }: Check): Bounds {
  if (max_increase === undefined && max_decrease === undefined)
    throw new RangeError('A check needs max_increase or max_decrease.');
  if ((max_increase ?? 0) < 0 || (max_decrease ?? 0) < 0)
    throw new RangeError('max_increase and max_decrease are at least 0.');
  return {
    lower: max_decrease === undefined ? Number.NEGATIVE_INFINITY : 0 - max_decrease,
    upper: max_increase ?? Number.POSITIVE_INFINITY,
  };
}

function verdictOf(bounds: Bounds, limit: Bounds): CheckVerdict {
  if (bounds.lower > limit.upper || bounds.upper < limit.lower) return 'failed';
  return bounds.lower >= limit.lower && bounds.upper <= limit.upper ? 'passed' : 'inconclusive';
}

function differenceOf(candidate: number | null, reference: number | null, scale: CheckResult['scale']): number | null {
  if (candidate === null || reference === null) return null;
  if (scale === 'absolute') return candidate - reference;
  return reference === 0 ? null : candidate / reference - 1;
}

const finite = (value: number) => (Number.isFinite(value) ? value : null);

/** Both arms, and the bounds of the difference in the scale of the metric. */
interface Measured {
  candidate: ArmEstimate;
  stable: ArmEstimate | null;
  bounds: Bounds;
}

function measure(
  { metric, against }: Pick<Check, 'against'> & { metric: string },
  { candidate, stable = NO_SUMS }: AnalysedArms,
  alpha: number,
  scoreRanges: Readonly<Record<string, ScoreRange>>,
): Measured {
  if (isOfTraces(metric)) {
    const ofTraces = { candidate: candidate.traces ?? NO_SUMS, stable: stable.traces ?? NO_SUMS };
    return measure({ metric: withoutTrace(metric), against }, ofTraces, alpha, scoreRanges);
  }
  const reference = against === 'stable' ? undefined : against;
  switch (metric) {
    case 'error_rate':
      return byEvidence(errorsOf(candidate), errorsOf(stable), reference, alpha, ({ sum, count }) =>
        rateEvidence(sum, count),
      );
    case 'latency_p95':
      return measureLatency(candidate, stable, reference, alpha);
    case 'cost_mean': {
      const bounds =
        reference === undefined
          ? meanRatioBounds(candidate.cost, stable.cost, alpha)
          : divided(meanBounds(candidate.cost, alpha), reference);
      return { ...estimates(candidate.cost, stable.cost, reference), bounds: shifted(bounds, 1) };
    }
    default: {
      const of = scoreOf(metric) ?? '';
      return measureScore(own(candidate.scores, of), own(stable.scores, of), reference, alpha, own(scoreRanges, of));
    }
  }
}

/** The own property of this name, not an inherited one such as `constructor`. */
const own = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const errorsOf = ({ errors, executions }: ArmSums): ValueSums => ({
  count: executions,
  sum: errors,
  squares: errors,
});

function byEvidence(
  candidate: ValueSums,
  stable: ValueSums,
  reference: number | undefined,
  alpha: number,
  evidenceOf: (values: ValueSums) => Evidence,
): Measured {
  const bounds =
    reference === undefined
      ? differenceBounds(evidenceOf(candidate), evidenceOf(stable), alpha)
      : shifted(boundsOf(evidenceOf(candidate), alpha), reference);
  return { ...estimates(candidate, stable, reference), bounds };
}

function measureScore(
  candidate: ValueSums = NO_VALUES,
  stable: ValueSums = NO_VALUES,
  reference: number | undefined,
  alpha: number,
  range: ScoreRange | undefined,
): Measured {
  if (range !== undefined && fits(candidate, range) && fits(stable, range))
    return byEvidence(candidate, stable, reference, alpha, (values) => boundedEvidence(values, range));
  const bounds =
    reference === undefined
      ? meanDifferenceBounds(candidate, stable, alpha)
      : shifted(meanBounds(candidate, alpha), reference);
  return { ...estimates(candidate, stable, reference), bounds };
}

/** Whether all values can be within the range, which may have changed since. */
function fits({ count, sum, squares }: ValueSums, { min, max }: ScoreRange): boolean {
  if (!(max > min)) return false;
  const slack = 1e-9 * count * (Math.abs(min) + Math.abs(max));
  // Σ(x − min)(x − max) ≤ 0 if each x is between them.
  const isInside = squares - (min + max) * sum + count * min * max <= slack * (max - min);
  return isInside && sum >= count * min - slack && sum <= count * max + slack;
}

function measureLatency(candidate: ArmSums, stable: ArmSums, reference: number | undefined, alpha: number): Measured {
  const ofCandidate = percentileOf(candidate.latency);
  const estimate = { estimate: ofCandidate.estimate, n: ofCandidate.count };
  if (reference !== undefined) {
    const bounds = shifted(divided(percentileBounds(ofCandidate, alpha), reference), 1);
    return { candidate: estimate, stable: null, bounds };
  }
  const ofStable = percentileOf(stable.latency);
  return {
    candidate: estimate,
    stable: { estimate: ofStable.estimate, n: ofStable.count },
    bounds: shifted(percentileRatioBounds(ofCandidate, ofStable, alpha), 1),
  };
}

const estimates = (candidate: ValueSums, stable: ValueSums, reference: number | undefined) => ({
  candidate: estimateOf(candidate),
  stable: reference === undefined ? estimateOf(stable) : null,
});

const estimateOf = (values: ValueSums): ArmEstimate => ({
  estimate: values.count === 0 ? null : meanOf(values).mean,
  n: values.count,
});

const shifted = ({ lower, upper }: Bounds, by: number): Bounds => ({ lower: lower - by, upper: upper - by });
const divided = ({ lower, upper }: Bounds, by: number): Bounds => ({ lower: lower / by, upper: upper / by });
