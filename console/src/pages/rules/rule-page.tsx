import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { pathOf, put } from '../../api.ts';
import { Button, DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Fact } from '../../components/fact.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Section } from '../../components/section.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { showError, showUndo } from '../../components/toast.tsx';
import { formatCost, formatNumber, formatScore, formatTime } from '../../format.ts';
import { recordQuery, replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { filterWords } from '../scores/execution-filter.tsx';
import { Backfills } from './backfills.tsx';
import { scopeWords, spentWords } from './in-words.ts';
import { ruleRoute } from './routes.ts';
import { formOf, toPut } from './rule-form-state.ts';
import type { Rule } from './types.ts';

const RuleDialog = lazy(async () => ({ default: (await import('./rule-dialog.tsx')).RuleDialog }));

const REFETCH_MS = 5_000;

export function RulePage() {
  const { _splat: name = '' } = ruleRoute.useParams();
  const query = useQuery({ ...recordQuery<Rule>('rules', name), refetchInterval: REFETCH_MS });
  return (
    <RecordPage
      title={name}
      list={{ to: '/rules', label: 'Rules', back: 'Back to rules' }}
      actions={query.data && <Actions rule={query.data} />}
      missing="There is no such rule"
      query={query}
      what="the rule"
    >
      {(rule) => (
        <>
          <Facts rule={rule} />
          {rule.trace_filter === null && <Backfills rule={name} />}
          <Section id="evaluators" title="Evaluators">
            <JsonView value={rule.evaluators} label="settings of the evaluators" />
          </Section>
        </>
      )}
    </RecordPage>
  );
}

function Actions({ rule }: { rule: Rule }) {
  const { name, enabled } = rule;
  const client = useQueryClient();
  const navigate = ruleRoute.useNavigate();
  const mayExecute = useMay('execute');
  const setEnabled = async (on: boolean) => {
    const changed = await put<Rule>(pathOf('rules', name), toPut(formOf(rule), on));
    replaceData(client, ['rules', 'one', name], { ...rule, ...changed });
    await client.invalidateQueries({ queryKey: ['rules', 'list'] });
  };
  const toggle = useMutation({
    mutationFn: () => setEnabled(!enabled),
    onSuccess: () => showUndo(enabled ? 'The rule was disabled.' : 'The rule was enabled.', () => setEnabled(enabled)),
    onError: showError,
  });
  if (!mayExecute) return null;
  return (
    <>
      <Button disabled={toggle.isPending} onClick={() => toggle.mutate()}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <DialogButton
        label="Change…"
        dialog={(close) => (
          <Suspense>
            <RuleDialog rule={rule} onClose={close} />
          </Suspense>
        )}
      />
      <DeleteButton
        resource="rules"
        id={name}
        title="Delete this rule?"
        description="Its backfills are deleted, too. The scores stay."
        done="The rule was deleted."
        onDeleted={() => navigate({ to: '/rules' })}
      />
    </>
  );
}

function Facts({ rule }: { rule: Rule }) {
  const { enabled, sample_rate, spent, scored, failed, skipped, skipped_budget, waiting, last_error } = rule;
  const filter = (rule.filter ?? rule.trace_filter) as Record<string, unknown> | null;
  return (
    <>
      <dl className="facts">
        <Fact label="State">
          {enabled ? <span className="badge good">enabled</span> : <span className="badge warn">disabled</span>}
        </Fact>
        <Fact label="Scores">
          {formatScore(sample_rate)} of {scopeWords(rule)}
          {filter !== null && Object.keys(filter).length > 0 && `, ${filterWords(filter)}`}
        </Fact>
        <Fact label="Spent today">{spentWords(rule)}</Fact>
        <Fact label="Spent in total">{formatCost({ amount: spent })}</Fact>
        <Fact label="Scored">{formatNumber(scored)}</Fact>
        <Fact label="Failed">{formatNumber(failed)}</Fact>
        <Fact label="Skipped">
          {formatNumber(skipped_budget)} over budget, {formatNumber(skipped)} too late
        </Fact>
        <Fact label="Waiting">{formatNumber(waiting)}</Fact>
        <Fact label="Give scores">
          {(rule.evaluators as unknown as Evaluator[]).map(({ type, name = type }) => (
            <span key={name}>
              <Link to="/agreement" search={{ score: name }}>
                {name}
                <span className="visually-hidden">: against people</span>
              </Link>{' '}
            </span>
          ))}
        </Fact>
      </dl>
      {last_error && (
        <div className="notice bad">
          <strong>{last_error.code}</strong> {last_error.message} ({formatTime(last_error.at)})
        </div>
      )}
    </>
  );
}
