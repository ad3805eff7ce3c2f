import { formatCost, formatMs, formatTenth, NONE } from '../../format.ts';
import { LOCALE, t } from '../../strings.ts';
import type { Monitor } from './types.ts';

const TONES = { ok: 'good', alerting: 'bad', no_data: '' } as const;
export const STATE_WORDS = { ok: t('ok'), alerting: t('alerting'), no_data: t('no data') } as const;

/** The state of a monitor, or that it is disabled. */
export function StateBadge({ state, enabled = true }: { state: Monitor['state']; enabled?: boolean }) {
  return enabled ? (
    <span className={`badge ${TONES[state]}`}>{STATE_WORDS[state]}</span>
  ) : (
    <span className="badge warn">disabled</span>
  );
}

const NAMES: Record<string, string> = {
  error_rate: t('error rate'),
  refusal_rate: t('rate of refusals'),
  latency_p95: t('latency (95 % within)'),
  cost_mean: t('mean cost'),
  cost_total: t('total cost'),
  steps_mean: t('mean number of steps'),
  mean_score: t('mean of a score'),
};

/** A metric in words: `error rate`, `error rate of traces`, `score tone`. */
export function metricWords(metric: string): string {
  if (metric.startsWith('trace:')) return t(`${metricWords(metric.slice('trace:'.length))} of traces`);
  return NAMES[metric] ?? metric.replace(':', ' ');
}

/** A value of a metric in its unit. */
export function valueWords(metric: string, value: number | null): string {
  if (value === null) return NONE;
  const own = metric.replace('trace:', '');
  if (own.endsWith('_rate')) return `${formatTenth(value * 100)} %`;
  if (own.startsWith('latency')) return formatMs(value);
  if (own.startsWith('cost')) return formatCost({ amount: String(value) });
  return String(Number(value.toPrecision(4)));
}

/** The unit in which people read and write a metric, and how many of it the API's unit has. */
export function unitOf(metric: string): { unit: string; scale: number } {
  const own = metric.replace('trace:', '');
  if (own.endsWith('_rate')) return { unit: '%', scale: 100 };
  if (own.startsWith('latency')) return { unit: 'ms', scale: 1 };
  return { unit: own.startsWith('cost') ? '$' : '', scale: 1 };
}

const SPAN_UNITS: Readonly<Record<string, { unit: string; ms: number }>> = {
  ms: { unit: 'millisecond', ms: 1 },
  s: { unit: 'second', ms: 1_000 },
  m: { unit: 'minute', ms: 60_000 },
  h: { unit: 'hour', ms: 3_600_000 },
  d: { unit: 'day', ms: 86_400_000 },
};

const readSpan = (span: string) => ({
  number: Number.parseFloat(span),
  unit: SPAN_UNITS[span.replace(/[\d.]+/, '')],
});

/** The milliseconds of a span of the API, such as `15m`. */
export function spanMs(span: string): number {
  const { number, unit } = readSpan(span);
  return number * (unit?.ms ?? 0);
}

/** A span in words: `5 min`. What is not one is returned unchanged. */
export function spanWords(span: string): string {
  const { number, unit } = readSpan(span);
  if (unit === undefined || Number.isNaN(number)) return span;
  return new Intl.NumberFormat(LOCALE, { style: 'unit', unit: unit.unit, unitDisplay: 'short' }).format(number);
}

/** A check in words, such as `error rate above 10 % for 5 min`. */
export const checkWords = ({ metric, above, below, for: span }: CheckInWords) =>
  above === undefined
    ? t(`${metricWords(metric)} below ${valueWords(metric, below ?? null)} for ${spanWords(span)}`)
    : t(`${metricWords(metric)} above ${valueWords(metric, above)} for ${spanWords(span)}`);

interface CheckInWords {
  metric: string;
  above?: number | undefined;
  below?: number | undefined;
  for: string;
}
