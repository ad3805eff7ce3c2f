import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../../../db/database.ts';
import { charsOf } from '../../../domain/prompts/prompt.ts';
import type { WorkflowStarter } from '../../../temporal/workflows.ts';
import { EXECUTION } from '../../acceptance/kinds.ts';
import { startedOrWithdrawn } from '../../acceptance/withdrawal.ts';
import { type StoredExecution, startExecutionWorkflow } from '../execution-workflow.ts';
import {
  type ExecutionRow,
  executionStatus,
  getExecution,
  inputMessagesOf,
  isFinished,
  readExecutionView,
  type SeenExecution,
} from '../executions.ts';
import { acceptExecution } from './accept-execution.ts';
import type { StartLimiter } from './start-limiter.ts';
import type { StoredRun } from './store-execution.ts';

export interface StartDeps extends WorkflowStarter {
  startLimiter: Pick<StartLimiter, 'mayStart'>;
  log: Logger;
}

/** How long a caller waits for its queued execution to start, and receives the error if the start fails. */
const TURN_WITHIN_MS = 1_000;
/** Executions without a notified caller are withdrawn after half a minute; this one is accepted earlier, because its caller still waits. */
const ACCEPT_AFTER_MS = 10_000;

/**
 * Starts the workflow of an execution when the start limiter allows it, or withdraws the execution. If that takes long, it
 * continues in the background; a failure is then repaired like the leftovers of a process that died. An execution stored by an
 * earlier request is started if that request did not get to it.
 * @param acceptAfterMs when a waiting execution is accepted
 * @returns the execution if it has already ended
 * @throws ApiError `not_found` if it was withdrawn; otherwise the error that kept the workflow from starting
 */
export async function startExecution(
  deps: StartDeps,
  db: WorkspaceDatabase,
  { resourceId: id, toStart }: Pick<StoredRun, 'resourceId' | 'toStart'>,
  acceptAfterMs = ACCEPT_AFTER_MS,
): Promise<SeenExecution | undefined> {
  if (toStart === undefined) {
    const seen = await readExecutionView(db, id);
    if (isFinished(seen.status)) return seen;
    if (seen.status === 'queued') {
      const again = toStored(db, seen.row ?? (await getExecution(db, id)));
      await startedOrWithdrawn(startExecutionWorkflow(deps, again), EXECUTION, db, id);
    }
    return undefined;
  }
  const turn = deps.startLimiter.mayStart(db.workspaceId, id);
  const isTurn = await within(TURN_WITHIN_MS, turn);
  if (isTurn === undefined) void startLater(deps, db, toStart, turn, acceptAfterMs);
  else if (isTurn) await startedOrWithdrawn(startExecutionWorkflow(deps, toStart), EXECUTION, db, id);
  return undefined;
}

function toStored({ workspaceId }: WorkspaceDatabase, row: ExecutionRow): StoredExecution {
  const { id, prompt_name: promptName, prompt_version: promptVersion, model, input } = row;
  return {
    id,
    workspaceId,
    promptName,
    promptVersion,
    model,
    inputChars: charsOf(input ?? inputMessagesOf(row) ?? ''),
  };
}

/** @returns undefined if the promise takes longer. Creating an error would take longer than most waits */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined).unref();
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts the workflow when the start limiter allows it, unless the execution has ended by then. */
async function startLater(
  deps: StartDeps,
  db: WorkspaceDatabase,
  execution: StoredExecution,
  turn: Promise<boolean>,
  acceptAfterMs: number,
): Promise<void> {
  const warn = (err: unknown) => deps.log.warn({ err, execution_id: execution.id }, 'cannot start an execution yet');
  const accepting = setTimeout(() => acceptExecution(db, execution.id).catch(warn), acceptAfterMs).unref();
  const isTurn = await turn;
  clearTimeout(accepting);
  if (!isTurn) return;
  try {
    if ((await executionStatus(db.query, execution.id)) === 'queued') await startExecutionWorkflow(deps, execution);
  } catch (error) {
    warn(error);
  }
}
