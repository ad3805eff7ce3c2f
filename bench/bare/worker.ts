import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { z } from 'zod';
import { createModels } from '../../src/models/create-models.ts';
import { answerQuestions } from '../child.ts';
import { createBareActivities } from './activities.ts';
import type { bare, bareLocal } from './workflows.ts';

const [address = '', modelUrl = ''] = process.argv.slice(2);
const TASK_QUEUE = 'bare';

const Load = z.object({ callers: z.int(), count: z.int(), workflow: z.enum(['bare', 'bareLocal']), input: z.string() });

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection });
const models = createModels({ providers: { openai: { apiKey: 'x', baseUrl: modelUrl } } });
const worker = await Worker.create({
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle: await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  }),
  activities: createBareActivities(models),
  maxConcurrentActivityTaskExecutions: 200,
  maxConcurrentLocalActivityExecutions: 200,
});
void worker.run();

async function run({ callers, count, workflow, input }: z.infer<typeof Load>) {
  const latenciesMs: number[] = [];
  let begun = 0;
  const started = performance.now();
  async function caller(): Promise<void> {
    while (begun < count) {
      begun += 1;
      const before = performance.now();
      await client.workflow.execute<typeof bare | typeof bareLocal>(workflow, {
        workflowId: `bare/${randomUUID()}`,
        taskQueue: TASK_QUEUE,
        args: [input],
        // The fastest variant starts eagerly on this worker.
        requestEagerStart: workflow === 'bareLocal',
      });
      latenciesMs.push(performance.now() - before);
    }
  }
  await Promise.all(Array.from({ length: callers }, caller));
  return { requests: count, seconds: (performance.now() - started) / 1000, latenciesMs };
}

answerQuestions(Load, run);
