import { Link, linkOptions } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { Execution, ExecutionFacets } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { FacetsSide } from '../../components/facets-side.tsx';
import { FilterLine } from '../../components/filter-line.tsx';
import { PageHead } from '../../components/page.tsx';
import { focusRow, PeekList, stepsAround, useStateOf } from '../../components/peek-list.tsx';
import { SortNote } from '../../components/sort-head.tsx';
import { EmptyState, Loading, QueryState } from '../../components/states.tsx';
import { type ViewedList, ViewsBar } from '../../components/views-bar.tsx';
import { WaitingRows } from '../../components/waiting-rows.tsx';
import { formatNumber, formatTime, plural } from '../../format.ts';
import { type Growing, useGrowingList } from '../../growing-list.ts';
import { hasEnded } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { choices, columnsOf, type ExecutionSort, SORT_WORDS, useStoredColumns } from './columns.tsx';
import { ColumnsMenu } from './columns-menu.tsx';
import { bodyOf, type ExecutionsSearch, FILTER_NAMES, FILTERS, givenFilters, NO_FILTER, queryOf } from './filter.ts';
import { MakeDatasetDialog } from './make-dataset-dialog.tsx';
import { executionsRoute } from './routes.ts';
import { MOST_TRIED, TryVersionLink } from './try-version-link.tsx';
import './executions.css';

/** Loaded when an execution is open. */
const ExecutionPanel = lazy(async () => ({ default: (await import('./execution-panel.tsx')).ExecutionPanel }));
/** Loaded when opened. */
const AddToQueueDialog = lazy(async () => ({ default: (await import('./add-to-queue-dialog.tsx')).AddToQueueDialog }));
/** Maximum number of executions that can be added to a queue together. */
const MOST_CHOSEN = 1_000;
/** Columns of the list next to an execution: there is no room for more. */
const BESIDE = 3;

const EXECUTIONS: Growing<Execution> = {
  path: '/executions',
  timeOf: ({ created_at }) => created_at,
  isOver: ({ status }) => hasEnded(status),
  lateMs: 0,
};

const FACETS: readonly (keyof ExecutionFacets['facets'])[] = [
  'status',
  'prompt_name',
  'prompt_version',
  'label',
  'model',
  'error_code',
  'recorded',
];

const VIEWED: ViewedList<ExecutionsSearch> = {
  page: 'executions',
  kept: [...FILTER_NAMES, 'order'],
  parse: executionsRoute.options.validateSearch as (search: Record<string, unknown>) => ExecutionsSearch,
  linkTo: (search) =>
    linkOptions({
      to: '/executions',
      search: { ...NO_FILTER, order: undefined, columns: undefined, open: undefined, ...search },
    }),
};

/** The prompt of all of them, if it is one. */
const promptOf = (rows: readonly Execution[]): string | undefined => {
  const [name, ...others] = new Set(rows.map(({ prompt_name }) => prompt_name));
  return others.length === 0 ? (name ?? undefined) : undefined;
};

const NONE_CHOSEN: ReadonlySet<string> = new Set();

export function ExecutionsPage() {
  const search = executionsRoute.useSearch();
  const navigate = executionsRoute.useNavigate();
  const change = (part: Partial<ExecutionsSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  /** A version is one of a prompt: without its prompt, or with another, it filters by nothing. */
  const filter = (part: Record<string, string | undefined>) =>
    change(VIEWED.parse({ ...search, ...('prompt_name' in part && { prompt_version: undefined }), ...part }));
  const open = (id: string | undefined) => change({ open: id });
  const query = queryOf(search);
  const sort = search.order;
  const name = JSON.stringify([query, sort]);
  const [stored, store] = useStoredColumns();
  const columns = useMemo(() => search.columns?.split(',') ?? stored, [search.columns, stored]);
  const setColumns = (keys: readonly string[]) =>
    search.columns === undefined ? store(keys) : change({ columns: keys.join(',') });
  const [isScrolled, setScrolled] = useStateOf(name, false);
  const [chosen, setChosen] = useStateOf(name, NONE_CHOSEN);
  const [asked, setAsked] = useState<'dataset' | 'chosen-dataset' | 'queue'>();
  const mayWrite = useMay('write');
  const mayExecute = useMay('execute');
  const isOpen = search.open !== undefined;
  const isReading = isScrolled || isOpen || chosen.size > 0;
  const list = useGrowingList(EXECUTIONS, query, sort, isReading);
  const rows = list.data ?? [];
  const toTry = rows.filter(({ id, status }) => chosen.has(id) && status === 'completed');
  const isFiltered = givenFilters(search).length > 0;
  const matching = bodyOf(search);
  const { at, onStep } = stepsAround(rows, search.open, open);
  const shown = useMemo(() => {
    const onSort = (by: ExecutionSort) =>
      void navigate({ search: (before) => ({ ...before, order: by }), replace: true, resetScroll: false });
    const all = columnsOf(isOpen ? columns.slice(0, BESIDE) : columns, { sort, onSort });
    return mayWrite ? [chooser(rows, chosen, setChosen), ...all] : all;
  }, [columns, isOpen, sort, navigate, mayWrite, rows, chosen, setChosen]);
  const closeDialog = () => setAsked(undefined);
  return (
    <>
      <PeekList
        top={
          <>
            <PageHead
              title="Executions"
              actions={
                <>
                  <ColumnsMenu offered={choices(rows, columns)} chosen={columns} onChange={setColumns} />
                  {mayWrite && (
                    <Button
                      disabled={!isFiltered || matching === undefined || rows.length === 0}
                      title={matching === undefined ? 'For search results, select executions in the list' : undefined}
                      onClick={() => setAsked('dataset')}
                    >
                      Add to a dataset…
                    </Button>
                  )}
                  {mayExecute && isFiltered && matching !== undefined && rows.length > 0 && (
                    <TryVersionLink
                      prompt={search.prompt_name ?? promptOf(rows)}
                      executions={{ ...matching, prompt_name: search.prompt_name ?? null }}
                    >
                      Try another version on these
                    </TryVersionLink>
                  )}
                </>
              }
            />
            <ViewsBar
              list={VIEWED}
              search={search}
              columns={columns}
              onSaved={() => change({ columns: columns.join(',') })}
            />
            <FilterLine
              placeholder="Search inputs and outputs, or filter: status:failed cost>0.01"
              list="executions"
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
            list="executions"
            query={query}
            // Versions of different prompts are unrelated.
            facets={search.prompt_name === undefined ? FACETS.filter((each) => each !== 'prompt_version') : FACETS}
            specs={FILTERS}
            chosen={search}
            onChoose={(facet, value) => filter({ [facet]: value })}
          />
        }
        search={search.q}
        panel={
          search.open !== undefined && (
            <Suspense fallback={<Loading what="the execution" />}>
              <ExecutionPanel
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
        {chosen.size > 0 && (
          <div className="chosen" role="toolbar" aria-label="With selected executions">
            <strong>{formatNumber(chosen.size)} chosen</strong>
            <Button look="small" onClick={() => setAsked('chosen-dataset')}>
              Add them to a dataset…
            </Button>
            <Button look="small" disabled={chosen.size > MOST_CHOSEN} onClick={() => setAsked('queue')}>
              Add to a queue…
            </Button>
            {mayExecute && toTry.length > 0 && toTry.length <= MOST_TRIED && (
              <TryVersionLink small prompt={promptOf(toTry)} executions={{ execution_ids: toTry.map(({ id }) => id) }}>
                Try another version on these
              </TryVersionLink>
            )}
            <Button look="plain small" onClick={() => setChosen(NONE_CHOSEN)}>
              Choose none
            </Button>
          </div>
        )}
        <WaitingRows list={list} />
        {sort !== undefined && (
          <SortNote count={10_000} sort={sort} words={SORT_WORDS} onReset={() => change({ order: undefined })} />
        )}
        <QueryState query={list} what={search.q === undefined ? 'executions' : 'older executions'}>
          {() =>
            rows.length === 0 ? (
              <EmptyState title={isFiltered ? 'No executions match these filters' : 'No executions yet'}>
                {isFiltered ? (
                  <Link
                    to="/executions"
                    search={{ ...NO_FILTER, order: undefined, columns: search.columns }}
                    className="button"
                  >
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
                key={name}
                label="Executions"
                rows={rows}
                columns={shown}
                rowKey={(row) => row.id}
                onEnd={list.loadMore}
                openKey={search.open}
                onStep={({ id }) => open(id)}
                onScrolled={setScrolled}
              />
            )
          }
        </QueryState>
      </PeekList>
      {asked === 'dataset' && matching !== undefined && (
        <MakeDatasetDialog
          selection={matching}
          description="Each execution that matches these filters becomes an example with its variables. Without a status, only completed ones."
          onClose={closeDialog}
        />
      )}
      {asked === 'chosen-dataset' && <ChosenDataset rows={rows} chosen={chosen} onClose={closeDialog} />}
      {asked === 'queue' && (
        <Suspense>
          <AddToQueueDialog ids={[...chosen]} onDone={() => setChosen(NONE_CHOSEN)} onClose={closeDialog} />
        </Suspense>
      )}
    </>
  );
}

/** The checkbox column. */
function chooser(
  rows: readonly Execution[],
  chosen: ReadonlySet<string>,
  onChange: (chosen: ReadonlySet<string>) => void,
): Column<Execution> {
  const isAll = rows.length > 0 && rows.every(({ id }) => chosen.has(id));
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChange(next);
  };
  return {
    key: 'chosen',
    header: 'Chosen',
    width: '1.25rem',
    onCard: 'beside',
    head: (
      <input
        type="checkbox"
        aria-label="Choose all in the list"
        checked={isAll}
        onChange={() => onChange(isAll ? new Set() : new Set(rows.map(({ id }) => id)))}
      />
    ),
    cell: ({ id, created_at }) => (
      <input
        type="checkbox"
        aria-label={`Choose the execution of ${formatTime(created_at)}`}
        checked={chosen.has(id)}
        onChange={() => toggle(id)}
      />
    ),
  };
}

/** A dataset is made of executions in one state: the completed ones, if any. */
function ChosenDataset({
  rows,
  chosen,
  onClose,
}: {
  rows: readonly Execution[];
  chosen: ReadonlySet<string>;
  onClose: () => void;
}) {
  const all = rows.filter(({ id }) => chosen.has(id));
  const status = all.some((row) => row.status === 'completed') ? 'completed' : (all[0]?.status ?? 'completed');
  const ids = all.filter((row) => row.status === status).map(({ id }) => id);
  const left = all.length - ids.length;
  return (
    <MakeDatasetDialog
      selection={{ execution_ids: ids, status }}
      count={ids.length}
      description={`${ids.length === 1 ? t('It becomes an example with its variables.') : t(`Each of these ${formatNumber(ids.length)} becomes an example with its variables.`)}${left > 0 ? t(` ${plural(left, `that is not ${status} is left out`, `that are not ${status} are left out`)}.`) : ''}`}
      onClose={onClose}
    />
  );
}
