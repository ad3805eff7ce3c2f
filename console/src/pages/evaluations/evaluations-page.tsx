import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Evaluation } from '../../api-types.ts';
import { StatusBadge, TargetLink } from '../../components/badges.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { formatCost, formatNumber, formatScore, formatTime, NONE } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { hasEnded } from './queries.ts';
import { EVALUATION_STATES, evaluationsRoute } from './routes.ts';
import { VersionScores } from './version-scores.tsx';

const REFRESH_MS = 3_000;

const columns: Column<Evaluation>[] = [
  {
    key: 'created',
    header: 'Created',
    width: '12rem',
    cell: (row) => (
      <Link to="/evaluations/$id" params={{ id: row.id }}>
        {formatTime(row.created_at)}
      </Link>
    ),
  },
  { key: 'status', header: 'Status', width: '7rem', cell: (row) => <StatusBadge status={row.status} /> },
  {
    key: 'prompt',
    header: 'Prompt',
    width: 'minmax(10rem, 2fr)',
    cell: (row) => <TargetLink evaluation={row} />,
  },
  {
    key: 'dataset',
    header: 'Dataset',
    width: 'minmax(9rem, 1fr)',
    cell: ({ dataset }) => (dataset ? `${dataset.name}@${dataset.version}` : <span className="muted">inline</span>),
  },
  {
    key: 'examples',
    header: 'Examples',
    width: '8rem',
    alignEnd: true,
    cell: (row) =>
      hasEnded(row)
        ? formatNumber(row.examples_total)
        : `${formatNumber(row.examples_evaluated)} of ${formatNumber(row.examples_total)}`,
  },
  { key: 'score', header: 'Score', width: '5rem', alignEnd: true, cell: (row) => formatScore(row.score) },
  {
    key: 'passed',
    header: 'Passed',
    width: '5rem',
    cell: ({ passed }) =>
      passed === null ? NONE : <span className={`badge ${passed ? 'good' : 'bad'}`}>{passed ? 'yes' : 'no'}</span>,
  },
  {
    key: 'worse',
    header: 'Worse',
    width: '5rem',
    alignEnd: true,
    cell: (row) => formatNumber(row.baseline_id === null ? null : row.regressions),
  },
  { key: 'cost', header: 'Cost', width: '6rem', alignEnd: true, cell: (row) => formatCost(row.cost) },
];

export function EvaluationsPage() {
  const search = evaluationsRoute.useSearch();
  const navigate = evaluationsRoute.useNavigate();
  const mayExecute = useMay('execute');
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const list = useList<Evaluation>('/evaluations', search);
  // Reads the list again while something on it is running.
  const isRunning = list.data?.some((row) => !hasEnded(row)) ?? false;
  const { refetch } = list;
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => void refetch(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isRunning, refetch]);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <>
      <PageHead
        title="Evaluations"
        actions={
          mayExecute && (
            <Link
              to="/evaluations/new"
              search={{
                ...(search.prompt_name && { prompt: search.prompt_name }),
                ...(search.dataset && { dataset: search.dataset }),
              }}
              className="button primary"
            >
              New evaluation
            </Link>
          )
        }
      />
      <search className="filters">
        <FilterField label="Prompt" value={search.prompt_name} onChange={(prompt_name) => change({ prompt_name })} />
        <FilterField label="Dataset" value={search.dataset} onChange={(dataset) => change({ dataset })} />
        <SelectField
          label="Status"
          value={search.status ?? ''}
          onChange={(status) => change({ status: EVALUATION_STATES.find((each) => each === status) })}
          options={[{ value: '', label: 'Any' }, ...EVALUATION_STATES]}
        />
        {search.schedule_id && (
          <button type="button" className="button" onClick={() => change({ schedule_id: undefined })}>
            Of one schedule ✕<span className="visually-hidden"> show those of all</span>
          </button>
        )}
      </search>
      {search.prompt_name && <VersionScores prompt={search.prompt_name} dataset={search.dataset} />}
      <QueryState query={list} what="evaluations">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={isFiltered ? 'No evaluations match these filters' : 'No evaluations yet'}>
              {isFiltered ? (
                <Link to="/evaluations" className="button">
                  Show all
                </Link>
              ) : (
                <p>An evaluation runs a prompt with every example of a dataset, and scores the outputs.</p>
              )}
            </EmptyState>
          ) : (
            <DataTable
              label="Evaluations"
              rows={rows}
              columns={columns}
              rowKey={(row) => row.id}
              minWidth="68rem"
              onEnd={list.loadMore}
            />
          )
        }
      </QueryState>
    </>
  );
}
