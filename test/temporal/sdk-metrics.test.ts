import { expect, test } from '@jest/globals';
import { readSdkMetrics, summarizeSdkMetrics } from '../../src/temporal/sdk-metrics.ts';
import { parseExposition } from '../support/exposition.ts';
import { freePorts } from '../support/processes.ts';

const nameOf = (queue: string) => (queue === 'prefix-executions' ? 'executions' : 'other');
const waited = (kind: string, labels: string, seconds: number) => `
temporal_${kind}_schedule_to_start_latency_seconds_bucket{namespace="default",${labels},le="0.01"} 1
temporal_${kind}_schedule_to_start_latency_seconds_bucket{namespace="default",${labels},le="+Inf"} 2
temporal_${kind}_schedule_to_start_latency_seconds_sum{namespace="default",${labels}} ${seconds}
temporal_${kind}_schedule_to_start_latency_seconds_count{namespace="default",${labels}} 2
`;
const SERVED = `# HELP temporal_worker_task_slots_used Slots
# TYPE temporal_worker_task_slots_used gauge
temporal_worker_task_slots_used{namespace="default",task_queue="prefix-executions",worker_type="WorkflowWorker"} 3
temporal_worker_task_slots_available{namespace="default",task_queue="prefix-executions",worker_type="WorkflowWorker"} 7
temporal_request_failure_total{operation="StartWorkflowExecution",status_code="UNAVAILABLE"} 2
temporal_request_failure_total{operation="DescribeNamespace",status_code="UNAVAILABLE"} 3
temporal_sticky_cache_size{task_queue="prefix-executions"} 9
${waited('workflow_task', 'task_queue="prefix-executions",workflow_type="executePrompt"', 0.5)}
${waited('activity', 'task_queue="prefix-executions",activity_type="runBatch"', 1.5)}`;

const summary = () =>
  parseExposition(summarizeSdkMetrics(SERVED, nameOf)).map(({ name, labels, value }) => ({ name, ...labels, value }));

test('the waits of workflows and activities are totaled by queue, under its name here', () => {
  const all = summary();
  const name = 'pms_schedule_to_start_seconds';
  expect(all).toContainEqual({ name: `${name}_sum`, task_queue: 'executions', value: 2 });
  expect(all).toContainEqual({ name: `${name}_count`, task_queue: 'executions', value: 4 });
  expect(all).toContainEqual({ name: `${name}_bucket`, task_queue: 'executions', le: '0.01', value: 2 });
  expect(all).toContainEqual({ name: `${name}_bucket`, task_queue: 'executions', le: '+Inf', value: 4 });
});

test('slots and failures are there, and nothing useless to operators', () => {
  const all = summary();
  const slots = { name: 'pms_worker_slots', task_queue: 'executions', tasks: 'WorkflowWorker' };
  expect(all).toContainEqual({ ...slots, state: 'used', value: 3 });
  expect(all).toContainEqual({ ...slots, state: 'available', value: 7 });
  expect(all).toContainEqual({ name: 'pms_temporal_request_failures_total', code: 'UNAVAILABLE', value: 5 });
  expect(all.filter(({ name }) => !name.startsWith('pms_'))).toEqual([]);
});

test('each series is there once, and each family is described', () => {
  const text = summarizeSdkMetrics(SERVED, nameOf);
  const lines = text.split('\n').filter((line) => line !== '');
  expect(new Set(lines.map((line) => line.slice(0, line.lastIndexOf(' ')))).size).toBe(lines.length);
  expect(text).toContain('# TYPE pms_schedule_to_start_seconds histogram');
});

test('if the SDK serves nothing, there is nothing', async () => {
  const [port] = await freePorts(1);
  expect(await readSdkMetrics(`127.0.0.1:${port}`, nameOf)).toBe('');
});
