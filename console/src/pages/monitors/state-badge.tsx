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

/** A check in words, such as `error_rate above 0.1`. */
export const checkWords = ({ metric, above, below }: Monitor['checks'][number]) =>
  above === undefined ? t(`${metric} below ${below}`) : t(`${metric} above ${above}`);

/** A value of a metric, abbreviated. */
export const valueWords = (value: number | null) => (value === null ? '–' : String(Number(value.toPrecision(4))));
