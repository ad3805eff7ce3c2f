import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { pathOf } from '../../api.ts';
import type { Evaluation, Prompt } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { LabelBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { DiffView } from '../../components/diff-view.tsx';
import { EmptyState, Loading, QueryState } from '../../components/states.tsx';
import { VersionPair } from '../../components/version-pair.tsx';
import { formatScore } from '../../format.ts';
import { promptLabelsQuery, promptQuery, useList, versionScoresQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { WhatChanged } from '../home/what-changed.tsx';
import { shareInWords } from '../releases/in-words.ts';
import { isLive } from '../releases/queries.ts';
import { ReleaseBadge } from '../releases/release-badge.tsx';
import type { Release } from '../releases/types.ts';
import { textOf } from './content.ts';
import { MoveLabelDialog } from './move-label-dialog.tsx';
import { promptRoute } from './routes.ts';

/** All versions with their labels and scores; any two can be compared. */
export function VersionsTab({ latest }: { latest: Prompt }) {
  const { name } = latest;
  const versions = useList<Prompt>(`${pathOf('prompts', name)}/versions`);
  const scores = useQuery(versionScoresQuery(name)).data;
  const mayWrite = useMay('write');
  const [moving, setMoving] = useState<Prompt>();
  const columns = useMemo(
    () => columnsOf({ latest, scores, onLabel: mayWrite && !latest.archived ? setMoving : undefined }),
    [latest, scores, mayWrite],
  );
  return (
    <div className="stack">
      <LiveReleases name={name} />
      <Comparison latest={latest} />
      <h2>All versions</h2>
      <QueryState query={versions} what="versions">
        {(rows) => (
          <DataTable
            label="Versions"
            rows={rows}
            columns={columns}
            rowKey={(row) => String(row.version)}
            onEnd={versions.hasMore ? versions.loadMore : undefined}
          />
        )}
      </QueryState>
      <WhatChanged prompt={name} />
      {moving && <MoveLabelDialog version={moving} scores={scores} onClose={() => setMoving(undefined)} />}
    </div>
  );
}

/** Releases in progress for the prompt. */
function LiveReleases({ name }: { name: string }) {
  const live = useList<Release>('/releases', { prompt_name: name }).data?.filter(isLive) ?? [];
  return live.map((release) => (
    <p key={release.id} className="notice">
      <ReleaseBadge status={release.status} />
      <span>
        {release.label}: {shareInWords(release)}.
      </span>
      <Link to="/releases/$id" params={{ id: release.id }}>
        Release {release.stable_version} → {release.candidate_version}
      </Link>
    </p>
  ));
}

function columnsOf({
  latest,
  scores,
  onLabel,
}: {
  latest: Prompt;
  scores: Map<number, Evaluation> | undefined;
  onLabel: ((version: Prompt) => void) | undefined;
}): Column<Prompt>[] {
  const params = { _splat: latest.name };
  return [
    {
      key: 'version',
      header: 'Version',
      width: '4.5rem',
      cell: ({ version }) => (
        <Link to="/prompts/$" params={params} search={version === latest.version ? {} : { version }}>
          {version}
        </Link>
      ),
    },
    {
      key: 'labels',
      header: 'Labels',
      width: 'minmax(7rem, 1fr)',
      cell: ({ labels }) => labels.map((label) => <LabelBadge key={label} label={label} />),
    },
    {
      key: 'message',
      header: 'Message',
      width: 'minmax(10rem, 3fr)',
      cell: ({ commit_message }) => commit_message ?? <span className="muted">none</span>,
    },
    {
      key: 'author',
      header: 'By',
      width: 'minmax(5rem, 1fr)',
      cell: ({ created_by }) => created_by?.name ?? <span className="muted">–</span>,
    },
    { key: 'model', header: 'Model', width: 'minmax(6rem, 1fr)', cell: ({ model }) => model },
    {
      key: 'score',
      header: 'Score',
      width: '4rem',
      alignEnd: true,
      cell: ({ version }) => formatScore(scores?.get(version)?.score),
    },
    { key: 'created', header: 'Saved', width: '6.5rem', cell: (row) => <Ago time={row.version_created_at} /> },
    {
      key: 'actions',
      header: 'Actions',
      width: '15.5rem',
      onCard: 'line',
      cell: (row) => (
        <>
          {row.version !== latest.version && (
            <Link
              to="/prompts/$"
              params={params}
              search={{ tab: 'versions', from: row.version, to: latest.version }}
              className="button small plain"
            >
              Compare
              <span className="visually-hidden"> version {row.version} with the latest</span>
            </Link>
          )}
          {onLabel && (
            <Button look="small plain" onClick={() => onLabel(row)}>
              Label…<span className="visually-hidden"> version {row.version}</span>
            </Button>
          )}
          {onLabel && (
            <Link
              to="/releases/new"
              search={{ prompt: latest.name, version: row.version }}
              className="button small plain"
            >
              Release…<span className="visually-hidden"> version {row.version}</span>
            </Link>
          )}
        </>
      ),
    },
  ];
}

function Comparison({ latest }: { latest: Prompt }) {
  const labels = useQuery(promptLabelsQuery(latest.name)).data;
  const production = labels?.find(({ label }) => label === 'production')?.version;
  // What a release would change, or if the latest version is in production, what it has changed.
  const base = production === undefined || production === latest.version ? latest.version - 1 : production;
  const { from = base, to = latest.version } = promptRoute.useSearch();
  const navigate = promptRoute.useNavigate();
  const before = useQuery({ ...promptQuery(latest.name, from), enabled: from > 0 });
  const after = useQuery(promptQuery(latest.name, to));
  if (labels === undefined) return <Loading what="the comparison" />;
  if (latest.version === 1)
    return <EmptyState title="There is one version">Save a change to compare versions.</EmptyState>;
  const choose = (part: { from?: number; to?: number }) =>
    void navigate({ search: { tab: 'versions', from, to, ...part }, replace: true });
  return (
    <section className="stack versions-compared" aria-label="Comparison">
      <VersionPair latest={latest.version} from={from} to={to} onChange={choose} />
      <QueryState query={before} what={`version ${from}`}>
        {(old) => (
          <QueryState query={after} what={`version ${to}`}>
            {(changed) => (
              <DiffView
                before={{ title: titleOf(old), text: textOf(old) }}
                after={{ title: titleOf(changed), text: textOf(changed) }}
              />
            )}
          </QueryState>
        )}
      </QueryState>
    </section>
  );
}

const titleOf = ({ version, labels }: Prompt) =>
  t(`Version ${version}${labels.length > 0 ? ` (${labels.join(', ')})` : ''}`);
