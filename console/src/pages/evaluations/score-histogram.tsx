import { useInfiniteQuery } from '@tanstack/react-query';
import { pathOf } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { formatNumber } from '../../format.ts';
import { listQuery } from '../../queries.ts';
import { RESULTS_PAGE } from './queries.ts';
import { evaluationRoute } from './routes.ts';
import type { Result } from './types.ts';

const BARS = 10;

/** How many scores are in each tenth; a score of 1 is in the last. */
export function tenthsOf(scores: readonly number[]): number[] {
  const counts = Array.from({ length: BARS }, () => 0);
  for (const score of scores) {
    const at = Math.min(Math.max(Math.floor(score * BARS), 0), BARS - 1);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

/** How the scores of a run are spread, of the example or of the evaluator that is chosen. A bar narrows the results down to its scores. */
export function ScoreHistogram({ evaluation }: { evaluation: Evaluation }) {
  const { evaluator, min, max } = evaluationRoute.useSearch();
  const navigate = evaluationRoute.useNavigate();
  // The same as that of the results without a filter: it is asked once.
  const { data } = useInfiniteQuery(
    listQuery<Result>(`${pathOf('evaluations', evaluation.id)}/results`, { limit: RESULTS_PAGE }),
  );
  const rows = data?.pages[0]?.data ?? [];
  const scores = rows.flatMap((row) => {
    const score = evaluator === undefined ? row.score : row.scores?.[evaluator]?.score;
    return score == null ? [] : [score];
  });
  if (scores.length < 2) return null;
  const counts = tenthsOf(scores);
  const most = Math.max(...counts);
  const isPart = rows.length < evaluation.examples_evaluated;
  return (
    <figure className="histogram">
      <figcaption className="field-label">
        {evaluator === undefined ? 'Scores of the examples' : `Scores by ${evaluator}`}
        {isPart && <span className="muted">, the first {formatNumber(rows.length)}</span>}
      </figcaption>
      <ol>
        {counts.map((count, at) => {
          const from = String((at * 100) / BARS);
          // Scores of the next tenth are not of this one.
          const to = at === BARS - 1 ? '100' : String(((at + 1) * 100) / BARS - 0.01);
          const isChosen = min === from && max === to;
          return (
            <li key={from}>
              <button
                type="button"
                className="histogram-bar"
                disabled={count === 0}
                aria-pressed={isChosen}
                aria-label={`${from} to ${((at + 1) * 100) / BARS} %: ${formatNumber(count)} examples`}
                title={`${from} to ${((at + 1) * 100) / BARS} %: ${formatNumber(count)}`}
                onClick={() =>
                  void navigate({
                    search: (before) => ({
                      ...before,
                      min: isChosen ? undefined : from,
                      max: isChosen ? undefined : to,
                    }),
                    replace: true,
                    resetScroll: false,
                  })
                }
              >
                <span style={{ height: `${count === 0 ? 0 : Math.max((count / most) * 100, 3)}%` }} />
              </button>
              <span className="histogram-count" aria-hidden>
                {count === 0 ? '' : formatNumber(count)}
              </span>
            </li>
          );
        })}
      </ol>
      <div className="histogram-axis" aria-hidden>
        <span>0 %</span>
        <span>50 %</span>
        <span>100 %</span>
      </div>
    </figure>
  );
}
