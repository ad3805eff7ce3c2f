import { formatNumber, plural } from '../../format.ts';
import { evaluationRoute } from './routes.ts';

const BARS = 10;

/** The distribution of a run's scores, of examples or of the selected evaluator. Clicking a bar filters the results by its scores. */
export function ScoreHistogram({ counts, complete }: { counts: readonly number[]; complete: boolean }) {
  const { evaluator, min, max } = evaluationRoute.useSearch();
  const navigate = evaluationRoute.useNavigate();
  if (counts.reduce((sum, count) => sum + count, 0) < 2) return null;
  const most = Math.max(...counts);
  return (
    <figure className="histogram">
      <figcaption className="field-label">
        {evaluator === undefined ? 'Scores of the examples' : `Scores by ${evaluator}`}
        {!complete && <span className="muted">, of the first results</span>}
      </figcaption>
      <ol>
        {counts.map((count, at) => {
          const from = String((at * 100) / BARS);
          // Excludes scores of the next bar.
          const to = at === BARS - 1 ? '100' : String(((at + 1) * 100) / BARS - 0.01);
          const isChosen = min === from && max === to;
          return (
            <li key={from}>
              <button
                type="button"
                className="histogram-bar"
                disabled={count === 0}
                aria-pressed={isChosen}
                aria-label={`${from} to ${((at + 1) * 100) / BARS} %: ${plural(count, 'example', 'examples')}`}
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
