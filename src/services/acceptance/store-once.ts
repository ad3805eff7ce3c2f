import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { newId } from '../../domain/ids.ts';
import type { Claim, IdempotencyKeys, RequestKey } from '../idempotency/idempotency-keys.ts';
import type { Quotas } from '../workspaces/quotas.ts';

/** How to store something that is started afterwards. */
export interface Storing {
  quota: 'evaluations' | 'schedules';
  /** Checks what it takes, unless the key was used before. @returns what stores it under an id (UUID), in the transaction */
  prepare: () => Promise<(query: Query, id: string) => Promise<unknown>>;
  /** Makes sure that it does not exist, because the reply to the commit was lost. */
  giveUp: (id: string) => Promise<void>;
}

/**
 * Stores something that is started afterwards, once for each `Idempotency-Key`.
 * @returns `startedAt`: when its creation started, as a `performance.now()` time
 * @throws ApiError as `prepare`, what it returns and `IdempotencyKeys.claim`, `quota_exceeded`
 */
export async function storeOnce(
  { idempotency, quotas }: { idempotency: Pick<IdempotencyKeys, 'claim'>; quotas: Pick<Quotas, 'require'> },
  db: WorkspaceDatabase,
  requestKey: RequestKey | undefined,
  { quota, prepare, giveUp }: Storing,
): Promise<Claim & { startedAt: number }> {
  const startedAt = performance.now();
  const id = newId();
  let mayBeStored = false;
  try {
    const claim = await idempotency.claim(db, requestKey, async () => {
      const store = await prepare();
      return async (query) => {
        await store(query, id);
        await quotas.require(query, quota);
        mayBeStored = true;
        return { resourceId: id };
      };
    });
    return { ...claim, startedAt };
  } catch (error) {
    if (mayBeStored) await giveUp(id);
    throw error;
  }
}
