import { useMemo } from 'react';
import { ticksBetween } from '../../components/chart-parts.tsx';
import { Plot, type Series } from '../../components/plot.tsx';
import { formatNumber, formatScore } from '../../format.ts';
import { t } from '../../strings.ts';
import { usd } from './in-words.tsx';
import type { Improvement } from './types.ts';

const MOST_TICKS = 5;
/** Room for the labels at both ends, as a share of the axis. */
const PADDING = 0.05;

/** The best score on the check examples by cost. Two runs of the base show how much is noise. */
export function Curve({ improvement: { curve, base } }: { improvement: Improvement }) {
  const { xs, domain, ticks, byCost } = useMemo(() => {
    const first = curve[0];
    const last = curve.at(-1);
    const costs = (last?.cost ?? 0) > (first?.cost ?? 0);
    const all = curve.map(({ cost, proposal }) => (costs ? cost : proposal));
    const [from, to] = [all[0] ?? 0, all.at(-1) ?? 0];
    const padding = (to - from) * PADDING;
    const domain = [from - padding, to + padding] as const;
    return {
      xs: all,
      byCost: costs,
      domain,
      ticks: ticksBetween(from, to, MOST_TICKS)
        .filter((at) => at >= domain[0] && at <= domain[1])
        .map((at) => ({ at, label: costs ? usd(at) : formatNumber(at) })),
    };
  }, [curve]);
  const constant = (value: number) => curve.map(() => value);
  const series: Series[] = [
    { label: t('Best candidate so far'), values: curve.map(({ check }) => check) },
    ...(base.check === null ? [] : [{ label: t('Base prompt'), values: constant(base.check), kind: 'steps' as const }]),
    ...(base.check_again === null || base.check_again === base.check
      ? []
      : [{ label: t('Base prompt again: noise'), values: constant(base.check_again), kind: 'steps' as const }]),
  ];
  return (
    <Plot
      title="Best score so far"
      note={
        <p className="muted">
          On the check examples, which choose the best. The best of many looks better here than elsewhere: see the
          verdict.
        </p>
      }
      xs={xs}
      domain={domain}
      xTicks={ticks}
      names={curve.map(({ proposal, cost }) => t(`${formatNumber(proposal)} candidates, ${usd(cost)}`))}
      xTitle={byCost ? t('Candidates, cost') : t('Candidates')}
      series={series}
      format={formatScore}
      max={1}
    />
  );
}
