import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import { createFairSemaphore, type Release } from '../lib/fair-semaphore.ts';
import type { TaskQueues } from './names.ts';

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
export function isTemporalAway(error: unknown): boolean {
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

/**
 * Starts a workflow whose id is used once. Doing it again changes nothing. Workspaces, which are the fairness keys of workflows,
 * take turns.
 * @returns false where it was started before
 */
export async function startWorkflowOnce<T extends Workflow>(
  starter: Pick<WorkflowStarter, 'client' | 'eager'>,
  type: string,
  options: WorkflowStartOptions<T>,
): Promise<boolean> {
  return startWorkflow<T>(starter, type, options, 'REJECT_DUPLICATE');
}

/**
 * Starts a workflow whose id is used again and again, unless it is at work.
 * @returns false where it is
 */
export async function startWorkflowUnlessRunning<T extends Workflow>(
  starter: Pick<WorkflowStarter, 'client' | 'eager'>,
  type: string,
  options: WorkflowStartOptions<T>,
): Promise<boolean> {
  return startWorkflow<T>(starter, type, options, 'ALLOW_DUPLICATE');
}

async function startWorkflow<T extends Workflow>(
  { client, eager }: Pick<WorkflowStarter, 'client' | 'eager'>,
  type: string,
  options: WorkflowStartOptions<T>,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
): Promise<boolean> {
  const deadline = Date.now() + TEMPORAL_DEADLINE_MS;
  const release = await acquireStart(options.priority?.fairnessKey ?? '');
  try {
    await client.withDeadline(deadline, () =>
      client.workflow.start<T>(type, {
        ...options,
        workflowIdReusePolicy,
        requestEagerStart: eager,
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
 * Tells a workflow whose step was held back that a place is kept for it for a few seconds.
 * @param step which of its steps, where it has several at a time
 * @returns false where no such workflow is at work
 */
export function tellSlotIsFree(client: Client, workflowId: string, step = ''): Promise<boolean> {
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
