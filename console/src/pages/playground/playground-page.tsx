import { useQuery } from '@tanstack/react-query';
import { PageHead } from '../../components/page.tsx';
import { QueryState } from '../../components/states.tsx';
import { executionQuery, promptQuery } from '../../queries.ts';
import { EMPTY_DRAFT, newPane, paneOf } from './pane-state.ts';
import { Playground } from './playground.tsx';
import { playgroundRoute } from './routes.ts';

/** Where anything can be run without being saved: begins with a prompt, an execution, or nothing. */
export function PlaygroundPage() {
  const { prompt, version, execution } = playgroundRoute.useSearch();
  return (
    <>
      <PageHead title="Playground" />
      {execution !== undefined ? (
        <FromExecution key={execution} id={execution} />
      ) : prompt !== undefined ? (
        <FromPrompt key={`${prompt}@${version}`} name={prompt} version={version} />
      ) : (
        <Playground
          key="new"
          prompt={undefined}
          firstPane={() => newPane({ draft: EMPTY_DRAFT, model: 'sandbox/echo' })}
          variables={{}}
        />
      )}
    </>
  );
}

function FromPrompt({ name, version }: { name: string; version: number | undefined }) {
  const query = useQuery(promptQuery(name, version));
  return (
    <QueryState query={query} what="the prompt">
      {(prompt) => (
        <Playground
          prompt={prompt}
          firstPane={() => newPane({ version: version === undefined ? '' : String(version) })}
          variables={{}}
        />
      )}
    </QueryState>
  );
}

function FromExecution({ id }: { id: string }) {
  const query = useQuery({ ...executionQuery(id), refetchInterval: false });
  const { prompt_name: name, prompt_version: version } = query.data ?? {};
  const hasPrompt = name != null && version != null;
  const prompt = useQuery({ ...promptQuery(name ?? '', version ?? undefined), enabled: hasPrompt });
  return (
    <QueryState query={query} what="the execution">
      {(execution) =>
        hasPrompt ? (
          <QueryState query={prompt} what="the prompt">
            {(found) => (
              <Playground prompt={found} firstPane={() => paneOf(execution)} variables={execution.variables} />
            )}
          </QueryState>
        ) : (
          <Playground prompt={undefined} firstPane={() => paneOf(execution)} variables={execution.variables} />
        )
      }
    </QueryState>
  );
}
