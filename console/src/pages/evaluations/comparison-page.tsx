import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Evaluation } from '../../api-types.ts';
import { TargetLink } from '../../components/badges.tsx';
import { Dumbbell } from '../../components/dumbbell.tsx';
import { Interval } from '../../components/interval.tsx';
import { PageHead } from '../../components/page.tsx';
import { QueryState } from '../../components/states.tsx';
import { formatNumber, formatScore, formatTime } from '../../format.ts';
import { ChangedTexts, difference } from './changed-texts.tsx';
import { inWords } from './in-words.ts';
import { comparisonQuery, evaluationQuery } from './queries.ts';
import { comparisonRoute } from './routes.ts';
import type { Comparison } from './types.ts';
import './evaluations.css';

/** What changed from one run to another, and whether that is more than noise. */
export function ComparisonPage() {
  const { id, other } = comparisonRoute.useParams();
  const comparison = useQuery(comparisonQuery(id, other));
  return (
    <>
      <PageHead
        title="Compare evaluations"
        crumbs={
          <ol className="crumbs">
            <li>
              <Link to="/evaluations">Evaluations</Link>
            </li>
            <li>
              <Link to="/evaluations/$id" params={{ id }} className="mono">
                {id}
              </Link>
            </li>
          </ol>
        }
        actions={
          <Link to="/evaluations/$id/compare/$other" params={{ id: other, other: id }} className="button">
            Swap
          </Link>
        }
      />
      <div className="grid-2">
        <Run id={other} title="Before" />
        <Run id={id} title="After" />
      </div>
      <QueryState query={comparison} what="the comparison">
        {(found) => <Differences id={id} other={other} comparison={found} />}
      </QueryState>
    </>
  );
}

function Run({ id, title }: { id: string; title: string }) {
  const query = useQuery(evaluationQuery(id));
  return (
    <section className="card" aria-label={title}>
      <h2>
        <Link to="/evaluations/$id" params={{ id }}>
          {title}
        </Link>
      </h2>
      <QueryState query={query} what="the evaluation">
        {(run) => <RunFacts run={run} />}
      </QueryState>
    </section>
  );
}

function RunFacts({ run }: { run: Evaluation }) {
  return (
    <dl className="facts">
      <div>
        <dt>Prompt</dt>
        <dd>
          <TargetLink evaluation={run} />
        </dd>
      </div>
      <div>
        <dt>Model</dt>
        <dd>{run.model}</dd>
      </div>
      <div>
        <dt>Score</dt>
        <dd>{formatScore(run.score)}</dd>
      </div>
      <div>
        <dt>Examples</dt>
        <dd>
          {formatNumber(run.examples_total)}
          {run.dataset && ` of ${run.dataset.name}@${run.dataset.version}`}
        </dd>
      </div>
      <div>
        <dt>Ended</dt>
        <dd>{formatTime(run.finished_at)}</dd>
      </div>
    </dl>
  );
}

function Differences({ id, other, comparison }: { id: string; other: string; comparison: Comparison }) {
  const { text, tone } = inWords(comparison);
  const { regressions, improvements, by_evaluator, only_in_a, only_in_b, interval } = comparison;
  return (
    <>
      <div className={`notice ${tone}`} role="status">
        <strong>{text}</strong>
        <span>{comparison.note}</span>
        {interval !== null && (
          <Interval low={interval.low} high={interval.high} difference={comparison.difference ?? 0} />
        )}
      </div>
      <dl className="facts">
        <div>
          <dt>Compared</dt>
          <dd>{formatNumber(comparison.examples_compared)} examples</dd>
        </div>
        <div>
          <dt>Mean score</dt>
          <dd>
            {formatScore(comparison.score_a)} → {formatScore(comparison.score_b)}
          </dd>
        </div>
        <div>
          <dt>Worse / better / same</dt>
          <dd>
            {formatNumber(regressions.total)} / {formatNumber(improvements.total)} /{' '}
            {formatNumber(comparison.unchanged)}
          </dd>
        </div>
        <div>
          <dt>Only in one run</dt>
          <dd>{formatNumber(only_in_a.total + only_in_b.total)}</dd>
        </div>
      </dl>
      <section className="stack" aria-labelledby="by-evaluator">
        <h2 id="by-evaluator">By evaluator</h2>
        <table className="simple-table">
          <thead>
            <tr>
              <th scope="col">Evaluator</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
              <th scope="col" className="wide">
                0 to 100 %
              </th>
              <th scope="col">Points</th>
              <th scope="col">Worse</th>
              <th scope="col">Better</th>
            </tr>
          </thead>
          <tbody>
            {by_evaluator.map((each) => (
              <tr key={each.name}>
                <th scope="row">{each.name}</th>
                <td>{formatScore(each.score_a)}</td>
                <td>{formatScore(each.score_b)}</td>
                <td>
                  <Dumbbell before={each.score_a} after={each.score_b} />
                </td>
                <td>{difference(each.difference)}</td>
                <td>{formatNumber(each.regressions)}</td>
                <td>{formatNumber(each.improvements)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <ChangedTexts id={id} other={other} comparison={comparison} />
    </>
  );
}
