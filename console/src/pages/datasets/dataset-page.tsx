import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf } from '../../api.ts';
import type { Dataset } from '../../api-types.ts';
import { DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { QueryState } from '../../components/states.tsx';
import { TabLinks } from '../../components/tabs.tsx';
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
  const params = { _splat: name };
  return (
    <RecordPage
      title={name}
      list={{ to: '/datasets', label: 'Datasets', back: 'Back to datasets' }}
      note={shown.data && <Summary dataset={shown.data} />}
      actions={shown.data && <Actions dataset={shown.data} />}
      missing="There is no such dataset or version"
      tabs={
        <TabLinks
          label="Parts of this page"
          current={tab ?? 'examples'}
          tabs={[
            { key: 'examples', label: 'Examples', link: { to: '/datasets/$', params, search: {} } },
            { key: 'versions', label: 'Versions', link: { to: '/datasets/$', params, search: { tab: 'versions' } } },
          ]}
        />
      }
      query={isNotFound(shown.error) ? shown : latest}
      what="the dataset"
    >
      {(newest) =>
        tab === 'versions' ? (
          <VersionsTab latest={newest} />
        ) : (
          <>
            <QueryState query={shown} what="the dataset">
              {(dataset) => <ExamplesTab key={dataset.version} dataset={dataset} latest={newest} />}
            </QueryState>
            {mayWrite && <DropZone label="Drop a file with the next version here, or choose one" onFile={setFile} />}
            {file && <ImportDialog file={file} dataset={name} onClose={() => setFile(undefined)} />}
          </>
        )
      }
    </RecordPage>
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
  const navigate = datasetRoute.useNavigate();
  const exported = (format: string) => `/v1${pathOf('datasets', name)}/export?version=${version}&format=${format}`;
  return (
    <>
      {mayExecute && (
        <Link to="/evaluations/new" search={{ dataset: name }} className="button">
          Evaluate…
        </Link>
      )}
      {mayWrite && (
        <DialogButton label="Paste examples…" dialog={(close) => <ImportDialog dataset={name} onClose={close} />} />
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
        <DeleteButton
          resource="datasets"
          id={name}
          title="Delete this dataset?"
          description="This deletes all its versions. Results of evaluations stay."
          done="The dataset was deleted."
          onDeleted={() => navigate({ to: '/datasets' })}
        />
      )}
    </>
  );
}
