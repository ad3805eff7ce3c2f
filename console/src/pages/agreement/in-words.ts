import { formatFixed, NONE } from '../../format.ts';
import { t } from '../../strings.ts';
import type { Measure } from '../queues/types.ts';

const NAMES: Record<Measure['name'], string> = {
  cohen_kappa: t('Cohen’s kappa'),
  weighted_kappa_linear: t('Weighted kappa, linear'),
  weighted_kappa_quadratic: t('Weighted kappa, quadratic'),
  spearman_rho: t('Spearman’s rho'),
  krippendorff_alpha: t('Krippendorff’s alpha'),
};

const digits = (value: number) => formatFixed(value, 2);

/** A measure in words: "Cohen’s kappa 0.62 (0.49 to 0.75)". */
export function measureWords({ name, value, interval }: Measure): string {
  const range = interval === null ? '' : t(` (${digits(interval.lower)} to ${digits(interval.upper)})`);
  return `${NAMES[name]} ${value === null ? NONE : digits(value)}${range}`;
}
