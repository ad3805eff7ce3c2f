import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { PromptSeries } from '../../api-types.ts';
import { formatScore, formatTime } from '../../format.ts';
import { seriesQuery } from '../../queries.ts';
import './evaluations.css';

const WIDTH = 640;
const HEIGHT = 180;
const LEFT = 44;
const BOTTOM = 24;
const TOP = 8;

type Score = PromptSeries['scores'][number] & { interval?: unknown };

/** The API's interval as numbers; undefined where it has none. */
function boundsOf({ interval }: Score): { low: number; high: number } | undefined {
  const { low, high } = (interval ?? {}) as { low?: number; high?: number };
  return low === undefined || high === undefined ? undefined : { low, high };
}

const nameOf = ({ dataset }: Score) => dataset?.name ?? 'Inline examples';
const y = (score: number) => TOP + (1 - score) * (HEIGHT - TOP - BOTTOM);

/** The newest score of each version, with its 95 % interval, over one dataset after the other. */
export function VersionScores({ prompt, dataset }: { prompt: string; dataset: string | undefined }) {
  const series = useQuery(seriesQuery(prompt)).data;
  const scores = (series?.scores ?? []).filter((score) => dataset === undefined || nameOf(score) === dataset);
  if (scores.length === 0) return null;
  const byDataset = Map.groupBy(scores, nameOf);
  return (
    <section className="stack" aria-labelledby="version-scores">
      <h2 id="version-scores">Score by version</h2>
      <div className="grid-2">
        {[...byDataset].map(([name, all]) => (
          <DatasetScores key={name} name={name} scores={newestOfVersions(all)} />
        ))}
      </div>
    </section>
  );
}

/** Oldest first, as the API lists them: the last of a version is its newest. */
function newestOfVersions(scores: readonly Score[]): Score[] {
  const byVersion = new Map(scores.map((score) => [score.prompt_version, score]));
  return [...byVersion.values()].sort((a, b) => a.prompt_version - b.prompt_version);
}

function DatasetScores({ name, scores }: { name: string; scores: readonly Score[] }) {
  const step = (WIDTH - LEFT) / scores.length;
  const x = (index: number) => LEFT + step * (index + 0.5);
  // Labels of the axis that would overlap are left out.
  const every = Math.ceil(scores.length / 12);
  return (
    <figure className="chart">
      <figcaption>
        <h3>Over {name}</h3>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="version-scores" aria-hidden="true">
        {[0, 0.5, 1].map((mark) => (
          <g key={mark}>
            <line x1={LEFT} x2={WIDTH} y1={y(mark)} y2={y(mark)} className="grid-line" />
            <text x={LEFT - 6} y={y(mark) + 4} textAnchor="end">
              {mark * 100} %
            </text>
          </g>
        ))}
        <polyline points={scores.map(({ score }, index) => `${x(index)},${y(score)}`).join(' ')} />
        {scores.map((each, index) => {
          const bounds = boundsOf(each);
          return (
            <g key={each.evaluation_id}>
              {bounds && (
                <line x1={x(index)} x2={x(index)} y1={y(bounds.low)} y2={y(bounds.high)} className="interval" />
              )}
              <circle cx={x(index)} cy={y(each.score)} r="4" />
              {index % every === 0 && (
                <text x={x(index)} y={HEIGHT - 6} textAnchor="middle">
                  v{each.prompt_version}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <details>
        <summary>Numbers</summary>
        <div className="chart-numbers" tabIndex={0} role="region" aria-label={`Scores over ${name}: numbers`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Version</th>
                <th scope="col">Score</th>
                <th scope="col">95 % interval</th>
                <th scope="col">Ended</th>
              </tr>
            </thead>
            <tbody>
              {scores.map((each) => {
                const bounds = boundsOf(each);
                return (
                  <tr key={each.evaluation_id}>
                    <th scope="row">
                      <Link to="/evaluations/$id" params={{ id: each.evaluation_id }}>
                        {each.prompt_version}
                      </Link>
                    </th>
                    <td>{formatScore(each.score)}</td>
                    <td>{bounds && `${formatScore(bounds.low)} – ${formatScore(bounds.high)}`}</td>
                    <td>{formatTime(each.finished_at)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
