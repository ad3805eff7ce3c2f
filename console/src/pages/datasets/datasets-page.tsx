import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Dataset } from '../../api-types.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { formatAgo, formatNumber } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { DropZone } from './drop-zone.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { datasetsRoute } from './routes.ts';

const PAGE = 1_000;

const columns: Column<Dataset>[] = [
  {
    key: 'name',
    header: 'Name',
    width: 'minmax(12rem, 2fr)',
    cell: ({ name }) => (
      <Link to="/datasets/$" params={{ _splat: name }}>
        {name}
      </Link>
    ),
  },
  { key: 'version', header: 'Version', width: '5rem', alignEnd: true, cell: (row) => row.version },
  {
    key: 'examples',
    header: 'Examples',
    width: '6rem',
    alignEnd: true,
    cell: (row) => formatNumber(row.examples_total),
  },
  {
    key: 'description',
    header: 'Description',
    width: 'minmax(12rem, 3fr)',
    cell: ({ description }) => description ?? <span className="muted">none</span>,
  },
  { key: 'updated', header: 'Updated', width: '7rem', cell: (row) => formatAgo(row.version_created_at) },
  {
    key: 'actions',
    header: 'Evaluations',
    width: '7rem',
    cell: ({ name }) => (
      <Link to="/evaluations" search={{ dataset: name }}>
        Show<span className="visually-hidden"> those over {name}</span>
      </Link>
    ),
  },
];

export function DatasetsPage() {
  const { q, dialog } = datasetsRoute.useSearch();
  const navigate = datasetsRoute.useNavigate();
  const list = useList<Dataset>('/datasets', { limit: PAGE });
  const [file, setFile] = useState<File>();
  const mayWrite = useMay('write');
  const paste = (open: 'new' | undefined) =>
    void navigate({ search: (before) => ({ ...before, dialog: open }), replace: true });
  const wanted = q?.toLowerCase();
  const shown = useMemo(
    () =>
      wanted === undefined
        ? list.data
        : list.data?.filter(({ name, description }) => `${name}\n${description ?? ''}`.toLowerCase().includes(wanted)),
    [list.data, wanted],
  );
  return (
    <>
      <PageHead
        title="Datasets"
        actions={
          mayWrite && (
            <button type="button" className="button primary" onClick={() => paste('new')}>
              New dataset…
            </button>
          )
        }
      />
      {mayWrite && (
        <DropZone label="Drop a file with examples here, or choose one" onFile={setFile}>
          <p className="field-hint">
            JSON Lines: <code>{'{"id": "1", "variables": {"name": "Ada"}, "expected": "Hello Ada"}'}</code> per line.
            CSV: the columns <code>id</code>, <code>expected</code> and the variables by name.
          </p>
        </DropZone>
      )}
      <search className="filters">
        <FilterField
          label="Search"
          value={q}
          onChange={(value) => void navigate({ search: value ? { q: value } : {}, replace: true })}
        />
      </search>
      <QueryState query={{ ...list, data: shown }} what="datasets">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={q ? 'No datasets match these filters' : 'There are no datasets yet'}>
              {q ? (
                <Link to="/datasets" className="button">
                  Show all
                </Link>
              ) : (
                <>
                  <p>A dataset holds examples: variables for a prompt and, where there is one, the expected output.</p>
                  {mayWrite && (
                    <button type="button" className="button" onClick={() => paste('new')}>
                      Paste the first examples…
                    </button>
                  )}
                </>
              )}
            </EmptyState>
          ) : (
            <DataTable
              label="Datasets"
              rows={rows}
              columns={columns}
              rowKey={(row) => row.name}
              minWidth="56rem"
              onEnd={list.hasMore ? list.loadMore : undefined}
            />
          )
        }
      </QueryState>
      {file && <ImportDialog file={file} dataset={undefined} onClose={() => setFile(undefined)} />}
      {dialog === 'new' && <ImportDialog dataset={undefined} onClose={() => paste(undefined)} />}
    </>
  );
}
