import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { post } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { PageHead } from '../../components/page.tsx';
import { QueryState } from '../../components/states.tsx';
import { useDraftForm } from '../../drafts/use-draft-form.tsx';
import { CreateRunForm } from './create-run-form.tsx';
import { evaluationQuery } from './queries.ts';
import { newEvaluationRoute } from './routes.ts';
import { EMPTY_RUN, formOf, formOfExecutions, type RunForm, toCreate } from './run-form-state.ts';

export function NewEvaluationPage() {
  const { prompt = '', version, dataset = '', from, executions } = newEvaluationRoute.useSearch();
  const start = executions ? formOfExecutions(prompt, executions) : { ...EMPTY_RUN, prompt, dataset };
  const source = useQuery({ ...evaluationQuery(from ?? ''), enabled: from !== undefined });
  return (
    <>
      <PageHead title="New evaluation" crumbs={<Link to="/evaluations">Evaluations</Link>} />
      {from === undefined ? (
        <EvaluationForm
          key={executions && JSON.stringify(executions)}
          subject={executions ? `${prompt} ${JSON.stringify(executions)}` : prompt}
          start={{ ...start, ...(version && { which: `version:${version}` }) }}
        />
      ) : (
        <QueryState query={source} what="the evaluation">
          {(evaluation) => <EvaluationForm subject={evaluation.id} start={formOf(evaluation)} />}
        </QueryState>
      )}
    </>
  );
}

function EvaluationForm({ subject, start }: { subject: string; start: RunForm }) {
  const { value: form, change, sent, notice } = useDraftForm('evaluation', subject, start);
  const client = useQueryClient();
  const navigate = newEvaluationRoute.useNavigate();
  return (
    <CreateRunForm
      value={form}
      onChange={change}
      submitLabel="Start the evaluation"
      onCreate={async () => {
        const evaluation = await post<Evaluation>('/evaluations', toCreate(form));
        sent();
        await client.invalidateQueries({ queryKey: ['evaluations', 'list'] });
        return evaluation;
      }}
      onCreated={(id) => navigate({ to: '/evaluations/$id', params: { id } })}
    >
      {notice}
    </CreateRunForm>
  );
}
