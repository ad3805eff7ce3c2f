import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { prepared } from '../../db/statement.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { charsOf } from '../../domain/prompt.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import { holdMsOf, withdrawOrGoOn } from '../acceptance/withdrawal.ts';
import { cancelExecutionWorkflow, type StoredExecution, startExecutionWorkflow } from './execution-workflow.ts';
import {
  executionStatus,
  getExecution,
  inputMessagesOf,
  isFinished,
  type SeenExecution,
  seeExecution,
} from './executions.ts';
import type { StartPace } from './start-pace.ts';
import { withdrawExecution } from './withdraw-execution.ts';

const ACCEPT = prepared<{ id: string }>()((db, { id }) =>
  db
    .updateTable('executions')
    .set((eb) => ({ accepted_at: eb.fn.coalesce('accepted_at', now) }))
    .where('id', '=', id)
    .where(inStates(executionStates, ['queued']))
    .returning('id'),
);

/**
 * The execution, for a caller who is about to be told of it. One that is still queued is marked as accepted, so that it is run
 * whatever happens from now on.
 * @throws ApiError `not_found`
 */
export async function acceptExecution(db: WorkspaceDatabase, id: string): Promise<SeenExecution> {
  const seen = await seeExecution(db, id);
  if (seen.status !== 'queued') return seen;
  const [accepted] = await db.query(ACCEPT, { id });
  return accepted === undefined ? seeExecution(db, id) : seen;
}

/**
 * Starts the workflow, or withdraws the execution: a caller who is told that it failed can simply try again.
 * @throws what kept the workflow from starting
 */
export async function startOrWithdraw(
  deps: WorkflowStarter,
  db: WorkspaceDatabase,
  execution: StoredExecution,
): Promise<void> {
  try {
    await startExecutionWorkflow(deps, execution);
  } catch (error) {
    if (await withdrawExecution(db, execution.id, false)) throw error;
  }
}

/** How long a caller waits for the turn of its execution, and is told where the start fails. */
const TURN_WITHIN_MS = 1_000;
/** What nobody was told of is withdrawn after half a minute; this is accepted before, since its caller still waits. */
const ACCEPT_AFTER_MS = 10_000;

/**
 * Starts the workflow when its turn has come. Where that takes long, it goes on in the background: what fails then is made up for
 * like what a process left behind that died.
 * @param acceptAfterMs when an execution that waits for its turn is accepted
 * @throws as {@link startOrWithdraw}
 */
export async function startInTurn(
  deps: WorkflowStarter & { pace: Pick<StartPace, 'turn'>; log: Logger },
  db: WorkspaceDatabase,
  execution: StoredExecution,
  acceptAfterMs = ACCEPT_AFTER_MS,
): Promise<void> {
  const turn = deps.pace.turn(db.workspaceId, execution.id);
  // Ended without an error, which takes longer to make than most waits do.
  let timer: NodeJS.Timeout | undefined;
  const later = new Promise<'later'>((resolve) => {
    timer = setTimeout(resolve, TURN_WITHIN_MS, 'later').unref();
  });
  const isTurn = await Promise.race([turn, later]);
  clearTimeout(timer);
  if (isTurn === 'later') void startLater(deps, db, execution, turn, acceptAfterMs);
  else if (isTurn) await startOrWithdraw(deps, db, execution);
}

/** Starts the workflow after its turn has come, unless the execution has ended by then. */
async function startLater(
  deps: WorkflowStarter & { log: Logger },
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

/**
 * Starts an execution that an earlier request has stored, where that request did not come to it.
 * @returns the execution where it has ended already
 * @throws ApiError `not_found` where it was withdrawn
 */
export async function resumeExecution(
  deps: WorkflowStarter,
  db: WorkspaceDatabase,
  id: string,
): Promise<SeenExecution | undefined> {
  const seen = await seeExecution(db, id);
  if (isFinished(seen.status)) return seen;
  const row = seen.row ?? (await getExecution(db, id));
  const { prompt_name: promptName, prompt_version: promptVersion, model } = row;
  const inputChars = charsOf(row.input ?? inputMessagesOf(row) ?? '');
  if (row.status === 'queued')
    await startOrWithdraw(deps, db, { id, workspaceId: db.workspaceId, promptName, promptVersion, model, inputChars });
  return undefined;
}

/**
 * Makes sure, before its caller is told that it failed, that an execution does not run later.
 * @param beganAt as for {@link holdMsOf}
 */
export async function giveUpExecution(
  { client, log }: Pick<WorkflowStarter, 'client'> & { log: Logger },
  db: WorkspaceDatabase,
  id: string,
  beganAt: number | undefined,
): Promise<void> {
  // Without a start of its own, whoever was told of it is another request with the same Idempotency-Key.
  const withdraw = () => withdrawExecution(db, id, beganAt !== undefined);
  await withdrawOrGoOn(log, { field: 'execution_id', id, withdraw }, holdMsOf(beganAt));
  // Ends a call that is in flight; there may be no workflow.
  void cancelExecutionWorkflow(client, id, log);
}
