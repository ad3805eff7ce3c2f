import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { ApiError, temporarilyUnavailable } from '../../domain/errors.ts';
import { ACCEPT_WITHIN_MS } from '../../domain/limits.ts';
import type { Claim } from '../idempotency/idempotency-keys.ts';

const AGAIN_MS = 500;

/** What is stored for a caller, and started once it is stored: executions, or evaluations. */
export interface Withdrawable {
  /** Its id's field in the log. */
  field: `${string}_id`;
  /**
   * Makes sure that one does not run. Safe to repeat.
   * @param force also one that a caller may have been told of
   * @returns false where it runs, or will
   */
  withdraw: (db: WorkspaceDatabase, id: string, force: boolean) => Promise<boolean>;
  /** Tells the workflow, where there is one, that its row is gone or canceled. */
  stop: (client: Client, id: string, log: Logger) => Promise<unknown>;
}

export interface WithdrawalDeps {
  client: Client;
  log: Logger;
}

/**
 * Waits for the start of a workflow, or withdraws what it is for: a caller who is told that it failed can simply try again.
 * @throws what kept the workflow from starting; not where it runs all the same, or another caller was told of it
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
 * Makes sure, before its caller is told that it failed, that something does not run later.
 * @param startedAt when its creation began, as `performance.now()` gives it; undefined where no start was tried: nobody but another
 * request with the same `Idempotency-Key` can have been told of it, or have begun it
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
  // Where the database is away, nobody can begin it any more after that time, so no caller waits for longer.
  const holdMs = isStarted ? startedAt + ACCEPT_WITHIN_MS - performance.now() : 0;
  await withdrawWithRetries(log, { field, id, withdraw: () => withdraw(db, id, isStarted) }, holdMs);
  // There may be no workflow.
  stop(client, id, log).catch((error: unknown) =>
    log.warn({ err: error, [field]: id }, 'cannot tell a workflow that its run was withdrawn'),
  );
}

/**
 * Gives up what a request has stored where it can't be started or its response can't be given.
 * @param run what an earlier request has stored is left
 * @returns the error to throw: `temporarily_unavailable` instead of `not_found`, since it was withdrawn meanwhile
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
 * Withdraws at once, or as soon as the database is back.
 * @param holdMs how long to wait for that; after it, it goes on in the background
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
        if (!warned) log.warn({ err: error, [field]: id }, 'cannot withdraw yet; going on trying');
        warned = true;
      }
      await delay(AGAIN_MS, undefined, { ref: false });
    }
  }
  await Promise.race([untilWithdrawn(), delay(Math.max(0, holdMs), undefined, { ref: false })]);
}
