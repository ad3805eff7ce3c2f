import { useQuery } from '@tanstack/react-query';
import { PageHead } from '../../components/page.tsx';
import { QueryState } from '../../components/states.tsx';
import { OtherDrafts } from '../../drafts/draft-notices.tsx';
import { useDrafts, useOpenDraft } from '../../drafts/use-drafts.ts';
import { executionQuery, promptQuery } from '../../queries.ts';
import { t } from '../../strings.ts';
import { evaluationQuery, inputQuery, resultQuery } from '../evaluations/queries.ts';
import { EMPTY_DRAFT, newPane, type PlaygroundDraft, paneOf, sentDraft } from './pane-state.ts';
import { type OpenPlayground, Playground } from './playground.tsx';
import { type PlaygroundSearch, playgroundRoute, startOf } from './routes.ts';

const KIND = 'playground';
/** Address parameters of panes and rows. */
const IN_ADDRESS = ['panes', 'dataset', 'examples'] as const;

/** Runs anything without saving it: starts from a prompt, an execution, an example of an evaluation, or nothing. */
export function PlaygroundPage() {
  const search = playgroundRoute.useSearch();
  // JSON drops undefined parameters.
  const subject = JSON.stringify(startOf(search));
  return (
    <>
      <PageHead title="Playground" />
      <Kept key={subject} subject={subject} search={search} />
    </>
  );
}

function nameOf({ prompt, version, execution, evaluation }: PlaygroundSearch): string {
  if (execution !== undefined) return t('an execution');
  if (evaluation !== undefined) return t('an example of an evaluation');
  if (prompt === undefined) return 'a draft';
  return version === undefined ? prompt : `${prompt}@${version}`;
}

/** Restores the drafts of this playground, and offers those of others. */
function Kept({ subject, search }: { subject: string; search: PlaygroundSearch }) {
  const navigate = playgroundRoute.useNavigate();
  // An address with more parameters takes precedence over an earlier draft.
  const draft = useOpenDraft<PlaygroundDraft>(
    KIND,
    subject,
    ({ search: kept }) =>
      IN_ADDRESS.every((name) => search[name] === undefined) || IN_ADDRESS.every((name) => search[name] === kept[name]),
  );
  const others = useDrafts<PlaygroundDraft>(KIND).filter(({ id }) => id !== draft.open.id);
  const { prompt, version, execution, evaluation, example } = search;
  const key = draft.open.id;
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
        <FromExecution key={key} id={execution} draft={draft} />
      ) : evaluation !== undefined && example !== undefined ? (
        <FromExample key={key} id={evaluation} seq={example} draft={draft} />
      ) : prompt !== undefined ? (
        <FromPrompt key={key} name={prompt} version={version} draft={draft} />
      ) : (
        <Playground
          key={key}
          prompt={undefined}
          start={() => ({ pane: newPane({ draft: EMPTY_DRAFT, model: 'sandbox/echo' }), variables: {} })}
          draft={draft}
        />
      )}
    </>
  );
}

function FromPrompt({ name, version, draft }: { name: string; version: number | undefined; draft: OpenPlayground }) {
  const query = useQuery(promptQuery(name, version));
  return (
    <QueryState query={query} what="the prompt">
      {(prompt) => (
        <Playground
          prompt={prompt}
          start={() => ({ pane: newPane({ version: version === undefined ? '' : String(version) }), variables: {} })}
          draft={draft}
        />
      )}
    </QueryState>
  );
}

function FromExecution({ id, draft }: { id: string; draft: OpenPlayground }) {
  const query = useQuery({ ...executionQuery(id), refetchInterval: false });
  const { prompt_name: name, prompt_version: version } = query.data ?? {};
  const hasPrompt = name != null && version != null;
  const prompt = useQuery({ ...promptQuery(name ?? '', version ?? undefined), enabled: hasPrompt });
  return (
    <QueryState query={query} what="the execution">
      {(execution) => {
        const start = () => ({ pane: paneOf(execution), variables: execution.variables });
        return hasPrompt ? (
          <QueryState query={prompt} what="the prompt">
            {(found) => <Playground prompt={found} start={start} draft={draft} />}
          </QueryState>
        ) : (
          <Playground prompt={undefined} start={start} draft={draft} />
        );
      }}
    </QueryState>
  );
}

/** Repeats one example of an evaluation. */
function FromExample({ id, seq, draft }: { id: string; seq: number; draft: OpenPlayground }) {
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
                    start={() => ({ pane: newPane({ draft: sentDraft(input ?? ''), model, parameters }), variables })}
                    draft={draft}
                  />
                )}
              </QueryState>
            ) : (
              <QueryState query={prompt} what="the prompt">
                {(found) => (
                  <Playground
                    prompt={found}
                    start={() => ({ pane: newPane({ version: String(found.version), model, parameters }), variables })}
                    draft={draft}
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
