import { Link, linkOptions } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import type { Trace } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { StatusBadge } from '../../components/badges.tsx';
import type { Column } from '../../components/data-table.tsx';
import { FacetsSide } from '../../components/facets-side.tsx';
import { FilterLine } from '../../components/filter-line.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { PageHead } from '../../components/page.tsx';
import { focusRow, PeekList, stepsAround, useStateOf } from '../../components/peek-list.tsx';
import { type Sort, SortNote, sortHead } from '../../components/sort-head.tsx';
import { EmptyState, Loading } from '../../components/states.tsx';
import { type ViewedList, ViewsBar } from '../../components/views-bar.tsx';
import { WaitingRows } from '../../components/waiting-rows.tsx';
import { formatCost, formatCount, formatMs, formatNumber, NONE } from '../../format.ts';
import { type Growing, useGrowingList } from '../../growing-list.ts';
import { t } from '../../strings.ts';
import { FILTER_NAMES, FILTERS, NO_FILTER, queryOf, type TracesSearch } from './filter.ts';
import { FirstTrace } from './first-trace.tsx';
import { tracesRoute } from './routes.ts';
import { titleOf } from './trace-title.ts';

/** Loaded when a trace is open. */
const TracePanel = lazy(async () => ({ default: (await import('./trace-panel.tsx')).TracePanel }));

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
    width: 'minmax(9rem, 3fr)',
    cell: (trace) => (
      <Link
        from="/traces"
        to="/traces"
        search={(before) => ({ ...before, open: trace.id })}
        resetScroll={false}
        data-row-link
      >
        {titleOf(trace)}
      </Link>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    width: '6rem',
    onCard: 'beside',
    cell: ({ status, errors }) => (
      <>
        <StatusBadge status={status} />{' '}
        {errors > 0 && (
          <span className="badge bad" title={t(`Failed steps: ${formatNumber(errors)}`)}>
            {formatNumber(errors)}
          </span>
        )}
      </>
    ),
  },
  { key: 'started', header: 'Started', width: '6rem', cell: ({ started_at }) => <Ago time={started_at} /> },
  {
    key: 'latency',
    header: 'Duration',
    width: '5.5rem',
    alignEnd: true,
    cell: ({ duration_ms }) => formatMs(duration_ms),
  },
  { key: 'steps', header: 'Steps', width: '4.5rem', alignEnd: true, cell: ({ steps }) => formatNumber(steps) },
  { key: 'tokens', header: 'Tokens', width: '5rem', alignEnd: true, cell: ({ tokens }) => formatCount(tokens.total) },
  { key: 'cost', header: 'Cost', width: '5.5rem', alignEnd: true, cell: ({ cost }) => formatCost(cost) },
  {
    key: 'conversation',
    header: 'Conversation',
    width: 'minmax(5.5rem, 1fr)',
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

/** The name of each order. */
const SORT_WORDS = { cost: 'cost', latency: 'duration', tokens: 'tokens', steps: 'number of steps' } as const;
type SortName = keyof typeof SORT_WORDS;
const isSortName = (key: string): key is SortName => key in SORT_WORDS;
/** Columns of the list next to a trace: there is no room for more. */
const BESIDE = 4;

const FACETS = ['status', 'name', 'model', 'tool', 'agent', 'tag', 'user_id', 'service', 'environment'] as const;

const VIEWED: ViewedList<TracesSearch> = {
  page: 'traces',
  kept: [...FILTER_NAMES, 'order'],
  parse: tracesRoute.options.validateSearch as (search: Record<string, unknown>) => TracesSearch,
  linkTo: (search) =>
    linkOptions({ to: '/traces', search: { ...NO_FILTER, order: undefined, open: undefined, ...search } }),
};

export function TracesPage() {
  const search = tracesRoute.useSearch();
  const navigate = tracesRoute.useNavigate();
  const change = (part: TracesSearch) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  /** A version is one of a prompt: without its prompt, or with another, it filters by nothing. */
  const filter = (part: Record<string, string | undefined>) =>
    change(VIEWED.parse({ ...search, ...('prompt_name' in part && { prompt_version: undefined }), ...part }));
  const open = (id: string | undefined) => change({ open: id });
  const query = queryOf(search);
  const { order: sort } = search;
  const name = JSON.stringify([query, sort]);
  const isOpen = search.open !== undefined;
  const [isScrolled, setScrolled] = useStateOf(name, false);
  const list = useGrowingList(TRACES, query, sort, isScrolled || isOpen);
  const rows = list.data ?? [];
  const { at, onStep } = stepsAround(rows, search.open, open);
  const isFiltered = FILTER_NAMES.some((each) => search[each] !== undefined);
  const columns = useMemo(() => {
    const onSort = (order: Sort<SortName>) =>
      void navigate({ search: (before) => ({ ...before, order }), replace: true, resetScroll: false });
    return (isOpen ? COLUMNS.slice(0, BESIDE) : COLUMNS).map((column) =>
      isSortName(column.key)
        ? { ...column, ...sortHead(column.header, column.key, { sort: sort ?? '', first: 'descending', onSort }) }
        : column,
    );
  }, [isOpen, sort, navigate]);
  return (
    <PeekList
      top={
        <>
          <PageHead title="Traces" />
          <ViewsBar list={VIEWED} search={search} />
          <FilterLine
            placeholder="Search names, inputs and outputs, or filter: status:error steps>5"
            list="traces"
            query={query}
            specs={FILTERS}
            search={search}
            error={list.error}
            onChange={filter}
          />
        </>
      }
      side={
        <FacetsSide
          list="traces"
          query={query}
          facets={FACETS}
          specs={FILTERS}
          chosen={search}
          onChoose={(facet, value) => filter({ [facet]: value })}
        />
      }
      search={search.q}
      panel={
        search.open !== undefined && (
          <Suspense fallback={<Loading what="the trace" />}>
            <TracePanel
              id={search.open}
              onStep={onStep}
              onClose={() => {
                open(undefined);
                focusRow(at);
              }}
            />
          </Suspense>
        )
      }
    >
      <WaitingRows list={list} />
      {sort !== undefined && (
        <SortNote count={10_000} sort={sort} words={SORT_WORDS} onReset={() => change({ order: undefined })} />
      )}
      <ListTable
        key={name}
        label="Traces"
        list={list}
        what={search.q === undefined ? 'traces' : 'traces, further back in time'}
        columns={columns}
        rowKey={({ id }) => id}
        openKey={search.open}
        onStep={({ id }) => open(id)}
        onScrolled={setScrolled}
        empty={
          isFiltered ? (
            <EmptyState
              title="No traces match these filters"
              all={linkOptions({ to: '/traces', search: { ...NO_FILTER, order: undefined } })}
            />
          ) : (
            <EmptyState title="No traces yet">
              <p>
                A trace is one run of an agent with all its steps. Send spans with OpenTelemetry; the first trace
                appears here automatically.
              </p>
              <FirstTrace />
            </EmptyState>
          )
        }
      />
    </PeekList>
  );
}
