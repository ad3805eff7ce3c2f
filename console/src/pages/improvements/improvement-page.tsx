import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { PromptLink } from '../../components/badges.tsx';
import { Fact } from '../../components/fact.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Loading, QueryState } from '../../components/states.tsx';
import { formatNumber, formatTime, plural } from '../../format.ts';
import { Candidates } from './candidates.tsx';
import { ImprovementActions } from './improvement-actions.tsx';
import { phaseInWords, StateBadge, stopInWords, usd } from './in-words.tsx';
import { improvementQuery, isUnfinished, useCandidates } from './queries.ts';
import { improvementRoute } from './routes.ts';
import type { Improvement } from './types.ts';
import { VerdictSection } from './verdict-section.tsx';
import '../evaluations/evaluations.css';
import './improvements.css';

const REFETCH_MS = 2_000;

/** Charts are loaded after the essentials. */
const Curve = lazy(async () => ({ default: (await import('./curve.tsx')).Curve }));

/** The page of a search: what it does and costs, what it found, and every candidate. */
export function ImprovementPage() {
  const { id } = improvementRoute.useParams();
  const query = useQuery({
    ...improvementQuery(id),
    refetchInterval: ({ state }) => (state.data && isUnfinished(state.data) ? REFETCH_MS : false),
  });
  const improvement = query.data;
  return (
    <RecordPage
      title={improvement ? `Improvement of ${improvement.prompt_name}` : 'Improvement'}
      list={{ to: '/improvements', label: 'Improvements', back: 'Back to improvements' }}
      id={id}
      actions={improvement && <ImprovementActions improvement={improvement} />}
      missing="There is no such improvement"
      query={query}
      what="the improvement"
    >
      {(found) => (
        <>
          <Progress improvement={found} />
          <Accepted improvement={found} />
          <VerdictSection improvement={found} />
          <Facts improvement={found} />
          {found.curve.length > 1 && (
            <Suspense fallback={<Loading what="the chart" />}>
              <Curve improvement={found} />
            </Suspense>
          )}
          <AllCandidates improvement={found} />
        </>
      )}
    </RecordPage>
  );
}

function Progress({ improvement }: { improvement: Improvement }) {
  const { status, status_reason: reason, error, max_cost: limit, spent } = improvement;
  const isRunning = status === 'running';
  return (
    <section className="stack" aria-label="Progress">
      {isUnfinished(improvement) && limit !== null && (
        <progress
          className="progress"
          max={1}
          value={Math.min(spent.cost / (Number(limit) || 1), 1)}
          aria-label="Share of the maximum cost that is spent"
        />
      )}
      <p className={isRunning ? 'muted' : 'visually-hidden'} role="status">
        {isRunning ? phaseInWords(improvement) : `The improvement is ${status}.`}
      </p>
      {isRunning && reason !== null && <p className="notice warn">It {reason}</p>}
      {status === 'paused' && <p className="notice warn">Paused: {reason ?? 'by request'}.</p>}
      {status === 'canceled' && (
        <p className="notice warn">Canceled: there is no verdict. Its candidates can still be read and accepted.</p>
      )}
      {error && (
        <div className="notice bad">
          <strong>{error.code}</strong> {error.message}
        </div>
      )}
    </section>
  );
}

/** The version that was made of a candidate, and what comes next. */
function Accepted({ improvement: { accepted, prompt_name: name } }: { improvement: Improvement }) {
  if (accepted === null) return null;
  const { version, release_id: release } = accepted;
  return (
    <section className="notice good" aria-label="Accepted">
      <strong>
        Accepted as version {version} of <PromptLink name={name} />.
      </strong>
      {release === null ? (
        <Link to="/releases/new" search={{ prompt: name, version }} className="button small">
          Start a release…
        </Link>
      ) : (
        <Link to="/releases/$id" params={{ id: release }} className="button small">
          Its release
        </Link>
      )}
    </section>
  );
}

function Facts({ improvement }: { improvement: Improvement }) {
  const { prompt_name, prompt_version, dataset, split, spent, proposals, reflection, evaluators, deadline } =
    improvement;
  const stopped = stopInWords(improvement);
  return (
    <dl className="facts">
      <Fact label="Status">
        <StateBadge improvement={improvement} />
      </Fact>
      <Fact label="Prompt">
        <PromptLink name={prompt_name} version={prompt_version} />
      </Fact>
      <Fact label="Dataset">
        <Link to="/datasets/$" params={{ _splat: dataset.name }} search={{ version: dataset.version }}>
          {dataset.name}@{dataset.version}
        </Link>
      </Fact>
      <Fact label="Examples">
        {formatNumber(split.train)} to learn from, {formatNumber(split.check)} to choose by,{' '}
        {formatNumber(split.held_out)} to prove
      </Fact>
      <Fact label="Scored by">{evaluators.map(({ name }) => name).join(', ')}</Fact>
      <Fact label="Rewritten by">{reflection.model}</Fact>
      <Fact label="Cost">
        <strong>{usd(spent.cost)}</strong>{' '}
        <span className="muted">
          {improvement.max_cost === null ? 'without a limit' : `of at most ${usd(Number(improvement.max_cost))}`}
        </span>
      </Fact>
      <Fact label="Calls">
        {formatNumber(spent.calls)} of the prompt, {formatNumber(spent.reflections)} to rewrite it
        {spent.reused > 0 && (
          <span className="muted">, {formatNumber(spent.reused)} answered by earlier responses</span>
        )}
      </Fact>
      <Fact label="Candidates">
        {plural(Math.max(proposals.made, 0), 'candidate', 'candidates')}
        <span className="muted">
          : {formatNumber(proposals.checked)} measured, {formatNumber(proposals.tried)} without gain,{' '}
          {formatNumber(proposals.rejected)} refused
        </span>
      </Fact>
      {stopped !== null && <Fact label="The search ended because">{stopped}</Fact>}
      {deadline !== null && <Fact label="Deadline">{formatTime(deadline)}</Fact>}
      <Fact label="Started">{formatTime(improvement.created_at)}</Fact>
      <Fact label="Ended">{formatTime(improvement.finished_at)}</Fact>
    </dl>
  );
}

function AllCandidates({ improvement }: { improvement: Improvement }) {
  const list = useCandidates(improvement.id);
  const { refetch } = list;
  // The record tells when candidates have changed.
  const state = JSON.stringify([improvement.proposals, improvement.spent, improvement.status]);
  const seen = useRef(state);
  useEffect(() => {
    if (seen.current === state) return;
    seen.current = state;
    void refetch();
  }, [state, refetch]);
  return (
    <QueryState query={list} what="the candidates">
      {(candidates) => <Candidates improvement={improvement} candidates={candidates} />}
    </QueryState>
  );
}
