import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import type { ListedPrompt, PromptStatistics } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { LabelBadge, PromptLink } from '../../components/badges.tsx';
import type { Column } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { NameText } from '../../components/name-text.tsx';
import { type Sort, sortHead } from '../../components/sort-head.tsx';
import { formatCost, formatCount, formatScore } from '../../format.ts';
import { labelsQuery, useList, useStatistics } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { Folders } from './folders.tsx';
import { NewPromptDialog } from './new-prompt-dialog.tsx';
import { isOwnSort, type OwnSort, promptsRoute } from './routes.ts';

const ARCHIVED = [
  { value: '', label: 'Not archived' },
  { value: 'true', label: 'Archived' },
  { value: 'all', label: 'All' },
];

/** Prompts per page. */
const PAGE = 100;

type SortName = 'name' | 'updated_at' | 'last_score' | 'runs' | 'cost';

function columnsOf(
  statistics: ReadonlyMap<string, PromptStatistics>,
  sort: string,
  onSort: (sort: Sort<SortName>) => void,
): Column<ListedPrompt>[] {
  const of = (row: ListedPrompt) => statistics.get(row.name);
  const head = (header: string, name: SortName) =>
    sortHead(header, name, { sort, onSort, first: name === 'name' ? 'ascending' : 'descending' });
  return [
    {
      key: 'name',
      ...head(t('Name'), 'name'),
      width: 'minmax(12rem, 2fr)',
      cell: (row) => (
        <>
          <Link to="/prompts/$" params={{ _splat: row.name }}>
            <NameText name={row.name} />
          </Link>
          {row.archived && <span className="badge"> archived</span>}
        </>
      ),
    },
    { key: 'version', header: 'Version', width: '4rem', alignEnd: true, cell: (row) => row.version },
    {
      key: 'labels',
      header: 'Labels',
      width: 'minmax(11rem, 2fr)',
      onCard: 'line',
      cell: (row) =>
        row.all_labels.map(({ label, version }) => (
          <LabelBadge key={label} label={label} version={version === row.version ? undefined : version} />
        )),
    },
    { key: 'model', header: 'Model', width: 'minmax(9rem, 1fr)', cell: (row) => row.model },
    {
      key: 'score',
      ...head(t('Last score'), 'last_score'),
      width: '6rem',
      alignEnd: true,
      cell: (row) => formatScore(of(row)?.last_score),
    },
    {
      key: 'runs',
      ...head(t('Runs, 7 days'), 'runs'),
      width: '6.75rem',
      alignEnd: true,
      cell: (row) => formatCount(of(row)?.runs),
    },
    {
      key: 'cost',
      ...head(t('Cost, 7 days'), 'cost'),
      width: '6.75rem',
      alignEnd: true,
      cell: (row) => formatCost(of(row)?.cost),
    },
    {
      key: 'updated',
      ...head(t('Updated'), 'updated_at'),
      width: '6.5rem',
      cell: (row) => <Ago time={row.updated_at} />,
    },
  ];
}

const numberOf = (name: string, { last_score, runs, cost }: PromptStatistics) =>
  name === 'last_score' ? last_score : name === 'runs' ? runs : cost.amount === null ? null : Number(cost.amount);

/** Those without a number come last, in either order. */
function sortedBy(
  rows: ListedPrompt[],
  sort: OwnSort,
  statistics: ReadonlyMap<string, PromptStatistics>,
): ListedPrompt[] {
  const sign = sort.startsWith('-') ? -1 : 1;
  const name = sort.replace('-', '');
  const numbers = new Map(
    rows.map((row) => {
      const found = statistics.get(row.name);
      return [row.name, (found && numberOf(name, found)) ?? undefined];
    }),
  );
  return rows.toSorted((one, other) => {
    const [a, b] = [numbers.get(one.name), numbers.get(other.name)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return sign * (a - b);
  });
}

export function PromptsPage() {
  const { dialog, sort = 'name', ...search } = promptsRoute.useSearch();
  const navigate = promptsRoute.useNavigate();
  const mayWrite = useMay('write');
  const change = (part: Partial<ReturnType<typeof promptsRoute.useSearch>>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const ownSort = isOwnSort(sort) ? sort : undefined;
  const list = useList<ListedPrompt>('/prompts', {
    ...search,
    limit: PAGE,
    sort: ownSort === undefined ? sort : undefined,
  });
  const statistics = useStatistics(search.group === undefined ? {} : { group: search.group });
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const columns = useMemo(() => {
    const sortBy = (by: Sort<SortName>) =>
      void navigate({ search: (before) => ({ ...before, sort: by === 'name' ? undefined : by }), replace: true });
    return columnsOf(statistics, sort, sortBy);
  }, [statistics, sort, navigate]);
  const { data, hasMore, loadMore, error } = list;
  // Loads all before sorting by their numbers: missing ones could be first.
  useEffect(() => {
    if (ownSort !== undefined && hasMore && error === null) loadMore();
  }, [ownSort, hasMore, loadMore, error]);
  const sorted = useMemo(
    () => (data && ownSort ? sortedBy(data, ownSort, statistics) : data),
    [data, ownSort, statistics],
  );
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <>
      <ListPage
        title="Prompts"
        list={{ ...list, data: sorted }}
        what="prompts"
        columns={columns}
        rowKey={({ name }) => name}
        create={mayWrite && { label: 'New prompt…', onClick: () => change({ dialog: 'new' }) }}
        empty={{
          title: 'There are no prompts yet',
          text: 'A prompt is a named text for a model, with a version for each change.',
          action: 'Create the first prompt…',
        }}
        filtered={isFiltered && { title: 'No prompts match these filters', all: { to: '/prompts' } }}
      >
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
      </ListPage>
      <NewPromptDialog open={dialog === 'new'} onClose={() => change({ dialog: undefined })} group={search.group} />
    </>
  );
}
