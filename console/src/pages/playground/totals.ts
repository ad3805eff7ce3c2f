import type { Cell } from './cells.ts';

/** The total cost and time of a pane's cells. */
export interface Totals {
  /** Number of started runs. */
  runs: number;
  completed: number;
  /** US dollars, including judges; null if any price is unknown. */
  cost: string | null;
  medianMs: number | undefined;
  medianFirstTokenMs: number | undefined;
  /** The mean, 0–1. */
  score: number | undefined;
}

const isNumber = (value: number | null | undefined): value is number => value != null;

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** The cost of the judges of a cell. */
const judgesCost = ({ scoring }: Cell) => (scoring?.scores ?? []).flatMap(({ cost }) => (cost === null ? [] : [cost]));

/** If a judge gave no score, the mean of the rest is not comparable. */
const isUnscored = ({ scores }: NonNullable<Cell['scoring']>) => scores.some(({ score }) => score === null);

export function totalsOf(cells: readonly Cell[]): Totals {
  const begun = cells.filter(({ run }) => run.state !== 'stopped' && run.state !== 'earlier');
  const executions = begun.flatMap(({ run }) => (run.state === 'ended' && run.execution ? [run.execution] : []));
  const costs = [...executions.map(({ cost }) => cost), ...begun.flatMap(judgesCost)].map(({ amount }) => amount);
  const scores = begun.flatMap(({ scoring }) => (scoring?.score == null || isUnscored(scoring) ? [] : [scoring.score]));
  return {
    runs: begun.length,
    completed: executions.filter(({ status }) => status === 'completed').length,
    cost: costs.includes(null) ? null : String(costs.reduce((sum, amount) => sum + Number(amount), 0)),
    medianMs: median(begun.map(({ run }) => run.totalMs).filter(isNumber)),
    medianFirstTokenMs: median(begun.map(({ run }) => run.firstTokenMs).filter(isNumber)),
    score: scores.length === 0 ? undefined : scores.reduce((sum, score) => sum + score, 0) / scores.length,
  };
}
