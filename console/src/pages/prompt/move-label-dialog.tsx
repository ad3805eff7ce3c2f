import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, put, remove } from '../../api.ts';
import type { Evaluation, Prompt } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { DiffView } from '../../components/diff-view.tsx';
import { TextField } from '../../components/fields.tsx';
import { QueryState } from '../../components/states.tsx';
import { showError, showUndo } from '../../components/toast.tsx';
import { formatAgo, formatScore, plural } from '../../format.ts';
import { labelsQuery, promptLabelsQuery, promptQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { textOf } from './content.ts';

/** Maximum length of the reason for overriding a release. */
const MAX_REASON = 1_000;

/** Moves a label to a version. Shows the changes, and the newest evaluations of both versions. */
export function MoveLabelDialog({
  title,
  version,
  scores,
  onClose,
}: {
  /** Default: that the version gets a label. */
  title?: string;
  version: Prompt;
  scores: Map<number, Evaluation> | undefined;
  onClose: () => void;
}) {
  const { name } = version;
  const client = useQueryClient();
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const mayPublish = useMay('publish');
  const [label, setLabel] = useState('production');
  const pointing = useQuery(promptLabelsQuery(name)).data ?? [];
  const current = pointing.find((each) => each.label === label.trim());
  const isProtected = labels.some((each) => each.label === label && each.protected);
  const isAdmin = useMay('admin');
  const [reason, setReason] = useState('');
  // A prompt without the label gets it without a release.
  const needsRelease =
    current !== undefined && labels.some((each) => each.label === label.trim() && each.release?.required);
  const isHere = current?.version === version.version;
  const used = [...new Set(['production', 'staging', ...labels.map((each) => each.label)])];
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['prompts'] }),
      client.invalidateQueries({ queryKey: ['labels'] }),
    ]);
  const pathOfLabel = (which: string) => `${pathOf('prompts', name)}/labels${pathOf(which)}`;
  const pointAt = async (which: string, at: number, why: string | undefined) => {
    await put(pathOfLabel(which), { version: at, ...(why !== undefined && { override: true, reason: why }) });
    await refresh();
  };
  const drop = async (which: string) => {
    await remove(pathOfLabel(which));
    await refresh();
  };
  const move = async () => {
    const moved = label.trim();
    const why = needsRelease ? reason.trim() : undefined;
    await pointAt(moved, version.version, why);
    showUndo(`“${moved}” is at version ${version.version} now.`, () =>
      current === undefined
        ? drop(moved)
        : pointAt(moved, current.version, why === undefined ? undefined : `Undone: ${why}`.slice(0, MAX_REASON)),
    );
  };
  const takeAway = (gone: string) =>
    drop(gone).then(() => {
      showUndo(`“${gone}” was removed.`, () => pointAt(gone, version.version, undefined));
      onClose();
    }, showError);
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={title ?? t(`Label version ${version.version}`)}
      description="Programs that use the label get this version from their next run on."
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
              .{isAdmin && ' You can still move it; the audit log keeps the reason.'}
            </span>
          </p>
          {isAdmin && <TextField label="Reason" value={reason} onChange={setReason} maxLength={MAX_REASON} required />}
        </>
      )}
      <div className="grid-2">
        {current && !isHere && (
          <Score title={`Now at version ${current.version}`} evaluation={scores?.get(current.version)} />
        )}
        <Score title={`Version ${version.version}`} evaluation={scores?.get(version.version)} />
      </div>
      {current && !isHere && <Difference name={name} from={current.version} to={version} />}
      {version.labels.length > 0 && (
        <p className="row">
          {version.labels.map((each) => (
            <Button key={each} look="small" onClick={() => void takeAway(each)}>
              Remove “{each}”
            </Button>
          ))}
        </p>
      )}
    </FormDialog>
  );
}

/** What changes for callers of the label. */
function Difference({ name, from, to }: { name: string; from: number; to: Prompt }) {
  const before = useQuery(promptQuery(name, from));
  return (
    <section className="stack" aria-label="What changes">
      <h3>What changes</h3>
      <QueryState query={before} what={`version ${from}`}>
        {(old) => (
          <DiffView
            before={{ title: titleOf(old), text: textOf(old) }}
            after={{ title: titleOf(to), text: textOf(to) }}
          />
        )}
      </QueryState>
    </section>
  );
}

const titleOf = ({ version, commit_message: message }: Prompt) =>
  t(`Version ${version}${message === null ? '' : `: ${message}`}`);

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
            {plural(evaluation.examples_total, 'example', 'examples')}, {evaluation.regressions ?? 0}{' '}
            {evaluation.baseline_id === null ? 'below the threshold' : 'worse than before'},{' '}
            {formatAgo(evaluation.finished_at)}
          </dd>
        </dl>
      )}
    </section>
  );
}
