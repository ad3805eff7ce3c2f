import { estimateDifference } from '../src/domain/evaluations/paired-difference.ts';
import type { Means } from './means.ts';
import { createDraws, type Draws } from './random.ts';
import { type Outcome, type Row, row } from './report.ts';

/** Distributions of score differences: a generator, and the true mean. */
const KINDS: readonly { name: string; mean: number; draw: (draws: Draws) => number }[] = [
  { name: 'normal', mean: 0.1, draw: ({ normal }) => 0.1 + 0.15 * normal() },
  {
    name: 'in steps of 0.25',
    mean: 0.125,
    draw: ({ uniform }) => (Math.floor(uniform() * 5) - Math.floor(uniform() * 4)) / 4,
  },
  { name: 'skewed', mean: -0.1, draw: ({ uniform }) => 0.1 * Math.log(1 - uniform()) },
  {
    name: 'skewed more (log-normal)',
    mean: -0.05 * Math.exp(0.32),
    draw: ({ normal }) => -0.05 * Math.exp(0.8 * normal()),
  },
  { name: 'ties: 70 % 0, 15 % ±1', mean: 0, draw: ({ uniform }) => ofThree(uniform(), 0.15, 0.15) },
  { name: 'skewed ties: 25 % −1, 10 % 1', mean: -0.15, draw: ({ uniform }) => ofThree(uniform(), 0.25, 0.1) },
  { name: 'one-sided ties: 30 % −1', mean: -0.3, draw: ({ uniform }) => ofThree(uniform(), 0.3, 0) },
  { name: 'rare: 10 % −1', mean: -0.1, draw: ({ uniform }) => ofThree(uniform(), 0.1, 0) },
];

function ofThree(at: number, worse: number, better: number): number {
  if (at < worse) return -1;
  return at < worse + better ? 1 : 0;
}

const SIZES = [5, 6, 8, 10, 15, 20, 50, 100, 200, 500, 1_000, 2_000];

/** Fewer runs if they take long. */
const runsOf = (size: number) => Math.max(300, Math.min(1_000, 100_000 / size));

interface Found {
  /** In percent. */
  coverage: number;
  /** How often the interval and the p-value contradict each other. */
  contradictions: number;
}

function simulate(kind: (typeof KINDS)[number], size: number, runs: number, draws: Draws): Found {
  let covered = 0;
  let contradictions = 0;
  for (let run = 0; run < runs; run += 1) {
    const differences = Array.from({ length: size }, () => Math.max(-1, Math.min(1, kind.draw(draws))));
    const { low, high, pValue } = estimateDifference(differences);
    // The interval is rounded to six decimals.
    if (low - 1e-6 <= kind.mean && high + 1e-6 >= kind.mean) covered += 1;
    if (low > 0 || high < 0 ? pValue >= 0.05 : pValue < 0.05) contradictions += 1;
  }
  return { coverage: (100 * covered) / runs, contradictions };
}

/** How often the 95 % interval of a comparison contains the true difference, by number of examples and kind of differences. */
export async function measureComparisons({ report, rounds }: Means): Promise<Outcome> {
  const draws = createDraws(26);
  const rows: Row[] = [];
  const table: number[][] = KINDS.map(() => []);
  let contradictions = 0;
  for (const size of SIZES) {
    report(`  ${size} examples`);
    const found = KINDS.map((kind) => simulate(kind, size, rounds ?? runsOf(size), draws));
    for (const [index, { coverage }] of found.entries()) table[index]?.push(coverage);
    for (const each of found) contradictions += each.contradictions;
    const coverages = found.map(({ coverage }) => coverage);
    rows.push(row(`${size} examples: 95 % intervals with the true difference`, '%', coverages, { atLeast: 93 }));
  }
  rows.push(row('interval and p-value contradict each other', 'times', [contradictions], { atMost: 0 }));
  const width = Math.max(...KINDS.map(({ name }) => name.length));
  const line = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)} ${cells.map((cell) => cell.padStart(6)).join('')}`;
  return {
    benchmark: 'comparisons',
    rows,
    notes: [
      'by kind of differences, in %:',
      line('', SIZES.map(String)),
      ...KINDS.map(({ name }, index) =>
        line(
          name,
          (table[index] ?? []).map((coverage) => coverage.toFixed(1)),
        ),
      ),
    ],
  };
}
