import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, post } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { type Evaluator, newSecrets } from './evaluator.ts';
import { EvaluatorsForm } from './evaluators-form.tsx';

/** Evaluators of a program are not evaluators of the service. */
const givenEvaluators = ({ evaluators }: Evaluation): Evaluator[] =>
  evaluators.some(({ type }) => type === 'code') ? [{ type: 'exact_match' }] : (evaluators as Evaluator[]);

/** Scores the outputs of a run with other evaluators, in a separate run. */
export function RescoreDialog({
  evaluation,
  onClose,
  onSecrets,
}: {
  evaluation: Evaluation;
  onClose: () => void;
  /** Called with the new run if there are secrets to show first. */
  onSecrets: (id: string, secrets: ReturnType<typeof newSecrets>) => void;
}) {
  const [evaluators, setEvaluators] = useState(() => givenEvaluators(evaluation));
  const [threshold, setThreshold] = useState(String(Number((evaluation.threshold * 100).toFixed(6))));
  const [maxCost, setMaxCost] = useState('');
  const client = useQueryClient();
  const navigate = useNavigate();
  const rescore = async () => {
    const changed = evaluators === evaluation.evaluators ? undefined : evaluators;
    const { id, evaluators: scored } = await post<Evaluation>(`${pathOf('evaluations', evaluation.id)}/rescore`, {
      // Omitted evaluators keep their secrets.
      ...(changed && { evaluators: changed }),
      ...(threshold !== '' && { threshold: Number((Number(threshold) / 100).toFixed(8)) }),
      ...(maxCost !== '' && { max_cost: maxCost }),
    });
    await client.invalidateQueries({ queryKey: ['evaluations', 'list'] });
    const secrets = changed === undefined ? [] : newSecrets(changed, scored);
    if (secrets.length > 0) onSecrets(id, secrets);
    else await navigate({ to: '/evaluations/$id', params: { id } });
  };
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title="Score again"
      description="A new run over the same outputs. The model is not called; only judges cost."
      submitLabel="Score"
      onSubmit={rescore}
    >
      <EvaluatorsForm value={evaluators} onChange={setEvaluators} />
      <div className="filters">
        <TextField
          label="Pass threshold, in %"
          type="number"
          min={0}
          max={100}
          step="any"
          value={threshold}
          onChange={setThreshold}
        />
        <TextField
          label="Maximum cost of judges, in US dollars"
          type="number"
          min={0}
          step="any"
          placeholder="no limit"
          value={maxCost}
          onChange={setMaxCost}
        />
      </div>
    </FormDialog>
  );
}
