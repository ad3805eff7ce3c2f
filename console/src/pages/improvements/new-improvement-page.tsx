import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { post } from '../../api.ts';
import { PageHead } from '../../components/page.tsx';
import { ErrorState, QueryState } from '../../components/states.tsx';
import { useDraftForm } from '../../drafts/use-draft-form.tsx';
import { formatCost, formatNumber, formatTenth, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { useSubmit } from '../../use-submit.ts';
import { EstimateCard } from '../evaluations/estimate-view.tsx';
import { evaluationQuery } from '../evaluations/queries.ts';
import { ImprovementFields } from './improvement-fields.tsx';
import {
  EMPTY_IMPROVEMENT,
  formOfEvaluation,
  formOfImprovement,
  type ImprovementForm,
  toCreate,
} from './improvement-form-state.ts';
import { improvementQuery } from './queries.ts';
import { newImprovementRoute } from './routes.ts';
import type { Improvement, ImprovementEstimate } from './types.ts';

export function NewImprovementPage() {
  const { prompt = '', version, from = '' } = newImprovementRoute.useSearch();
  const isOfEvaluation = from.startsWith('eval_');
  const evaluation = useQuery({ ...evaluationQuery(from), enabled: isOfEvaluation });
  const improvement = useQuery({ ...improvementQuery(from), enabled: from !== '' && !isOfEvaluation });
  return (
    <>
      <PageHead
        title="New improvement"
        crumbs={<Link to="/improvements">Improvements</Link>}
        note={
          <p className="muted">
            A model rewrites the prompt from examples that fail. The best candidate is tested once on examples that
            nothing has seen. Nothing changes until you accept it.
          </p>
        }
      />
      {from === '' ? (
        <NewImprovement
          subject={prompt}
          start={{ ...EMPTY_IMPROVEMENT, prompt, ...(version && { which: `version:${version}` }) }}
        />
      ) : isOfEvaluation ? (
        <QueryState query={evaluation} what="the evaluation">
          {(found) => <NewImprovement subject={found.id} start={formOfEvaluation(found)} />}
        </QueryState>
      ) : (
        <QueryState query={improvement} what="the improvement">
          {(found) => <NewImprovement subject={found.id} start={formOfImprovement(found)} />}
        </QueryState>
      )}
    </>
  );
}

function NewImprovement({ subject, start: initial }: { subject: string; start: ImprovementForm }) {
  const { value: form, change, sent, notice } = useDraftForm('improvement', subject, initial);
  const client = useQueryClient();
  const navigate = newImprovementRoute.useNavigate();
  const { busy, error, submit } = useSubmit();
  const start = async () => {
    const { id } = await post<Improvement>('/improvements', toCreate(form));
    sent();
    await client.invalidateQueries({ queryKey: ['improvements', 'list'] });
    await navigate({ to: '/improvements/$id', params: { id } });
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void submit(start);
  };
  return (
    <form className="columns" onSubmit={onSubmit}>
      <div className="stack">
        {notice}
        <ImprovementFields value={form} set={change} />
        {error !== undefined && <ErrorState error={error} />}
        <div>
          <button type="submit" className="button primary" disabled={busy}>
            Start the improvement
          </button>
        </div>
      </div>
      <EstimateCard
        form={form}
        resource="improvements"
        toBody={toCreate}
        missing={t(
          'Choose a prompt, a dataset, a model and a maximum cost to see what the search would cost and can prove.',
        )}
      >
        {(estimate: ImprovementEstimate) => <EstimateWords estimate={estimate} />}
      </EstimateCard>
    </form>
  );
}

/** The labels of fields that warnings name as in the API. */
const LABELS: Record<string, string> = {
  parallel: t('Candidates at the same time'),
  max_proposals: t('Candidates, at most'),
};
const inFormWords = (warning: string) =>
  warning.replaceAll(/`(\w+)`/g, (code, field: string) => (LABELS[field] === undefined ? code : `“${LABELS[field]}”`));

function EstimateWords({ estimate }: { estimate: ImprovementEstimate }) {
  const { cost, calls, reflections, split, held_out: heldOut, warnings } = estimate;
  return (
    <>
      <p>
        <strong>
          {cost === null
            ? 'Cost unknown: a model has no price'
            : `About ${formatCost({ amount: cost.expected })}, at most ${formatCost({ amount: cost.most })}`}
        </strong>
      </p>
      <p>
        About {formatNumber(calls.expected)} calls of the prompt, at most {formatNumber(calls.most)}, and{' '}
        {plural(reflections, 'call', 'calls')} of the model that rewrites.
      </p>
      <p>
        {formatNumber(split.train)} examples to learn from, {formatNumber(split.check)} to choose by,{' '}
        {formatNumber(split.held_out)} to prove.
      </p>
      <p>
        {heldOut.least_provable === null
          ? 'So few examples cannot prove an improvement.'
          : `The smallest improvement that these can prove: ${formatTenth(heldOut.least_provable * 100)} points.`}
        {heldOut.look > 1 &&
          ` This would be verdict ${heldOut.look} over these examples, which needs stronger proof (p at most ${heldOut.p_needed}).`}
      </p>
      {warnings.length > 0 && (
        <ul className="notice warn">
          {warnings.map((each) => (
            <li key={each}>{inFormWords(each)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
