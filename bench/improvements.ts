import { estimateDifference } from '../src/domain/evaluations/paired-difference.ts';
import { type LedgerEntry, splitFault } from '../src/domain/improvements/split.ts';
import {
  ledgerAfter,
  type SimulatedSearch,
  type SimulatedTask,
  simulateSearch,
  taskWithGain,
  taskWithHiddenRules,
  taskWithoutEffect,
  trueScore,
} from '../test/support/simulated-search.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row } from './report.ts';

/** Sizes of datasets, half of which is held out. */
const SIZES = [100, 200, 400];
/** The number of searches on the same dataset, each of which leaves a mark in the ledger. */
const LOOKS = 5;
const RUNS = 1_000;
const POWER_RUNS = 300;
const SEEDS = 200;

const shareOf = (items: readonly boolean[]) => (100 * items.filter(Boolean).length) / items.length;
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Tasks whose examples suffice for all parts: small datasets may have too few by chance. */
function* tasks(
  make: (salt: number) => SimulatedTask,
  count: number,
): Generator<{ task: SimulatedTask; seed: number }> {
  let found = 0;
  for (let seed = 1; found < count; seed += 1) {
    const task = make(seed);
    const { split } = simulateSearch(task, { seed, maxProposals: 0 });
    if (splitFault(split) !== undefined) continue;
    found += 1;
    yield { task, seed };
  }
}

const isClaim = ({ verdict }: SimulatedSearch) => verdict.result === 'improvement';

/** Whether a test of the winner on the examples that chose it would call it an improvement. */
function isNaiveClaim({ chosenBy: { base, best } }: SimulatedSearch): boolean {
  return estimateDifference(best.map((score, index) => score - (base[index] ?? 0))).low > 0;
}

function withoutEffect(size: number, runs: number): Row[] {
  const first: boolean[] = [];
  const any: boolean[] = [];
  const naive: boolean[] = [];
  const gains: number[] = [];
  for (const { task, seed } of tasks((salt) => taskWithoutEffect(size, salt), runs)) {
    let ledger: ReadonlyMap<string, LedgerEntry> = new Map();
    let claims = 0;
    for (let look = 1; look <= LOOKS; look += 1) {
      const search = simulateSearch(task, { seed: seed * LOOKS + look, ledger });
      if (isClaim(search)) claims += 1;
      if (look === 1) {
        first.push(isClaim(search));
        naive.push(isNaiveClaim(search));
        gains.push(100 * (meanOf(search.chosenBy.best) - meanOf(search.chosenBy.base)));
      }
      ledger = ledgerAfter(search, ledger);
    }
    any.push(claims > 0);
  }
  const name = `nothing better exists, ${size} examples`;
  return [
    row(`${name}: "improvement" by the first search`, '%', [shareOf(first)], { atMost: 2.5 }),
    row(`${name}: "improvement" by any of ${LOOKS} searches`, '%', [shareOf(any)], { atMost: 5 }),
    row(`${name}: "improvement" if tested on what chose it`, '%', [shareOf(naive)]),
    row(`${name}: gain of the winner where it was chosen`, 'points', [meanOf(gains)]),
  ];
}

function power(size: number, gain: number, runs: number): Row {
  const found = [...tasks((salt) => taskWithGain(size, salt, gain), runs)].map(({ task, seed }) =>
    isClaim(simulateSearch(task, { seed, maxProposals: 4 })),
  );
  return row(`${100 * gain} points better, ${size} examples: proved`, '%', [shareOf(found)]);
}

function hiddenRules(seeds: number): Row[] {
  const searches = [...tasks((salt) => taskWithHiddenRules(200, salt), seeds)].map(({ task, seed }) => {
    const search = simulateSearch(task, { seed });
    return { search, before: trueScore(task, task.template), after: trueScore(task, search.template) };
  });
  const of = (value: (each: (typeof searches)[number]) => number) => searches.map(value);
  const after = of((each) => each.after);
  return [
    row(
      '8 hidden rules: true score of the base',
      '',
      of(({ before }) => before),
    ),
    row('8 hidden rules: true score of the finalist', '', after, { atLeast: 0.85 }),
    row('8 hidden rules: mean true score of the finalists', '', [meanOf(after)], { atLeast: 0.85 }),
    row(
      '8 hidden rules: finalists with a true score of 0.85 or more',
      '%',
      [shareOf(after.map((score) => score >= 0.85))],
      { atLeast: 90 },
    ),
    row('8 hidden rules: proved', '%', [shareOf(searches.map(({ search }) => isClaim(search)))], { atLeast: 90 }),
    row(
      '8 hidden rules: calls of the prompt',
      '',
      of(({ search }) => search.calls),
      { atMost: 2_000 },
    ),
    row(
      '8 hidden rules: reflections',
      '',
      of(({ search }) => search.reflections),
      { atMost: 80 },
    ),
  ];
}

/** Simulated searches for a better prompt: how often one is claimed that does not exist, and how often one is found that does. */
export async function measureImprovements({ report, rounds }: Means): Promise<Outcome> {
  const rows: Row[] = [];
  report('  8 hidden rules');
  rows.push(...hiddenRules(rounds ?? SEEDS));
  for (const size of SIZES) {
    report(`  ${size} examples`);
    rows.push(...withoutEffect(size, rounds ?? RUNS));
    for (const gain of [0.1, 0.2]) rows.push(power(size, gain, rounds ?? POWER_RUNS));
  }
  return {
    benchmark: 'improvements',
    rows,
    notes: [
      'Half of the examples are held out. Without an effect, half of the examples are right by chance, drawn again for each prompt.',
    ],
  };
}
