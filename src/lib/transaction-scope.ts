import { AsyncLocalStorage } from 'node:async_hooks';

const scopes = new AsyncLocalStorage<{ isOpen: boolean }>();

/** Marks what `work` does, and all that it waits for, as done in a transaction. */
export async function inTransactionScope<T>(work: () => Promise<T>): Promise<T> {
  const scope = { isOpen: true };
  try {
    return await scopes.run(scope, work);
  } finally {
    // What was begun in it and goes on after its end is in no transaction any more.
    scope.isOpen = false;
  }
}

/**
 * For whatever asks somebody else than the database: a transaction holds a connection and its locks, and must not wait for
 * others. Costs some nanoseconds, so it holds in every process and not in tests alone.
 * @throws Error inside a transaction
 */
export function refuseInTransaction(what: string): void {
  if (scopes.getStore()?.isOpen) throw new Error(`${what} is called inside a transaction, which must not wait for it.`);
}
