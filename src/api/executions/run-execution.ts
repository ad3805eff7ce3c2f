import type { Readable } from 'node:stream';
import { allows } from '../../domain/scopes.ts';
import { firstResponse, type Idempotency, idempotencyKeyOf } from '../../http/idempotency.ts';
import type { RouteRequest } from '../../http/route.ts';
import { parseTraceparent } from '../../lib/traceparent.ts';
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

/** How to respond to a caller that waits. */
export interface RunOptions {
  /** How long to wait for the end, in milliseconds. */
  waitMs: number;
  /** @param row the execution at its end or when the wait is over */
  present: (row: ExecutionRow) => unknown;
  /** Whether a repeated request also waits for the execution instead of getting the first response. Default: no. */
  isLive?: boolean | undefined;
}

/**
 * Runs an execution, once for each `Idempotency-Key`, and waits for its end. If no response can be given, the execution is
 * withdrawn before the error is thrown.
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
  // Not awaited here: waiting takes minutes, and the stored content, which can be large, must not stay in memory.
  return respondAtEnd(deps, request, run, options);
}

/** The execution as a step of the caller's trace, whether or not the service itself traces. */
const inTrace = (request: Request, execution: ExecutionToRun): ExecutionToRun => ({
  ...execution,
  calledBy: parseTraceparent(request.header('traceparent')),
});

/** Like `storeExecution`, but the error for a missing prompt suggests the nearest name if the key can read names. */
async function storeNamed(deps: RunExecutionDeps, request: Request, execution: ExecutionToRun): Promise<StoredRun> {
  const { db, key } = request;
  const { promptName: name, label } = execution;
  return storeExecution(deps, db, inTrace(request, execution), idempotencyKeyOf(request)).catch(
    async (error: unknown) => {
      const mayRead = name !== undefined && allows(key.scopes, 'read');
      throw mayRead ? await withNearest(db.query, error, { name, label }) : error;
    },
  );
}

function respondAtEnd(
  deps: RunExecutionDeps,
  request: Request,
  run: StoredRun,
  { waitMs, present, isLive = false }: RunOptions,
): Promise<unknown> {
  return waitForExecution(deps, request, run, waitMs, async (seen) => {
    const response = await present(await wholeExecution(request, seen));
    return isLive ? response : deps.idempotency.remember(request, run, response);
  });
}

/**
 * Runs an execution that is only part of a request: an `Idempotency-Key` does not apply to it.
 * @param options.bytes size of the stored texts: several executions are stored in one turn
 * @returns the execution at its end or when the wait is over
 * @throws ApiError as {@link runExecution}
 */
export async function runPart(
  deps: RunExecutionDeps,
  request: Request,
  execution: ExecutionToRun,
  { waitMs, bytes }: { waitMs: number; bytes: number },
): Promise<SeenExecution> {
  const end = await request.turn(bytes);
  const run = await storeExecution(deps, request.db, inTrace(request, execution), undefined).finally(end);
  return waitForExecution(deps, request, run, waitMs, (seen) => seen);
}

/**
 * Starts a stored execution and waits for its end. It is withdrawn if that fails or `use` throws.
 * @param use receives the execution at its end or when the wait is over
 */
async function waitForExecution<Used>(
  deps: RunExecutionDeps,
  request: Request,
  run: StoredRun,
  waitMs: number,
  use: (seen: SeenExecution) => Used | Promise<Used>,
): Promise<Used> {
  const { db, signal } = request;
  // Before the start, so that the end is not missed.
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
 * Runs an execution, once for each `Idempotency-Key`, and streams its events; a repeated request gets its own stream.
 * @param formatOf creates the event format for an execution id (UUID)
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
