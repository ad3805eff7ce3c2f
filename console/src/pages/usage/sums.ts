import type { z } from 'zod';
import type * as usage from '../../../../src/api/usage/schema.ts';

export type Usage = z.output<typeof usage.Usage>;

/** The combined usage of executions and evaluations. */
export interface Sum {
  key: string;
  runs: number;
  failed: number;
  examples: number;
  tokensIn: number;
  tokensOut: number;
  cost: number;
  unpriced: number;
  /** The number of timed responses, and their total duration. */
  timed: number;
  modelMs: number;
}

const emptySum = (key: string): Sum => ({
  key,
  runs: 0,
  failed: 0,
  examples: 0,
  tokensIn: 0,
  tokensOut: 0,
  cost: 0,
  unpriced: 0,
  timed: 0,
  modelMs: 0,
});

type Row = Usage['data'][number] | Usage['evaluations'][number];

function add(sum: Sum, row: Row): void {
  if ('executions' in row) {
    sum.runs += row.executions;
    sum.failed += row.failed;
  } else sum.examples += row.examples;
  sum.tokensIn += row.tokens.input;
  sum.tokensOut += row.tokens.output;
  // A float is enough for charts and rounded totals.
  sum.cost += Number(row.cost.amount ?? 0);
  sum.unpriced += row.unpriced;
  sum.timed += row.latency.responses;
  sum.modelMs += (row.latency.mean_ms ?? 0) * row.latency.responses;
}

/** The mean response time of models. Null if no response was timed. */
export const meanMs = ({ timed, modelMs }: Sum) => (timed === 0 ? null : modelMs / timed);

/** Totals by `keyOf`, most expensive first. */
export function sumBy({ data, evaluations }: Usage, keyOf: (row: Row) => string): Sum[] {
  const sums = new Map<string, Sum>();
  for (const row of [...data, ...evaluations]) {
    const key = keyOf(row);
    const sum = sums.get(key) ?? emptySum(key);
    add(sum, row);
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.cost - a.cost || b.tokensIn + b.tokensOut - a.tokensIn - a.tokensOut);
}

export function total(usage: Usage): Sum {
  return sumBy(usage, () => 'all')[0] ?? emptySum('all');
}

/** Every day of a range in UTC, in API format. */
export function daysBetween(since: string, until: string): string[] {
  const days: string[] = [];
  const last = until.slice(0, 10);
  for (let time = Date.parse(since.slice(0, 10)); ; time += 86_400_000) {
    const day = new Date(time).toISOString().slice(0, 10);
    if (day > last) return days;
    days.push(day);
  }
}
