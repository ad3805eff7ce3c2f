import { useQuery } from '@tanstack/react-query';
import { Link, type LinkOptions, linkOptions } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ExecutionFacets } from '../../api-types.ts';
import { EvaluationBadge, PromptLink, titleOf } from '../../components/badges.tsx';
import { facetsQuery } from '../../components/facets-side.tsx';
import { PageHead } from '../../components/page.tsx';
import { ErrorState, Loading } from '../../components/states.tsx';
import { formatAgo, formatCost, formatCount, formatNumber, formatScore, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { ExecutionFailures } from '../executions/execution-failures.tsx';
import { isLive } from '../releases/queries.ts';
import { Checklist } from './checklist.tsx';
import { type Home, useHome, yesterday } from './queries.ts';
import { useChanges, WhatChanged } from './what-changed.tsx';
import './home.css';

interface Item {
  key: string;
  link: LinkOptions;
  title: string;
  /** A short note about it. */
  note: ReactNode;
}

/** Maximum items per part; its own page shows the rest. */
const MOST_ITEMS = 8;

function waiting(home: Home): Item[] {
  return [
    ...(home.releases.data ?? [])
      .filter(({ status }) => status === 'awaiting_approval')
      .map((release) => ({
        key: release.id,
        link: linkOptions({ to: '/releases/$id', params: { id: release.id } }),
        title: `Release of ${release.prompt_name}@${release.candidate_version}`,
        note: 'needs approval',
      })),
    ...(home.evaluations.data ?? [])
      .filter(({ status }) => status === 'paused')
      .map((run) => ({
        key: run.id,
        link: linkOptions({ to: '/evaluations/$id', params: { id: run.id } }),
        title: `Evaluation of ${titleOf(run)}`,
        note: `is paused${run.status_reason === null ? '' : `: ${run.status_reason}`}`,
      })),
    ...(home.queues.data ?? [])
      .filter(({ progress }) => progress.pending > 0)
      .map(({ name, progress }) => ({
        key: `queue ${name}`,
        link: linkOptions({ to: '/review/$', params: { _splat: name } }),
        title: `Queue ${name}`,
        note: `${formatNumber(progress.pending)} to review`,
      })),
  ];
}

function broken(home: Home): Item[] {
  const endedLately = (home.evaluations.data ?? []).filter(({ finished_at }) => (finished_at ?? '') >= yesterday());
  return [
    ...(home.monitors.data ?? [])
      .filter(({ state, enabled }) => enabled && state === 'alerting')
      .map(({ name, since }) => ({
        key: `monitor ${name}`,
        link: linkOptions({ to: '/monitors/$', params: { _splat: name } }),
        title: `Monitor ${name}`,
        note: `alerting, ${formatAgo(since)}`,
      })),
    ...(home.webhooks.data ?? [])
      .filter(({ status, consecutive_failures }) => status === 'disabled' || consecutive_failures > 0)
      .map(({ id, url, status, consecutive_failures, disabled_reason }) => ({
        key: id,
        link: linkOptions({ to: '/webhooks/$id', params: { id } }),
        title: `Webhook to ${new URL(url).host}`,
        note:
          status === 'disabled'
            ? (disabled_reason ?? 'disabled')
            : plural(consecutive_failures, 'attempt in a row failed', 'attempts in a row failed'),
      })),
    ...endedLately
      .filter(({ status, examples_failed }) => status === 'failed' || examples_failed > 0)
      .map((run) => ({
        key: `failures ${run.id}`,
        link: linkOptions({ to: '/evaluations/$id', params: { id: run.id }, search: { only: 'failed' } }),
        title: `Evaluation of ${titleOf(run)}`,
        note:
          run.error?.message ??
          `${formatNumber(run.examples_failed)} of ${formatNumber(run.examples_evaluated)} failed`,
      })),
    ...endedLately
      // Failures are not worse answers, and are listed above.
      .filter(({ examples_failed, regressions }) => (regressions ?? 0) > examples_failed)
      .map((run) => ({
        key: run.id,
        link: linkOptions({ to: '/evaluations/$id', params: { id: run.id }, search: { only: 'regression' } }),
        title: `Evaluation of ${titleOf(run)}`,
        note: `${formatNumber(run.regressions)} ${run.baseline_id === null ? 'below the threshold' : 'got worse'}`,
      })),
  ];
}

function underWay(home: Home): Item[] {
  return [
    ...(home.releases.data ?? [])
      .filter((release) => isLive(release) && release.status !== 'awaiting_approval')
      .map((release) => ({
        key: release.id,
        link: linkOptions({ to: '/releases/$id', params: { id: release.id } }),
        title: `Release of ${release.prompt_name}@${release.candidate_version}`,
        note: `${release.percent} % to ${release.label}`,
      })),
    ...(home.evaluations.data ?? [])
      .filter(({ status }) => status === 'running')
      .map((run) => ({
        key: run.id,
        link: linkOptions({ to: '/evaluations/$id', params: { id: run.id } }),
        title: `Evaluation of ${titleOf(run)}`,
        note: (
          <>
            <meter min={0} max={1} value={run.progress} aria-label="progress" /> {formatScore(run.progress)}
          </>
        ),
      })),
  ];
}

function Part({ title, items, nothing }: { title: string; items: readonly Item[]; nothing: string }) {
  return (
    <section className="card" aria-label={title}>
      <h2>
        {title} {items.length > 0 && <span className="badge">{items.length}</span>}
      </h2>
      {items.length === 0 && <p className="muted">{nothing}</p>}
      <ul className="home-items">
        {items.slice(0, MOST_ITEMS).map(({ key, link, title: name, note }) => (
          <li key={key} className="home-item">
            <Link {...link}>{name}</Link>
            <span className="muted">{note}</span>
          </li>
        ))}
      </ul>
      {items.length > MOST_ITEMS && <p className="muted">and {items.length - MOST_ITEMS} more</p>}
    </section>
  );
}

/** From this share of failures on, something is broken. */
const BAD_RATE = 0.05;

/** The share of failures, in colour if it is bad. */
function FailureRate({ failed, all }: { failed: number; all: number }) {
  if (failed === 0 || all === 0) return null;
  const rate = failed / all;
  return <span className={`badge ${rate >= BAD_RATE ? 'bad' : ''}`}>{formatScore(rate)}</span>;
}

/** What callers of the label `production` get, and how it goes. */
function Production({ home }: { home: Home }) {
  const day = new Map(home.statistics.data?.map((each) => [each.prompt_name, each]));
  const rows = (home.prompts.data ?? []).flatMap(({ name, all_labels }) => {
    const label = all_labels.find((each) => each.label === 'production');
    return label === undefined ? [] : [{ name, version: label.version, of: day.get(name) }];
  });
  if (rows.length === 0) return null;
  rows.sort(
    (one, other) => (other.of?.failed ?? 0) - (one.of?.failed ?? 0) || (other.of?.runs ?? 0) - (one.of?.runs ?? 0),
  );
  return (
    <section className="card" aria-label="In production">
      <h2>In production</h2>
      <ul className="home-items">
        {rows.slice(0, MOST_ITEMS).map(({ name, version, of }) => (
          <li key={name} className="home-item">
            <PromptLink name={name} version={version} />
            <span className="row">
              <span className="muted">{plural(of?.runs ?? 0, 'execution', 'executions')} in 24 hours</span>
              <FailureRate failed={of?.failed ?? 0} all={of?.runs ?? 0} />
              <span className="muted">{formatCost(of?.cost)}</span>
            </span>
          </li>
        ))}
      </ul>
      {rows.length > MOST_ITEMS && <p className="muted">and {rows.length - MOST_ITEMS} more</p>}
    </section>
  );
}

function Spending({ home }: { home: Home }) {
  const { data: now } = home.usage;
  const { data: before } = home.usageBefore;
  if (now === undefined) return null;
  const cost = (amount: number) => formatCost({ amount: String(amount) });
  return (
    <section aria-label="The last 24 hours">
      <dl className="home-figures">
        <div className="card">
          <dt>Cost, last 24 hours</dt>
          <dd>{cost(now.cost)}</dd>
          {before && <dd className="muted">{cost(before.cost)} in the 24 hours before</dd>}
        </div>
        <div className="card">
          <dt>Executions</dt>
          <dd>{formatCount(now.runs)}</dd>
          {before && <dd className="muted">{formatCount(before.runs)} before</dd>}
        </div>
        <div className="card">
          <dt>Failed</dt>
          <dd>
            {formatCount(now.failed)} <FailureRate failed={now.failed} all={now.runs} />
          </dd>
          {before && <dd className="muted">{formatCount(before.failed)} before</dd>}
        </div>
        <div className="card">
          <dt>Examples evaluated</dt>
          <dd>{formatCount(now.examples)}</dd>
          {before && <dd className="muted">{formatCount(before.examples)} before</dd>}
        </div>
      </dl>
    </section>
  );
}

function Recent({ home }: { home: Home }) {
  const ended = (home.evaluations.data ?? []).filter(({ finished_at }) => finished_at !== null).slice(0, MOST_ITEMS);
  if (ended.length === 0) return null;
  return (
    <section className="card" aria-label="Latest evaluations">
      <h2>Latest evaluations</h2>
      <ul className="home-items">
        {ended.map((run) => (
          <li key={run.id} className="home-item">
            <Link to="/evaluations/$id" params={{ id: run.id }}>
              {titleOf(run)}
            </Link>
            <span className="row">
              <span className="muted">{formatAgo(run.finished_at)}</span>
              <strong className="home-score">{formatScore(run.score)}</strong>
              <EvaluationBadge evaluation={run} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The filter of the executions since yesterday. */
const lately = () => ({ since: yesterday() });

function RecentFailures() {
  const { since } = lately();
  return (
    <ExecutionFailures
      filter={lately()}
      search={{ since: since.slice(0, 10) }}
      title={(failed, all) => t(`${failed} of ${all} executions failed in the last 24 hours`)}
    />
  );
}

/** What changed since yesterday, what is broken, and what needs attention. */
export function HomePage() {
  const home = useHome();
  const failures = useQuery(facetsQuery<ExecutionFacets>('executions', lately()));
  const changes = useChanges();
  const error = Object.values(home).find((query) => query.data === undefined && query.error)?.error;
  // All at once: what came later would push down what is being read.
  if (changes.isLoading || [failures, ...Object.values(home)].some(({ isPending }) => isPending))
    return (
      <>
        <PageHead title="Home" />
        <Loading what="the news" />
      </>
    );
  return (
    <>
      <PageHead title="Home" />
      {error && <ErrorState error={error} />}
      <RecentFailures />
      <Checklist home={home} />
      <Production home={home} />
      <Spending home={home} />
      <div className="home-parts">
        <Part title="Needs attention" items={waiting(home)} nothing="Nothing right now." />
        <Part
          title="Problems"
          items={broken(home)}
          nothing="No monitor alerts, no webhook or evaluation fails, and nothing got worse since yesterday."
        />
        <Part title="In progress" items={underWay(home)} nothing="No release or evaluation is running." />
        <Recent home={home} />
      </div>
      <WhatChanged />
    </>
  );
}
