import { useMutation, useQueryClient } from '@tanstack/react-query';
import { pathOf, post } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { showError } from '../../components/toast.tsx';
import { replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { evaluationKey, hasEnded } from './queries.ts';

/** Pauses, resumes, cancels or retries a run. */
export function useControl(evaluation: Evaluation) {
  const { id, target, source_evaluation_id: source, examples_failed, examples_evaluated, examples_total } = evaluation;
  const client = useQueryClient();
  const mayExecute = useMay('execute');
  const control = useMutation({
    mutationFn: (action: 'pause' | 'resume' | 'cancel' | 'retry') =>
      post<Evaluation>(`${pathOf('evaluations', id)}/${action}`),
    async onSuccess(changed) {
      replaceData(client, evaluationKey(id), changed);
      await client.invalidateQueries({ queryKey: ['evaluations', 'list'] });
    },
    onError: showError,
  });
  // The caller's program runs it, not the service.
  const isElsewhere = target.type === 'code' && source === null;
  const isLeft = examples_failed > 0 || examples_evaluated < examples_total;
  return {
    run: control.mutate,
    isPending: control.isPending,
    isElsewhere,
    canRetry: mayExecute && hasEnded(evaluation) && isLeft && !isElsewhere,
  };
}
