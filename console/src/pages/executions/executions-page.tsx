import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Execution } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { WaitingRows } from '../../components/waiting-rows.tsx';
import { formatNumber, formatTime, plural } from '../../format.ts';
import { type Growing, useGrowingList } from '../../growing-list.ts';
import { hasEnded } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { AddToQueueDialog } from './add-to-queue-dialog.tsx';
import { choices, columnsOf, type ExecutionSort, SORT_WORDS, useStoredColumns } from './columns.tsx';
import { ColumnsMenu } from './columns-menu.tsx';
import { ExecutionPanel } from './execution-panel.tsx';
import { FacetsSide } from './facets.tsx';
import { bodyOf, type ExecutionsSearch, givenFilters, NO_FILTER, queryOf } from './filter.ts';
import { ExecutionFilters } from './filters.tsx';
import { MakeDatasetDialog } from './make-dataset-dialog.tsx';
import { executionsRoute } from './routes.ts';
import { ViewsBar } from './views-bar.tsx';
import './executions.css';

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

/** State that belongs to a list: another filter resets it. */
function useStateOf<Value>(list: string, first: Value): [Value, (value: Value) => void] {
  const [kept, keep] = useState({ list, value: first });
  return [kept.list === list ? kept.value : first, (value) => keep({ list, value })];
}

const NONE_CHOSEN: ReadonlySet<string> = new Set();

export function ExecutionsPage() {
  const search = executionsRoute.useSearch();
  const navigate = executionsRoute.useNavigate();
  const change = (part: Partial<ExecutionsSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
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
  const isOpen = search.open !== undefined;
  const isReading = isScrolled || isOpen || chosen.size > 0;
  const list = useGrowingList(EXECUTIONS, query, sort, isReading);
  const rows = list.data ?? [];
  const isFiltered = givenFilters(search).length > 0;
  const matching = bodyOf(search);
  const at = rows.findIndex(({ id }) => id === search.open);
  const stepTo = (index: number) => {
    const row = rows[index];
    return row === undefined || at < 0 ? undefined : () => open(row.id);
  };
  const shown = useMemo(() => {
    const onSort = (by: ExecutionSort) =>
      void navigate({ search: (before) => ({ ...before, order: by }), replace: true, resetScroll: false });
    const all = columnsOf(isOpen ? columns.slice(0, BESIDE) : columns, { sort, onSort });
    return mayWrite ? [chooser(rows, chosen, setChosen), ...all] : all;
  }, [columns, isOpen, sort, navigate, mayWrite, rows, chosen, setChosen]);
  const closeDialog = () => setAsked(undefined);
  return (
    <div className="executions" data-open={isOpen}>
      <div className="stack executions-top">
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
            </>
          }
        />
        <ViewsBar search={search} columns={columns} />
        <ExecutionFilters search={search} onChange={change} />
      </div>
      <div className="executions-body">
        <FacetsSide query={query} search={search} onChange={change} />
        <div className="executions-main">
          {chosen.size > 0 && (
            <div className="chosen" role="toolbar" aria-label="With selected executions">
              <strong>{formatNumber(chosen.size)} chosen</strong>
              <Button look="small" onClick={() => setAsked('chosen-dataset')}>
                Add them to a dataset…
              </Button>
              <Button look="small" disabled={chosen.size > MOST_CHOSEN} onClick={() => setAsked('queue')}>
                Add to a queue…
              </Button>
              <Button look="plain small" onClick={() => setChosen(NONE_CHOSEN)}>
                Choose none
              </Button>
            </div>
          )}
          <WaitingRows list={list} />
          {sort !== undefined && (
            <p className="muted row">
              The newest 10,000 that match, by {SORT_WORDS[sort.replace('-', '') as keyof typeof SORT_WORDS]},{' '}
              {sort.startsWith('-') ? 'greatest' : 'least'} first.
              <Button look="plain small" onClick={() => change({ order: undefined })}>
                Newest first
              </Button>
            </p>
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
                  minWidth={`${shown.length * 8}rem`}
                  onEnd={list.loadMore}
                  openKey={search.open}
                  onStep={({ id }) => open(id)}
                  onScrolled={setScrolled}
                />
              )
            }
          </QueryState>
        </div>
        {search.open !== undefined && (
          <ExecutionPanel
            id={search.open}
            onStep={{ next: stepTo(at + 1), before: stepTo(at - 1) }}
            onClose={() => {
              open(undefined);
              focusRow(at);
            }}
          />
        )}
      </div>
      {asked === 'dataset' && matching !== undefined && (
        <MakeDatasetDialog
          selection={matching}
          description="Each execution that matches these filters becomes an example with its variables. Without a status, only completed ones."
          onClose={closeDialog}
        />
      )}
      {asked === 'chosen-dataset' && <ChosenDataset rows={rows} chosen={chosen} onClose={closeDialog} />}
      {asked === 'queue' && (
        <AddToQueueDialog ids={[...chosen]} onDone={() => setChosen(NONE_CHOSEN)} onClose={closeDialog} />
      )}
    </div>
  );
}

/** Returns the focus to the row that was shown next to the list. */
function focusRow(index: number): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      document
        .querySelector<HTMLElement>(`.executions [aria-rowindex="${index + 2}"] a[data-row-link]`)
        ?.focus({ preventScroll: true }),
    ),
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
