import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { activityInfo } from '@temporalio/activity';
import { type Client, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import proto from '@temporalio/proto';
import { DefaultLogger, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import './one-runtime.ts';

const { History } = proto.temporal.api.history.v1;
type History = ReturnType<typeof History.fromObject>;

/** One path through a workflow: the results of its activities, and external actions. */
export interface Path {
  /** Name of the file in test/histories. */
  name: string;
  workflow: string;
  args: unknown[];
  activities: Record<string, (...args: never[]) => Promise<unknown>>;
  /** For a workflow task; default: the server's, 10 s. During a long step, its worker heartbeats after 80% of it. */
  taskTimeoutMs?: number;
  /** External actions once the workflow has started, in real time. */
  meanwhile?: (handle: WorkflowHandle) => Promise<void>;
}

/** The environment of paths: a Temporal, and a worker, which takes longer to start than most paths take. */
export interface PathEnvironment {
  client: Client;
  taskQueue: string;
  /** The activities of running paths, by workflow id. */
  activities: Map<string, Path['activities']>;
  /** Settles when the environment is closed. Rejects if the worker fails. */
  working: Promise<void>;
  /** Ends the worker, but not the connection. */
  close(): Promise<void>;
}

/** Starts a worker for any number of paths, one after another or side by side. */
export async function openPaths(client: Client, connection: NativeConnection): Promise<PathEnvironment> {
  const taskQueue = `paths-${randomUUID()}`;
  const activities: PathEnvironment['activities'] = new Map();
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      // Whatever an activity's name is.
      default: async (...args: never[]) => {
        const { activityType, workflowExecution } = activityInfo();
        const { workflowId = '' } = workflowExecution ?? {};
        const activity = activities.get(workflowId)?.[activityType];
        if (activity === undefined) throw new Error(`${workflowId} has no activity ${activityType}.`);
        return activity(...args);
      },
    },
    maxHeartbeatThrottleInterval: '100 ms',
  });
  const working = worker.run();
  return {
    client,
    taskQueue,
    activities,
    working,
    async close() {
      worker.shutdown();
      await working;
    },
  };
}

/** Keeps the SDK's own log out of the tests' output. Once per process, before any other use of the SDK. */
export function silenceTemporal(): void {
  const logger = new DefaultLogger('ERROR', () => {});
  Runtime.install({ logger, telemetryOptions: { logging: { filter: 'OFF', forward: {} } } });
}

/** The path of this checkout in stack traces, which is useless in a saved history. */
const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));

/** A history as JSON: enumerations by name, 64-bit numbers as strings, bytes in base64. Paths are relative to the project. */
export function historyToJson(history: Parameters<typeof History.fromObject>[0]): string {
  const plain = History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String });
  return JSON.stringify(plain, undefined, 1).replaceAll(`file://${CHECKOUT}`, '').replaceAll(CHECKOUT, '');
}

/** Parses the output of {@link historyToJson}. */
export function historyFromJson(text: string): History {
  return History.fromObject(JSON.parse(text));
}

/** The result of the workflow; `canceled` if it was canceled. */
async function resultOf(handle: WorkflowHandle): Promise<unknown> {
  try {
    return await handle.result();
  } catch (error) {
    if (error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure) return 'canceled';
    throw error;
  }
}

/** Runs a path to its end. @returns the history as JSON, and the result of the workflow */
export async function takePath(
  { client, taskQueue, activities, working }: PathEnvironment,
  path: Path,
): Promise<{ history: string; result: unknown }> {
  const workflowId = `${path.workflow}/${path.name}`;
  const take = async () => {
    const handle = await client.workflow.start(path.workflow, {
      workflowId,
      taskQueue,
      args: path.args,
      staticSummary: 'support/greeting v3 on openai/gpt-4o-mini',
      ...(path.taskTimeoutMs !== undefined && { workflowTaskTimeout: path.taskTimeoutMs }),
    });
    // Only then: waiting for the result lets a time-skipping server skip past the external actions.
    await path.meanwhile?.(handle);
    const result = await resultOf(handle);
    return { history: historyToJson(await handle.fetchHistory()), result };
  };
  activities.set(workflowId, path.activities);
  const stopped = working.then(() => {
    throw new Error('The worker has stopped.');
  });
  try {
    return await Promise.race([take(), stopped]);
  } catch (error) {
    // Without its activities it would be at its retries for years of a time that is skipped.
    await client.workflow
      .getHandle(workflowId)
      .terminate()
      .catch(() => {});
    throw error;
  } finally {
    activities.delete(workflowId);
  }
}
