import { Link } from '@tanstack/react-router';
import type { Evaluation } from '../../api-types.ts';
import { Failures } from '../../components/failures.tsx';
import { formatNumber, plural } from '../../format.ts';
import { t } from '../../strings.ts';

/** How many examples of a run failed and why; empty if none did. */
export function EvaluationFailures({ evaluation }: { evaluation: Evaluation }) {
  const { id, examples_failed: failed, examples_evaluated: evaluated, failures = [] } = evaluation;
  if (failed === 0) return null;
  return (
    <Failures
      title={t(`${formatNumber(failed)} of ${plural(evaluated, 'example', 'examples')} failed`)}
      causes={failures}
    >
      <Link to="/evaluations/$id" params={{ id }} search={{ only: 'failed' }} className="button small">
        Show those that failed
      </Link>
    </Failures>
  );
}
