import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { get, type Page, pathOf, post } from '../../api.ts';
import type { Dataset } from '../../api-types.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { showToast } from '../../components/toast.tsx';
import { plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { additionInWords } from '../datasets/addition.ts';

const MODES = [
  { value: 'add', label: 'Add to its examples' },
  { value: 'replace', label: 'Replace its examples' },
];
const EXPECTED = [
  { value: 'none', label: 'Leave empty' },
  { value: 'output', label: 'The output of the execution' },
];

/** @param count number of added examples; undefined if unknown */
function consequence(dataset: Dataset, mode: string, count: number | undefined): string {
  const { examples_total: has, version } = dataset;
  if (mode === 'replace')
    return t(
      `Version ${version + 1} has only these. Version ${version} keeps its ${plural(has, 'example', 'examples')}.`,
    );
  if (count === undefined) return t(`It has ${plural(has, 'example', 'examples')}, which stay. These are added.`);
  return additionInWords(dataset, count);
}

/**
 * Creates a dataset from executions: matching ones, such as those with a bad score, or selected ones.
 * @param selection in API format: filters, or `execution_ids`; @param description of these executions
 */
export function MakeDatasetDialog({
  selection,
  description,
  count,
  onClose,
}: {
  selection: Record<string, unknown>;
  description: string;
  /** Their number, if known. */
  count?: number;
  onClose: () => void;
}) {
  const { data } = useQuery({
    queryKey: ['datasets', 'names'],
    queryFn: ({ signal }) => get<Page<Dataset>>('/datasets', { limit: 1000 }, signal),
  });
  const [name, setName] = useState('');
  const [expected, setExpected] = useState('none');
  const [mode, setMode] = useState('add');
  const client = useQueryClient();
  const navigate = useNavigate();
  const datasets = data?.data ?? [];
  const existing = datasets.find((dataset) => dataset.name === name.trim());
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Add to a dataset"
      description={description}
      submitLabel={existing ? (mode === 'add' ? 'Add' : 'Replace') : 'Create'}
      onSubmit={async () => {
        const path = `${pathOf('datasets', name.trim())}/from-executions`;
        const made = await post<Dataset>(path, { ...selection, expected, ...(existing && { mode }) });
        await client.invalidateQueries({ queryKey: ['datasets'] });
        showToast(`${made.name}: version ${made.version} has ${plural(made.examples_total, 'example', 'examples')}.`);
        await navigate({ to: '/datasets/$', params: { _splat: made.name } });
      }}
    >
      <ComboField
        label="Dataset"
        value={name}
        onChange={setName}
        options={datasets.map((dataset) => dataset.name)}
        required
        spellCheck={false}
        hint={existing && consequence(existing, mode, count)}
      />
      {existing && <SelectField label="Existing examples" value={mode} onChange={setMode} options={MODES} />}
      <SelectField label="Expected" value={expected} onChange={setExpected} options={EXPECTED} />
    </FormDialog>
  );
}
