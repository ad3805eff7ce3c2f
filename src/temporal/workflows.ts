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

/** How long Temporal may take to respond before the caller gets `temporarily_unavailable`. */
export const TEMPORAL_DEADLINE_MS = 10_000;

/** gRPC's DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and UNAVAILABLE: the next request would fare no better. */
const TEMPORAL_IS_AWAY = new Set([4, 8, 14]);
const GRPC_INVALID_ARGUMENT = 3;

/**
 * Starts that this process has in flight. A workspace that starts hundreds of workflows at once waits here, where others go past
 * it; in Temporal they would wait behind it.
 */
const starts = createFairSemaphore({ total: 32, perKey: 8 });

/** A start that found no place before its deadline: those before it took too long. */
class StartTimeoutError extends Error {
  override readonly name = 'StartTimeoutError';
}

async function acquireStart(workspace: string): Promise<Release> {
  const release = starts.tryAcquire(workspace);
  if (release !== undefined) return release;
  try {
    return await starts.acquire(workspace, { signal: AbortSignal.timeout(TEMPORAL_DEADLINE_MS) });
  } catch (cause) {
    throw new StartTimeoutError('Too many workflows wait to be started.', { cause });
  }
}

/** Whether Temporal could not be reached at all, or was too busy: nothing is wrong with what it was asked. */
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

/** How workflows are started. */
export interface WorkflowStarter {
  client: Client;
  taskQueues: TaskQueues;
  /** Whether workers of this process share the client's connection: a first task then goes to them at once. */
  eager: boolean;
}

/** A workflow that is to be started, with its arguments. */
export interface WorkflowToStart<Args extends unknown[]> {
  type: string;
  id: string;
  queue: keyof TaskQueues;
  /** UUID. */
  workspaceId: string;
  args: Args;
  /** What it is for, as operators read it in lists. */
  summary: string;
  /** What they read beside it. A run that continues as new keeps the memo, but no summary. */
  memo?: Record<string, string | number>;
  /** By which they find it, besides the workspace. */
  attributes?: Partial<Record<Exclude<keyof typeof SEARCH_ATTRIBUTES, 'workspace'>, string | null>>;
}

/** @returns what Temporal is told of a workflow, whether it starts now or by a schedule */
export function startOptions<Args extends unknown[]>(
  taskQueues: TaskQueues,
  { id, queue, workspaceId, args, summary, memo, attributes }: Omit<WorkflowToStart<Args>, 'type'>,
) {
  const workspace = publicId('workspace', workspaceId);
  const values: Record<string, string | null> = { workspace, ...attributes };
  return {
    // Activities inherit it: servers that know fairness dispatch tasks in turns round the workspaces.
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
 * @param restarts whether one that has ended is started again. Default: its id is used once, so doing it again changes nothing
 * @returns false where it was started before, or is at work
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
        // What takes long is shared by all workers.
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
 * @returns false where no such workflow is at work
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
 * Tells a workflow that its row has changed. It reads the row, so telling it twice or for nothing does no harm.
 * @returns false where no such workflow is at work
 */
export function tellChanged({ client }: Pick<WorkflowStarter, 'client'>, workflowId: string): Promise<boolean> {
  return signalWorkflow(client, workflowId, 'controlChanged');
}

/** Logs that a workflow could not be started, or told of a change: the reconciliation does so later. @param row whose workflow it is */
export const leaveToReconciliation = (log: Logger, row: Record<`${string}_id`, string>) => (error: unknown) =>
  log.warn({ err: error, ...row }, 'cannot start or signal a workflow; trying again later');

/**
 * Tells a workflow whose step was held back that a place is kept for it for a few seconds.
 * @param step which of its steps, where it has several at a time
 * @returns false where no such workflow is at work
 */
export function signalSlotFree(client: Client, workflowId: string, step = ''): Promise<boolean> {
  return signalWorkflow(client, workflowId, 'placeFree', step);
}

/** `missing`: Temporal knows no such workflow. `closed`: it has ended. */
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
