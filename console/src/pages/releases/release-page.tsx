import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { LabelBadge, PromptLink } from '../../components/badges.tsx';
import { Fact } from '../../components/fact.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Section } from '../../components/section.tsx';
import { Loading } from '../../components/states.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { formatTime } from '../../format.ts';
import { t } from '../../strings.ts';
import { ExecutionFailures } from '../executions/execution-failures.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { ArmsTable } from './arms-table.tsx';
import { ChecksTable } from './checks-table.tsx';
import { History, Person } from './history.tsx';
import { shareInWords, toneOf } from './in-words.ts';
import { lastChecked, releaseQuery } from './queries.ts';
import { ReleaseActions } from './release-actions.tsx';
import { ReleaseBadge } from './release-badge.tsx';
import { releaseRoute } from './routes.ts';
import { StepsLine } from './steps-line.tsx';
import type { Release } from './types.ts';
import '../evaluations/evaluations.css';
import './releases.css';

// Charts and comparisons are loaded after the essentials.
const ReleaseCharts = lazy(() => import('./release-charts.tsx').then(({ ReleaseCharts: part }) => ({ default: part })));
const WhatChanged = lazy(() => import('./what-changed.tsx').then(({ WhatChanged: part }) => ({ default: part })));

const ARMS = [
  {
    arm: 'candidate' as const,
    title: (failed: string, all: string) => t(`${failed} of ${all} executions of the candidate failed`),
  },
  {
    arm: 'stable' as const,
    title: (failed: string, all: string) => t(`${failed} of ${all} executions of the stable version failed`),
  },
];

/** A release as a line of steps, with everything needed to decide about it. */
export function ReleasePage() {
  const { id } = releaseRoute.useParams();
  const query = useQuery(releaseQuery(id));
  const release = query.data;
  return (
    <RecordPage
      title={
        release
          ? `${release.prompt_name}: ${release.stable_version} → ${release.candidate_version} on ${release.label}`
          : 'Release'
      }
      list={{ to: '/releases', label: 'Releases', back: 'Back to releases' }}
      id={id}
      actions={release && <ReleaseActions release={release} />}
      missing="There is no such release"
      query={query}
      what="the release"
    >
      {(found) => <Details release={found} />}
    </RecordPage>
  );
}

function Details({ release }: { release: Release }) {
  const checked = lastChecked(release);
  const hasServed = release.arms.stable.executions + release.arms.candidate.executions > 0;
  const isAsked = release.status === 'awaiting_approval';
  return (
    <>
      <div className={`notice ${toneOf(release.status)}`} role="status">
        <ReleaseBadge status={release.status} />
        <span>{release.status_reason ?? shareInWords(release)}</span>
      </div>
      {ARMS.map(
        ({ arm, title }) =>
          release.arms[arm].errors > 0 && (
            <ExecutionFailures
              key={`${release.id} ${arm}`}
              filter={{ release: release.id, arm }}
              search={{ release: release.id, arm }}
              causes={arm === 'candidate' ? release.failures : undefined}
              title={title}
            />
          ),
      )}
      <Facts release={release} />
      <Section id="steps" title="Steps">
        <StepsLine release={release} />
      </Section>
      <ApprovalCard release={release} />
      {isAsked && (
        <Suspense fallback={<Loading what="the changes" />}>
          <WhatChanged release={release} />
        </Suspense>
      )}
      {checked && <ChecksTable numbers={checked.numbers} />}
      {hasServed && <ArmsTable release={release} />}
      <Suspense fallback={<Loading what="the charts" />}>
        <ReleaseCharts release={release} />
        {!isAsked && <WhatChanged release={release} />}
      </Suspense>
      <History release={release} />
      {Object.keys(release.metadata).length > 0 && (
        <Section id="metadata" title="Metadata">
          <JsonView value={release.metadata} label="metadata" />
        </Section>
      )}
    </>
  );
}

function Facts({ release }: { release: Release }) {
  return (
    <dl className="facts">
      <Fact label="Prompt">
        <PromptLink name={release.prompt_name} version={release.candidate_version} />
      </Fact>
      <Fact label="Label">
        <LabelBadge label={release.label} />
      </Fact>
      <Fact label="Share">{shareInWords(release)}</Fact>
      <Fact label="Started">
        {formatTime(release.created_at)} by <Person {...release.created_by} />
      </Fact>
      {release.reason && <Fact label="Reason">{release.reason}</Fact>}
      {release.deadline && <Fact label="Deadline">{formatTime(release.deadline)}</Fact>}
      {release.promoted_at && <Fact label="Label moved">{formatTime(release.promoted_at)}</Fact>}
      {release.finished_at && <Fact label="Ended">{formatTime(release.finished_at)}</Fact>}
    </dl>
  );
}
