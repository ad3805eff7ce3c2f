import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { post } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { PageHead } from '../../components/page.tsx';
import { ErrorState, QueryState } from '../../components/states.tsx';
import { EstimateView } from './estimate-view.tsx';
import { newSecrets } from './evaluator-kinds.ts';
import { evaluationQuery } from './queries.ts';
import { newEvaluationRoute } from './routes.ts';
import { RunFormFields } from './run-form-fields.tsx';
import { EMPTY_RUN, formOf, type RunForm, toCreate } from './run-form-state.ts';
import { SecretsDialog } from './secrets-dialog.tsx';

export function NewEvaluationPage() {
  const { prompt = '', version, dataset = '', from } = newEvaluationRoute.useSearch();
  const source = useQuery({ ...evaluationQuery(from ?? ''), enabled: from !== undefined });
  return (
    <>
      <PageHead
        title="New evaluation"
        crumbs={
          <ol className="crumbs">
            <li>
              <Link to="/evaluations">Evaluations</Link>
            </li>
          </ol>
        }
      />
      {from === undefined ? (
        <EvaluationForm start={{ ...EMPTY_RUN, prompt, dataset, ...(version && { which: `version:${version}` }) }} />
      ) : (
        <QueryState query={source} what="the evaluation">
          {(evaluation) => <EvaluationForm start={formOf(evaluation)} />}
        </QueryState>
      )}
    </>
  );
}

function EvaluationForm({ start }: { start: RunForm }) {
  const [form, setForm] = useState(start);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const client = useQueryClient();
  const navigate = newEvaluationRoute.useNavigate();
  const [created, setCreated] = useState<{ id: string; secrets: ReturnType<typeof newSecrets> }>();
  const open = (id: string) => navigate({ to: '/evaluations/$id', params: { id } });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      const { id, evaluators } = await post<Evaluation>('/evaluations', toCreate(form));
      await client.invalidateQueries({ queryKey: ['evaluations', 'list'] });
      const secrets = newSecrets(form.evaluators, evaluators);
      if (secrets.length > 0) setCreated({ id, secrets });
      else await open(id);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="columns" onSubmit={(event) => void submit(event)}>
      <div className="stack">
        <RunFormFields value={form} onChange={setForm} />
        {error !== undefined && <ErrorState error={error} />}
        <div>
          <button type="submit" className="button primary" disabled={busy}>
            Start the evaluation
          </button>
        </div>
      </div>
      <EstimateView form={form} />
      {created && <SecretsDialog secrets={created.secrets} onClose={() => void open(created.id)} />}
    </form>
  );
}
