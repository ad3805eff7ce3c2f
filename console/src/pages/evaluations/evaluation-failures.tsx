import { linkOptions } from '@tanstack/react-router';
import type { Evaluation } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { Failures } from '../../components/failures.tsx';
import { formatNumber, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { useControl } from './use-control.ts';

/** How many examples of a run failed and why, or that the run itself did; empty if nothing failed. */
export function EvaluationFailures({ evaluation }: { evaluation: Evaluation }) {
  const { id, examples_failed: failed, examples_evaluated: evaluated, failures = [], error } = evaluation;
  const { run, isPending, canRetry } = useControl(evaluation);
  if (failed === 0 && error === null) return null;
  return (
    <Failures
      title={
        failed === 0
          ? t('The evaluation failed')
          : t(`${formatNumber(failed)} of ${plural(evaluated, 'example', 'examples')} failed`)
      }
      causes={[...(error === null ? [] : [{ ...error, count: 1 }]), ...failures]}
      open={linkOptions({ to: '/evaluations/$id', params: { id }, search: { only: 'failed' } })}
    >
      {canRetry && (
        <Button look="small" disabled={isPending} onClick={() => run('retry')}>
          Retry
        </Button>
      )}
    </Failures>
  );
}
