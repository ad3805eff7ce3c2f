import { useQueryClient } from '@tanstack/react-query';
import { Link, linkOptions, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { pathOf, post } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { DeleteDialog } from '../../components/delete-button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { QueryState } from '../../components/states.tsx';
import { useTemporalAddress } from '../../components/temporal-link.tsx';
import { formatScore, formatTime } from '../../format.ts';
import { replaceData, useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import type { newSecrets } from './evaluator.ts';
import { evaluationKey, hasEnded } from './queries.ts';
import { useControl } from './use-control.ts';

// Loaded when they are opened.
const RescoreDialog = lazy(async () => ({ default: (await import('./rescore-dialog.tsx')).RescoreDialog }));
const SecretsDialog = lazy(async () => ({ default: (await import('./secrets-dialog.tsx')).SecretsDialog }));

/** The actions available in the run's current state. */
export function EvaluationActions({ evaluation }: { evaluation: Evaluation }) {
  const { id, status, max_cost } = evaluation;
  const mayExecute = useMay('execute');
  const mayWrite = useMay('write');
  const navigate = useNavigate();
  const [rescored, setRescored] = useState<{ id: string; secrets: ReturnType<typeof newSecrets> }>();
  const { run, isPending, isElsewhere, canRetry } = useControl(evaluation);
  const temporal = useTemporalAddress(evaluation.workflow_id);
  const isCode = evaluation.target.type === 'code';
  const ended = hasEnded(evaluation);
  const isCompleted = status === 'completed';
  const hasVersion = !isCode && evaluation.prompt_version > 0;
  const mayRelease = isCompleted && hasVersion && evaluation.passed !== false && mayWrite;
  const button = (action: Parameters<typeof run>[0], label: string, look = '') => (
    <Button look={look} disabled={isPending} onClick={() => run(action)}>
      {label}
    </Button>
  );
  const release = linkOptions({
    to: '/releases/new',
    search: { prompt: evaluation.prompt_name, version: evaluation.prompt_version },
  });
  const duplicate = linkOptions({ to: '/evaluations/new', search: { from: id } });
  return (
    <>
      {mayExecute &&
        (status === 'paused'
          ? button('resume', t('Resume'), 'primary')
          : (status === 'running' || status === 'scheduled') && !isElsewhere && button('pause', t('Pause'), 'primary'))}
      {mayExecute && !ended && button('cancel', t('Cancel'))}
      {canRetry ? (
        button('retry', t('Retry failed examples'), 'primary')
      ) : mayRelease ? (
        <Link {...release} className="button primary">
          Release version {evaluation.prompt_version}…
        </Link>
      ) : (
        mayExecute &&
        ended &&
        !isCode && (
          <Link {...duplicate} className="button primary">
            Duplicate…
          </Link>
        )
      )}
      <MoreMenu
        actions={[
          mayExecute &&
            !ended &&
            max_cost !== null && {
              label: 'Raise the budget…',
              dialog: (close) => <BudgetDialog evaluation={evaluation} onClose={close} />,
            },
          canRetry && mayRelease && { label: t(`Release version ${evaluation.prompt_version}…`), link: release },
          mayExecute &&
            isCompleted && {
              label: 'Score again…',
              dialog: (close) => (
                <Suspense>
                  <RescoreDialog
                    evaluation={evaluation}
                    onClose={close}
                    onSecrets={(scored, secrets) => setRescored({ id: scored, secrets })}
                  />
                </Suspense>
              ),
            },
          mayExecute && !isCode && (canRetry || mayRelease || !ended) && { label: 'Duplicate…', link: duplicate },
          mayExecute &&
            ended &&
            !isCode && {
              label: 'Improve this prompt…',
              link: linkOptions({ to: '/improvements/new', search: { from: id } }),
            },
          isCompleted && {
            label: 'Compare…',
            dialog: (close) => <CompareDialog evaluation={evaluation} onClose={close} />,
          },
          isCompleted &&
            hasVersion && {
              label: 'Move a label',
              link: linkOptions({
                to: '/prompts/$',
                params: { _splat: evaluation.prompt_name },
                search: { tab: 'versions' },
              }),
            },
          { label: 'Results as CSV', href: `/v1${pathOf('evaluations', id)}/results?format=csv` },
          temporal !== undefined && { label: 'Workflow in Temporal', href: temporal },
          ended &&
            mayWrite && {
              label: 'Delete…',
              danger: true,
              dialog: (close) => (
                <DeleteDialog
                  resource="evaluations"
                  id={id}
                  title="Delete this evaluation?"
                  description="This deletes its results. Its tokens and cost still count in the usage."
                  done="The evaluation was deleted."
                  onDeleted={() => navigate({ to: '/evaluations' })}
                  onClose={close}
                />
              ),
            },
        ]}
      />
      {rescored && (
        <Suspense>
          <SecretsDialog
            secrets={rescored.secrets}
            onClose={() => {
              setRescored(undefined);
              void navigate({ to: '/evaluations/$id', params: { id: rescored.id } });
            }}
          />
        </Suspense>
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
