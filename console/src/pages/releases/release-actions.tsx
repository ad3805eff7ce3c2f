import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pathOf, post } from '../../api.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField, TextField } from '../../components/fields.tsx';
import { TemporalLink } from '../../components/temporal-link.tsx';
import { showToast } from '../../components/toast.tsx';
import { labelsQuery, replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { isLive, releaseKey } from './queries.ts';
import type { Release } from './types.ts';

export type Control = 'approve' | 'reject' | 'pause' | 'resume' | 'promote' | 'rollback' | 'cancel';

interface Words {
  title: string;
  submit: string;
  description: (release: Release) => string;
  done: string;
  danger?: boolean;
}

const WORDS: Record<Exclude<Control, 'approve' | 'reject'>, Words> = {
  pause: {
    title: 'Pause this release?',
    submit: 'Pause',
    description: () => t('Traffic shares stay unchanged and checks stop until the release is resumed.'),
    done: 'The release is paused.',
  },
  resume: {
    title: 'Resume this release?',
    submit: 'Resume',
    description: () => t('A release paused as inconclusive continues with its next step.'),
    done: 'The release continues.',
  },
  promote: {
    title: 'Promote now?',
    submit: 'Promote now',
    description: ({ label, candidate_version, promoted_at }) =>
      promoted_at === null
        ? t(`“${label}” moves to version ${candidate_version} now. Steps that are left are skipped.`)
        : t('The bake ends, and the release has succeeded.'),
    done: 'The release is promoted.',
  },
  rollback: {
    title: 'Roll back?',
    submit: 'Roll back',
    description: ({ stable_version }) =>
      t(`All callers get version ${stable_version} immediately. Calls in flight run to completion.`),
    done: 'Rolled back: all callers get the stable version.',
    danger: true,
  },
  cancel: {
    title: 'Cancel this release?',
    submit: 'Cancel the release',
    description: ({ stable_version }) => t(`It ends, and all callers get version ${stable_version}.`),
    done: 'The release was canceled.',
    danger: true,
  },
};

/** The controls allowed in each state. */
const ALLOWED: Record<string, readonly Control[]> = {
  in_progress: ['pause', 'promote', 'cancel', 'rollback'],
  paused: ['resume', 'promote', 'cancel', 'rollback'],
  awaiting_approval: ['promote', 'cancel', 'rollback'],
  baking: ['pause', 'promote', 'rollback'],
};

/** The actions on the release that the key of this session allows. */
export function useMayControl({ label }: Release): { control: boolean; publish: boolean } {
  const isProtected = useQuery(labelsQuery).data?.data.some((each) => each.label === label && each.protected) ?? false;
  const publish = useMay('publish');
  const write = useMay('write');
  return { control: isProtected ? publish : write || publish, publish };
}

/** Lets an admin skip steps that the policy of the label requires. */
interface Override {
  override: true;
  reason: string;
}

/** Whether the label moves only through the steps of its policy, of which some may remain. */
function useIsRequired({ label, promoted_at }: Release): boolean {
  const labels = useQuery(labelsQuery).data?.data ?? [];
  return promoted_at === null && labels.some((each) => each.label === label && each.release?.required === true);
}

/** Controls a release, and applies its new state. */
export function useControl(
  release: Release,
): (control: Control, comment: string, override?: Override) => Promise<void> {
  const client = useQueryClient();
  return async (control, comment, override) => {
    const body = { ...override, ...(comment.trim() !== '' && { comment: comment.trim() }) };
    const changed = await post<Release>(`${pathOf('releases', release.id)}/${control}`, body);
    replaceData(client, releaseKey(release.id), changed);
    await Promise.all([
      client.invalidateQueries({ queryKey: ['releases', 'list'] }),
      client.invalidateQueries({ queryKey: ['releases', 'numbers'] }),
      client.invalidateQueries({ queryKey: ['prompts'] }),
    ]);
  };
}

export function ReleaseActions({ release }: { release: Release }) {
  const may = useMayControl(release);
  const [asked, setAsked] = useState<keyof typeof WORDS>();
  const offered = (ALLOWED[release.status] ?? []).filter((control) =>
    control === 'promote' ? may.publish : may.control,
  );
  const button = (control: keyof typeof WORDS, label: string, tone = '') =>
    offered.includes(control) && (
      <button type="button" className={`button ${tone}`} onClick={() => setAsked(control)}>
        {label}
      </button>
    );
  return (
    <>
      {isLive(release) && <TemporalLink workflowId={release.workflow_id} />}
      {button('pause', t('Pause…'))}
      {button('resume', t('Resume…'))}
      {button('promote', release.promoted_at === null ? t('Promote now…') : t('End the bake…'))}
      {button('cancel', t('Cancel…'))}
      {button('rollback', t('Roll back…'), 'danger')}
      {asked && <ControlDialog key={asked} release={release} control={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function ControlDialog({
  release,
  control,
  onClose,
}: {
  release: Release;
  control: keyof typeof WORDS;
  onClose: () => void;
}) {
  const [comment, setComment] = useState('');
  const [isOverride, setOverride] = useState(false);
  const [reason, setReason] = useState('');
  const isRequired = useIsRequired(release) && control === 'promote';
  const mayOverride = useMay('admin');
  const act = useControl(release);
  const { title, submit, description, done, danger = false } = WORDS[control];
  return (
    <FormDialog
      open
      onClose={onClose}
      title={title}
      description={description(release)}
      submitLabel={submit}
      danger={danger}
      onSubmit={async () => {
        await act(control, comment, isOverride ? { override: true, reason: reason.trim() } : undefined);
        showToast(done);
      }}
    >
      {isRequired && (
        <p className="notice warn">
          “{release.label}” moves only after the steps that its policy requires. An admin can skip those that are not
          done.
        </p>
      )}
      {isRequired && mayOverride && (
        <CheckField label="Skip required steps that are not done" checked={isOverride} onChange={setOverride} />
      )}
      {isOverride && (
        <TextField
          label="Reason"
          path="reason"
          required
          maxLength={1_000}
          value={reason}
          onChange={setReason}
          hint="The audit log keeps it."
        />
      )}
      <TextField label="Comment" value={comment} onChange={setComment} maxLength={1_000} />
    </FormDialog>
  );
}
