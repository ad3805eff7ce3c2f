import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EmbeddedStartError, messageOf, systemErrorCode } from './errors.ts';
import { type FileLock, tryLock } from './file-lock.ts';

const CHOOSE_ANOTHER = 'set DATA_DIR to another folder';

export interface DataDirLock {
  release(): Promise<void>;
}

/**
 * Makes the data directory (readable by its owner only) and locks it for this process. A holder that is killed
 * leaves nothing to clean up.
 *
 * @throws {EmbeddedStartError} `data_dir_in_use` while another process holds it; `data_dir_unusable` when it can't be
 *   made or written.
 */
export async function lockDataDir(dir: string): Promise<DataDirLock> {
  const folder = path.resolve(dir);
  // Tells others which process to stop; the kernel holds the lock itself.
  const holder = path.join(folder, 'lock.pid');
  let lock: FileLock | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    lock = tryLock(path.join(folder, 'lock'));
    if (lock) await writeFile(holder, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    lock?.release();
    throw unusable(folder, error);
  }
  if (!lock) throw await inUse(folder, holder);
  const held = lock;
  return {
    async release() {
      await rm(holder, { force: true });
      held.release();
    },
  };
}

async function inUse(folder: string, holder: string): Promise<EmbeddedStartError> {
  const pid = await readFile(holder, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  const who = pid === '' ? 'another npm start' : `another npm start (pid ${pid})`;
  return new EmbeddedStartError(
    'data_dir_in_use',
    `DATA_DIR ${folder} is in use by ${who}. Stop it, or ${CHOOSE_ANOTHER}.`,
  );
}

function unusable(folder: string, error: unknown): EmbeddedStartError {
  const reasons: Record<string, string> = {
    EEXIST: 'is a file, not a folder',
    ENOTDIR: 'is below a file, not a folder',
    EACCES: 'cannot be written by this user',
    EPERM: 'cannot be written by this user',
    EROFS: 'is on a read-only file system',
    ENOSPC: 'is on a full disk',
    EDQUOT: 'is on a disk where the quota of this user is used up',
    // Opening the lock in a folder that can't be written fails inside SQLite, which does not say more.
    ERR_SQLITE_ERROR: 'cannot be written by this user, or its file system cannot lock files',
  };
  const reason = reasons[systemErrorCode(error) ?? ''] ?? `cannot be used (${messageOf(error)})`;
  return new EmbeddedStartError('data_dir_unusable', `DATA_DIR ${folder} ${reason}. Fix that, or ${CHOOSE_ANOTHER}.`, {
    cause: error,
  });
}
