import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

const SQLITE_BUSY = 5;

export interface FileLock {
  release(): void;
}

/**
 * An exclusive lock that the kernel holds and drops when the process ends, however it ends: nothing stale is left to clean up,
 * and no process id has to be trusted. SQLite provides it portably; the file stays empty.
 *
 * @returns undefined while another process, or another caller in this one, holds it.
 * @throws the SQLite error if the file can't be created or the file system does not support locks.
 */
export function tryLock(file: string): FileLock | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Avoids a journal file next to the lock.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isObject(error) && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return {
    release() {
      if (database.isOpen) database.close();
    },
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Waits for the lock as long as it takes, calling `onWait` once if it has to. */
export async function waitForLock(file: string, onWait: () => void): Promise<FileLock> {
  let told = false;
  for (;;) {
    const lock = tryLock(file);
    if (lock) return lock;
    if (!told) onWait();
    told = true;
    await delay(250);
  }
}
