import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { pathOf, post, remove } from '../../api.ts';
import type { Prompt } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Loading } from '../../components/states.tsx';
import { TabLinks } from '../../components/tabs.tsx';
import { showError, showToast, showUndo } from '../../components/toast.tsx';
import { includedByQuery, promptLabelsQuery, promptQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { ExecutionFailures } from '../executions/execution-failures.tsx';
import { yesterday } from '../home/queries.ts';
import { EditTab } from './edit-tab.tsx';
import { IncludedBy } from './included-by.tsx';
import { LabelChips } from './label-chips.tsx';
import { RollBack } from './roll-back.tsx';
import { promptRoute } from './routes.ts';
import { UseInCode } from './use-in-code.tsx';

// Charts and comparisons are loaded on demand.
const RunsTab = lazy(() => import('./runs-tab.tsx').then(({ RunsTab: tab }) => ({ default: tab })));
const VersionsTab = lazy(() => import('./versions-tab.tsx').then(({ VersionsTab: tab }) => ({ default: tab })));

export function PromptPage() {
  const { _splat: name = '' } = promptRoute.useParams();
  const { tab = 'edit', version } = promptRoute.useSearch();
  const loaded = useQuery(promptQuery(name));
  // The heading has them, too: all at once, so that nothing below it is pushed down.
  const isPending = [useQuery(promptLabelsQuery(name)), useQuery(includedByQuery(name))].some((each) => each.isPending);
  const latest = isPending ? { ...loaded, data: undefined } : loaded;
  const since = yesterday();
  const link = (key: 'versions' | 'runs' | undefined) => ({
    to: '/prompts/$' as const,
    params: { _splat: name },
    search: key === undefined ? {} : { tab: key },
  });
  return (
    <RecordPage
      title={name}
      list={{ to: '/prompts', label: 'Prompts', back: 'Back to prompts' }}
      crumbs={foldersOf(name)}
      note={latest.data && <Summary prompt={latest.data} />}
      actions={latest.data && <Actions prompt={latest.data} />}
      missing="There is no such prompt"
      tabs={
        <>
          <TabLinks
            label="Parts of this page"
            current={tab}
            tabs={[
              { key: 'edit', label: 'Edit', link: link(undefined) },
              { key: 'versions', label: 'Versions and labels', link: link('versions') },
              { key: 'runs', label: 'Runs and scores', link: link('runs') },
            ]}
          />
          <ExecutionFailures
            key={name}
            filter={{ prompt_name: name, since }}
            search={{ prompt_name: name, since: since.slice(0, 10) }}
            title={(failed, all) => t(`${failed} of ${all} executions of this prompt failed in the last 24 hours`)}
          />
        </>
      }
      query={latest}
      what="the prompt"
    >
      {(prompt) => (
        <Suspense fallback={<Loading />}>
          {tab === 'versions' ? (
            <VersionsTab latest={prompt} />
          ) : tab === 'runs' ? (
            <RunsTab name={name} />
          ) : (
            <EditTab key={`${name}@${version ?? ''}`} latest={prompt} version={version} />
          )}
        </Suspense>
      )}
    </RecordPage>
  );
}

function foldersOf(name: string) {
  const segments = name.split('/').slice(0, -1);
  return segments.map((segment, index) => {
    const group = segments.slice(0, index + 1).join('/');
    return (
      <Link key={group} to="/prompts" search={{ group }}>
        {segment}
      </Link>
    );
  });
}

function Summary({ prompt }: { prompt: Prompt }) {
  return (
    <>
      {prompt.description && <p className="muted">{prompt.description}</p>}
      <div className="row prompt-summary">
        <span className="muted">latest version {prompt.version}</span>
        <LabelChips name={prompt.name} />
        {prompt.archived ? <span className="badge warn">archived</span> : <RollBack name={prompt.name} />}
      </div>
      <IncludedBy name={prompt.name} lead="included by" />
    </>
  );
}

function Actions({ prompt }: { prompt: Prompt }) {
  const { name, archived } = prompt;
  const client = useQueryClient();
  const mayWrite = useMay('write');
  const mayExecute = useMay('execute');
  const [archiving, setArchiving] = useState(false);
  const [showsCode, setShowsCode] = useState(false);
  const refresh = () => client.invalidateQueries({ queryKey: ['prompts'] });
  const labels = useQuery(promptLabelsQuery(name)).data;
  const includers = useQuery(includedByQuery(name)).data?.data;
  // Archiving breaks callers of a label and including prompts immediately: ask for confirmation.
  const isInUse = labels?.length !== 0 || includers?.length !== 0;
  const restore = async () => {
    await post(`${pathOf('prompts', name)}/restore`);
    await refresh();
  };
  const archive = async () => {
    await remove(pathOf('prompts', name));
    await refresh();
    showUndo('The prompt was archived.', restore);
  };
  return (
    <>
      {!archived && (
        <Link to="/playground" search={{ prompt: name }} className="button">
          Try in the playground
        </Link>
      )}
      {!archived && mayExecute && (
        <Link to="/evaluations/new" search={{ prompt: name }} className="button">
          Evaluate…
        </Link>
      )}
      {!archived && mayExecute && (
        <Link to="/improvements/new" search={{ prompt: name }} className="button">
          Improve this prompt…
        </Link>
      )}
      {!archived && <Button onClick={() => setShowsCode(true)}>Use in code</Button>}
      <Link to="/releases" search={{ prompt_name: name }} className="button">
        Releases
      </Link>
      {mayWrite && archived && (
        <Button onClick={() => void restore().then(() => showToast('The prompt was restored.'), showError)}>
          Restore
        </Button>
      )}
      {mayWrite && !archived && (
        <Button onClick={() => (isInUse ? setArchiving(true) : void archive().catch(showError))}>
          {isInUse ? 'Archive…' : 'Archive'}
        </Button>
      )}
      <UseInCode prompt={prompt} open={showsCode} onClose={() => setShowsCode(false)} />
      <FormDialog
        open={archiving}
        onClose={() => setArchiving(false)}
        title="Archive this prompt?"
        description="It can be read and restored, but not run or changed. Programs that run it will fail."
        submitLabel="Archive"
        danger
        onSubmit={archive}
      >
        {labels && labels.length > 0 && (
          <p>Callers of {labels.map(({ label }) => `“${label}”`).join(', ')} will fail until it is restored.</p>
        )}
        <IncludedBy
          name={name}
          lead="These prompts include it and will fail, too:"
          none="No other prompt includes it."
        />
      </FormDialog>
    </>
  );
}
