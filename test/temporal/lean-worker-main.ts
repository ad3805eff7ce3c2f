// A worker of the test's workflows in a separate process, which ends after a call of more than a second. It leaves a rejected promise
// unhandled, as a bug would, and reports every such promise.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { createLeanWorkers } from '../../src/temporal/lean-workers.ts';

process.on('unhandledRejection', (error) => console.error(`rejected: ${String(error)}`));

const [address = '', taskQueue = ''] = process.argv.slice(2);
const logger = new DefaultLogger('ERROR');
Runtime.install({ logger });
const connection = await NativeConnection.connect({ address });
const workflowsPath = fileURLToPath(new URL('./workflows.ts', import.meta.url));
const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
const { workers } = await createLeanWorkers(
  (lean) => Worker.create({ ...lean, connection, workflowBundle, taskQueue }),
  { log: pino({ level: 'silent' }), callLimitMs: 1_000 },
);
void Promise.reject(new Error('of the process'));
await workers.run();
