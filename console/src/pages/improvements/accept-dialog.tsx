import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pathOf, post } from '../../api.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/fields.tsx';
import { showToast } from '../../components/toast.tsx';
import { labelsQuery, promptLabelsQuery, promptQuery, replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { stepsInWords } from '../releases/in-words.ts';
import { readSteps, usualSteps } from '../releases/steps-form-state.ts';
import { improvementQuery, isUnfinished } from './queries.ts';
import type { AcceptImprovement, Candidate, Improvement } from './types.ts';

const isProvedBy = ({ verdict }: Improvement, number: number) =>
  verdict?.result === 'improvement' && verdict.candidate === number;

/** Whether a candidate can be accepted, by this session. */
export function useMayAccept(improvement: Improvement, candidate: Pick<Candidate, 'number' | 'content'>): boolean {
  const mayWrite = useMay('write');
  const mayPublish = useMay('publish');
  const isReady = !isUnfinished(improvement) && improvement.accepted === null;
  return (mayWrite || mayPublish) && isReady && candidate.number > 0 && candidate.content !== null;
}

/** Makes a version of a candidate, and starts a release of it if wanted. */
export function AcceptDialog({
  improvement,
  candidate: { number },
  onClose,
}: {
  improvement: Improvement;
  candidate: Pick<Candidate, 'number'>;
  onClose: () => void;
}) {
  const { id, prompt_name: name, prompt_version: base } = improvement;
  const client = useQueryClient();
  const latest = useQuery(promptQuery(name)).data;
  const given = useQuery(promptLabelsQuery(name)).data ?? [];
  const policies = useQuery(labelsQuery).data?.data ?? [];
  const [then, setThen] = useState<'version' | 'release'>('version');
  const [label, setLabel] = useState('production');
  const [reason, setReason] = useState('');
  const [isUnproved, setUnproved] = useState(false);
  const [isChanged, setChanged] = useState(false);
  const [usual] = useState(() => readSteps(usualSteps(false)));
  const isProved = isProvedBy(improvement, number);
  const hasNewer = latest !== undefined && latest.version > base;
  const policy = policies.find((each) => each.label === label.trim())?.release ?? null;
  const submit = async () => {
    const body: AcceptImprovement = {
      candidate: number,
      ...(!isProved && { unproved: isUnproved }),
      ...(hasNewer && { base_changed: isChanged }),
      ...(then === 'release' && {
        release: {
          label: label.trim(),
          ...(policy === null && { steps: usual }),
          ...(reason.trim() !== '' && { reason: reason.trim() }),
        },
      }),
    };
    const changed = await post<Improvement>(`${pathOf('improvements', id)}/accept`, body);
    replaceData(client, improvementQuery(id).queryKey, changed);
    await Promise.all(['prompts', 'releases'].map((resource) => client.invalidateQueries({ queryKey: [resource] })));
    showToast(
      then === 'release'
        ? t(`Version ${changed.accepted?.version ?? ''} was created, and its release has started.`)
        : t(`Version ${changed.accepted?.version ?? ''} was created.`),
    );
  };
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={t(`Accept candidate ${number}`)}
      description={
        latest && t(`Creates version ${latest.version + 1} of ${name}. Its message is the verdict of the search.`)
      }
      submitLabel={then === 'release' ? t('Accept and start the release') : t('Create the version')}
      onSubmit={submit}
    >
      {!isProved && (
        <div className="notice warn">
          <p>No verdict has proved that this candidate is better.</p>
          <CheckField label="Accept it nevertheless" required checked={isUnproved} onChange={setUnproved} />
        </div>
      )}
      {hasNewer && (
        <div className="notice warn">
          <p>
            The prompt has versions after {base}, from which the search started. The new version is as it was measured,
            without their changes.
          </p>
          <CheckField label="Accept it without these changes" required checked={isChanged} onChange={setChanged} />
        </div>
      )}
      <SelectField
        label="And then"
        value={then}
        onChange={(chosen) => setThen(chosen === 'release' ? 'release' : 'version')}
        options={[
          { value: 'version', label: 'Nothing: only create the version' },
          { value: 'release', label: 'Start a release of it' },
        ]}
      />
      {then === 'version' ? (
        <p className="muted">
          {given.length === 0
            ? 'This prompt has no label: all callers get the new version immediately. Give them a label first, or start a release.'
            : 'Callers with a label keep their version. Callers without one get the new version immediately.'}
        </p>
      ) : (
        <>
          <ComboField
            label="Label"
            path="release.label"
            value={label}
            onChange={setLabel}
            options={given.map((each) => each.label)}
            required
            spellCheck={false}
            warning={
              given.every((each) => each.label !== label.trim()) && (
                <p>This prompt does not have this label yet: set it on a version first.</p>
              )
            }
          />
          <p className="muted">
            {policy === null ? 'The usual steps: ' : 'The steps of this label: '}
            {stepsInWords(policy?.steps ?? usual)}. For other steps, only create the version, and choose “Start a
            release” afterwards.
          </p>
          <TextField label="Reason" maxLength={1_000} value={reason} onChange={setReason} placeholder="the verdict" />
        </>
      )}
    </FormDialog>
  );
}
