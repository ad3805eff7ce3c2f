import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type Client, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import proto from '@temporalio/proto';
import { DefaultLogger, type NativeConnection, Runtime, Worker } from '@temporalio/worker';

const { History } = proto.temporal.api.history.v1;
type History = ReturnType<typeof History.fromObject>;

/** One path through a workflow: what its activities do, and what happens to it from outside. */
export interface Path {
  /** Name of the file in test/histories. */
  name: string;
  workflow: string;
  args: unknown[];
  activities: Record<string, (...args: never[]) => Promise<unknown>>;
  /** What happens from outside once the workflow has started, in real time. */
  meanwhile?: (handle: WorkflowHandle) => Promise<void>;
}

/** What a path needs of its surroundings. */
export interface PathEnvironment {
  client: Client;
  connection: NativeConnection;
  /** Script of the workflows. */
  code: string;
}

/** Keeps the SDK's own log out of the tests' output. Once a process, before anything else of the SDK. */
export function silenceTemporal(): void {
  const logger = new DefaultLogger('ERROR', () => {});
  Runtime.install({ logger, telemetryOptions: { logging: { filter: 'OFF', forward: {} } } });
}

/** Where this checkout is, as stack traces name it: of no use to who reads a saved history elsewhere. */
const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));

/** A history as JSON: enumerations by name, 64-bit numbers as text, bytes in base64. Paths begin at the project's folder. */
export function historyToJson(history: Parameters<typeof History.fromObject>[0]): string {
  const plain = History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String });
  return JSON.stringify(plain, undefined, 1).replaceAll(`file://${CHECKOUT}`, '').replaceAll(CHECKOUT, '');
}

/** What {@link historyToJson} wrote. */
export function historyFromJson(text: string): History {
  return History.fromObject(JSON.parse(text));
}

/** What the workflow returned; `canceled` where it ended so. */
async function resultOf(handle: WorkflowHandle): Promise<unknown> {
  try {
    return await handle.result();
  } catch (error) {
    if (error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure) return 'canceled';
    throw error;
  }
}

/** Takes a path to its end. @returns the history as JSON, and what the workflow returned */
export async function takePath(
  { client, connection, code }: PathEnvironment,
  path: Path,
): Promise<{ history: string; result: unknown }> {
  const taskQueue = `path-${randomUUID()}`;
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { code },
    activities: path.activities,
    maxHeartbeatThrottleInterval: '100 ms',
  });
  return worker.runUntil(async () => {
    const handle = await client.workflow.start(path.workflow, {
      workflowId: `${path.workflow}/${path.name}`,
      taskQueue,
      args: path.args,
      staticSummary: 'support/greeting v3 on openai/gpt-4o-mini',
    });
    // Only then: waiting for the result lets a server that can skip time do so, past what is to happen from outside.
    await path.meanwhile?.(handle);
    const result = await resultOf(handle);
    return { history: historyToJson(await handle.fetchHistory()), result };
  });
}
