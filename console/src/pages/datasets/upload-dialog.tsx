import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { FormDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { showToast } from '../../components/toast.tsx';
import { formatCount, formatNumber } from '../../format.ts';
import { mediaTypeOf, uploadDataset } from './examples.ts';

/** Letters, digits, dots, dashes and underscores: what a name may hold. */
const nameOf = (file: string) => file.replace(/\.[^.]+$/, '').replace(/[^\w.-]+/g, '-');

/** Uploads a file that was chosen. */
export function UploadDialog({
  file,
  dataset,
  onClose,
}: {
  file: File;
  /** The dataset that gets a new version; undefined: the name is asked for. */
  dataset: string | undefined;
  onClose: () => void;
}) {
  const [name, setName] = useState(dataset ?? nameOf(file.name));
  const [description, setDescription] = useState('');
  const [progress, setProgress] = useState<number>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const type = mediaTypeOf(file.name);
  const upload = async () => {
    if (type === undefined) return;
    setProgress(0);
    try {
      const saved = await uploadDataset(
        { name: name.trim(), description: description.trim(), file, type },
        setProgress,
      );
      await client.invalidateQueries({ queryKey: ['datasets'] });
      showToast(`${saved.name}: version ${saved.version} has ${formatNumber(saved.examples_total)} examples.`);
      await navigate({ to: '/datasets/$', params: { _splat: saved.name } });
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title={dataset === undefined ? 'Upload a dataset' : `Upload a new version of ${dataset}`}
      description={`${file.name}, ${formatCount(file.size)}B`}
      submitLabel="Upload"
      canSubmit={type !== undefined}
      onSubmit={upload}
    >
      {type === undefined && <p className="notice bad">Choose a file of JSON Lines (.jsonl, .ndjson) or CSV (.csv).</p>}
      {dataset === undefined && (
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          required
          spellCheck={false}
          hint="A dataset of this name gets a new version."
        />
      )}
      <TextField
        label="Description"
        value={description}
        onChange={setDescription}
        hint="Leave empty to keep the current one."
      />
      {progress !== undefined && (
        <div role="status">
          <progress className="upload-progress" max={1} value={progress} aria-label="Sent" />
          <p className="muted">{progress < 1 ? `${Math.floor(progress * 100)} % sent` : 'Checking the examples…'}</p>
        </div>
      )}
    </FormDialog>
  );
}
