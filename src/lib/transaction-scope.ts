import { AsyncLocalStorage } from 'node:async_hooks';

const scopes = new AsyncLocalStorage<{ isOpen: boolean }>();

/** Marks `work`, and everything it awaits, as running in a transaction. */
export async function inTransactionScope<T>(work: () => Promise<T>): Promise<T> {
  const scope = { isOpen: true };
  try {
    return await scopes.run(scope, work);
  } finally {
    // Work that outlives the transaction is no longer part of it.
    scope.isOpen = false;
  }
}

/**
 * To be called before requests to anything other than the database: a transaction holds a connection and its locks, and must
 * not wait for others. It costs nanoseconds, so it runs in production as well.
 * @throws Error inside a transaction
 */
export function refuseInTransaction(what: string): void {
  if (scopes.getStore()?.isOpen) throw new Error(`${what} is called inside a transaction, which must not wait for it.`);
}
