import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get, pathOf, put, remove } from '../../api.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { Fact } from '../../components/fact.tsx';
import { PageHead } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { showError, showToast, showUndo } from '../../components/toast.tsx';
import { formatCost, formatNumber, formatScore, formatTime } from '../../format.ts';
import { isNotFound, replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { filterWords } from '../scores/execution-filter.tsx';
import { Backfills } from './backfills.tsx';
import { scopeWords, spentWords } from './in-words.ts';
import { ruleRoute } from './routes.ts';
import { RuleDialog } from './rule-dialog.tsx';
import { formOf, toPut } from './rule-form-state.ts';
import type { Rule } from './types.ts';

const REFETCH_MS = 5_000;

export function RulePage() {
  const { _splat: name = '' } = ruleRoute.useParams();
  const query = useQuery({
    queryKey: ['rules', 'one', name],
    queryFn: ({ signal }) => get<Rule>(pathOf('rules', name), undefined, signal),
    refetchInterval: REFETCH_MS,
  });
  return (
    <>
      <PageHead
        title={name}
        crumbs={
          <ol className="crumbs">
            <li>
              <Link to="/rules">Rules</Link>
            </li>
          </ol>
        }
        actions={query.data && <Actions rule={query.data} />}
      />
      {isNotFound(query.error) ? (
        <EmptyState title="There is no such rule">
          <Link to="/rules" className="button">
            Back to rules
          </Link>
        </EmptyState>
      ) : (
        <QueryState query={query} what="the rule">
          {(rule) => (
            <>
              <Facts rule={rule} />
              <Backfills rule={name} />
              <Section id="evaluators" title="Evaluators">
                <JsonView value={rule.evaluators} label="settings of the evaluators" />
              </Section>
            </>
          )}
        </QueryState>
      )}
    </>
  );
}

function Actions({ rule }: { rule: Rule }) {
  const { name, enabled } = rule;
  const client = useQueryClient();
  const navigate = ruleRoute.useNavigate();
  const mayExecute = useMay('execute');
  const [open, setOpen] = useState<'change' | 'delete'>();
  const close = () => setOpen(undefined);
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
      <button type="button" className="button" disabled={toggle.isPending} onClick={() => toggle.mutate()}>
        {enabled ? 'Disable' : 'Enable'}
      </button>
      <button type="button" className="button" onClick={() => setOpen('change')}>
        Change…
      </button>
      <button type="button" className="button danger" onClick={() => setOpen('delete')}>
        Delete…
      </button>
      {open === 'change' && <RuleDialog rule={rule} onClose={close} />}
      <FormDialog
        open={open === 'delete'}
        onClose={close}
        title="Delete this rule?"
        description="Its backfills are deleted, too. The scores stay."
        submitLabel="Delete"
        danger
        onSubmit={async () => {
          await remove(pathOf('rules', name));
          await navigate({ to: '/rules' });
          client.removeQueries({ queryKey: ['rules', 'one', name] });
          await client.invalidateQueries({ queryKey: ['rules', 'list'] });
          showToast('The rule was deleted.');
        }}
      />
    </>
  );
}

function Facts({ rule }: { rule: Rule }) {
  const { enabled, sample_rate, filter, spent, scored, failed, skipped, skipped_budget, waiting, last_error } = rule;
  return (
    <>
      <dl className="facts">
        <Fact label="State">
          {enabled ? <span className="badge good">enabled</span> : <span className="badge warn">disabled</span>}
        </Fact>
        <Fact label="Scores">
          {formatScore(sample_rate)} of {scopeWords(rule)}
          {filter !== null && `, ${filterWords(filter as Record<string, unknown>)}`}
        </Fact>
        <Fact label="Spent today">{spentWords(rule)}</Fact>
        <Fact label="Spent in all">{formatCost({ amount: spent })}</Fact>
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
