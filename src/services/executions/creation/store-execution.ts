import type { Logger } from 'pino';
import type { Query, WorkspaceDatabase } from '../../../db/database.ts';
import { newId } from '../../../domain/ids.ts';
import type { EvaluatorPool } from '../../../evaluators/threads/evaluator-pool.ts';
import type { Models } from '../../../models/model.ts';
import type { WorkflowStarter } from '../../../temporal/workflows.ts';
import { EXECUTION } from '../../acceptance/kinds.ts';
import { giveUp } from '../../acceptance/withdrawal.ts';
import type { Claim, Created, IdempotencyKeys, RequestKey } from '../../idempotency/idempotency-keys.ts';
import type { FindVersion, KnownVersions } from '../../prompts/known-versions.ts';
import { checkChange } from '../../prompts/version.ts';
import type { Quotas } from '../../workspaces/quotas.ts';
import type { StoredExecution } from '../execution-workflow.ts';
import { insertExecution, type NewExecution, type PreparedExecution, prepareExecution } from './create-execution.ts';
import { reuseResponse } from './reuse-response.ts';

export interface StoreDeps extends Pick<WorkflowStarter, 'client'> {
  idempotency: Pick<IdempotencyKeys, 'claim'>;
  quotas: Pick<Quotas, 'storeExecution'>;
  models: Models;
  known: KnownVersions;
  evaluatorPool: EvaluatorPool;
  log: Logger;
}

/** What a request wants to run. */
export interface ExecutionToRun extends Omit<NewExecution, 'id'> {
  /** Reuse the response of the same call if one was completed within this many seconds. */
  reuse?: { max_age: number } | undefined;
}

/** An execution stored by this request or by an earlier one with the same `Idempotency-Key`. */
export interface StoredRun extends Claim {
  /** When its creation started, as a `performance.now()` time. */
  startedAt: number;
  /** What to start its workflow for. Undefined: it may have ended or been started, which its row shows. */
  toStart: StoredExecution | undefined;
}

/**
 * Stores an execution, once for each `Idempotency-Key`; `startExecution` starts it. If it is unknown whether it was stored,
 * because the reply of the database was lost, it is withdrawn.
 * @throws ApiError as `checkChange`, `prepareExecution` and `IdempotencyKeys.claim`, `quota_exceeded`
 */
export async function storeExecution(
  deps: StoreDeps,
  db: WorkspaceDatabase,
  { reuse, ...request }: ExecutionToRun,
  requestKey: RequestKey | undefined,
): Promise<StoredRun> {
  const startedAt = performance.now();
  const { workspaceId } = db;
  const execution = { ...request, id: newId() };
  let toStart: StoredExecution | undefined;
  let mayBeStored = false;

  async function prepareStore(): Promise<(query: Query) => Promise<Created>> {
    // Compiles the schemas of its tools, in a thread.
    if (request.draft !== undefined) await checkChange(deps.evaluatorPool, workspaceId, request.draft, 'draft.');
    return store;
  }

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
    // Most executions are stored by one statement, which needs no transaction.
    if (requestKey === undefined && reuse === undefined)
      return { ...(await (await prepareStore())(db.query)), keyId: undefined, isReplay: false, startedAt, toStart };
    const claim = await deps.idempotency.claim(db, requestKey, prepareStore);
    return { ...claim, startedAt, toStart: claim.isReplay ? undefined : toStart };
  } catch (error) {
    if (mayBeStored) await giveUp(EXECUTION, deps, db, execution.id, undefined);
    throw error;
  }
}

/** Prepares an execution from cached versions, or from the database. */
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
    // The error may apply only to the cached version.
    if (!isAssumed) throw error;
    return prepareExecution(query, { models, find: versions.read }, execution);
  }
}

/** @returns the stored execution, which differs from the prepared one if that is out of date by then */
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
