import { useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Columns2, Database, Gauge, History, Play, Plus, Square } from 'lucide-react';
import { type CSSProperties, lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { Execution, Prompt } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { ComboField } from '../../components/combo-field.tsx';
import { ErrorState } from '../../components/states.tsx';
import { RestoredNotice } from '../../drafts/draft-notices.tsx';
import type { useOpenDraft } from '../../drafts/use-drafts.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { placeholdersIn } from '../prompt/content.ts';
import { namesQuery } from '../prompts/names-query.ts';
import { CellView } from './cell-view.tsx';
import { type Cell, Cells, cellKey, useCells } from './cells.ts';
import { type Tried, useHistory } from './history.ts';
import { PaneHead, PaneTotals } from './pane-head.tsx';
import {
  addressOf,
  type Bench,
  benchOf,
  type ChatMessage,
  examplesOfAddress,
  executionBody,
  MAX_PANES,
  MAX_ROWS,
  newPane,
  newRow,
  type Pane,
  type PlaygroundDraft,
  paneOfKept,
  panesOfAddress,
  type Row,
  toDraft,
  toStored,
} from './pane-state.ts';
import { paneVersionQuery, rowsQuery } from './queries.ts';
import { playgroundRoute, startOf } from './routes.ts';
import { RowHead } from './row-head.tsx';
import { isBusy, runOf, withoutFiles } from './run.ts';
import './playground.css';

// Loaded when they are opened.
const HistoryDialog = lazy(async () => ({ default: (await import('./history-dialog.tsx')).HistoryDialog }));
const RowsDialog = lazy(async () => ({ default: (await import('./rows-dialog.tsx')).RowsDialog }));
const ScoringDialog = lazy(async () => ({ default: (await import('./scoring-dialog.tsx')).ScoringDialog }));

export type OpenPlayground = ReturnType<typeof useOpenDraft<PlaygroundDraft>>;

/** The initial state if there is no draft. */
export interface Start {
  pane: Pane;
  /** Default: one without values. */
  rows?: readonly Row[];
  evaluators?: readonly Evaluator[];
  /** The cells of the pane, by row. */
  earlier?: readonly Cell[];
}

/** What another playground takes over when a pane becomes a new prompt, so that nothing on the page is lost. */
export interface Moved {
  bench: Bench;
  cells: Cells;
}

const isEmpty = ({ variables, expected, example }: Row) =>
  example === undefined && expected === undefined && Object.values(variables).every((value) => !value);

/** Panes against rows of variables: each pair is a cell that runs by row, by pane, individually, or with all others. */
export function Playground({
  prompt,
  start,
  draft: {
    open: { restored },
    keep,
    drop,
    startOver,
  },
  moved,
  onMove,
}: {
  prompt: Prompt | undefined;
  start: () => Start;
  draft: OpenPlayground;
  moved: Moved | undefined;
  onMove: (prompt: string, state: Moved) => Promise<void>;
}) {
  const search = playgroundRoute.useSearch();
  const navigate = playgroundRoute.useNavigate();
  const [begun] = useState((): Moved & { model: string } => {
    const { pane, rows = [newRow()], evaluators = [], earlier = [] } = start();
    const { model } = pane;
    if (moved) return { ...moved, model };
    const cells = new Cells();
    if (restored) return { bench: benchOf(restored.value), cells, model };
    const panes = panesOfAddress(search);
    if (panes.length > 0) return { bench: { panes, rows, evaluators }, cells, model };
    for (const [at, cell] of earlier.entries()) if (rows[at]) cells.set(cellKey(pane, rows[at]), cell);
    return { bench: { panes: [pane], rows, evaluators }, cells, model };
  });
  const { cells } = begun;
  const [bench, setBench] = useState(begun.bench);
  /** The current state, also for runs started with an earlier one. */
  const current = useRef(bench);
  const showAddress = () => {
    const address = addressOf(current.current, prompt?.name);
    void navigate({ search: (before) => ({ ...before, ...address }), replace: true, resetScroll: false });
    return { ...search, ...address };
  };
  /** Also clears the address parameters. */
  const throwAway = async () => {
    await navigate({ search: startOf(search), replace: true, resetScroll: false });
    startOver();
  };
  const set = (next: Bench) => {
    current.current = next;
    setBench(next);
  };
  /** Applies user input; runs are not stored. */
  const edit = (change: (before: Bench) => Partial<Bench>) => {
    set({ ...current.current, ...change(current.current) });
    keep(toDraft(showAddress(), current.current));
  };
  const isHandedOver = useRef(false);
  useEffect(() => () => void (isHandedOver.current || cells.dispose()), [cells]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the restored state
  useEffect(() => {
    if (moved) edit(() => ({}));
    else if (restored) showAddress();
  }, []);
  const { tried, add } = useHistory(JSON.stringify(startOf(search)));
  const [dialog, setDialog] = useState<'rows' | 'scoring' | 'history'>();
  const [isCompared, setCompared] = useState(false);
  const mayExecute = useMay('execute');
  const { panes, rows, evaluators } = bench;

  /** Models from the start, such as the model of an execution, and models that have already run. */
  const ran = [begun.model, ...tried.map(({ pane }) => pane.model)];

  const chosen = [...new Set(panes.map(({ version }) => version))];
  const read = useQueries({
    queries: chosen.map((version) => ({
      ...paneVersionQuery(prompt?.name ?? '', version),
      enabled: prompt !== undefined,
    })),
  });
  const versions = panes.map(({ version }) => read[chosen.indexOf(version)]?.data);
  const names = [
    ...new Set(
      panes.flatMap(({ draft }, index) => {
        const own = draft === undefined ? [] : [draft.template, ...draft.messages.map(({ text }) => text)];
        const ofVersion = (versions[index] ?? prompt)?.variables ?? [];
        return draft === undefined ? ofVersion : placeholdersIn(own.join('\n'));
      }),
    ),
  ];
  const given = ({ variables }: Row) =>
    Object.fromEntries(names.filter((name) => variables[name] !== undefined).map((name) => [name, variables[name]]));

  const score = (key: string, row: Row, execution: Execution) => {
    const { evaluators: configs } = current.current;
    if (configs.length === 0 || execution.status !== 'completed') return;
    cells.score(key, {
      evaluators: configs,
      variables: execution.variables,
      input: withoutFiles(execution.input),
      output: execution.output ?? '',
      tool_calls: execution.tool_calls,
      ...(row.expected !== undefined && { expected: row.expected }),
      model_ms: execution.latency.model_ms,
      cost: execution.cost.amount,
    });
  };
  const run = (pane: Pane, row: Row, turns: readonly ChatMessage[] = []) => {
    const key = cellKey(pane, row);
    const variables = given(row);
    cells.run(
      key,
      turns,
      () => executionBody(pane, prompt?.name, variables, turns),
      (execution, hasEnded) => {
        add({
          id: execution.id,
          at: execution.created_at,
          pane: toStored(pane),
          variables,
          turns,
          model: execution.model,
          end: hasEnded ? { status: execution.status, cost: execution.cost } : undefined,
        });
        if (hasEnded) requestAnimationFrame(() => toShow.current !== undefined && showCell(toShow.current));
        if (hasEnded) score(key, current.current.rows.find((each) => each.key === row.key) ?? row, execution);
      },
    );
  };
  const heads = useRef<HTMLDivElement>(null);
  const outputs = useRef<HTMLDivElement>(null);
  /** The cell that stays in sight while results above it grow, until someone scrolls or types. */
  const toShow = useRef<string>(undefined);
  const forgetToShow = () => {
    toShow.current = undefined;
  };
  /** Scrolls to a cell whose result would be out of sight, or only begin there. */
  const showCell = (key: string) => {
    toShow.current = key;
    const cell = outputs.current?.querySelector(`[data-cell="${key}"]`);
    const top = cell?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > window.innerHeight / 2) cell?.scrollIntoView({ block: 'start' });
  };
  /** Whether these panes need no confirmation, such as for an unknown model; otherwise focuses it. */
  const isConfirmed = (some: readonly Pane[]) =>
    some.every(({ key }) => {
      const open = heads.current?.querySelector<HTMLInputElement>(`[data-pane="${key}"] input:required:invalid`);
      return open?.reportValidity() ?? true;
    });
  const runThese = (some: readonly Pane[], ofRows: readonly Row[], turns?: readonly ChatMessage[]) => {
    if (!mayExecute || !isConfirmed(some)) return;
    for (const row of ofRows) for (const pane of some) run(pane, row, turns);
    // The row in which someone types, or the first one.
    const row = ofRows.find(({ key }) => document.activeElement?.closest(`[data-row="${key}"]`)) ?? ofRows[0];
    if (some[0] && row) showCell(cellKey(some[0], row));
  };
  /** A saved pane is the new version. Its outputs stay. */
  const takeSaved = (pane: Pane, saved: Prompt) => {
    const isSaved = ({ key }: Pane) => key === pane.key;
    const plain = { version: String(saved.version), draft: undefined, model: '', parameters: {} };
    const panes = current.current.panes.map((each) => (isSaved(each) ? { ...each, ...plain } : each));
    if (saved.name === prompt?.name) return edit(() => ({ panes }));
    isHandedOver.current = true;
    drop();
    void onMove(saved.name, { bench: { ...current.current, panes }, cells });
  };
  /** Scores all existing outputs. */
  const scoreAll = () => {
    for (const row of current.current.rows)
      for (const pane of current.current.panes) {
        const key = cellKey(pane, row);
        const execution = cells.get(key)?.run.execution;
        if (current.current.evaluators.length === 0) cells.clearScoring(key);
        else if (execution !== undefined) score(key, row, execution);
      }
  };
  const addRows = (more: readonly Row[]) =>
    edit((before) => ({ rows: [...before.rows.filter((row) => !isEmpty(row)), ...more].slice(0, MAX_ROWS) }));
  /** Restores an attempt to a separate pane, with its result. */
  const bringBack = (found: Tried, execution: Execution) => {
    const pane = paneOfKept(found.pane);
    const same = JSON.stringify(found.variables);
    let row = current.current.rows.find((each) => JSON.stringify(given(each)) === same);
    edit((before) => {
      row ??= newRow({ variables: found.variables });
      const others = before.rows.includes(row) ? before.rows : [...before.rows.filter((each) => !isEmpty(each)), row];
      return { panes: [...before.panes.slice(0, MAX_PANES - 1), pane], rows: others.slice(-MAX_ROWS) };
    });
    if (row) cells.set(cellKey(pane, row), { run: runOf(execution), turns: found.turns, scoring: undefined });
  };
  const several = panes.length * rows.length > 1;

  return (
    // Ctrl+Enter runs everything, wherever the focus is.
    // biome-ignore lint/a11y/noStaticElementInteractions: the same is done by the button "Run all"
    <div
      className="stack"
      onWheel={forgetToShow}
      onTouchMove={forgetToShow}
      onKeyDown={(event) => {
        forgetToShow();
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        runThese(current.current.panes, current.current.rows);
      }}
    >
      {restored && <RestoredNotice draft={restored} onDiscard={() => void throwAway()} />}
      {!restored && !moved && <RowsOfAddress onRows={addRows} />}
      <div className="bench-tools">
        <PromptChoice name={prompt?.name} />
        <div className="row">
          <Button
            look="primary"
            disabled={!mayExecute}
            aria-keyshortcuts="Control+Enter"
            onClick={() => runThese(panes, rows)}
          >
            <Play className="icon" aria-hidden />
            {several ? 'Run all' : 'Run'}
          </Button>
          <StopButton cells={cells} />
          <Button
            disabled={panes.length >= MAX_PANES}
            onClick={() => {
              const last = panes.at(-1);
              edit((before) => ({ panes: [...before.panes, last ? paneOfKept(toStored(last)) : newPane()] }));
            }}
          >
            <Plus className="icon" aria-hidden />
            Add a pane
          </Button>
          <Button onClick={() => setDialog('scoring')}>
            <Gauge className="icon" aria-hidden />
            {evaluators.length === 0
              ? 'Score…'
              : `Scored by ${evaluators.map(({ name, type }) => name ?? type).join(', ')}…`}
          </Button>
          {panes.length > 1 && (
            <Button aria-pressed={isCompared} onClick={() => setCompared(!isCompared)}>
              <Columns2 className="icon" aria-hidden />
              Compare with pane 1
            </Button>
          )}
          <Button disabled={tried.length === 0} onClick={() => setDialog('history')}>
            <History className="icon" aria-hidden />
            History…
          </Button>
        </div>
      </div>
      {!mayExecute && <p className="notice">The key of this session lacks the scope “execute”.</p>}
      <div className="bench" style={{ '--panes': panes.length } as CSSProperties}>
        <div ref={heads} className="bench-editors">
          {panes.map((pane, index) => (
            <PaneHead
              key={pane.key}
              pane={pane}
              at={index}
              prompt={prompt}
              version={versions[index]}
              stored={ran}
              dataset={rows.find(({ example }) => example !== undefined)?.example?.dataset}
              onChange={(part) =>
                edit((before) => ({
                  panes: before.panes.map((each) => (each.key === pane.key ? { ...each, ...part } : each)),
                }))
              }
              onSaved={(saved) => takeSaved(pane, saved)}
              onRun={mayExecute && panes.length > 1 ? () => runThese([pane], rows) : undefined}
              onRemove={
                panes.length === 1
                  ? undefined
                  : () => {
                      cells.drop((key) => key.startsWith(`${pane.key} `));
                      edit((before) => ({ panes: before.panes.filter(({ key }) => key !== pane.key) }));
                    }
              }
            />
          ))}
        </div>
        <div ref={outputs} className="bench-outputs">
          {several && (
            <div className="bench-strip bench-columns">
              {panes.map((pane, index) => (
                <PaneTotals
                  key={pane.key}
                  pane={pane}
                  at={index}
                  version={versions[index]}
                  cells={cells}
                  keys={rows.map((row) => cellKey(pane, row))}
                />
              ))}
            </div>
          )}
          {rows.map((row, rowAt) => (
            <div key={row.key} className="bench-row" data-row={row.key}>
              <RowHead
                row={row}
                number={rows.length === 1 ? undefined : rowAt + 1}
                names={names}
                inputs={prompt?.inputs ?? {}}
                onChange={(part) =>
                  edit((before) => ({
                    rows: before.rows.map((each) => (each.key === row.key ? { ...each, ...part } : each)),
                  }))
                }
                onRun={mayExecute && rows.length > 1 ? () => runThese(panes, [row]) : undefined}
                onRemove={
                  rows.length === 1
                    ? undefined
                    : () => {
                        cells.drop((key) => key.endsWith(` ${row.key}`));
                        edit((before) => ({ rows: before.rows.filter(({ key }) => key !== row.key) }));
                      }
                }
              />
              <div className="bench-columns">
                {panes.map((pane, at) => (
                  <CellView
                    key={cellKey(pane, row)}
                    cells={cells}
                    at={cellKey(pane, row)}
                    name={rows.length === 1 ? t(`pane ${at + 1}`) : t(`pane ${at + 1}, row ${rowAt + 1}`)}
                    compareWith={isCompared && at > 0 && panes[0] ? cellKey(panes[0], row) : undefined}
                    expected={row.expected}
                    onRun={mayExecute ? (turns) => runThese([pane], [row], turns) : undefined}
                    isAlone={!several}
                  />
                ))}
              </div>
            </div>
          ))}
          <div className="row">
            <Button
              look="small"
              disabled={rows.length >= MAX_ROWS}
              onClick={() => edit((before) => ({ rows: [...before.rows, newRow()] }))}
            >
              <Plus className="icon" aria-hidden />
              Add a row
            </Button>
            <Button look="small" onClick={() => setDialog('rows')}>
              <Database className="icon" aria-hidden />
              Rows of a dataset…
            </Button>
            <p className="muted bench-hint">
              Ctrl+Enter runs everything. Runs cost what their models cost; what you type is kept in this browser.
            </p>
          </div>
        </div>
      </div>
      <Suspense>
        {dialog === 'rows' && <RowsDialog onRows={addRows} onClose={() => setDialog(undefined)} />}
        {dialog === 'scoring' && (
          <ScoringDialog
            value={evaluators}
            onChange={(chosen) => {
              edit(() => ({ evaluators: chosen }));
              scoreAll();
            }}
            onClose={() => setDialog(undefined)}
          />
        )}
        {dialog === 'history' && (
          <HistoryDialog tried={tried} onBringBack={bringBack} onClose={() => setDialog(undefined)} />
        )}
      </Suspense>
    </div>
  );
}

function StopButton({ cells }: { cells: Cells }) {
  const isRunning = [...useCells(cells).values()].some(({ run }) => isBusy(run));
  return (
    <Button disabled={!isRunning} onClick={() => cells.stopAll()}>
      <Square className="icon" aria-hidden />
      Stop
    </Button>
  );
}

/** Loads the rows in the address, once. */
function RowsOfAddress({ onRows }: { onRows: (rows: readonly Row[]) => void }) {
  const search = playgroundRoute.useSearch();
  const [wanted] = useState(() => examplesOfAddress(search));
  const { data, error, refetch } = useQuery({
    ...rowsQuery(wanted?.dataset ?? '', wanted?.version, wanted?.seqs ?? []),
    enabled: wanted !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isDone = useRef(false);
  useEffect(() => {
    if (data === undefined || isDone.current) return;
    isDone.current = true;
    onRows(data);
  }, [data, onRows]);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return wanted !== undefined && data === undefined ? <p role="status">Reading the examples…</p> : null;
}

/** Selects the prompt whose versions the panes use. */
function PromptChoice({ name }: { name: string | undefined }) {
  const { data: names = [] } = useQuery(namesQuery);
  const [typed, setTyped] = useState(name ?? '');
  const navigate = useNavigate();
  const open = (chosen: string) => {
    setTyped(chosen);
    if (chosen !== name && names.includes(chosen)) void navigate({ to: '/playground', search: { prompt: chosen } });
    if (chosen === '' && name !== undefined) void navigate({ to: '/playground' });
  };
  return (
    <div className="prompt-choice">
      <ComboField
        label="Prompt"
        type="search"
        value={typed}
        onChange={open}
        options={names}
        placeholder="None: write a draft"
        spellCheck={false}
      />
    </div>
  );
}
