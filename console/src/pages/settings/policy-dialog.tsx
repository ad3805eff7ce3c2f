import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pathOf, put } from '../../api.ts';
import type { LabelRecord } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField } from '../../components/fields.tsx';
import { Loading } from '../../components/states.tsx';
import { showUndo } from '../../components/toast.tsx';
import { datasetNamesQuery } from '../evaluations/queries.ts';
import { StepsFields } from '../releases/steps-form.tsx';
import { formOf, readSteps, type StepsForm, usualSteps } from '../releases/steps-form-state.ts';

/** The steps for moving a label, on every prompt. */
export function PolicyDialog({ record, onClose }: { record: LabelRecord; onClose: () => void }) {
  const { label, release } = record;
  const client = useQueryClient();
  const datasets = useQuery(datasetNamesQuery).data?.data;
  const [edited, setEdited] = useState<StepsForm | undefined>(() => (release ? formOf(release.steps) : undefined));
  const [usual] = useState(() => ({ with: usualSteps(true), without: usualSteps(false) }));
  const [required, setRequired] = useState(release?.required ?? false);
  const [has, setHas] = useState(true);
  const steps = edited ?? (datasets && (datasets.length > 0 ? usual.with : usual.without));
  const store = async (policy: LabelRecord['release']) => {
    await put<LabelRecord>(pathOf('labels', label), { release: policy });
    await client.invalidateQueries({ queryKey: ['labels'] });
  };
  const save = async () => {
    const policy = has && steps ? { steps: readSteps(steps), required } : null;
    await store(policy);
    showUndo(
      policy === null ? `“${label}” no longer has release steps.` : `The release steps of “${label}” are saved.`,
      () => store(release),
    );
  };
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={`Release steps of ${label}`}
      description="The default steps of releases to this label, on every prompt."
      submitLabel="Save"
      canSubmit={!has || steps !== undefined}
      onSubmit={save}
    >
      {release && <CheckField label="This label has its own steps" checked={has} onChange={setHas} />}
      {has && (
        <>
          <CheckField label="It moves only by releases with these steps" checked={required} onChange={setRequired} />
          {steps ? <StepsFields value={steps} onChange={setEdited} /> : <Loading what="the steps" />}
        </>
      )}
    </FormDialog>
  );
}
