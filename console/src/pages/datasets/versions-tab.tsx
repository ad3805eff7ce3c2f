import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { pathOf } from '../../api.ts';
import type { Dataset } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Modal } from '../../components/dialog.tsx';
import { DiffView } from '../../components/diff-view.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { VersionPair } from '../../components/version-pair.tsx';
import { formatJson, formatNumber } from '../../format.ts';
import { useList } from '../../queries.ts';
import { t } from '../../strings.ts';
import { allExamplesQuery, type Example, MAX_EXAMPLES, withoutPosition } from './examples.ts';
import { titleOf } from './examples-tab.tsx';
import { datasetRoute } from './routes.ts';

/** Loaded lazily with its diff editors: only needed when a change is opened. */
/** All versions of a dataset; any two can be compared. */
export function VersionsTab({ latest }: { latest: Dataset }) {
  const { name } = latest;
  const versions = useList<Dataset>(`${pathOf('datasets', name)}/versions`);
  const columns: Column<Dataset>[] = [
    {
      key: 'version',
      header: 'Version',
      width: '6rem',
      cell: ({ version }) => (
        <Link to="/datasets/$" params={{ _splat: name }} search={version === latest.version ? {} : { version }}>
          {version}
        </Link>
      ),
    },
    {
      key: 'examples',
      header: 'Examples',
      width: '7rem',
      alignEnd: true,
      cell: (row) => formatNumber(row.examples_total),
    },
    { key: 'created', header: 'Created', width: '6.5rem', cell: (row) => <Ago time={row.version_created_at} /> },
    { key: 'hash', header: 'Hash', width: 'minmax(12rem, 1fr)', cell: ({ hash }) => <code>{hash}</code> },
    {
      key: 'compare',
      header: 'Actions',
      width: '8rem',
      cell: ({ version }) =>
        version > 1 && (
          <Link
            to="/datasets/$"
            params={{ _splat: name }}
            search={{ tab: 'versions', from: version - 1, to: version }}
            className="button small plain"
          >
            What changed<span className="visually-hidden"> in version {version}</span>
          </Link>
        ),
    },
  ];
  return (
    <div className="stack">
      <Comparison latest={latest} />
      <h2>All versions</h2>
      <QueryState query={versions} what="versions">
        {(rows) => (
          <DataTable
            label="Versions"
            rows={rows}
            columns={columns}
            rowKey={({ version }) => String(version)}
            onEnd={versions.hasMore ? versions.loadMore : undefined}
          />
        )}
      </QueryState>
    </div>
  );
}

function Comparison({ latest }: { latest: Dataset }) {
  const { from = latest.version - 1, to = latest.version } = datasetRoute.useSearch();
  const navigate = datasetRoute.useNavigate();
  if (latest.version === 1)
    return <EmptyState title="There is one version">Change an example to compare versions.</EmptyState>;
  const choose = (part: { from?: number; to?: number }) =>
    void navigate({ search: { tab: 'versions', from, to, ...part }, replace: true, resetScroll: false });
  return (
    <section className="stack" aria-label="Comparison">
      <VersionPair latest={latest.version} from={from} to={to} onChange={choose} />
      {latest.examples_total > MAX_EXAMPLES ? (
        <p className="notice">Versions with more than {formatNumber(MAX_EXAMPLES)} examples are not compared here.</p>
      ) : (
        <Changes name={latest.name} from={from} to={to} />
      )}
    </section>
  );
}

interface Change {
  kind: 'added' | 'removed' | 'changed';
  before: Example | undefined;
  after: Example | undefined;
}

const KINDS = { added: t('added'), removed: t('removed'), changed: t('changed') } as const;
const TONES = { added: 'good', removed: 'bad', changed: 'warn' };
const textOf = (example: Example | undefined) => (example === undefined ? '' : formatJson(withoutPosition(example)));

/** The differences by example key: an id, or a hash of the content. */
function changesOf(before: readonly Example[], after: readonly Example[]): Change[] {
  const old = new Map(before.map((example) => [example.key, example]));
  const changes: Change[] = [];
  for (const example of after) {
    const was = old.get(example.key);
    old.delete(example.key);
    if (was === undefined) changes.push({ kind: 'added', before: undefined, after: example });
    else if (textOf(was) !== textOf(example)) changes.push({ kind: 'changed', before: was, after: example });
  }
  for (const example of old.values()) changes.push({ kind: 'removed', before: example, after: undefined });
  return changes;
}

function Changes({ name, from, to }: { name: string; from: number; to: number }) {
  const before = useQuery(allExamplesQuery(name, from));
  const after = useQuery(allExamplesQuery(name, to));
  const [shown, setShown] = useState<Change>();
  const changes = useMemo(
    () => (before.data && after.data ? changesOf(before.data, after.data) : undefined),
    [before.data, after.data],
  );
  const columns: Column<Change>[] = [
    {
      key: 'example',
      header: 'Example',
      width: 'minmax(8rem, 1fr)',
      cell: (change) => {
        const example = change.after ?? change.before;
        return (
          <Button look="small plain" onClick={() => setShown(change)}>
            {example && titleOf(example)}
          </Button>
        );
      },
    },
    {
      key: 'kind',
      header: 'Change',
      width: '7rem',
      cell: ({ kind }) => <span className={`badge ${TONES[kind]}`}>{KINDS[kind]}</span>,
    },
    {
      key: 'variables',
      header: 'Variables',
      width: 'minmax(14rem, 3fr)',
      cell: (change) => JSON.stringify((change.after ?? change.before)?.variables).slice(0, 200),
    },
  ];
  const query = {
    data: changes,
    error: before.error ?? after.error,
    refetch: () => Promise.all([before.refetch(), after.refetch()]),
  };
  const count = (kind: Change['kind']) => formatNumber(changes?.filter((change) => change.kind === kind).length);
  return (
    <QueryState query={query} what="both versions">
      {(rows) => (
        <>
          <p role="status">
            {rows.length === 0
              ? 'Both versions hold the same examples.'
              : `${count('added')} added, ${count('removed')} removed, ${count('changed')} changed.`}
          </p>
          {rows.length > 0 && (
            <DataTable
              label="What changed"
              rows={rows}
              columns={columns}
              rowKey={(change) => (change.after ?? change.before)?.key ?? ''}
            />
          )}
          {shown && (
            <Modal open wide onClose={() => setShown(undefined)} title="What changed">
              <DiffView
                before={{ title: `Version ${from}`, text: textOf(shown.before) }}
                after={{ title: `Version ${to}`, text: textOf(shown.after) }}
              />
              <div className="dialog-actions">
                <Button onClick={() => setShown(undefined)}>Close</Button>
              </div>
            </Modal>
          )}
        </>
      )}
    </QueryState>
  );
}
