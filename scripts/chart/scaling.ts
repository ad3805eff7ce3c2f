import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { goTool } from '../go-tools.ts';
import type { Manifest } from './manifests.ts';
import { run } from './programs.ts';

const PODS = 'namespace="prompts",pod="a"';
const bucket = (queue: string, le: string) =>
  `pms_schedule_to_start_seconds_bucket{${PODS},task_queue="${queue}",le="${le}"}`;
const slots = { series: `pms_worker_slots{${PODS}}`, values: '100x40' };

/** What nine in ten steps have waited in each queue, and what the query makes of it: nothing where it is undefined. */
const CASES = [
  {
    name: 'the queue that waits most counts, and other namespaces do not',
    series: [
      slots,
      ...['executions', 'evaluations'].flatMap((queue) => [
        { series: bucket(queue, '1'), values: queue === 'executions' ? '0+10x40' : '0x40' },
        { series: bucket(queue, '5'), values: '0+10x40' },
        { series: bucket(queue, '+Inf'), values: '0+10x40' },
      ]),
      {
        series: 'pms_schedule_to_start_seconds_bucket{namespace="others",task_queue="executions",le="60"}',
        values: '0+9x40',
      },
    ],
    expected: 4.6,
  },
  {
    name: 'nothing waits',
    series: [slots, ...['1', '+Inf'].map((le) => ({ series: bucket('executions', le), values: '7x40' }))],
    expected: 0,
  },
  { name: 'no worker is scraped', series: [], expected: undefined },
];

/** Evaluates the query of the ScaledObject by Prometheus' own engine. @returns how many cases there are */
export async function checkScalingQuery(manifests: Manifest[], folder: string): Promise<number> {
  const scaled = manifests.find(({ kind }) => kind === 'ScaledObject');
  const expr = scaled?.spec.triggers[0].metadata.query;
  const tests = CASES.map(({ name, series, expected }) => ({
    name,
    interval: '15s',
    input_series: series,
    promql_expr_test: [
      { expr, eval_time: '9m', exp_samples: expected === undefined ? [] : [{ labels: '{}', value: expected }] },
    ],
  }));
  const file = path.join(folder, 'scaling.test.yaml');
  writeFileSync(file, stringify({ rule_files: [], evaluation_interval: '15s', tests }));
  run(await goTool('promtool', console.error), ['test', 'rules', file]);
  return tests.length;
}
