/** The prefix of the name of a score in metrics and their sums. */
export const SCORE = 'score:';
/** The mean of a score. */
export type ScoreMetric = `${typeof SCORE}${string}`;

/** The prefix of metrics, and of their sums, of whole traces. */
export const TRACE = 'trace:';
/** Metrics, and the same of whole traces. */
export type OfTraces<Metric extends string> = Metric | `${typeof TRACE}${Metric}`;
export const isOfTraces = (metric: string): boolean => metric.startsWith(TRACE);
/** The same metric of executions. */
export const withoutTrace = (metric: string): string => (isOfTraces(metric) ? metric.slice(TRACE.length) : metric);

/** The name of the score whose mean a metric is; undefined for other metrics. */
export function scoreOf(metric: string): string | undefined {
  const own = withoutTrace(metric);
  return own.startsWith(SCORE) ? own.slice(SCORE.length) : undefined;
}

/** In addition to these, `score:NAME`: the mean of that score. */
export const FIXED_METRICS = ['error_rate', 'latency_p95', 'cost_mean'] as const;
export const CHECK_METRICS = [
  ...FIXED_METRICS,
  ...FIXED_METRICS.map((metric) => `${TRACE}${metric}` as const),
] as const;
/** A rate is from 0 to 1; latency is in ms; cost is in USD; a score is in its own unit. */
export type CheckMetric = OfTraces<(typeof FIXED_METRICS)[number] | ScoreMetric>;

export const CHECK_VERDICTS = ['passed', 'failed', 'inconclusive'] as const;
export type CheckVerdict = (typeof CHECK_VERDICTS)[number];

/**
 * A condition on the candidate: its value is at most `max_increase` above, or at most `max_decrease` below, the stable arm's or
 * a fixed number. At least one of the two is set. Both are at least 0. For error rates and scores they are in the metric's
 * unit (0.02 is two points), for latency and cost a share of the value compared with (0.2 is 20 %).
 */
export interface Check {
  metric: CheckMetric;
  against: 'stable' | number;
  max_increase?: number | undefined;
  max_decrease?: number | undefined;
}

/** The range of a score's values. With a range the analysis is exact, and needs fewer executions for a verdict. */
export interface ScoreRange {
  min: number;
  max: number;
}

export interface AnalysisOptions {
  /** The probability of a wrong verdict, over all checks and all times of checking. Default 0.05. */
  alpha?: number | undefined;
  /** By score name, such as 0..1 for the scores of evaluators. A score without a range may be any number. */
  scoreRanges?: Readonly<Record<string, ScoreRange>> | undefined;
}

export interface ArmEstimate {
  /** In the metric's unit; null if no execution has a value. */
  estimate: number | null;
  /** The number of executions that it is based on. */
  n: number;
}

/** A check's verdict with its numbers. Plain JSON. */
export interface CheckResult {
  metric: CheckMetric;
  against: 'stable' | number;
  /**
   * `failed`: no difference from `lower` to `upper` is allowed; `passed`: all are; otherwise `inconclusive`. The verdict is
   * derived from these bounds, so that it can't contradict them.
   */
  verdict: CheckVerdict;
  candidate: ArmEstimate;
  /** Null if the check is against a number. */
  stable: ArmEstimate | null;
  /**
   * The scale of `difference`, `lower`, `upper` and `limit`: `absolute` in the metric's unit (error rates, scores), `relative` as
   * a share of the value compared with (latency, cost).
   */
  scale: 'absolute' | 'relative';
  /** The candidate's estimate minus the estimate of stable or the number; null if one of them is missing. */
  difference: number | null;
  /** The confidence sequence of the difference. Null means no bound on that side. */
  lower: number | null;
  upper: number | null;
  /** The confidence of the sequence: 0.95, or closer to 1 if several checks share alpha. */
  confidence: number;
  /** The allowed differences. Null means no limit. */
  limit: { lower: number | null; upper: number | null };
  /** The whole result in one sentence. */
  note: string;
}
