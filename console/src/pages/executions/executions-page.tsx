import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Execution } from '../../api-types.ts';
import { PromptLink, StatusBadge } from '../../components/badges.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { dayStart, formatCost, formatCount, formatMs, formatTime } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { MakeDatasetDialog } from './make-dataset-dialog.tsx';
import { ARMS, EXECUTION_STATES, executionsRoute } from './routes.ts';

/** Of an output, in a row: it shows less. */
const EXCERPT_CHARACTERS = 200;
/** How old the newest executions may be while they are looked at. */
const REFETCH_MS = 5_000;

const columns: Column<Execution>[] = [
  {
    key: 'created',
    header: 'Created',
    width: '12rem',
    cell: (row) => (
      <Link to="/executions/$id" params={{ id: row.id }}>
        {formatTime(row.created_at)}
      </Link>
    ),
  },
  { key: 'status', header: 'Status', width: '7rem', cell: (row) => <StatusBadge status={row.status} /> },
  {
    key: 'prompt',
    header: 'Prompt',
    width: 'minmax(10rem, 2fr)',
    cell: (row) => <PromptLink name={row.prompt_name} version={row.prompt_version} />,
  },
  {
    key: 'output',
    header: 'Output',
    width: 'minmax(12rem, 3fr)',
    cell: (row) => <span className="muted">{row.error?.message ?? row.output?.slice(0, EXCERPT_CHARACTERS)}</span>,
  },
  { key: 'model', header: 'Model', width: 'minmax(9rem, 1fr)', cell: (row) => row.model },
  { key: 'tokens', header: 'Tokens', width: '5rem', alignEnd: true, cell: (row) => formatCount(row.tokens.total) },
  { key: 'cost', header: 'Cost', width: '6rem', alignEnd: true, cell: (row) => formatCost(row.cost) },
  { key: 'latency', header: 'Duration', width: '6rem', alignEnd: true, cell: (row) => formatMs(row.latency.total_ms) },
];

export function ExecutionsPage() {
  const search = executionsRoute.useSearch();
  const navigate = executionsRoute.useNavigate();
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const filter = { ...search, since: dayStart(search.since), until: dayStart(search.until, 1) };
  const list = useList<Execution>('/executions', filter, { refetchMs: REFETCH_MS });
  const mayWrite = useMay('write');
  const [making, setMaking] = useState(false);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <>
      <PageHead
        title="Executions"
        actions={
          mayWrite && (
            <button
              type="button"
              className="button"
              disabled={!isFiltered || !list.data?.length}
              onClick={() => setMaking(true)}
            >
              Create a dataset…
            </button>
          )
        }
      />
      <search className="filters">
        <FilterField label="Prompt" value={search.prompt_name} onChange={(prompt_name) => change({ prompt_name })} />
        <SelectField
          label="Status"
          value={search.status ?? ''}
          onChange={(status) => change({ status: EXECUTION_STATES.find((each) => each === status) })}
          options={[{ value: '', label: 'Any' }, ...EXECUTION_STATES]}
        />
        <FilterField label="Model" value={search.model} onChange={(model) => change({ model })} />
        <FilterField label="Release" value={search.release} onChange={(release) => change({ release })} />
        <SelectField
          label="Arm"
          value={search.arm ?? ''}
          onChange={(arm) => change({ arm: ARMS.find((each) => each === arm) })}
          options={[{ value: '', label: 'Any' }, ...ARMS]}
        />
        <FilterField label="Score, such as tone<0.5" value={search.score} onChange={(score) => change({ score })} />
        <FilterField label="From" type="date" value={search.since} onChange={(since) => change({ since })} />
        <FilterField label="To" type="date" value={search.until} onChange={(until) => change({ until })} />
      </search>
      <QueryState query={list} what="executions">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={isFiltered ? 'No executions match these filters' : 'No executions yet'}>
              {isFiltered ? (
                <Link to="/executions" className="button">
                  Show all
                </Link>
              ) : (
                <Link to="/playground" className="button">
                  Try a prompt
                </Link>
              )}
            </EmptyState>
          ) : (
            <DataTable
              label="Executions"
              rows={rows}
              columns={columns}
              rowKey={(row) => row.id}
              minWidth="74rem"
              onEnd={list.loadMore}
            />
          )
        }
      </QueryState>
      {making && (
        <MakeDatasetDialog
          filter={{ ...filter, score: filter.score === undefined ? undefined : [filter.score] }}
          onClose={() => setMaking(false)}
        />
      )}
    </>
  );
}
