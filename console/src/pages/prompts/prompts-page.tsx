import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ListedPrompt, PromptStatistics } from '../../api-types.ts';
import { LabelBadge, PromptLink } from '../../components/badges.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { formatAgo, formatCost, formatCount, formatScore } from '../../format.ts';
import { labelsQuery, useList, useStatistics } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { Folders } from './folders.tsx';
import { NewPromptDialog } from './new-prompt-dialog.tsx';
import { promptsRoute } from './routes.ts';

const ARCHIVED = [
  { value: '', label: 'Not archived' },
  { value: 'true', label: 'Archived' },
  { value: 'all', label: 'All' },
];

function columnsOf(statistics: ReadonlyMap<string, PromptStatistics>): Column<ListedPrompt>[] {
  const of = (row: ListedPrompt) => statistics.get(row.name);
  return [
    {
      key: 'name',
      header: 'Name',
      width: 'minmax(14rem, 2fr)',
      cell: (row) => (
        <>
          <Link to="/prompts/$" params={{ _splat: row.name }}>
            {row.name}
          </Link>
          {row.archived && <span className="badge"> archived</span>}
        </>
      ),
    },
    { key: 'version', header: 'Version', width: '4.5rem', alignEnd: true, cell: (row) => row.version },
    {
      key: 'labels',
      header: 'Labels',
      width: 'minmax(8rem, 1fr)',
      cell: (row) =>
        row.all_labels.map(({ label, version }) => (
          <LabelBadge key={label} label={label} version={version === row.version ? undefined : version} />
        )),
    },
    { key: 'model', header: 'Model', width: 'minmax(9rem, 1fr)', cell: (row) => row.model },
    {
      key: 'score',
      header: 'Last score',
      width: '6rem',
      alignEnd: true,
      cell: (row) => formatScore(of(row)?.last_score),
    },
    {
      key: 'runs',
      header: 'Runs, 7 days',
      width: '7rem',
      alignEnd: true,
      cell: (row) => formatCount(of(row)?.runs),
    },
    { key: 'cost', header: 'Cost, 7 days', width: '7rem', alignEnd: true, cell: (row) => formatCost(of(row)?.cost) },
    { key: 'updated', header: 'Updated', width: '7rem', cell: (row) => formatAgo(row.updated_at) },
  ];
}

export function PromptsPage() {
  const { dialog, ...search } = promptsRoute.useSearch();
  const navigate = promptsRoute.useNavigate();
  const mayWrite = useMay('write');
  const change = (part: Partial<typeof search> & { dialog?: 'new' | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const list = useList<ListedPrompt>('/prompts', search);
  const statistics = useStatistics(search.group === undefined ? {} : { group: search.group });
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const columns = useMemo(() => columnsOf(statistics), [statistics]);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <>
      <PageHead
        title="Prompts"
        actions={
          mayWrite && (
            <button type="button" className="button primary" onClick={() => change({ dialog: 'new' })}>
              New prompt…
            </button>
          )
        }
      />
      <search className="filters">
        <FilterField label="Search" value={search.q} onChange={(q) => change({ q })} />
        <SelectField
          label="Label"
          value={search.label ?? ''}
          onChange={(label) => change({ label: label === '' ? undefined : label })}
          options={[
            { value: '', label: 'Any' },
            ...new Set([...labels.map(({ label }) => label), ...(search.label === undefined ? [] : [search.label])]),
          ]}
        />
        <SelectField
          label="Archive"
          value={search.archived ?? ''}
          onChange={(value) => change({ archived: value === 'true' || value === 'all' ? value : undefined })}
          options={ARCHIVED}
        />
      </search>
      {search.includes !== undefined && (
        <p className="notice">
          Prompts that include <PromptLink name={search.includes} />, in their latest version or in one with a label.{' '}
          <Link to="/prompts" search={(before) => ({ ...before, includes: undefined })}>
            Show all
          </Link>
        </p>
      )}
      <Folders group={search.group} />
      <QueryState query={list} what="prompts">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={isFiltered ? 'No prompts match these filters' : 'There are no prompts yet'}>
              {isFiltered ? (
                <Link to="/prompts" className="button">
                  Show all
                </Link>
              ) : (
                <>
                  <p>A prompt is a named text for a model, with a version for each change.</p>
                  {mayWrite && (
                    <button type="button" className="button" onClick={() => change({ dialog: 'new' })}>
                      Create the first prompt…
                    </button>
                  )}
                </>
              )}
            </EmptyState>
          ) : (
            <DataTable
              label="Prompts"
              rows={rows}
              columns={columns}
              rowKey={(row) => row.name}
              minWidth="64rem"
              onEnd={list.hasMore ? list.loadMore : undefined}
            />
          )
        }
      </QueryState>
      <NewPromptDialog open={dialog === 'new'} onClose={() => change({ dialog: undefined })} group={search.group} />
    </>
  );
}
