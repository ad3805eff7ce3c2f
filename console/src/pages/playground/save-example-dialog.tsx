import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { get, type Page } from '../../api.ts';
import type { Dataset } from '../../api-types.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { TextArea } from '../../components/fields.tsx';
import { showToast } from '../../components/toast.tsx';
import { plural } from '../../format.ts';
import { additionInWords } from '../datasets/addition.ts';
import { addExample } from '../datasets/examples.ts';

/** Adds variables with the actual or corrected output to a dataset. */
export function SaveExampleDialog({
  id,
  variables,
  expected: suggested,
  onClose,
}: {
  /** The id of their execution, if any. */
  id?: string;
  variables: Record<string, unknown>;
  expected: string;
  onClose: () => void;
}) {
  const { data } = useQuery({
    queryKey: ['datasets', 'names'],
    queryFn: ({ signal }) => get<Page<Dataset>>('/datasets', { limit: 1000 }, signal),
  });
  const [name, setName] = useState('');
  const [expected, setExpected] = useState(suggested);
  const client = useQueryClient();
  const datasets = data?.data ?? [];
  const existing = datasets.find((dataset) => dataset.name === name.trim());
  const save = async () => {
    const saved = await addExample(name.trim(), { id, variables, ...(expected !== '' && { expected }) });
    await client.invalidateQueries({ queryKey: ['datasets'] });
    showToast(
      `The example is in ${saved.name}, version ${saved.version}, which has ${plural(saved.examples_total, 'example', 'examples')}.`,
    );
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Save as an example"
      description={
        existing ? additionInWords(existing, 1) : 'The name of a dataset. A new one is created if it does not exist.'
      }
      submitLabel="Save"
      onSubmit={save}
    >
      <ComboField
        label="Dataset"
        value={name}
        onChange={setName}
        options={datasets.map((dataset) => dataset.name)}
        required
        spellCheck={false}
      />
      <TextArea
        label="Expected output"
        rows={6}
        value={expected}
        onChange={setExpected}
        hint="The correct output: change it if the model was wrong."
      />
    </FormDialog>
  );
}
