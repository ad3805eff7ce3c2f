import type { AnalysisOptions, Check, CheckVerdict } from '../src/domain/analysis/check.ts';
import { judgeChecks } from '../src/domain/analysis/judge-checks.ts';
import { type ArmSums, addSums, latencyBucket, NO_SUMS } from '../src/domain/analysis/sums.ts';
import type { Means } from './means.ts';
import { createDraws, type Draws } from './random.ts';
import { type Outcome, type Row, row, type Target } from './report.ts';

/** A check covers a minute in which the candidate gets 10 executions and stable 90. */
const CANDIDATES_A_CHECK = 10;
const STABLE_A_CHECK = 90;

interface Simulation {
  name: string;
  check: Check;
  options?: AnalysisOptions;
  releases: number;
  looks: number;
  candidate: (draws: Draws, count: number, look: number) => ArmSums;
  stable: (draws: Draws, count: number, look: number) => ArmSums;
  /** Counts releases with this verdict at any check. */
  verdict: CheckVerdict;
  target?: Target;
}

const errors = (rate: number | ((look: number) => number)) => (draws: Draws, count: number, look: number) => ({
  ...NO_SUMS,
  executions: count,
  errors: draws.binomial(count, typeof rate === 'number' ? rate : rate(look)),
});

function eachOf(count: number, value: () => number) {
  let [sum, squares] = [0, 0];
  for (let i = 0; i < count; i += 1) {
    const one = value();
    sum += one;
    squares += one * one;
  }
  return { count, sum, squares };
}

/** Costs with a long tail: log-normal, with a mean of 1.65 times the median. */
const costs = (median: number) => (draws: Draws, count: number) => ({
  ...NO_SUMS,
  executions: count,
  cost: eachOf(count, () => median * Math.exp(draws.normal())),
});

const latencies = (medianMs: number) => (draws: Draws, count: number) => {
  const latency: Record<number, number> = {};
  for (let i = 0; i < count; i += 1) {
    const bucket = latencyBucket(medianMs * Math.exp(0.5 * draws.normal()));
    latency[bucket] = (latency[bucket] ?? 0) + 1;
  }
  return { ...NO_SUMS, executions: count, latency };
};

/** Grades of a judge from 0 to 1 in steps of 0.1: most are good, some are not. */
const grades = (good: number) => (draws: Draws, count: number) => ({
  ...NO_SUMS,
  executions: count,
  scores: {
    grade: eachOf(
      count,
      () => Math.round((draws.uniform() < good ? 0.8 + 0.2 * draws.uniform() : draws.uniform()) * 10) / 10,
    ),
  },
});

/** From 1 % to 3 % and back, four times in a thousand minutes. */
const dailyRate = (look: number) => 0.02 + 0.01 * Math.sin((2 * Math.PI * look) / 250);

const GRADE_RANGE = { scoreRanges: { grade: { min: 0, max: 1 } } };
const noMoreErrors = (max_increase: number): Check => ({ metric: 'error_rate', against: 'stable', max_increase });

function simulations(rounds: number | undefined): Simulation[] {
  const many = { releases: rounds ?? 2_000, looks: 1_000 };
  const several = { releases: rounds ?? 500, looks: 1_000 };
  const some = { releases: rounds ?? 200, looks: 200 };
  const wrong = { atMost: 5 };
  const right = { atLeast: 95 };
  const failed = { verdict: 'failed' } as const;
  const slower = (max_increase: number): Check => ({ metric: 'latency_p95', against: 'stable', max_increase });
  const dearer = (max_increase: number): Check => ({ metric: 'cost_mean', against: 'stable', max_increase });
  const worse = (max_decrease: number): Check => ({ metric: 'score:grade', against: 'stable', max_decrease });
  return [
    {
      name: 'errors 2 % → 2 %, none more allowed',
      check: noMoreErrors(0),
      ...many,
      candidate: errors(0.02),
      stable: errors(0.02),
      ...failed,
      target: wrong,
    },
    {
      name: 'errors 1–3 % → 1–3 % by the hour, none more allowed',
      check: noMoreErrors(0),
      ...several,
      candidate: errors(dailyRate),
      stable: errors(dailyRate),
      ...failed,
      target: wrong,
    },
    {
      name: 'errors 2 % → 3 %, 1 point allowed',
      check: noMoreErrors(0.01),
      ...several,
      candidate: errors(0.03),
      stable: errors(0.02),
      ...failed,
      target: wrong,
    },
    {
      name: 'errors 2 % → 6 %, none more allowed',
      check: noMoreErrors(0),
      ...many,
      candidate: errors(0.06),
      stable: errors(0.02),
      ...failed,
      target: right,
    },
    {
      name: 'errors 2 % → 6 %, 1 point allowed',
      check: noMoreErrors(0.01),
      ...many,
      candidate: errors(0.06),
      stable: errors(0.02),
      ...failed,
      target: right,
    },
    {
      name: 'errors 2 % → 2 %, 2 points allowed',
      check: noMoreErrors(0.02),
      ...several,
      candidate: errors(0.02),
      stable: errors(0.02),
      verdict: 'passed',
    },
    {
      name: 'errors 2 % → 4 %, 2 points allowed',
      check: noMoreErrors(0.02),
      ...several,
      candidate: errors(0.04),
      stable: errors(0.02),
      verdict: 'passed',
      target: wrong,
    },
    {
      name: 'p95 as before, none slower allowed',
      check: slower(0),
      ...some,
      candidate: latencies(1_000),
      stable: latencies(1_000),
      ...failed,
      target: wrong,
    },
    {
      name: 'p95 50 % slower, 10 % allowed',
      check: slower(0.1),
      ...some,
      candidate: latencies(1_500),
      stable: latencies(1_000),
      ...failed,
      target: right,
    },
    {
      name: 'cost as before, none dearer allowed',
      check: dearer(0),
      ...some,
      candidate: costs(0.001),
      stable: costs(0.001),
      ...failed,
      target: wrong,
    },
    {
      name: 'cost 50 % dearer, 10 % allowed',
      check: dearer(0.1),
      ...some,
      candidate: costs(0.0015),
      stable: costs(0.001),
      ...failed,
      target: right,
    },
    {
      name: 'grades as before, none worse allowed',
      check: worse(0),
      options: GRADE_RANGE,
      ...some,
      candidate: grades(0.9),
      stable: grades(0.9),
      ...failed,
      target: wrong,
    },
    {
      name: 'grades 0.1 worse, 0.02 allowed',
      check: worse(0.02),
      options: GRADE_RANGE,
      ...some,
      candidate: grades(0.65),
      stable: grades(0.9),
      ...failed,
      target: right,
    },
    {
      name: 'grades as before, none worse allowed, no range known',
      check: worse(0),
      ...some,
      candidate: grades(0.9),
      stable: grades(0.9),
      ...failed,
      target: wrong,
    },
  ];
}

/** The number of the candidate's executions until the verdict, for releases that reached it. */
function simulate({ check, options, releases, looks, candidate, stable, verdict }: Simulation, seed: number): number[] {
  const draws = createDraws(seed);
  const took: number[] = [];
  for (let release = 0; release < releases; release += 1) {
    let arms = { candidate: NO_SUMS, stable: NO_SUMS };
    for (let look = 1; look <= looks; look += 1) {
      arms = {
        candidate: addSums([arms.candidate, candidate(draws, CANDIDATES_A_CHECK, look)]),
        stable: addSums([arms.stable, stable(draws, STABLE_A_CHECK, look)]),
      };
      if (judgeChecks([check], arms, options)[0]?.verdict !== verdict) continue;
      took.push(look * CANDIDATES_A_CHECK);
      break;
    }
  }
  return took;
}

/** Simulated releases: how often the analysis stops an equally good candidate, and how soon a worse one. */
export async function measureReleases({ report, rounds }: Means): Promise<Outcome> {
  const rows: Row[] = [];
  for (const [index, simulation] of simulations(rounds).entries()) {
    report(`  ${simulation.name}`);
    const took = simulate(simulation, index + 1);
    const share = (100 * took.length) / simulation.releases;
    rows.push(row(`${simulation.name}: ${simulation.verdict}`, '%', [share], simulation.target));
    if (simulation.target?.atMost === undefined) rows.push(row('  after executions of the candidate', '', took));
  }
  return {
    benchmark: 'releases',
    rows,
    notes: [`${CANDIDATES_A_CHECK} executions of the candidate and ${STABLE_A_CHECK} of stable before each look.`],
  };
}
