import { Counter, Gauge, type Registry } from 'prom-client';
import { runEvery } from './run-every.ts';

const NAMES = ['pms_task_failures_total', 'pms_task_success_timestamp_seconds'];

/** `runEvery` with metrics of each task in this process, replacing existing ones. */
export function countTasks(registry: Registry): typeof runEvery {
  for (const name of NAMES) registry.removeSingleMetric(name);
  const registers = [registry];
  const labelNames = ['task'];
  const failures = new Counter({
    name: 'pms_task_failures_total',
    help: 'Runs of a recurring task that failed',
    labelNames,
    registers,
  });
  const success = new Gauge({
    name: 'pms_task_success_timestamp_seconds',
    help: 'When a recurring task last succeeded, or when it was set up if it never has',
    labelNames,
    registers,
  });
  return (name, intervalMs, log, work, options) => {
    const labels = { task: name };
    failures.inc(labels, 0);
    success.setToCurrentTime(labels);
    const counted: typeof work = async (stopping) => {
      try {
        await work(stopping);
        success.setToCurrentTime(labels);
      } catch (error) {
        failures.inc(labels);
        throw error;
      }
    };
    return runEvery(name, intervalMs, log, counted, options);
  };
}
