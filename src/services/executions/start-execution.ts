import type { Logger } from 'pino';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { newId } from '../../domain/ids.ts';
import { charsOf } from '../../domain/prompt.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import type { Models } from '../../models/model.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import { giveUp, startedOrWithdrawn, type Withdrawable } from '../acceptance/withdrawal.ts';
import type { Claim, Created, IdempotencyKeys, RequestKey } from '../idempotency/idempotency-keys.ts';
import type { FindVersion, KnownVersions } from '../prompts/known-versions.ts';
import { checkChange } from '../prompts/version.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { acceptExecution } from './accept-execution.ts';
import { insertExecution, type NewExecution, type PreparedExecution, prepareExecution } from './create-execution.ts';
import { cancelExecutionWorkflow, type StoredExecution, startExecutionWorkflow } from './execution-workflow.ts';
import { type ExecutionRow, executionStatus, getExecution, isFinished } from './executions.ts';
import { reuseResponse } from './reuse-response.ts';
import type { StartLimiter } from './start-limiter.ts';
import { withdrawExecution } from './withdraw-execution.ts';

/** Executions, as what a failed request withdraws. */
export const EXECUTION: Withdrawable = {
  field: 'execution_id',
  withdraw: withdrawExecution,
  stop: cancelExecutionWorkflow,
};

export interface StartDeps extends WorkflowStarter {
  startLimiter: Pick<StartLimiter, 'mayStart'>;
  log: Logger;
}

export interface StoreDeps extends Pick<WorkflowStarter, 'client'> {
  idempotency: Pick<IdempotencyKeys, 'claim'>;
  quotas: Pick<Quotas, 'storeExecution'>;
  models: Models;
  known: KnownVersions;
  evaluatorPool: EvaluatorPool;
  log: Logger;
}

/** What a request asks to run. */
export interface ExecutionToRun extends Omit<NewExecution, 'id'> {
  /** Take the response of the same call that was completed within so many seconds, where there is one. */
  reuse?: { max_age: number } | undefined;
}

/** An execution that is stored, by this request or by an earlier one with the same `Idempotency-Key`. */
export interface StoredRun extends Claim {
  /** When its creation began, as `performance.now()` gives it. */
  beganAt: number;
  /** What its workflow is started for. Undefined: it may have ended, or been started; its row says so. */
  toStart: StoredExecution | undefined;
}

/**
 * Stores an execution, once for each `Idempotency-Key`; {@link startExecution} starts it. Where nobody knows whether it was stored,
 * since the reply of the database was lost, it is withdrawn.
 * @throws ApiError as `checkChange`, `prepareExecution` and `IdempotencyKeys.claim`, `quota_exceeded`
 */
export async function storeExecution(
  deps: StoreDeps,
  db: WorkspaceDatabase,
  { reuse, ...request }: ExecutionToRun,
  requestKey: RequestKey | undefined,
): Promise<StoredRun> {
  const beganAt = performance.now();
  const { workspaceId } = db;
  // The schemas of its tools are compiled, in a thread.
  if (request.draft !== undefined) await checkChange(deps.evaluatorPool, workspaceId, request.draft, 'draft.');
  const execution = { ...request, id: newId() };
  let toStart: StoredExecution | undefined;
  let mayBeStored = false;

  async function store(query: Query): Promise<Created> {
    const prepared = await prepare(deps, query, workspaceId, execution);
    // From here on a statement or the commit may have succeeded although its reply was lost.
    mayBeStored = true;
    const stored = await insert(deps, query, workspaceId, execution, prepared);
    const isReused = reuse !== undefined && (await reuseResponse(query, stored, reuse.max_age * 1000));
    const { id, promptName, promptVersion, model, inputChars } = stored;
    if (!isReused) toStart = { id, workspaceId, promptName, promptVersion, model, inputChars };
    return { resourceId: id };
  }

  try {
    // One statement stores most executions; it needs no transaction.
    if (requestKey === undefined && reuse === undefined)
      return { ...(await store(db.query)), keyId: undefined, isReplay: false, beganAt, toStart };
    const claim = await deps.idempotency.claim(db, requestKey, store);
    return { ...claim, beganAt, toStart: claim.isReplay ? undefined : toStart };
  } catch (error) {
    if (mayBeStored) await giveUp(EXECUTION, deps, db, execution.id, undefined);
    throw error;
  }
}

/** Prepares an execution from the versions that are known, or from the database. */
async function prepare(
  { models, known }: StoreDeps,
  query: Query,
  workspaceId: string,
  execution: NewExecution,
): Promise<PreparedExecution> {
  const versions = known.of(workspaceId);
  let isAssumed = false;
  const find: FindVersion = async (...asked) => {
    const found = await versions.find(...asked);
    isAssumed = found.assumption !== undefined;
    return found;
  };
  try {
    return await prepareExecution(query, { models, find }, execution);
  } catch (error) {
    // What is wrong may be wrong only for the version that was known.
    if (!isAssumed) throw error;
    return prepareExecution(query, { models, find: versions.read }, execution);
  }
}

/** @returns what is stored: something else, where what was prepared is out of date by then */
async function insert(
  { models, known, quotas }: StoreDeps,
  query: Query,
  workspaceId: string,
  execution: NewExecution,
  prepared: PreparedExecution,
): Promise<PreparedExecution> {
  let stored = prepared;
  await quotas.storeExecution(query, workspaceId, async () => {
    if (await insertExecution(query, prepared)) return;
    stored = await prepareExecution(query, { models, find: known.of(workspaceId).read }, execution);
    await insertExecution(query, stored);
  });
  return stored;
}

/** How long a caller waits for the turn of its execution, and is told where the start fails. */
const TURN_WITHIN_MS = 1_000;
/** What nobody was told of is withdrawn after half a minute; this is accepted before, since its caller still waits. */
const ACCEPT_AFTER_MS = 10_000;

/**
 * Starts the workflow of an execution when its turn has come, or withdraws the execution. Where the turn takes long, it goes on in
 * the background: what fails then is made up for like what a process left behind that died. An execution that an earlier request has
 * stored is started where that request did not come to it.
 * @param acceptAfterMs when an execution that waits for its turn is accepted
 * @returns the execution where it has ended already
 * @throws ApiError `not_found` where it was withdrawn; else what kept the workflow from starting
 */
export async function startExecution(
  deps: StartDeps,
  db: WorkspaceDatabase,
  { resourceId: id, toStart }: Pick<StoredRun, 'resourceId' | 'toStart'>,
  acceptAfterMs = ACCEPT_AFTER_MS,
): Promise<ExecutionRow | undefined> {
  if (toStart === undefined) {
    const row = await getExecution(db, id);
    if (isFinished(row.status)) return row;
    if (row.status === 'queued')
      await startedOrWithdrawn(startExecutionWorkflow(deps, toStored(db, row)), EXECUTION, db, id);
    return undefined;
  }
  const turn = deps.startLimiter.mayStart(db.workspaceId, id);
  const isTurn = await within(TURN_WITHIN_MS, turn);
  if (isTurn === undefined) void startLater(deps, db, toStart, turn, acceptAfterMs);
  else if (isTurn) await startedOrWithdrawn(startExecutionWorkflow(deps, toStart), EXECUTION, db, id);
  return undefined;
}

function toStored({ workspaceId }: WorkspaceDatabase, row: ExecutionRow): StoredExecution {
  const { id, prompt_name: promptName, prompt_version: promptVersion, model, input, input_messages: messages } = row;
  return { id, workspaceId, promptName, promptVersion, model, inputChars: charsOf(input ?? messages ?? '') };
}

/** @returns undefined where the promise takes longer: making an error would take longer than most waits do */
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

/** Starts the workflow after its turn has come, unless the execution has ended by then. */
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
