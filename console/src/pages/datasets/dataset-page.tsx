import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, remove } from '../../api.ts';
import type { Dataset } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { TabLinks } from '../../components/tabs.tsx';
import { showToast } from '../../components/toast.tsx';
import { formatTime, plural } from '../../format.ts';
import { isNotFound } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { DropZone } from './drop-zone.tsx';
import { datasetQuery } from './examples.ts';
import { ExamplesTab } from './examples-tab.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { datasetRoute } from './routes.ts';
import { VersionsTab } from './versions-tab.tsx';

export function DatasetPage() {
  const { _splat: name = '' } = datasetRoute.useParams();
  const { tab, version } = datasetRoute.useSearch();
  const latest = useQuery(datasetQuery(name));
  const shown = useQuery(datasetQuery(name, version));
  const mayWrite = useMay('write');
  const [file, setFile] = useState<File>();
  const crumbs = (
    <ol className="crumbs">
      <li>
        <Link to="/datasets">Datasets</Link>
      </li>
    </ol>
  );
  if (isNotFound(latest.error) || isNotFound(shown.error))
    return (
      <>
        <PageHead title={name} crumbs={crumbs} />
        <EmptyState title="There is no such dataset or version">
          <Link to="/datasets" className="button">
            Back to datasets
          </Link>
        </EmptyState>
      </>
    );
  const params = { _splat: name };
  return (
    <>
      <PageHead
        title={name}
        crumbs={crumbs}
        note={shown.data && <Summary dataset={shown.data} />}
        actions={shown.data && <Actions dataset={shown.data} />}
      />
      <TabLinks
        label="Parts of this page"
        current={tab ?? 'examples'}
        tabs={[
          { key: 'examples', label: 'Examples', link: { to: '/datasets/$', params, search: {} } },
          { key: 'versions', label: 'Versions', link: { to: '/datasets/$', params, search: { tab: 'versions' } } },
        ]}
      />
      <QueryState query={latest} what="the dataset">
        {(newest) =>
          tab === 'versions' ? (
            <VersionsTab latest={newest} />
          ) : (
            <QueryState query={shown} what="the dataset">
              {(dataset) => <ExamplesTab key={dataset.version} dataset={dataset} latest={newest} />}
            </QueryState>
          )
        }
      </QueryState>
      {mayWrite && tab === undefined && (
        <DropZone label="Drop a file with the next version here, or choose one" onFile={setFile} />
      )}
      {file && <ImportDialog file={file} dataset={name} onClose={() => setFile(undefined)} />}
    </>
  );
}

function Summary({ dataset }: { dataset: Dataset }) {
  return (
    <>
      {dataset.description && <p className="muted">{dataset.description}</p>}
      <p className="muted">
        version {dataset.version}, {plural(dataset.examples_total, 'example', 'examples')},{' '}
        {formatTime(dataset.version_created_at)}
      </p>
    </>
  );
}

function Actions({ dataset: { name, version } }: { dataset: Dataset }) {
  const mayWrite = useMay('write');
  const mayExecute = useMay('execute');
  const client = useQueryClient();
  const navigate = datasetRoute.useNavigate();
  const [deleting, setDeleting] = useState(false);
  const [pasting, setPasting] = useState(false);
  const exported = (format: string) => `/v1${pathOf('datasets', name)}/export?version=${version}&format=${format}`;
  return (
    <>
      {mayExecute && (
        <Link to="/evaluations/new" search={{ dataset: name }} className="button">
          Evaluate…
        </Link>
      )}
      {mayWrite && (
        <button type="button" className="button" onClick={() => setPasting(true)}>
          Paste examples…
        </button>
      )}
      <Link to="/evaluations" search={{ dataset: name }} className="button">
        Evaluations
      </Link>
      <a className="button" href={exported('jsonl')} download>
        JSON Lines
      </a>
      <a className="button" href={exported('csv')} download>
        CSV
      </a>
      {mayWrite && (
        <button type="button" className="button danger" onClick={() => setDeleting(true)}>
          Delete…
        </button>
      )}
      {pasting && <ImportDialog dataset={name} onClose={() => setPasting(false)} />}
      <FormDialog
        open={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this dataset?"
        description="This deletes all its versions. Results of evaluations stay."
        submitLabel="Delete"
        danger
        onSubmit={async () => {
          await remove(pathOf('datasets', name));
          await navigate({ to: '/datasets' });
          client.removeQueries({ queryKey: ['datasets', 'one', name] });
          await client.invalidateQueries({ queryKey: ['datasets'] });
          showToast('The dataset was deleted.');
        }}
      >
        {null}
      </FormDialog>
    </>
  );
}
