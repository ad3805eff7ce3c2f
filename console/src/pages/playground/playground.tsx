import { useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Prompt } from '../../api-types.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { RestoredNotice } from '../../drafts/draft-notices.tsx';
import type { useOpenDraft } from '../../drafts/use-drafts.ts';
import { promptQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { placeholdersIn } from '../prompt/content.ts';
import { namesQuery } from '../prompts/names-query.ts';
import { executionBody, newPane, type Pane, type PlaygroundDraft, panesOf, toDraft } from './pane-state.ts';
import { PaneView } from './pane-view.tsx';
import { playgroundRoute } from './routes.ts';
import { cancelRun, followRun, NEW_RUN } from './run.ts';
import { VariablesForm } from './variables-form.tsx';
import './playground.css';

export type OpenPlayground = ReturnType<typeof useOpenDraft<PlaygroundDraft>>;

const MAX_PANES = 4;

/** The number in a pane's choice of version; undefined for the latest and for labels. */
const numberOf = (version: string) => (/^\d+$/.test(version) ? Number(version) : undefined);

/** Up to four panes over one set of variables, run side by side. */
export function Playground({
  prompt,
  start,
  draft: {
    open: { restored },
    keep,
    drop,
    startOver,
  },
}: {
  prompt: Prompt | undefined;
  /** What it begins with where nothing was typed before. */
  start: () => { pane: Pane; variables: Record<string, unknown> };
  draft: OpenPlayground;
}) {
  const search = playgroundRoute.useSearch();
  const [{ panes, values }, setState] = useState(() => {
    if (restored) return { panes: panesOf(restored.value), values: restored.value.variables };
    const { pane, variables } = start();
    return { panes: [pane], values: variables };
  });
  /** As it is, also for runs that began with an earlier state. */
  const current = useRef({ panes, values });
  const edit = (change: (before: typeof current.current) => Partial<typeof current.current>) => {
    current.current = { ...current.current, ...change(current.current) };
    setState(current.current);
  };
  /** What someone has typed or chosen; runs are not kept. */
  const editKept: typeof edit = (change) => {
    edit(change);
    keep(toDraft(search, current.current.panes, current.current.values));
  };
  const aborts = useRef(new Map<number, AbortController>());
  /** Panes whose run is to be stopped as soon as there is one. */
  const unwanted = useRef(new Set<number>());
  const mayExecute = useMay('execute');
  const withPart = (key: number, part: Partial<Pane>) => (before: { panes: Pane[] }) => ({
    panes: before.panes.map((pane) => (pane.key === key ? { ...pane, ...part } : pane)),
  });
  const change = (key: number, part: Partial<Pane>) => edit(withPart(key, part));
  useEffect(() => {
    const all = aborts.current;
    return () => {
      for (const abort of all.values()) abort.abort();
    };
  }, []);

  const versions = useQueries({
    queries: panes.map(({ version }) => ({
      ...promptQuery(prompt?.name ?? '', numberOf(version)),
      enabled: prompt !== undefined,
    })),
  });
  const names = [
    ...new Set(
      panes.flatMap(({ draft }, index) => {
        const own = draft === undefined ? [] : [draft.template, ...draft.messages.map(({ text }) => text)];
        const ofVersion = (versions[index]?.data ?? prompt)?.variables ?? [];
        return draft === undefined ? ofVersion : placeholdersIn(own.join('\n'));
      }),
    ),
  ];

  const run = (pane: Pane) => {
    aborts.current.get(pane.key)?.abort();
    const abort = new AbortController();
    aborts.current.set(pane.key, abort);
    unwanted.current.delete(pane.key);
    try {
      const given = Object.fromEntries(
        names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
      );
      const body = executionBody(pane, prompt?.name, given);
      void followRun(body, abort.signal, (state) => {
        change(pane.key, { run: state });
        if (state.execution !== undefined && unwanted.current.delete(pane.key)) stop({ ...pane, run: state });
      });
    } catch (error) {
      change(pane.key, { run: { ...NEW_RUN, state: 'refused', error } });
    }
  };
  const runAll = () => {
    if (mayExecute) panes.forEach(run);
  };
  const stop = ({ key, run: current }: Pane) => {
    if (current?.state === 'starting') unwanted.current.add(key);
    if (current?.execution !== undefined && current.state === 'running')
      void cancelRun(current.execution.id).catch(() => {});
  };
  const isRunning = panes.some(({ run: each }) => each?.state === 'running' || each?.state === 'starting');
  return (
    // Ctrl+Enter runs everything from wherever one types.
    // biome-ignore lint/a11y/noStaticElementInteractions: the same is done by the button "Run all"
    <div
      className="stack"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        runAll();
      }}
    >
      {restored && <RestoredNotice draft={restored} onThrowAway={startOver} />}
      <PromptChoice name={prompt?.name} />
      <VariablesForm
        names={names}
        inputs={prompt?.inputs ?? {}}
        values={values}
        onChange={(changed) => editKept(() => ({ values: changed }))}
      />
      <div className="row">
        <button type="button" className="button primary" disabled={!mayExecute} onClick={runAll}>
          {panes.length === 1 ? 'Run' : 'Run all'}
        </button>
        <button type="button" className="button" disabled={!isRunning} onClick={() => panes.forEach(stop)}>
          Stop
        </button>
        <button
          type="button"
          className="button"
          disabled={panes.length >= MAX_PANES}
          onClick={() => {
            const { key: _key, run: _run, ...last } = panes.at(-1) ?? newPane();
            editKept((before) => ({ panes: [...before.panes, newPane(last)] }));
          }}
        >
          Add a pane
        </button>
        <span className="muted">
          Ctrl+Enter runs everything. Runs cost what their models cost; what you type is kept in this browser.
        </span>
      </div>
      {!mayExecute && <p className="notice">The key of this session lacks the scope “execute”.</p>}
      <ol className="panes">
        {panes.map((pane, index) => (
          <li key={pane.key}>
            <PaneView
              pane={pane}
              at={index}
              prompt={prompt}
              version={versions[index]?.data}
              onChange={(part) => editKept(withPart(pane.key, part))}
              onSaved={() => {
                // With more panes there is more than what was saved.
                if (current.current.panes.length === 1) drop();
              }}
              onRun={mayExecute ? () => run(pane) : undefined}
              onStop={() => stop(pane)}
              onRemove={
                panes.length === 1
                  ? undefined
                  : () => {
                      aborts.current.get(pane.key)?.abort();
                      editKept((before) => ({ panes: before.panes.filter(({ key }) => key !== pane.key) }));
                    }
              }
            />
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Which prompt the panes have versions of. */
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
