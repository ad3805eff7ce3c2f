import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { ApiError, temporarilyUnavailable } from '../../domain/errors.ts';
import { ACCEPT_WITHIN_MS } from '../../domain/limits.ts';
import type { Claim } from '../idempotency/idempotency-keys.ts';

const AGAIN_MS = 500;

/** A kind of row that is stored for a caller and then started: executions or evaluations. */
export interface Withdrawable {
  /** The name of the id field in the log. */
  field: `${string}_id`;
  /**
   * Makes sure that a row does not run. Safe to repeat.
   * @param force also withdraw a row whose caller may have been notified
   * @returns false if it runs or will run
   */
  withdraw: (db: WorkspaceDatabase, id: string, force: boolean) => Promise<boolean>;
  /** Notifies the workflow, if there is one, that its row was deleted or canceled. */
  stop: (client: Client, id: string, log: Logger) => Promise<unknown>;
}

export interface WithdrawalDeps {
  client: Client;
  log: Logger;
}

/**
 * Waits for a workflow to start, or withdraws its row, so that the caller of the failed request can simply retry.
 * @throws the error that kept the workflow from starting, unless it runs anyway or another caller was notified of it
 */
export async function startedOrWithdrawn(
  start: Promise<unknown>,
  { withdraw }: Withdrawable,
  db: WorkspaceDatabase,
  id: string,
): Promise<void> {
  try {
    await start;
  } catch (error) {
    if (await withdraw(db, id, false)) throw error;
  }
}

/**
 * Makes sure that a row cannot run later, before its caller receives the error.
 * @param startedAt when its creation started, as a `performance.now()` time. Undefined if no start was attempted: only another
 * request with the same `Idempotency-Key` can have started it or been notified of it
 */
export async function giveUp(
  kind: Withdrawable,
  { client, log }: WithdrawalDeps,
  db: WorkspaceDatabase,
  id: string,
  startedAt: number | undefined,
): Promise<void> {
  const { field, withdraw, stop } = kind;
  const isStarted = startedAt !== undefined;
  // If the database is down, nothing can start the row after this time, so no caller waits longer.
  const holdMs = isStarted ? startedAt + ACCEPT_WITHIN_MS - performance.now() : 0;
  await withdrawWithRetries(log, { field, id, withdraw: () => withdraw(db, id, isStarted) }, holdMs);
  // A workflow may not exist.
  stop(client, id, log).catch((error: unknown) =>
    log.warn({ err: error, [field]: id }, 'cannot signal a workflow that its run was withdrawn'),
  );
}

/**
 * Gives up what a request has stored if it cannot be started or its response cannot be sent.
 * @param run rows stored by an earlier request are kept
 * @returns the error to throw: `temporarily_unavailable` instead of `not_found`, because the row was withdrawn in the meantime
 */
export async function giveUpFailed(
  kind: Withdrawable,
  deps: WithdrawalDeps,
  db: WorkspaceDatabase,
  { resourceId, isReplay, startedAt }: Claim & { startedAt: number },
  error: unknown,
): Promise<unknown> {
  if (!isReplay) await giveUp(kind, deps, db, resourceId, startedAt);
  const isGone = error instanceof ApiError && error.code === 'not_found';
  return isGone ? temporarilyUnavailable('It could not be started.') : error;
}

/**
 * Withdraws immediately, or once the database is back.
 * @param holdMs how long to wait for the withdrawal, which then continues in the background
 */
export async function withdrawWithRetries(
  log: Logger,
  { field, id, withdraw }: { field: string; id: string; withdraw: () => Promise<unknown> },
  holdMs: number,
): Promise<void> {
  let warned = false;
  async function untilWithdrawn(): Promise<void> {
    for (;;) {
      try {
        await withdraw();
        return;
      } catch (error) {
        if (!isDatabaseUnavailable(error)) {
          log.error({ err: error, [field]: id }, 'cannot withdraw');
          return;
        }
        if (!warned) log.warn({ err: error, [field]: id }, 'cannot withdraw yet; retrying');
        warned = true;
      }
      await delay(AGAIN_MS, undefined, { ref: false });
    }
  }
  await Promise.race([untilWithdrawn(), delay(Math.max(0, holdMs), undefined, { ref: false })]);
}
