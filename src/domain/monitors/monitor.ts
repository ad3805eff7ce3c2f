import { CHECK_METRICS, type OfTraces, type ScoreMetric, scoreOf, TRACE } from '../analysis/check.ts';
import { durationText } from '../text/duration-text.ts';
import type { MonitorState } from './monitor-states.ts';

/** In addition to these, `score:NAME` and `trace:score:NAME`: the mean of that score. Rates are from 0 to 1, latencies in ms, costs in US dollars. */
export const MONITOR_METRICS = [...CHECK_METRICS, `${TRACE}steps_mean`, 'cost_total', 'refusal_rate'] as const;
export type MonitorMetric = (typeof MONITOR_METRICS)[number] | OfTraces<ScoreMetric>;

/** The interval at which monitors measure. */
export const CHECK_EVERY_MS = 60_000;
export const MIN_WINDOW_MS = 60_000;
export const MAX_WINDOW_MS = 24 * 60 * 60_000;
/** How long sums by minute are kept after they have left the longest window. */
export const KEPT_LONGER_MS = 60 * 60_000;
export const MAX_CHECKS = 10;

/** The condition for an alert: a metric is above, or below, a number. Exactly one of the two is set. */
export interface MonitorCheck {
  metric: MonitorMetric;
  above?: number | undefined;
  below?: number | undefined;
  /** The value that it has to return to. */
  recover_at: number;
  /** With fewer values in the window the check has no result. */
  min_executions: number;
  /** How long every measurement must agree, as a text such as `3m`, before the check alerts or recovers. */
  for: string;
}

/** The value that a monitor measured for a check. */
export interface Measured {
  /** Null if there was nothing to measure. */
  value: number | null;
  /** The number of executions or scores measured. */
  count: number;
}

/** The state of a check: whether it alerts, and how many consecutive measurements disagree with that. */
export interface CheckProgress extends Measured {
  alerting: boolean;
  streak: number;
}

export interface MonitorProgress {
  state: MonitorState;
  /** In the order of the checks; empty before the first measurement. */
  checks: CheckProgress[];
  /** The number of consecutive measurements at which no check had a result. */
  silent: number;
}

export const NEW_PROGRESS: MonitorProgress = { state: 'no_data', checks: [], silent: 0 };

/** A share of the number, or of its distance from the nearer end if the metric is from 0 to 1. */
const DEFAULT_MARGIN = 0.1;
const DIGITS = 1e9;

/**
 * The default value that a check has to return to: better than the number by a tenth of it. For rates, and scores whose number is from 0 to
 * 1, by a tenth of the distance from the nearer end, so that it can be reached. Other scores may have any scale, so it is the number itself.
 */
export function defaultRecovery({ metric, above, below }: Pick<MonitorCheck, 'metric' | 'above' | 'below'>): number {
  const number = above ?? below ?? 0;
  const isScore = scoreOf(metric) !== undefined;
  const isShare = (isScore || metric.endsWith('_rate')) && number >= 0 && number <= 1;
  const scale = isShare ? Math.min(number, 1 - number) : isScore ? 0 : Math.abs(number);
  const recovery = number + (above === undefined ? 1 : -1) * DEFAULT_MARGIN * scale;
  return Math.round(recovery * DIGITS) / DIGITS;
}

export const numberText = (value: number) => String(Number(value.toPrecision(4)));

/** `error_rate 0.25 is above 0.1 (40 in 15 min)`: the measured value of a check, in words. */
export function checkText(
  { metric, above, below, recover_at: recovery }: MonitorCheck,
  { value, count, alerting }: CheckProgress,
  windowMs: number,
): string {
  const seen = value === null ? 'has no value' : numberText(value);
  const isBad = alerting
    ? `${above === undefined ? 'below' : 'above'} ${above ?? below}`
    : `back at ${recovery} or better`;
  return `${metric} ${seen}${value === null ? '' : ` is ${isBad}`} (${count} in ${durationText(windowMs)})`;
}
