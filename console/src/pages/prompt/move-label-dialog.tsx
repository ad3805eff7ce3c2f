import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, put, remove } from '../../api.ts';
import type { Evaluation, Prompt } from '../../api-types.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { formatAgo, formatScore } from '../../format.ts';
import { labelsQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';

/** Points a label at a version, with the newest evaluations of the version that has it and the one that gets it in view. */
export function MoveLabelDialog({
  version,
  versions,
  scores,
  onClose,
}: {
  version: Prompt;
  versions: readonly Prompt[];
  scores: Map<number, Evaluation> | undefined;
  onClose: () => void;
}) {
  const { name } = version;
  const client = useQueryClient();
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const mayPublish = useMay('publish');
  const [label, setLabel] = useState('production');
  const current = versions.find((each) => each.labels.includes(label));
  const isProtected = labels.some((each) => each.label === label && each.protected);
  const isAdmin = useMay('admin');
  const [reason, setReason] = useState('');
  // A prompt that does not have the label yet is given it without one.
  const needsRelease =
    current !== undefined && labels.some((each) => each.label === label.trim() && each.release?.required);
  const isHere = current?.version === version.version;
  const used = [...new Set(['production', 'staging', ...labels.map((each) => each.label)])];
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['prompts'] }),
      client.invalidateQueries({ queryKey: ['labels'] }),
    ]);
  const move = async () => {
    await put(`${pathOf('prompts', name)}/labels${pathOf(label.trim())}`, {
      version: version.version,
      ...(needsRelease && { override: true, reason: reason.trim() }),
    });
    await refresh();
    showToast(`“${label}” is at version ${version.version} now.`);
  };
  const takeAway = (gone: string) =>
    remove(`${pathOf('prompts', name)}/labels${pathOf(gone)}`).then(async () => {
      await refresh();
      showToast(`“${gone}” was removed.`);
      onClose();
    }, showError);
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Label version ${version.version}`}
      description="Programs that ask for the label get this version from their next run on."
      submitLabel={current && !isHere ? `Move from version ${current.version}` : 'Set the label'}
      canSubmit={!isHere && label.trim() !== '' && (mayPublish || !isProtected) && (isAdmin || !needsRelease)}
      onSubmit={move}
    >
      <ComboField label="Label" value={label} onChange={setLabel} options={used} required spellCheck={false} />
      {isHere && <p className="notice">Version {version.version} has this label.</p>}
      {isProtected && !mayPublish && (
        <p className="notice warn">This label is protected: the key of this session lacks the scope “publish”.</p>
      )}
      {isProtected && mayPublish && (
        <p className="notice">This label is protected: moving it is noted in the audit log.</p>
      )}
      {needsRelease && !isHere && (
        <>
          <p className="notice warn">
            <span>
              This label moves by{' '}
              <Link to="/releases/new" search={{ prompt: name, label: label.trim(), version: version.version }}>
                a release
              </Link>
              .{isAdmin && ' You may move it nevertheless: the audit log keeps the reason.'}
            </span>
          </p>
          {isAdmin && <TextField label="Reason" value={reason} onChange={setReason} maxLength={1_000} required />}
        </>
      )}
      <div className="grid-2">
        {current && !isHere && (
          <Score title={`Now at version ${current.version}`} evaluation={scores?.get(current.version)} />
        )}
        <Score title={`Version ${version.version}`} evaluation={scores?.get(version.version)} />
      </div>
      {version.labels.length > 0 && (
        <p className="row">
          {version.labels.map((each) => (
            <button key={each} type="button" className="button small" onClick={() => void takeAway(each)}>
              Remove “{each}”
            </button>
          ))}
        </p>
      )}
    </FormDialog>
  );
}

function Score({ title, evaluation }: { title: string; evaluation: Evaluation | undefined }) {
  return (
    <section className="card" aria-label={title}>
      <h3>{title}</h3>
      {evaluation === undefined ? (
        <p className="muted">Not evaluated.</p>
      ) : (
        <dl>
          <dt className="visually-hidden">Newest evaluation</dt>
          <dd>
            <strong>{formatScore(evaluation.score)}</strong>{' '}
            <span className={`badge ${evaluation.passed ? 'good' : 'bad'}`}>
              {evaluation.passed ? 'passed' : 'below threshold'}
            </span>
          </dd>
          <dd className="muted">
            {evaluation.dataset ? `${evaluation.dataset.name}@${evaluation.dataset.version}, ` : ''}
            {evaluation.examples_total} examples, {evaluation.regressions ?? 0}{' '}
            {evaluation.baseline_id === null ? 'below the threshold' : 'worse than before'},{' '}
            {formatAgo(evaluation.finished_at)}
          </dd>
        </dl>
      )}
    </section>
  );
}
