import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import type { Logger } from 'pino';
import { publicId } from '../domain/ids.ts';
import { createFairSemaphore, type Release } from '../lib/fair-semaphore.ts';
import { SEARCH_ATTRIBUTES, type TaskQueues } from './names.ts';

/** How long Temporal can take to respond before the caller gets `temporarily_unavailable`. */
export const TEMPORAL_DEADLINE_MS = 10_000;

/** gRPC's DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and UNAVAILABLE: the next request would fail as well. */
const TEMPORAL_IS_AWAY = new Set([4, 8, 14]);
const GRPC_INVALID_ARGUMENT = 3;

/**
 * The starts that this process has in flight. A workspace that starts hundreds of workflows at once waits here, where others can
 * pass it; in Temporal they would queue behind it.
 */
const starts = createFairSemaphore({ total: 32, perKey: 8 });

/** A start that found no slot before its deadline because earlier ones took too long. */
class StartTimeoutError extends Error {
  override readonly name = 'StartTimeoutError';
}

async function acquireStart(workspace: string): Promise<Release> {
  const release = starts.tryAcquire(workspace);
  if (release !== undefined) return release;
  try {
    return await starts.acquire(workspace, { signal: AbortSignal.timeout(TEMPORAL_DEADLINE_MS) });
  } catch (cause) {
    throw new StartTimeoutError('Too many workflows are waiting to be started.', { cause });
  }
}

/** Whether Temporal could not be reached or was too busy, so the request itself was not the cause. */
export function isTemporalUnavailable(error: unknown): boolean {
  if (error instanceof StartTimeoutError) return true;
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && TEMPORAL_IS_AWAY.has(cause.code);
}

/** Whether Temporal refused a request as invalid. */
export function isInvalidArgument(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && Number(cause.code) === GRPC_INVALID_ARGUMENT;
}

/** Dependencies for starting workflows. */
export interface WorkflowStarter {
  client: Client;
  taskQueues: TaskQueues;
  /** Whether workers of this process share the client's connection, so that they get first tasks directly. */
  eager: boolean;
}

/** A workflow to start, with its arguments. */
export interface WorkflowToStart<Args extends unknown[]> {
  type: string;
  id: string;
  queue: keyof TaskQueues;
  /** UUID. */
  workspaceId: string;
  args: Args;
  /** Its purpose, shown to operators in lists. */
  summary: string;
  /** Details shown to operators. A run that continues as new keeps the memo, but no summary. */
  memo?: Record<string, string | number>;
  /** Search attributes in addition to the workspace. */
  attributes?: Partial<Record<Exclude<keyof typeof SEARCH_ATTRIBUTES, 'workspace'>, string | null>>;
}

/** @returns the options of a workflow, whether it starts now or by a schedule */
export function startOptions<Args extends unknown[]>(
  taskQueues: TaskQueues,
  { id, queue, workspaceId, args, summary, memo, attributes }: Omit<WorkflowToStart<Args>, 'type'>,
) {
  const workspace = publicId('workspace', workspaceId);
  const values: Record<string, string | null> = { workspace, ...attributes };
  return {
    // Inherited by activities: servers with fairness dispatch tasks to workspaces in turns.
    priority: { fairnessKey: workspace },
    workflowId: id,
    taskQueue: taskQueues[queue],
    args,
    staticSummary: summary,
    ...(memo && { memo }),
    typedSearchAttributes: Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, key]) => {
      const value = values[name] ?? null;
      return value === null ? [] : [{ key, value }];
    }),
  };
}

/**
 * Starts a workflow. Workspaces, which are the fairness keys of workflows, take turns.
 * @param restarts whether to start an ended one again. Default: its id is used once, so repeating the start changes nothing
 * @returns false if it was started before or is running
 */
export async function startWorkflow<T extends Workflow>(
  { client, taskQueues, eager }: WorkflowStarter,
  workflow: WorkflowToStart<Parameters<T>>,
  { restarts = false }: { restarts?: boolean } = {},
): Promise<boolean> {
  const deadline = Date.now() + TEMPORAL_DEADLINE_MS;
  const options = startOptions(taskQueues, workflow);
  const release = await acquireStart(options.priority.fairnessKey);
  try {
    await client.withDeadline(deadline, () =>
      client.workflow.start<Workflow>(workflow.type, {
        ...options,
        workflowIdReusePolicy: restarts ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
        // All workers share long-running work.
        requestEagerStart: eager && workflow.queue !== 'evaluations',
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  } finally {
    release();
  }
}

/**
 * Sends a signal.
 * @returns false if no such workflow is running
 */
export async function signalWorkflow(
  client: Client,
  workflowId: string,
  signal: string,
  ...args: [] | [string]
): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId).signal(signal, ...args),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/**
 * Signals a workflow that its row has changed. It reads the row, so extra signals are harmless.
 * @returns false if no such workflow is running
 */
export function tellChanged({ client }: Pick<WorkflowStarter, 'client'>, workflowId: string): Promise<boolean> {
  return signalWorkflow(client, workflowId, 'controlChanged');
}

/** Logs that a workflow could not be started or signaled: reconciliation does it later. @param row identifies the workflow's row */
export const leaveToReconciliation = (log: Logger, row: Record<`${string}_id`, string>) => (error: unknown) =>
  log.warn({ err: error, ...row }, 'cannot start or signal a workflow; trying again later');

/**
 * Signals a workflow whose step was deferred that a slot is reserved for it for a few seconds.
 * @param step identifies the step if the workflow has several at a time
 * @returns false if no such workflow is running
 */
export function signalSlotFree(client: Client, workflowId: string, step = ''): Promise<boolean> {
  return signalWorkflow(client, workflowId, 'placeFree', step);
}

/** `missing`: Temporal has no such workflow. `closed`: it has ended. */
export async function workflowState(client: Client, workflowId: string): Promise<'running' | 'closed' | 'missing'> {
  try {
    const { status } = await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    return status.name === 'RUNNING' || status.name === 'PAUSED' ? 'running' : 'closed';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}
