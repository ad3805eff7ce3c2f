import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { pathOf } from '../../api.ts';
import type { Dataset } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { imagesIn, Thumbnail, withoutImages } from '../../components/images.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { formatNumber } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { ExampleDialog } from './example-dialog.tsx';
import { type Example, PAGE } from './examples.ts';
import { datasetRoute } from './routes.ts';

const EXCERPT_CHARACTERS = 200;

function excerpt(value: unknown): string {
  const shown = withoutImages(value);
  return (typeof shown === 'string' ? shown : (JSON.stringify(shown) ?? '')).slice(0, EXCERPT_CHARACTERS);
}

function ValueCell({ value }: { value: unknown }) {
  const [image] = useMemo(() => imagesIn(value), [value]);
  return (
    <>
      {image && <Thumbnail image={image} />} {excerpt(value)}
    </>
  );
}

/** The display name of an example: its id, or its position. */
export const titleOf = ({ key, seq }: Example) => (key.startsWith('sha256:') ? t(`Example ${seq + 1}`) : key);

/** Variables with their own column. The others share one. */
const MOST_COLUMNS = 8;
/** Number of rows searched for variable names. */
const SAMPLED_ROWS = 200;

/** Variables in order of first appearance. */
function variablesOf(rows: readonly Example[]): string[] {
  return [...new Set(rows.slice(0, SAMPLED_ROWS).flatMap(({ variables }) => Object.keys(variables)))];
}

const without = (value: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

const columnsFor = (variables: readonly string[], hasMetadata: boolean): Column<Example>[] => [
  {
    key: 'example',
    header: 'Example',
    width: 'minmax(8rem, 1fr)',
    cell: (row) => (
      <Link from="/datasets/$" search={(before) => ({ ...before, example: row.key })} resetScroll={false}>
        {titleOf(row)}
      </Link>
    ),
  },
  ...variables.slice(0, MOST_COLUMNS).map((name) => ({
    key: `variables.${name}`,
    header: name,
    width: 'minmax(8rem, 2fr)',
    cell: (row: Example) =>
      name in row.variables ? <ValueCell value={row.variables[name]} /> : <span className="muted">none</span>,
  })),
  ...(variables.length > MOST_COLUMNS
    ? [
        {
          key: 'variables',
          header: 'Other variables',
          width: 'minmax(10rem, 2fr)',
          cell: (row: Example) => excerpt(without(row.variables, variables.slice(0, MOST_COLUMNS))),
        },
      ]
    : []),
  {
    key: 'expected',
    header: 'Expected',
    width: 'minmax(10rem, 2fr)',
    cell: ({ expected }) => (expected === undefined ? <span className="muted">none</span> : excerpt(expected)),
  },
  ...(hasMetadata
    ? [
        {
          key: 'metadata',
          header: 'Metadata',
          width: 'minmax(6rem, 1fr)',
          cell: ({ metadata }: Example) => (metadata === undefined ? '' : excerpt(metadata)),
        },
      ]
    : []),
];

/** The examples of a version, to browse, search and edit. */
export function ExamplesTab({ dataset, latest }: { dataset: Dataset; latest: Dataset }) {
  const search = datasetRoute.useSearch();
  const navigate = datasetRoute.useNavigate();
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  const [adding, setAdding] = useState(false);
  const mayWrite = useMay('write');
  const isLatest = dataset.version === latest.version;
  const list = useList<Example>(`${pathOf('datasets', dataset.name)}/examples`, {
    version: dataset.version,
    q: search.q,
    limit: PAGE,
  });
  const { data: shown, hasMore, loadMore } = list;
  const names = variablesOf(shown ?? []).join('\n');
  const hasMetadata = shown?.some(({ metadata }) => metadata !== undefined) ?? false;
  const columns = useMemo(() => columnsFor(names === '' ? [] : names.split('\n'), hasMetadata), [names, hasMetadata]);

  // A linked example is searched page by page.
  const open = search.example === undefined ? undefined : shown?.find(({ key }) => key === search.example);
  const isSearching = search.example !== undefined && open === undefined;
  useEffect(() => {
    if (isSearching && hasMore) loadMore();
  }, [isSearching, hasMore, loadMore]);
  return (
    <div className="stack">
      {!isLatest && (
        <p className="notice">
          This is version {dataset.version}.
          <Link to="/datasets/$" params={{ _splat: dataset.name }} className="button small">
            To the latest, {latest.version}
          </Link>
        </p>
      )}
      <search className="filters">
        <FilterField label="Search" value={search.q} onChange={(q) => change({ q })} />
        {mayWrite && isLatest && <Button onClick={() => setAdding(true)}>Add an example…</Button>}
      </search>
      <p className="muted" role="status">
        {search.q !== undefined &&
          shown &&
          `${formatNumber(shown.length)}${hasMore ? ' so far' : ''} of ${formatNumber(dataset.examples_total)}`}
      </p>
      <QueryState query={list} what="examples">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              title={search.q === undefined ? 'This version has no examples' : 'No examples match these filters'}
            >
              {search.q !== undefined && <Button onClick={() => change({ q: undefined })}>Show all</Button>}
            </EmptyState>
          ) : (
            <DataTable
              label="Examples"
              rows={rows}
              columns={columns}
              rowKey={({ key }) => key}
              onEnd={hasMore ? loadMore : undefined}
            />
          )
        }
      </QueryState>
      {open && (
        <ExampleDialog
          key={open.key}
          dataset={dataset}
          example={open}
          mayChange={mayWrite && isLatest}
          onClose={() => change({ example: undefined })}
        />
      )}
      {adding && <ExampleDialog dataset={dataset} example={undefined} mayChange onClose={() => setAdding(false)} />}
    </div>
  );
}
