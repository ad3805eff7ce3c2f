import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { pathOf, post } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { Button, DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { QueryState } from '../../components/states.tsx';
import { TemporalLink } from '../../components/temporal-link.tsx';
import { showError } from '../../components/toast.tsx';
import { formatScore, formatTime } from '../../format.ts';
import { replaceData, useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import type { newSecrets } from './evaluator.ts';
import { evaluationKey, hasEnded } from './queries.ts';
import { SecretsDialog } from './secrets-dialog.tsx';

/** Loaded on demand, with the forms of evaluators. */
const RescoreDialog = lazy(async () => ({ default: (await import('./rescore-dialog.tsx')).RescoreDialog }));

/** The actions available in the run's current state. */
export function EvaluationActions({ evaluation }: { evaluation: Evaluation }) {
  const { id, status, max_cost, examples_failed, examples_evaluated, examples_total } = evaluation;
  const client = useQueryClient();
  const mayExecute = useMay('execute');
  const mayWrite = useMay('write');
  const navigate = useNavigate();
  const [rescored, setRescored] = useState<{ id: string; secrets: ReturnType<typeof newSecrets> }>();
  const control = useMutation({
    mutationFn: (action: string) => post<Evaluation>(`${pathOf('evaluations', id)}/${action}`),
    async onSuccess(changed) {
      replaceData(client, evaluationKey(id), changed);
      await client.invalidateQueries({ queryKey: ['evaluations', 'list'] });
    },
    onError: showError,
  });
  const button = (action: string, label: string) => (
    <Button disabled={control.isPending} onClick={() => control.mutate(action)}>
      {label}
    </Button>
  );
  const isCode = evaluation.target.type === 'code';
  // The caller's program runs it, not the service.
  const isElsewhere = isCode && evaluation.source_evaluation_id === null;
  const ended = hasEnded(evaluation);
  const isLeft = examples_failed > 0 || examples_evaluated < examples_total;
  return (
    <>
      {mayExecute && (
        <>
          {status === 'paused'
            ? button('resume', t('Resume'))
            : (status === 'running' || status === 'scheduled') && !isElsewhere && button('pause', t('Pause'))}
          {!ended && max_cost !== null && (
            <DialogButton
              label="Raise the budget…"
              dialog={(close) => <BudgetDialog evaluation={evaluation} onClose={close} />}
            />
          )}
          {!ended && button('cancel', t('Cancel'))}
          {ended && isLeft && !isElsewhere && button('retry', t('Retry failed examples'))}
          {status === 'completed' && (
            <DialogButton
              label="Score again…"
              dialog={(close) => (
                <Suspense>
                  <RescoreDialog
                    evaluation={evaluation}
                    onClose={close}
                    onSecrets={(scored, secrets) => setRescored({ id: scored, secrets })}
                  />
                </Suspense>
              )}
            />
          )}
          {!isCode && (
            <Link to="/evaluations/new" search={{ from: id }} className="button">
              Duplicate…
            </Link>
          )}
          {!isCode && ended && (
            <Link to="/improvements/new" search={{ from: id }} className="button">
              Improve this prompt…
            </Link>
          )}
        </>
      )}
      {status === 'completed' && (
        <>
          <DialogButton
            label="Compare…"
            dialog={(close) => <CompareDialog evaluation={evaluation} onClose={close} />}
          />
          {!isCode && evaluation.prompt_version > 0 && (
            <Link
              to="/prompts/$"
              params={{ _splat: evaluation.prompt_name }}
              search={{ tab: 'versions' }}
              className="button"
            >
              Move a label
            </Link>
          )}
        </>
      )}
      <a className="button" href={`/v1${pathOf('evaluations', id)}/results?format=csv`} download>
        Results as CSV
      </a>
      <TemporalLink workflowId={evaluation.workflow_id} />
      {ended && mayWrite && (
        <DeleteButton
          resource="evaluations"
          id={id}
          title="Delete this evaluation?"
          description="This deletes its results. Its tokens and cost still count in the usage."
          done="The evaluation was deleted."
          onDeleted={() => navigate({ to: '/evaluations' })}
        />
      )}
      {rescored && (
        <SecretsDialog
          secrets={rescored.secrets}
          onClose={() => {
            setRescored(undefined);
            void navigate({ to: '/evaluations/$id', params: { id: rescored.id } });
          }}
        />
      )}
    </>
  );
}

function BudgetDialog({ evaluation, onClose }: { evaluation: Evaluation; onClose: () => void }) {
  const client = useQueryClient();
  const [budget, setBudget] = useState(evaluation.max_cost ?? '');
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Raise the budget"
      description="The maximum cost of the whole run. A paused run resumes."
      submitLabel="Raise"
      onSubmit={async () => {
        const body = { max_cost: budget === '' ? null : budget };
        const changed = await post<Evaluation>(`${pathOf('evaluations', evaluation.id)}/resume`, body);
        replaceData(client, evaluationKey(evaluation.id), changed);
      }}
    >
      <TextField
        label="US dollars"
        type="number"
        min={0}
        step="any"
        value={budget}
        onChange={setBudget}
        hint="Leave empty for no limit."
      />
    </FormDialog>
  );
}

/** Compares any two completed runs of a prompt, or of code with the same name. */
function CompareDialog({ evaluation, onClose }: { evaluation: Evaluation; onClose: () => void }) {
  const { id, prompt_name, target } = evaluation;
  const navigate = useNavigate();
  const list = useList<Evaluation>('/evaluations', { prompt_name, target: target.type, status: 'completed' });
  const others = list.data?.filter((each) => each.id !== id);
  const [chosen, setChosen] = useState<string>();
  const other = chosen ?? evaluation.baseline_id ?? others?.[0]?.id ?? '';
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Compare this run"
      description="Compares the examples that both runs have."
      submitLabel="Compare"
      canSubmit={other !== ''}
      onSubmit={() => navigate({ to: '/evaluations/$id/compare/$other', params: { id, other } })}
    >
      <QueryState query={{ ...list, data: others }} what="the other runs">
        {(rows) =>
          rows.length === 0 ? (
            <p className="notice">There is no other completed run of this {target.type}.</p>
          ) : (
            <SelectField
              label="With"
              value={other}
              onChange={setChosen}
              options={rows.map((row) => ({
                value: row.id,
                label: `${target.type !== 'prompt' ? '' : row.prompt_version === 0 ? 'Draft, ' : `Version ${row.prompt_version}, `}${formatScore(row.score)}, ${formatTime(row.created_at)}${
                  row.dataset ? `, ${row.dataset.name}@${row.dataset.version}` : ''
                }`,
              }))}
            />
          )
        }
      </QueryState>
    </FormDialog>
  );
}
