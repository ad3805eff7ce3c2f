import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useRef } from 'react';
import type { Evaluation } from '../../api-types.ts';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { OtherDrafts } from '../../drafts/draft-notices.tsx';
import { useDrafts, useOpenDraft } from '../../drafts/use-drafts.ts';
import { executionQuery, promptQuery } from '../../queries.ts';
import { t } from '../../strings.ts';
import { evaluationQuery, inputQuery, resultQuery } from '../evaluations/queries.ts';
import type { Result } from '../evaluations/types.ts';
import { cellOfResult, failingQuery, rowOfResult, triedOf } from './failing.ts';
import { EMPTY_DRAFT, newPane, newRow, type PlaygroundDraft, paneOf, sentDraft } from './pane-state.ts';
import { type Moved, type OpenPlayground, Playground } from './playground.tsx';
import { type PlaygroundSearch, playgroundRoute, startOf } from './routes.ts';

const KIND = 'playground';
/** Address parameters of panes and rows. */
const IN_ADDRESS = ['panes', 'dataset', 'examples'] as const;

// JSON drops undefined parameters.
const subjectOf = (search: PlaygroundSearch) => JSON.stringify(startOf(search));

/** Runs anything without saving it: starts from a prompt, an execution, examples of an evaluation, or nothing. */
export function PlaygroundPage() {
  const search = playgroundRoute.useSearch();
  const navigate = playgroundRoute.useNavigate();
  const moved = useRef<{ subject: string; state: Moved }>(undefined);
  const subject = subjectOf(search);
  const onMove = async (prompt: string, state: Moved) => {
    moved.current = { subject: subjectOf({ prompt }), state };
    await navigate({ search: { prompt } });
  };
  const open = { onMove, moved: moved.current?.subject === subject ? moved.current.state : undefined };
  return (
    <>
      <PageHead title="Playground" />
      <Kept key={subject} subject={subject} search={search} open={open} />
    </>
  );
}

/** What a playground takes over from the one before, and how it hands over to the next one. */
interface Open {
  moved: Moved | undefined;
  onMove: (prompt: string, state: Moved) => Promise<void>;
}

interface Opened extends Open {
  draft: OpenPlayground;
}

function nameOf({ prompt, version, execution, evaluation, failing }: PlaygroundSearch): string {
  if (execution !== undefined) return t('an execution');
  if (failing) return t('failing examples of an evaluation');
  if (evaluation !== undefined) return t('an example of an evaluation');
  if (prompt === undefined) return 'a draft';
  return version === undefined ? prompt : `${prompt}@${version}`;
}

/** Restores the drafts of this playground, and offers those of others. */
function Kept({ subject, search, open }: { subject: string; search: PlaygroundSearch; open: Open }) {
  const navigate = playgroundRoute.useNavigate();
  // An address with more parameters takes precedence over an earlier draft.
  const draft = useOpenDraft<PlaygroundDraft>(
    KIND,
    subject,
    ({ search: kept }) =>
      IN_ADDRESS.every((name) => search[name] === undefined) || IN_ADDRESS.every((name) => search[name] === kept[name]),
  );
  const others = useDrafts<PlaygroundDraft>(KIND).filter(({ id }) => id !== draft.open.id);
  const { prompt, version, execution, evaluation, example, failing } = search;
  const key = draft.open.id;
  const opened = { draft, ...open };
  return (
    <>
      <OtherDrafts
        drafts={others}
        nameOf={({ value }) => nameOf(value.search)}
        onTake={(other) => {
          if (other.subject === subject) draft.take(other);
          else void navigate({ search: other.value.search });
        }}
      />
      {execution !== undefined ? (
        <FromExecution key={key} id={execution} {...opened} />
      ) : evaluation !== undefined && example !== undefined ? (
        <FromExample key={key} id={evaluation} seq={example} {...opened} />
      ) : evaluation !== undefined && failing ? (
        <FromFailing key={key} id={evaluation} {...opened} />
      ) : prompt !== undefined ? (
        <FromPrompt key={key} name={prompt} version={version} {...opened} />
      ) : (
        <Playground
          key={key}
          prompt={undefined}
          start={() => ({ pane: newPane({ draft: EMPTY_DRAFT, model: 'sandbox/echo' }) })}
          {...opened}
        />
      )}
    </>
  );
}

function FromPrompt({ name, version, ...opened }: { name: string; version: number | undefined } & Opened) {
  const query = useQuery(promptQuery(name, version));
  return (
    <QueryState query={query} what="the prompt">
      {(prompt) => (
        <Playground
          prompt={prompt}
          start={() => ({ pane: newPane({ version: version === undefined ? '' : String(version) }) })}
          {...opened}
        />
      )}
    </QueryState>
  );
}

function FromExecution({ id, ...opened }: { id: string } & Opened) {
  const query = useQuery({ ...executionQuery(id), refetchInterval: false });
  const { prompt_name: name, prompt_version: version } = query.data ?? {};
  const hasPrompt = name != null && version != null;
  const prompt = useQuery({ ...promptQuery(name ?? '', version ?? undefined), enabled: hasPrompt });
  return (
    <QueryState query={query} what="the execution">
      {(execution) => {
        const start = () => ({ pane: paneOf(execution), rows: [newRow({ variables: execution.variables })] });
        return hasPrompt ? (
          <QueryState query={prompt} what="the prompt">
            {(found) => <Playground prompt={found} start={start} {...opened} />}
          </QueryState>
        ) : (
          <Playground prompt={undefined} start={start} {...opened} />
        );
      }}
    </QueryState>
  );
}

/** Repeats one example of an evaluation. */
function FromExample({ id, seq, ...opened }: { id: string; seq: number } & Opened) {
  const run = useQuery(evaluationQuery(id));
  const result = useQuery(resultQuery(id, seq));
  const { prompt_name: name = '', prompt_version = 0 } = run.data ?? {};
  // A draft is not stored as a version, and its prompt need not exist: use the sent input instead.
  const isDraft = run.data !== undefined && prompt_version === 0;
  const sent = useQuery({ ...inputQuery(id, seq), enabled: isDraft });
  const prompt = useQuery({ ...promptQuery(name, prompt_version), enabled: prompt_version > 0 });
  return (
    <QueryState query={run} what="the evaluation">
      {({ model, parameters }) => (
        <QueryState query={result} what="the example">
          {({ variables }) =>
            isDraft ? (
              <QueryState query={sent} what="what was sent">
                {({ input }) => (
                  <Playground
                    prompt={undefined}
                    start={() => ({
                      pane: newPane({ draft: sentDraft(input ?? ''), model, parameters }),
                      rows: [newRow({ variables })],
                    })}
                    {...opened}
                  />
                )}
              </QueryState>
            ) : (
              <QueryState query={prompt} what="the prompt">
                {(found) => (
                  <Playground
                    prompt={found}
                    start={() => ({
                      pane: newPane({ version: String(found.version), model, parameters }),
                      rows: [newRow({ variables })],
                    })}
                    {...opened}
                  />
                )}
              </QueryState>
            )
          }
        </QueryState>
      )}
    </QueryState>
  );
}

/** The failing examples of an evaluation, with the evaluation's outputs, scores and evaluators. */
function FromFailing({ id, ...opened }: { id: string } & Opened) {
  const run = useQuery(evaluationQuery(id));
  const { prompt_name: name = '', prompt_version: version = 0 } = run.data ?? {};
  const prompt = useQuery({ ...promptQuery(name, version), enabled: version > 0 });
  return (
    <QueryState query={run} what="the evaluation">
      {(evaluation) => (
        <QueryState query={prompt} what="the prompt">
          {(found) => (
            <Failing evaluation={evaluation}>
              {(failing) => (
                <Playground
                  prompt={found}
                  start={() => ({
                    pane: newPane({
                      version: String(found.version),
                      model: evaluation.model,
                      parameters: evaluation.parameters,
                    }),
                    rows: failing.map((result) => rowOfResult(id, result)),
                    evaluators: triedOf(evaluation),
                    earlier: failing.map(cellOfResult),
                  })}
                  {...opened}
                />
              )}
            </Failing>
          )}
        </QueryState>
      )}
    </QueryState>
  );
}

function Failing({ evaluation, children }: { evaluation: Evaluation; children: (failing: Result[]) => ReactNode }) {
  return (
    <QueryState query={useQuery(failingQuery(evaluation))} what="the failing examples">
      {(failing) =>
        failing.length === 0 ? <EmptyState title="No example of this evaluation fails" /> : children(failing)
      }
    </QueryState>
  );
}
