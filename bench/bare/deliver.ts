import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { answerQuestions } from '../child.ts';
import type { bareDelivery } from './workflows.ts';

// The minimum for durable delivery: a workflow with one activity that posts.

const [address = '', url = ''] = process.argv.slice(2);
const TASK_QUEUE = 'bare-deliveries';

const Load = z.object({ atOnce: z.int(), count: z.int() });

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection });
const agent = new Agent({ connections: 200 });
const worker = await Worker.create({
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle: await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  }),
  activities: {
    async post(id: string): Promise<void> {
      const headers = { 'x-event-id': id, 'content-type': 'application/json' };
      const { body } = await request(url, { method: 'POST', headers, body: '{}', dispatcher: agent });
      await body.dump();
    },
  },
  maxConcurrentActivityTaskExecutions: 400,
});
void worker.run();

/** Starts workflows with limited concurrency; the receiver measures their arrival. @returns the time of the first start */
async function run({ atOnce, count }: z.infer<typeof Load>) {
  const begunAt = performance.timeOrigin + performance.now();
  let begun = 0;
  async function starter(): Promise<void> {
    while (begun < count) {
      begun += 1;
      const id = randomUUID();
      await client.workflow.start<typeof bareDelivery>('bareDelivery', {
        workflowId: `bare-delivery/${id}`,
        taskQueue: TASK_QUEUE,
        args: [id],
      });
    }
  }
  await Promise.all(Array.from({ length: atOnce }, starter));
  return { begunAt };
}

answerQuestions(Load, run);
