import type { SavedRun } from './results.ts';
import { type Spread, spreadOf } from './statistics.ts';

/** The limit for a number. */
export interface Target {
  atMost?: number;
  atLeast?: number;
  below?: number;
}

/** One line of the report: a number, measured several times. */
export interface Row {
  name: string;
  unit: string;
  spread: Spread;
  /** Only for numbers that this project promises; it applies to the median. */
  target?: Target;
  met?: boolean;
}

/** The result of one benchmark. */
export interface Outcome {
  benchmark: string;
  rows: Row[];
  /** Why nothing was measured. */
  skipped?: string;
  /** What was left out, and why. */
  notes?: string[];
}

export function row(name: string, unit: string, values: readonly number[], target?: Target): Row {
  const spread = spreadOf(values);
  if (target === undefined) return { name, unit, spread };
  return { name, unit, spread, target, met: isMet(spread.median, target) };
}

/** The ratio of two series, pair by pair: both of a pair met the same state of the machine. */
export function ratioRow(name: string, ours: readonly number[], theirs: readonly number[], target?: Target): Row {
  return row(
    name,
    'times',
    ours.map((value, index) => value / (theirs[index] ?? Number.NaN)),
    target,
  );
}

function isMet(value: number, { atMost, atLeast, below }: Target): boolean {
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity) && value < (below ?? Infinity);
}

const digits = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false });

function targetText({ atMost, atLeast, below }: Target): string {
  if (atMost !== undefined) return `≤ ${digits(atMost)}`;
  return atLeast === undefined ? `< ${digits(below ?? Number.NaN)}` : `≥ ${digits(atLeast)}`;
}

/** The change of the median compared with an earlier run, such as `+12 %`. */
function changeText(value: number, before: number | null | undefined): string {
  if (before === undefined || before === null || before === 0) return '';
  const percent = Math.round((value / before - 1) * 100);
  return `${percent < 0 ? '' : '+'}${percent} %`;
}

/**
 * Formats a benchmark's results for people, one per line.
 * @param last an earlier run on the same kind of machine, for comparison
 */
export function format({ benchmark, rows, skipped, notes = [] }: Outcome, last?: SavedRun): string {
  if (skipped !== undefined) return `${benchmark}\n  not measured: ${skipped}\n`;
  const medians = new Map(last?.rows.map(({ name, median }) => [name, median]));
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map(({ name, unit, spread: { min, median, max }, target, met }) => {
    const numbers = [min, median, max].map((value) => digits(value).padStart(7)).join(' ');
    const change = last === undefined ? '' : changeText(median, medians.get(name)).padStart(8);
    const verdict = target === undefined ? '' : `  target ${targetText(target)}: ${met ? 'met' : 'MISSED'}`;
    return `  ${name.padEnd(width)} ${numbers} ${unit.padEnd(6)}${change}${verdict}`.trimEnd();
  });
  const columns = ['min', 'median', 'max'].map((text) => text.padStart(7)).join(' ');
  const head = `  ${''.padEnd(width)} ${columns} ${''.padEnd(6)}${last === undefined ? '' : '  change'}`.trimEnd();
  const against =
    last === undefined
      ? []
      : [
          `  change: against ${last.date.slice(0, 10)}, commit ${last.commit}, load average ${last.loadBefore} before it`,
        ];
  return `${[benchmark, head, ...lines, ...against, ...notes.map((note) => `  ${note}`)].join('\n')}\n`;
}
