import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { ErrorState, Loading } from '../../components/states.tsx';
import { useSubmit } from '../../use-submit.ts';
import { EstimateView } from './estimate-view.tsx';
import { type Evaluator, newSecrets } from './evaluator.ts';
import { evaluatorTypesQuery } from './queries.ts';
import { RunFormFields } from './run-form-fields.tsx';
import type { RunForm } from './run-form-state.ts';
import { SecretsDialog } from './secrets-dialog.tsx';

/** A form for an evaluation or a schedule. Afterwards it shows the new secrets of the caller's own scorers. */
export function CreateRunForm({
  value,
  onChange,
  scheduled = false,
  submitLabel,
  onCreate,
  onCreated,
  children,
}: {
  value: RunForm;
  onChange: (value: RunForm) => void;
  scheduled?: boolean;
  submitLabel: string;
  /** @returns the id of the new record, and its evaluators */
  onCreate: () => Promise<{ id: string; evaluators: readonly Evaluator[] }>;
  /** Navigates to the new record. */
  onCreated: (id: string) => Promise<void>;
  /** Fields above those of the run. */
  children?: ReactNode;
}) {
  const { busy, error, submit } = useSubmit();
  const types = useQuery(evaluatorTypesQuery);
  const [created, setCreated] = useState<{ id: string; secrets: ReturnType<typeof newSecrets> }>();
  const create = async () => {
    const { id, evaluators } = await onCreate();
    const secrets = newSecrets(value.evaluators, evaluators);
    if (secrets.length > 0) setCreated({ id, secrets });
    else await onCreated(id);
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void submit(create);
  };
  // Drawn with its evaluators, which would push down what is below them.
  if (types.isPending) return <Loading what="evaluators" />;
  return (
    <form className="columns run-form" onSubmit={onSubmit}>
      <div className="stack">
        {children}
        <RunFormFields value={value} onChange={onChange} scheduled={scheduled} />
      </div>
      {/* In sight, however long the form is. */}
      <div className="stack run-side">
        <EstimateView form={value} />
        {error !== undefined && <ErrorState error={error} />}
        <div>
          <button type="submit" className="button primary" disabled={busy}>
            {submitLabel}
          </button>
        </div>
      </div>
      {created && <SecretsDialog secrets={created.secrets} onClose={() => void onCreated(created.id)} />}
    </form>
  );
}
