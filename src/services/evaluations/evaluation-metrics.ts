import { Counter, type Registry } from 'prom-client';

/** Tells of an evaluation that has ended by itself. */
export type OnEvaluationEnd = (status: 'completed' | 'failed') => void;

const NAME = 'pms_evaluations_total';

/** Registers a metric of evaluations; an existing one is replaced. Those that were canceled are not counted. @returns to be told of each end */
export function countEvaluations(registry: Registry): OnEvaluationEnd {
  registry.removeSingleMetric(NAME);
  const evaluations = new Counter({
    name: NAME,
    help: 'Evaluations that have completed or failed',
    labelNames: ['status'],
    registers: [registry],
  });
  // From 0 on, so that the first of each is seen as an increase.
  for (const status of ['completed', 'failed']) evaluations.inc({ status }, 0);
  return (status) => evaluations.inc({ status });
}
