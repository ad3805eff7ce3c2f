import { Counter, type Registry } from 'prom-client';

/** Called when an evaluation has completed or failed. */
export type OnEvaluationEnd = (status: 'completed' | 'failed') => void;

const NAME = 'pms_evaluations_total';

/**
 * Registers a metric of evaluations, replacing an existing one. Canceled evaluations are not counted. @returns the function to
 * call at each end
 */
export function countEvaluations(registry: Registry): OnEvaluationEnd {
  registry.removeSingleMetric(NAME);
  const evaluations = new Counter({
    name: NAME,
    help: 'Evaluations that have completed or failed',
    labelNames: ['status'],
    registers: [registry],
  });
  // Starts at 0, so that the first of each is visible as an increase.
  for (const status of ['completed', 'failed']) evaluations.inc({ status }, 0);
  return (status) => evaluations.inc({ status });
}
