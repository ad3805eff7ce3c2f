import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { newId } from '../../domain/ids.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import type { RouteRequest } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { unlessWithdrawn } from '../../services/acceptance/withdrawal.ts';
import { giveUpExecution, resumeExecution, startInTurn } from '../../services/executions/accept-execution.ts';
import {
  insertExecution,
  type NewExecution,
  type PreparedExecution,
  prepareExecution,
} from '../../services/executions/create-execution.ts';
import type { ExecutionWaiter } from '../../services/executions/execution-waiter.ts';
import {
  type ExecutionRow,
  type SeenExecution,
  seeExecution,
  wholeExecution,
} from '../../services/executions/executions.ts';
import { reuseResponse } from '../../services/executions/reuse-response.ts';
import type { StartPace } from '../../services/executions/start-pace.ts';
import type { FindVersion, KnownVersions } from '../../services/prompts/known-versions.ts';
import { checkChange } from '../../services/prompts/version.ts';
import type { StreamFormat } from '../../services/streams/stream-events.ts';
import type { StreamHub } from '../../services/streams/stream-hub.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';

export interface RunExecutionDeps extends WorkflowStarter {
  idempotency: Idempotency;
  quotas: Quotas;
  models: Models;
  known: KnownVersions;
  evaluatorPool: EvaluatorPool;
  pace: StartPace;
  log: Logger;
}

/** What a request asks to run. */
export interface ExecutionToRun extends Omit<NewExecution, 'id'> {
  /** Take the response of the same call that was completed within so many seconds, where there is one. */
  reuse?: { max_age: number } | undefined;
  /** Whether a request that repeats this one gets a response of its own from the same execution. Default: where it is streamed. Else it gets the first one again. */
  isLive?: boolean | undefined;
}

/** An execution that is stored, by this request or by an earlier one with the same `Idempotency-Key`. */
export interface StoredRun {
  /** UUID. */
  id: string;
  /** Starts its workflow. @returns the execution where it has ended already */
  begin: () => Promise<SeenExecution | undefined>;
}

/**
 * Stores an execution, once for each `Idempotency-Key`, and withdraws it where the request fails.
 * @param respond begins the run and gives the response
 * @throws ApiError as `checkChange` and `prepareExecution`, `quota_exceeded`
 */
export async function runExecution(
  deps: RunExecutionDeps,
  request: RouteRequest<unknown, unknown, unknown>,
  { reuse, isLive, ...given }: ExecutionToRun,
  respond: (run: StoredRun) => Promise<unknown>,
): Promise<unknown> {
  const { db } = request;
  let toStore = given;
  // The schemas of its tools are compiled, in a thread.
  if (given.draft !== undefined) await checkChange(deps.evaluatorPool, db.workspaceId, given.draft, 'draft.');
  const id = newId();
  const { workspaceId } = db;
  const versions = deps.known.of(workspaceId);
  const prepareFrom = (query: Query, find: FindVersion) =>
    prepareExecution(query, { models: deps.models, find }, { id, ...toStore });

  async function prepare(query: Query): Promise<PreparedExecution> {
    let isAssumed = false;
    try {
      return await prepareFrom(query, async (...asked) => {
        const found = await versions.find(...asked);
        isAssumed = found.assumption !== undefined;
        return found;
      });
    } catch (error) {
      // What is wrong may be wrong only for the version that was known.
      if (!isAssumed) throw error;
      return prepareFrom(query, versions.read);
    }
  }

  async function insert(query: Query, pending: Pending): Promise<Pending> {
    await deps.quotas.storeExecution(query, workspaceId, async () => {
      if (await insertExecution(query, pending.prepared)) return;
      pending.prepared = await prepareFrom(query, versions.read);
      await insertExecution(query, pending.prepared);
    });
    return pending;
  }

  async function storeReusing(query: Query, maxAgeSeconds: number): Promise<Pending> {
    const stored = await insert(query, { prepared: await prepare(query) });
    return { ...stored, isReused: await reuseResponse(query, stored.prepared, maxAgeSeconds * 1000) };
  }

  /** What is waited for takes minutes, and what was stored for it may be large. */
  function forget(pending?: Pending): void {
    toStore = NOTHING;
    if (pending !== undefined)
      pending.prepared = { ...pending.prepared, ...NOTHING, input: null, inputMessages: null, tools: null };
    request.dealtWith();
  }

  async function begin({ prepared, isReused }: Pending): Promise<SeenExecution | undefined> {
    if (isReused) return seeExecution(db, id);
    const { promptName, promptVersion, model, inputChars } = prepared;
    await startInTurn(deps, db, { id, workspaceId, promptName, promptVersion, model, inputChars });
    return undefined;
  }

  return deps.idempotency.startOnce<Pending>(request, {
    id,
    // One statement stores most executions; it needs no transaction.
    ...(reuse === undefined
      ? { prepare: async (query: Query) => ({ prepared: await prepare(query) }), insert }
      : { store: (query: Query) => storeReusing(query, reuse.max_age) }),
    start(stored) {
      forget(stored);
      return unlessWithdrawn(respond({ id, begin: () => begin(stored) }));
    },
    resume(earlier) {
      forget();
      return unlessWithdrawn(respond({ id: earlier, begin: () => resumeExecution(deps, db, earlier) }));
    },
    isLive: isLive ?? given.stream,
    withdraw: (beganAt) => giveUpExecution(deps, db, id, beganAt),
  });
}

/** An execution on its way into the database. */
interface Pending {
  prepared: PreparedExecution;
  isReused?: boolean;
}

const NOTHING = { variables: {}, parameters: {}, metadata: {} };

/** Begins a run and waits for its end. @returns the execution as it is then, or after `waitMs` */
export async function runToEnd(
  waiter: ExecutionWaiter,
  request: RouteRequest<unknown, unknown, unknown>,
  { id, begin }: StoredRun,
  waitMs: number,
): Promise<ExecutionRow> {
  const { db, signal } = request;
  const expectation = waiter.expect(id);
  let seen: SeenExecution;
  try {
    seen = (await begin()) ?? (await expectation.wait(db, waitMs, signal));
  } finally {
    expectation.done();
  }
  return wholeExecution(request, seen);
}

/** Begins a run and passes on what happens to it. @throws ApiError `quota_exceeded` */
export function streamRun(
  { quotas, streams }: { quotas: Quotas; streams: StreamHub },
  { db }: { db: WorkspaceDatabase },
  { id, begin }: StoredRun,
  format: StreamFormat,
): Promise<Readable> {
  return quotas.stream(db.workspaceId, async () => {
    await begin();
    return streams.open(db, id, format);
  });
}
