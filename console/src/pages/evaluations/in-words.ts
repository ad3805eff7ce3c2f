import { formatTenth, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import type { Comparison } from './types.ts';

/** A score as percentage points: 0.0215 as "2.2". */
const points = (share: number) => formatTenth(Math.abs(share) * 100);
const span = (one: number, other: number) => {
  const [low, high] = [points(one), points(other)];
  return low === high ? low : `${low}–${high}`;
};
/** The same with a sign; the minus sign is as wide as the plus sign. */
export const signed = (share: number) => {
  const text = points(share);
  if (text === '0') return text;
  return share < 0 ? `−${text}` : `+${text}`;
};

/** Describes a comparison without intervals; `tone` is for a notice or a badge. */
export function inWords({ regressions, improvements, ...rest }: Comparison): Words {
  return verdictInWords({ ...rest, differing: regressions.total + improvements.total });
}

interface Words {
  text: string;
  tone: string;
}

/** The same for part of a comparison: whatever withholds the overall verdict also withholds those of its parts. */
export function verdictInWords({
  withheld,
  verdict,
  interval,
  difference,
  differing,
}: Pick<Comparison, 'withheld' | 'verdict' | 'interval' | 'difference'> & { differing: number }): Words {
  if (withheld === 'failures') return { text: 'No verdict: more than a tenth of the examples failed', tone: 'bad' };
  if (withheld === 'not_comparable')
    return { text: 'Cannot be compared: the runs share no unchanged evaluator', tone: 'warn' };
  const low = interval?.low ?? 0;
  const high = interval?.high ?? 0;
  switch (verdict) {
    case 'improvement':
      return { text: `Better by ${span(low, high)} points: not noise`, tone: 'good' };
    case 'regression':
      return { text: `Worse by ${span(high, low)} points: not noise`, tone: 'bad' };
    case 'within_noise':
      return {
        text: `${signed(difference ?? 0)} points (95 % CI ${signed(low)} to ${signed(high)}): within noise`,
        tone: '',
      };
    case 'too_few_differences': {
      return {
        text: `Only ${plural(differing, 'example differs', 'examples differ')}: too few to tell`,
        tone: '',
      };
    }
    case 'no_change':
      return { text: 'No difference: every example has the same score', tone: '' };
    default:
      return { text: 'The runs have no example in common', tone: 'warn' };
  }
}

const REASONS = {
  only_in_a: t('only in the run before'),
  only_in_b: t('only in the run after'),
  changed: t('changed between the runs'),
} as const;

/** Why an evaluator is left out of a comparison. Undefined if it is not. */
export function leftOutInWords({ left_out_evaluators: all }: Comparison, name: string): string | undefined {
  const found = all.find((each) => each.name === name);
  return found && REASONS[found.reason];
}
