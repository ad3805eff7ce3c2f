import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Evaluation } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { EvaluationBadge, TargetLink } from '../../components/badges.tsx';
import { Dumbbell } from '../../components/dumbbell.tsx';
import { Fact } from '../../components/fact.tsx';
import { Interval } from '../../components/interval.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Section } from '../../components/section.tsx';
import { Loading } from '../../components/states.tsx';
import { formatCost, formatMs, formatNumber, formatScore, formatTime, NONE, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { EvaluationActions } from './evaluation-actions.tsx';
import { EvaluationFailures } from './evaluation-failures.tsx';
import { EvaluationTitle } from './evaluation-title.tsx';
import { inWords, leftOutInWords } from './in-words.ts';
import { comparisonQuery, evaluationQuery, hasEnded } from './queries.ts';
import { Results } from './results.tsx';
import { evaluationRoute } from './routes.ts';
import { useEvaluation } from './use-evaluation.ts';
import './evaluations.css';

const ProviderBatches = lazy(async () => ({ default: (await import('./provider-batches.tsx')).ProviderBatches }));
const Throughput = lazy(async () => ({ default: (await import('./throughput.tsx')).Throughput }));

export function EvaluationPage() {
  const { id } = evaluationRoute.useParams();
  const query = useEvaluation(id);
  const evaluation = query.data;
  return (
    <RecordPage
      title={titleOf(evaluation)}
      heading={evaluation && <EvaluationTitle evaluation={evaluation} title={titleOf(evaluation)} />}
      note={evaluation && <What evaluation={evaluation} />}
      list={{ to: '/evaluations', label: 'Evaluations', back: 'Back to evaluations' }}
      id={id}
      actions={evaluation && <EvaluationActions evaluation={evaluation} />}
      missing="There is no such evaluation"
      query={query}
      what="the evaluation"
    >
      {(loaded) => (
        <>
          <Progress evaluation={loaded} />
          <LeftOutExecutions evaluation={loaded} />
          <EvaluationFailures evaluation={loaded} />
          <Outcome evaluation={loaded} />
          <Results evaluation={loaded} />
          <EvaluatorScores evaluation={loaded} />
          {loaded.batch !== null && (
            <Suspense fallback={<Loading what="the batches" />}>
              <ProviderBatches evaluation={loaded} />
            </Suspense>
          )}
          <Facts evaluation={loaded} />
        </>
      )}
    </RecordPage>
  );
}

const titleOf = (evaluation: Evaluation | undefined) =>
  evaluation?.name ?? (evaluation ? t(`Evaluation of ${evaluation.prompt_name}`) : t('Evaluation'));

function Progress({ evaluation }: { evaluation: Evaluation }) {
  const { status, examples_evaluated, examples_total, status_reason, results_due_at } = evaluation;
  const ended = hasEnded(evaluation);
  return (
    <section className="stack" aria-label="Progress">
      {!ended && (
        <progress className="progress" max={1} value={evaluation.progress} aria-label="Examples with a result" />
      )}
      <p className={ended ? 'visually-hidden' : 'muted'} role="status">
        {ended
          ? `The evaluation is ${status}.`
          : `${formatNumber(examples_evaluated)} of ${formatNumber(examples_total)} examples`}
        {results_due_at && `; the program that runs it has until ${formatTime(results_due_at)} to send more`}
        {status === 'scheduled' && isReplay(evaluation) && '; starts when the recorded outputs are scored'}
        {status === 'scheduled' && evaluation.start_at && `; starts at ${formatTime(evaluation.start_at)}`}
      </p>
      {status === 'running' && (
        <Suspense>
          <Throughput evaluation={evaluation} />
        </Suspense>
      )}
      {status === 'paused' && <p className="notice warn">Paused: {status_reason ?? 'by request'}.</p>}
    </section>
  );
}

/** Whether it is compared with recorded outputs. */
const isReplay = ({ from_executions: from, baseline_id }: Evaluation) =>
  from !== undefined && !from.recorded && baseline_id !== null;

/** The selected executions that are not among the examples, and why. */
function LeftOutExecutions({ evaluation: { from_executions: from } }: { evaluation: Evaluation }) {
  if (from === undefined || from.left_out.length === 0) return null;
  const count = from.left_out.reduce((sum, each) => sum + each.count, 0);
  return (
    <details className="notice">
      <summary>
        {formatNumber(count)} of {plural(from.matched, 'execution is', 'executions are')} left out
      </summary>
      <ul>
        {from.left_out.map(({ reason, message, count: own, execution_ids: ids }) => (
          <li key={reason}>
            {formatNumber(own)}: {message}.{' '}
            {ids.map((id, at) => (
              <Link key={id} to="/executions/$id" params={{ id }}>
                {t('Execution')} {at + 1}{' '}
              </Link>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** What ran, over what, and when. */
function What({ evaluation }: { evaluation: Evaluation }) {
  const { dataset, target, model, created_at } = evaluation;
  return (
    <p className="row evaluation-what">
      <EvaluationBadge evaluation={evaluation} />
      <TargetLink evaluation={evaluation} />
      {target.type !== 'code' && <span className="muted">{model}</span>}
      {dataset ? (
        <Link to="/datasets/$" params={{ _splat: dataset.name }} search={{ version: dataset.version }}>
          {dataset.name}@{dataset.version}
        </Link>
      ) : (
        <span className="muted">{evaluation.from_executions ? 'executions' : 'inline examples'}</span>
      )}
      <span className="muted">
        <Ago time={created_at} />
      </span>
    </p>
  );
}

/** The verdict and the numbers that it is based on. */
function Outcome({ evaluation }: { evaluation: Evaluation }) {
  const { passed, score, threshold } = evaluation;
  return (
    <section className="outcome" aria-label="Outcome">
      <Baseline evaluation={evaluation} />
      <dl className="facts">
        <Fact label="Score">
          <strong className="outcome-score">{formatScore(score)}</strong>{' '}
          {passed !== null && (
            <span className={`badge ${passed ? 'good' : 'bad'}`}>
              {passed ? 'passed' : `below ${formatScore(threshold)}`}
            </span>
          )}
        </Fact>
        <Fact label={evaluation.baseline_id === null ? 'Below the threshold' : 'Worse / better'}>
          {formatNumber(evaluation.regressions)}
          {evaluation.baseline_id !== null && <> / {formatNumber(evaluation.improvements)}</>}
          <span className="muted"> of {formatNumber(evaluation.examples_total)}</span>
        </Fact>
        <Fact label="Cost">
          {evaluation.cost.amount === null ? 'not known' : formatCost(evaluation.cost)}
          {evaluation.max_cost !== null && (
            <span className="muted"> of {formatCost({ amount: evaluation.max_cost })}</span>
          )}
          {evaluation.judge.tokens.total > 0 && (
            <span className="muted">, judges {formatCost(evaluation.judge.cost)}</span>
          )}
        </Fact>
      </dl>
    </section>
  );
}

function Facts({ evaluation }: { evaluation: Evaluation }) {
  const { latency } = evaluation;
  return (
    <Section id="about" title="About this run">
      <dl className="facts">
        <Fact label="Examples">
          {formatNumber(evaluation.examples_total)}
          {evaluation.examples_failed > 0 && (
            <span className="muted"> ({formatNumber(evaluation.examples_failed)} failed)</span>
          )}
        </Fact>
        {evaluation.batch !== null && <Fact label="Saved by batches">{formatCost(evaluation.savings)}</Fact>}
        <Fact label="Tokens">
          {formatNumber(evaluation.tokens.input)} in, {formatNumber(evaluation.tokens.output)} out
          {!!evaluation.tokens_unknown_calls && (
            <span className="muted">
              , {plural(evaluation.tokens_unknown_calls, 'call', 'calls')} with unknown usage not counted
            </span>
          )}
        </Fact>
        <Fact label="Latency">
          {latency.p50_ms === null ? NONE : `p50 ${formatMs(latency.p50_ms)}, p95 ${formatMs(latency.p95_ms)}`}
        </Fact>
        <Fact label="Started">{formatTime(evaluation.started_at)}</Fact>
        <Fact label="Ended">{formatTime(evaluation.finished_at)}</Fact>
        {evaluation.source_evaluation_id && (
          <Fact label="Outputs of">
            <Link to="/evaluations/$id" params={{ id: evaluation.source_evaluation_id }}>
              another evaluation
            </Link>
          </Fact>
        )}
      </dl>
    </Section>
  );
}

/** The verdict against the baseline, if the run has one and has ended. */
function Baseline({ evaluation }: { evaluation: Evaluation }) {
  const { id, status, baseline_id } = evaluation;
  const { data } = useQuery({
    ...comparisonQuery(id, baseline_id ?? ''),
    enabled: status === 'completed' && baseline_id !== null,
  });
  if (baseline_id === null || status !== 'completed') return null;
  // As high as what will be there.
  if (data === undefined) return <p className="notice outcome-wait">Comparing…</p>;
  const { text, tone } = inWords(data);
  return (
    <section className={`notice ${tone}`} aria-label="Compared with the baseline">
      <strong>{text}</strong>
      <span>
        compared with{' '}
        <Link to="/evaluations/$id" params={{ id: baseline_id }}>
          {isReplay(evaluation) ? 'the recorded outputs' : 'the run before'}
        </Link>
      </span>
      {data.left_out_evaluators.length > 0 && (
        <span>
          Evaluators left out:{' '}
          {data.left_out_evaluators.map(({ name }) => `${name} (${leftOutInWords(data, name)})`).join(', ')}
        </span>
      )}
      <Link to="/evaluations/$id/compare/$other" params={{ id, other: baseline_id }} className="button small">
        Compare
      </Link>
      {data.interval !== null && (
        <Interval low={data.interval.low} high={data.interval.high} difference={data.difference ?? 0} />
      )}
    </section>
  );
}

function EvaluatorScores({ evaluation }: { evaluation: Evaluation }) {
  const { evaluators, scores_by_evaluator: scores } = evaluation;
  const baseline = useQuery({
    ...evaluationQuery(evaluation.baseline_id ?? ''),
    enabled: evaluation.baseline_id !== null,
  }).data;
  if (scores === null || evaluators.length < 2) return null;
  return (
    <Section id="by-evaluator" title="By evaluator">
      <div className="wide-scroll" tabIndex={0} role="region" aria-label="By evaluator, table">
        <table className="simple-table">
          <thead>
            <tr>
              <th scope="col">Evaluator</th>
              <th scope="col">Kind</th>
              <th scope="col">Weight</th>
              <th scope="col">Score</th>
              <th scope="col" className="wide">
                0 to 100 %
              </th>
            </tr>
          </thead>
          <tbody>
            {evaluators.map(({ name, type, weight }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{type}</td>
                <td>{weight}</td>
                <td>{formatScore(scores[name])}</td>
                <td>
                  <Dumbbell before={baseline?.scores_by_evaluator?.[name] ?? null} after={scores[name] ?? null} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
