import { formatCost, formatMs, formatTenth, NONE } from '../../format.ts';
import { t } from '../../strings.ts';
import type { Monitor } from './types.ts';

const TONES = { ok: 'good', alerting: 'bad', no_data: '' } as const;
const WORDS = { ok: t('ok'), alerting: t('alerting'), no_data: t('no data') } as const;

/** The state of a monitor, or that it is disabled. */
export function StateBadge({ state, enabled = true }: { state: Monitor['state']; enabled?: boolean }) {
  return enabled ? (
    <span className={`badge ${TONES[state]}`}>{WORDS[state]}</span>
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

/** A check in words, such as `error rate above 10 % for 5m`. */
export const checkWords = ({ metric, above, below, for: span }: CheckInWords) =>
  above === undefined
    ? t(`${metricWords(metric)} below ${valueWords(metric, below ?? null)} for ${span}`)
    : t(`${metricWords(metric)} above ${valueWords(metric, above)} for ${span}`);

interface CheckInWords {
  metric: string;
  above?: number | undefined;
  below?: number | undefined;
  for: string;
}
