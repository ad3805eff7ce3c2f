import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, post } from '../../api.ts';
import { Button, DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { TemporalLink } from '../../components/temporal-link.tsx';
import { showError } from '../../components/toast.tsx';
import { replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { AcceptDialog, useMayAccept } from './accept-dialog.tsx';
import { usd } from './in-words.tsx';
import { improvementQuery, isUnfinished } from './queries.ts';
import type { Improvement } from './types.ts';

type Control = 'pause' | 'resume' | 'finish' | 'cancel' | 'retry';

function useControl({ id }: Improvement) {
  const client = useQueryClient();
  return async (action: Control, body: object = {}) => {
    const changed = await post<Improvement>(`${pathOf('improvements', id)}/${action}`, body);
    replaceData(client, improvementQuery(id).queryKey, changed);
    await client.invalidateQueries({ queryKey: ['improvements', 'list'] });
  };
}

/** The actions that the state of the improvement allows. */
export function ImprovementActions({ improvement }: { improvement: Improvement }) {
  const { id, status, phase, verdict } = improvement;
  const mayExecute = useMay('execute');
  const mayWrite = useMay('write');
  const navigate = useNavigate();
  const act = useControl(improvement);
  const control = useMutation({ mutationFn: (action: Control) => act(action), onError: showError });
  const found = { number: verdict?.candidate ?? 0, content: {} as never };
  const mayAccept = useMayAccept(improvement, found);
  const isOpen = isUnfinished(improvement);
  const button = (action: Control, label: string) => (
    <Button disabled={control.isPending} onClick={() => control.mutate(action)}>
      {label}
    </Button>
  );
  return (
    <>
      {mayAccept && (
        <DialogButton
          label="Accept…"
          look={verdict?.result === 'improvement' ? 'primary' : ''}
          dialog={(close) => <AcceptDialog improvement={improvement} candidate={found} onClose={close} />}
        />
      )}
      {mayExecute && (
        <>
          {status === 'running' && button('pause', t('Pause'))}
          {status === 'paused' && (
            <DialogButton
              label="Resume…"
              look="primary"
              dialog={(close) => <ResumeDialog improvement={improvement} onClose={close} />}
            />
          )}
          {isOpen && phase === 'search' && (
            <DialogButton
              label="Finish now…"
              dialog={(close) => (
                <FormDialog
                  open
                  title="End the search now?"
                  description="The best candidate so far is tested on the examples that nothing has seen. Candidates in progress are abandoned."
                  submitLabel="Finish now"
                  onClose={close}
                  onSubmit={() => act('finish')}
                />
              )}
            />
          )}
          {isOpen && (
            <DialogButton
              label="Cancel…"
              dialog={(close) => (
                <FormDialog
                  open
                  danger
                  title="Cancel this improvement?"
                  description="Runs in flight are abandoned, and there is no verdict. It cannot be resumed. Its candidates can still be read and accepted."
                  submitLabel="Cancel the improvement"
                  onClose={close}
                  onSubmit={() => act('cancel')}
                />
              )}
            />
          )}
          {status === 'failed' && button('retry', t('Retry'))}
          {!isOpen && (
            <Link to="/improvements/new" search={{ from: id }} className="button">
              Search again…
            </Link>
          )}
        </>
      )}
      <TemporalLink workflowId={improvement.workflow_id} />
      {!isOpen && mayWrite && (
        <DeleteButton
          resource="improvements"
          id={id}
          title="Delete this improvement?"
          description="This deletes its candidates and their evaluations. Which examples were seen is kept: a later verdict over them needs stronger proof."
          done="The improvement was deleted."
          onDeleted={() => navigate({ to: '/improvements' })}
        />
      )}
    </>
  );
}

function ResumeDialog({ improvement, onClose }: { improvement: Improvement; onClose: () => void }) {
  const { max_cost: limit, spent } = improvement;
  const act = useControl(improvement);
  const [maxCost, setMaxCost] = useState(limit ?? '');
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Resume this improvement"
      description={`${usd(spent.cost)} are spent so far.`}
      submitLabel="Resume"
      onSubmit={() => act('resume', limit === null || maxCost === limit ? {} : { max_cost: maxCost })}
    >
      {limit !== null && (
        <TextField
          label="Maximum cost, in US dollars"
          path="max_cost"
          type="number"
          min={0}
          step="any"
          required
          value={maxCost}
          onChange={setMaxCost}
          hint="If it paused because this was used up, it needs more."
        />
      )}
    </FormDialog>
  );
}
