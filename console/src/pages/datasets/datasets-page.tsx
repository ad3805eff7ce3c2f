import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Dataset } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import type { Column } from '../../components/data-table.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { NameText } from '../../components/name-text.tsx';
import { formatNumber } from '../../format.ts';
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
        <NameText name={name} />
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
  { key: 'updated', header: 'Updated', width: '6.5rem', cell: (row) => <Ago time={row.version_created_at} /> },
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
      <ListPage
        title="Datasets"
        list={{ ...list, data: shown }}
        what="datasets"
        columns={columns}
        rowKey={({ name }) => name}
        create={mayWrite && { label: 'New dataset…', onClick: () => paste('new') }}
        empty={{
          title: 'There are no datasets yet',
          text: 'A dataset holds examples: variables for a prompt and, where there is one, the expected output.',
          action: 'Paste the first examples…',
        }}
        filtered={q !== undefined && { title: 'No datasets match these filters', all: { to: '/datasets' } }}
      >
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
      </ListPage>
      {file && <ImportDialog file={file} dataset={undefined} onClose={() => setFile(undefined)} />}
      {dialog === 'new' && <ImportDialog dataset={undefined} onClose={() => paste(undefined)} />}
    </>
  );
}
