import { Link, linkOptions } from '@tanstack/react-router';
import { useState } from 'react';
import type { Trace } from '../../api-types.ts';
import { StatusBadge } from '../../components/badges.tsx';
import type { Column } from '../../components/data-table.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { WaitingRows } from '../../components/waiting-rows.tsx';
import { formatCost, formatCount, formatMs, formatNumber, formatTime, NONE } from '../../format.ts';
import { type Growing, useGrowingList } from '../../growing-list.ts';
import { NO_FILTER, queryOf, type TracesSearch } from './filter.ts';
import { TraceFilters } from './filters.tsx';
import { FirstTrace } from './first-trace.tsx';
import { tracesRoute } from './routes.ts';
import { titleOf } from './trace-title.ts';

const TRACES: Growing<Trace> = {
  path: '/traces',
  timeOf: ({ started_at }) => started_at,
  isOver: ({ settled }) => settled,
  // Spans are sent after they end, and agents run for minutes.
  lateMs: 10 * 60_000,
};

const COLUMNS: readonly Column<Trace>[] = [
  {
    key: 'name',
    header: 'Name',
    width: 'minmax(12rem, 3fr)',
    cell: (trace) => (
      <Link to="/traces/$id" params={{ id: trace.id }} data-row-link>
        {titleOf(trace)}
      </Link>
    ),
  },
  { key: 'status', header: 'Status', width: '6rem', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    key: 'errors',
    header: 'Errors',
    width: '4.5rem',
    alignEnd: true,
    cell: ({ errors }) => (errors === 0 ? NONE : <span className="badge bad">{formatNumber(errors)}</span>),
  },
  { key: 'started', header: 'Started', width: '12rem', cell: ({ started_at }) => formatTime(started_at) },
  {
    key: 'duration',
    header: 'Duration',
    width: '6rem',
    alignEnd: true,
    cell: ({ duration_ms }) => formatMs(duration_ms),
  },
  { key: 'steps', header: 'Steps', width: '4.5rem', alignEnd: true, cell: ({ steps }) => formatNumber(steps) },
  { key: 'calls', header: 'Calls', width: '4.5rem', alignEnd: true, cell: ({ calls }) => formatNumber(calls) },
  { key: 'tokens', header: 'Tokens', width: '5rem', alignEnd: true, cell: ({ tokens }) => formatCount(tokens.total) },
  { key: 'cost', header: 'Cost', width: '5.5rem', alignEnd: true, cell: ({ cost }) => formatCost(cost) },
  {
    key: 'conversation',
    header: 'Conversation',
    width: 'minmax(8rem, 1fr)',
    cell: ({ conversation_id: id }) =>
      id === null ? (
        NONE
      ) : (
        <Link to="/conversations/$" params={{ _splat: id }}>
          {id}
        </Link>
      ),
  },
];

export function TracesPage() {
  const search = tracesRoute.useSearch();
  const navigate = tracesRoute.useNavigate();
  const change = (part: TracesSearch) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  const query = queryOf(search);
  const name = JSON.stringify(query);
  const [scrolled, setScrolled] = useState<string>();
  const list = useGrowingList(TRACES, query, undefined, scrolled === name);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <ListPage
      title="Traces"
      create={false}
      list={list}
      what={search.q === undefined ? 'traces' : 'traces, further back in time'}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      onScrolled={(isScrolled) => setScrolled(isScrolled ? name : undefined)}
      empty={{
        title: 'No traces yet',
        text: 'A trace is one run of an agent with all its steps. Send spans with OpenTelemetry; the first trace appears here automatically.',
        more: <FirstTrace />,
      }}
      filtered={
        isFiltered && {
          title: 'No traces match these filters',
          all: linkOptions({ to: '/traces', search: NO_FILTER }),
        }
      }
    >
      <TraceFilters search={search} onChange={change} />
      <WaitingRows list={list} />
    </ListPage>
  );
}
