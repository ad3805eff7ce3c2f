/** Before the name of a score, of metrics and of what is summed up for them. */
export const SCORE = 'score:';
export type ScoreMetric = `${typeof SCORE}${string}`;

/** The name of the score whose mean a metric is; undefined: it is another metric. */
export const scoreOf = (metric: string) => (metric.startsWith(SCORE) ? metric.slice(SCORE.length) : undefined);

/** Besides these, `score:NAME`: the mean of that score. */
export const FIXED_METRICS = ['error_rate', 'latency_p95', 'cost_mean'] as const;
/** A rate from 0 to 1; ms; USD; in the score's own unit. */
export type CheckMetric = (typeof FIXED_METRICS)[number] | ScoreMetric;

export const CHECK_VERDICTS = ['passed', 'failed', 'inconclusive'] as const;
export type CheckVerdict = (typeof CHECK_VERDICTS)[number];

/**
 * What must hold of the candidate: that its value is at most `max_increase` above, or at most `max_decrease` below, that of
 * the stable arm or a fixed number. At least one of the two is given. Both are at least 0. For error rates and scores they
 * are in the metric's unit (0.02 is two points), for latency and cost a share of the value compared with (0.2 is 20 %).
 */
export interface Check {
  metric: CheckMetric;
  against: 'stable' | number;
  max_increase?: number | undefined;
  max_decrease?: number | undefined;
}

/** What a score's values lie between. With a range the analysis is exact, and says something after fewer executions. */
export interface ScoreRange {
  min: number;
  max: number;
}

export interface AnalysisOptions {
  /** How likely a wrong verdict may be, over all looks and checks together. Default 0.05. */
  alpha?: number | undefined;
  /** By name of the score, such as 0..1 for what evaluators give. A score without a range may be any number. */
  scoreRanges?: Readonly<Record<string, ScoreRange>> | undefined;
}

export interface ArmEstimate {
  /** In the metric's unit; null without an execution that has one. */
  estimate: number | null;
  /** The executions that it is from. */
  n: number;
}

/** A check's verdict with its numbers. JSON as it is. */
export interface CheckResult {
  metric: CheckMetric;
  against: 'stable' | number;
  /**
   * `failed`: no difference from `lower` to `upper` is allowed; `passed`: all are; else `inconclusive`. The verdict is taken
   * from these bounds, so that it can't contradict them.
   */
  verdict: CheckVerdict;
  candidate: ArmEstimate;
  /** Null where the check is against a number. */
  stable: ArmEstimate | null;
  /**
   * What `difference`, `lower`, `upper` and `limit` are: `absolute` in the metric's unit (error rates, scores), `relative`
   * as a share of the value compared with (latency, cost).
   */
  scale: 'absolute' | 'relative';
  /** The candidate's estimate less stable's or the number; null where one of them is missing. */
  difference: number | null;
  /** The confidence sequence of the difference. Null is "no bound": it may be anything on that side. */
  lower: number | null;
  upper: number | null;
  /** That of the confidence sequence: 0.95, or nearer to 1 where alpha is shared by several checks. */
  confidence: number;
  /** The differences that are allowed. Null is "no limit". */
  limit: { lower: number | null; upper: number | null };
  /** All of it in one sentence. */
  note: string;
}
