import { Counter, Histogram, type Registry } from 'prom-client';
import { MODEL_ERROR_CODES } from '../../models/model-error.ts';
import { errorLabel, PROVIDER_LABELS, providerLabel } from '../../models/model-metrics.ts';
import type { EndedExecution } from './execution-events.ts';

/** Called for each execution that a statement of this process ended. */
export type OnExecutionEnd = (ended: EndedExecution) => void;

/**
 * Registers metrics of executions. Each end is counted once, by the process whose statement ended it. Executions that reused a
 * response or were recorded by an application are not counted, because nothing was run.
 * @returns the function to call at each end
 */
export function countExecutions(registry: Registry): OnExecutionEnd {
  const registers = [registry];
  const executions = new Counter({
    name: 'pms_executions_total',
    help: 'Executions that have ended',
    labelNames: ['status', 'provider', 'error'],
    registers,
  });
  const seconds = new Histogram({
    name: 'pms_execution_seconds',
    help: 'Time from the creation of executions to their end',
    labelNames: ['status', 'provider'],
    buckets: [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 900, 3_600],
    registers,
  });
  // Starts at 0, so that the first of each is visible as an increase.
  for (const provider of PROVIDER_LABELS) {
    executions.inc({ status: 'completed', provider, error: 'none' }, 0);
    for (const error of MODEL_ERROR_CODES) executions.inc({ status: 'failed', provider, error }, 0);
  }
  return ({ status, provider: name, error_code: code, total_ms: ms }) => {
    const provider = providerLabel(name);
    const error = errorLabel(code ?? (status === 'canceled' ? 'canceled' : 'none'));
    executions.inc({ status, provider, error });
    seconds.observe({ status, provider }, Math.max(ms, 0) / 1_000);
  };
}
