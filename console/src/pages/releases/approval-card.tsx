import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import { Section } from '../../components/section.tsx';
import { ErrorState } from '../../components/states.tsx';
import { showToast } from '../../components/toast.tsx';
import { useSession } from '../../shell/session.ts';
import { useSubmit } from '../../use-submit.ts';
import { stepsOf } from './queries.ts';
import { useControl, useMayControl } from './release-actions.tsx';
import type { Release } from './types.ts';

/** A pending decision about a release, with its buttons. The changes are further down the page. */
export function ApprovalCard({ release }: { release: Release }) {
  const { publish } = useMayControl(release);
  const own = useSession()?.key.id;
  const act = useControl(release);
  const [comment, setComment] = useState('');
  const { busy, error, submit } = useSubmit();
  const step = stepsOf(release)[release.step];
  if (release.status !== 'awaiting_approval' || step?.type !== 'approve') return null;
  const approvals = release.approvals.filter((approval) => approval.step === release.step);
  const hasApproved = approvals.some(({ by }) => by.key_id === own);
  const isAuthor = step.exclude_author && release.created_by.key_id === own;
  const decide = (control: 'approve' | 'reject') =>
    submit(async () => {
      await act(control, comment);
      setComment('');
      showToast(control === 'approve' ? 'Approved.' : 'Rejected: all callers get the stable version.');
    });
  return (
    <Section id="approval" className="card" title="Waits for approval">
      <p>
        {approvals.length} of {step.count} approved
        {approvals.length > 0 && ` (${approvals.map(({ by }) => by.name).join(', ')})`}. The approval covers version{' '}
        {release.candidate_version} and the results below.
      </p>
      {hasApproved && <p className="muted">You approved this release.</p>}
      {isAuthor && (
        <p className="muted">The key of this session started the release, so its approval does not count.</p>
      )}
      {publish ? (
        <>
          <TextField label="Comment" value={comment} onChange={setComment} maxLength={1_000} />
          <div className="row">
            {!hasApproved && !isAuthor && (
              <Button look="primary" disabled={busy} onClick={() => void decide('approve')}>
                Approve
              </Button>
            )}
            <Button look="danger" disabled={busy} onClick={() => void decide('reject')}>
              Reject
            </Button>
          </div>
        </>
      ) : (
        <p className="muted">To approve or reject, a key needs the scope “publish”.</p>
      )}
      {error !== undefined && <ErrorState error={error} />}
    </Section>
  );
}
