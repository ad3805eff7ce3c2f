import type { Readable } from 'node:stream';
import { allows } from '../../domain/scopes.ts';
import { firstResponse, type Idempotency, idempotencyKeyOf } from '../../http/idempotency.ts';
import type { RouteRequest } from '../../http/route.ts';
import { EXECUTION } from '../../services/acceptance/kinds.ts';
import { giveUpFailed } from '../../services/acceptance/withdrawal.ts';
import { type StartDeps, startExecution } from '../../services/executions/creation/start-execution.ts';
import {
  type ExecutionToRun,
  type StoreDeps,
  type StoredRun,
  storeExecution,
} from '../../services/executions/creation/store-execution.ts';
import type { ExecutionWaiter } from '../../services/executions/execution-waiter.ts';
import { type ExecutionRow, type SeenExecution, wholeExecution } from '../../services/executions/executions.ts';
import { withNearest } from '../../services/prompts/nearest-prompt.ts';
import type { StreamFormat } from '../../services/streams/stream-events.ts';
import type { StreamHub } from '../../services/streams/stream-hub.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';

export interface RunExecutionDeps extends StartDeps, StoreDeps {
  idempotency: Idempotency;
  quotas: Quotas;
  waiter: ExecutionWaiter;
  streams: StreamHub;
}

type Request = RouteRequest<unknown, unknown, unknown>;

/** How the response to a caller who waits is made. */
export interface RunOptions {
  /** How long to wait for the end, in milliseconds. */
  waitMs: number;
  /** @param row the execution as it is at its end, or when the time is up */
  present: (row: ExecutionRow) => unknown;
  /** Whether a request that repeats this one waits for the execution, too, instead of getting the first response. Default: no. */
  isLive?: boolean | undefined;
}

/**
 * Runs an execution, once for each `Idempotency-Key`, and waits for its end. Where the response can't be given, the execution is
 * withdrawn before the error is.
 * @throws ApiError as `storeExecution`; `temporarily_unavailable`
 */
export async function runExecution(
  deps: RunExecutionDeps,
  request: Request,
  execution: ExecutionToRun,
  options: RunOptions,
): Promise<unknown> {
  const run = await storeNamed(deps, request, execution);
  const first = firstResponse(request, run);
  if (first !== undefined && !options.isLive) return first.response;
  request.dealtWith();
  // Not awaited here: the wait takes minutes, and what was stored, which may be large, is kept no longer.
  return respondAtEnd(deps, request, run, options);
}

/** As `storeExecution`; the error of a prompt that does not exist has the nearest name, for keys that may read names. */
async function storeNamed(deps: RunExecutionDeps, request: Request, execution: ExecutionToRun): Promise<StoredRun> {
  const { db, key } = request;
  const { promptName: name, label } = execution;
  return storeExecution(deps, db, execution, idempotencyKeyOf(request)).catch(async (error: unknown) => {
    const mayRead = name !== undefined && allows(key.scopes, 'read');
    throw mayRead ? await withNearest(db.query, error, { name, label }) : error;
  });
}

function respondAtEnd(
  deps: RunExecutionDeps,
  request: Request,
  run: StoredRun,
  { waitMs, present, isLive = false }: RunOptions,
): Promise<unknown> {
  return waitForExecution(deps, request, run, waitMs, async (seen) => {
    const response = present(await wholeExecution(request, seen));
    return isLive ? response : deps.idempotency.remember(request, run, response);
  });
}

/**
 * Runs an execution that is only a part of what a request does: an `Idempotency-Key` is not for it.
 * @param options.bytes of what is to be stored: many are stored in a turn
 * @returns the execution as it is at its end, or when the time is up
 * @throws ApiError as {@link runExecution}
 */
export async function runPart(
  deps: RunExecutionDeps,
  request: Request,
  execution: ExecutionToRun,
  { waitMs, bytes }: { waitMs: number; bytes: number },
): Promise<SeenExecution> {
  const end = await request.turn(bytes);
  const run = await storeExecution(deps, request.db, execution, undefined).finally(end);
  return waitForExecution(deps, request, run, waitMs, (seen) => seen);
}

/**
 * Starts an execution that is stored, and waits for its end. It is withdrawn where that fails, or `use` does.
 * @param use gets the execution as it is at its end, or when the time is up
 */
async function waitForExecution<Used>(
  deps: RunExecutionDeps,
  request: Request,
  run: StoredRun,
  waitMs: number,
  use: (seen: SeenExecution) => Used | Promise<Used>,
): Promise<Used> {
  const { db, signal } = request;
  // Before it is started, so that its end is not missed.
  const expectation = deps.waiter.expect(run.resourceId);
  try {
    const seen = (await startExecution(deps, db, run)) ?? (await expectation.wait(db, waitMs, signal));
    return await use(seen);
  } catch (error) {
    throw await giveUpFailed(EXECUTION, deps, db, run, error);
  } finally {
    expectation.done();
  }
}

/**
 * Runs an execution, once for each `Idempotency-Key`, and passes on what happens to it; a request that repeats this one gets a stream
 * of its own.
 * @param formatOf how events are written, for the id of the execution (UUID)
 * @throws ApiError as `storeExecution`; `quota_exceeded`, `temporarily_unavailable`
 */
export async function streamExecution<Format extends StreamFormat>(
  deps: RunExecutionDeps,
  request: Request,
  execution: ExecutionToRun,
  formatOf: (id: string) => Format,
): Promise<{ events: Readable; format: Format }> {
  const { db } = request;
  const run = await storeNamed(deps, request, { ...execution, stream: true });
  firstResponse(request, run);
  request.dealtWith();
  const format = formatOf(run.resourceId);
  try {
    const events = await deps.quotas.stream(db.workspaceId, async () => {
      await startExecution(deps, db, run);
      return deps.streams.open(db, run.resourceId, format);
    });
    return { events, format };
  } catch (error) {
    throw await giveUpFailed(EXECUTION, deps, db, run, error);
  }
}
