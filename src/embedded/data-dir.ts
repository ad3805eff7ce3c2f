import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EmbeddedStartError, messageOf, systemErrorCode } from './errors.ts';
import { type FileLock, tryLock } from './file-lock.ts';

const CHOOSE_ANOTHER = 'set DATA_DIR to another folder';

export interface DataDirLock {
  release(): Promise<void>;
}

/**
 * Creates the data directory (readable by its owner only) and locks it for this process. A killed holder leaves nothing to clean up.
 *
 * @throws {EmbeddedStartError} `data_dir_in_use` while another process holds it; `data_dir_copied` if it was copied while one held it;
 * `data_dir_unusable` if it can't be created or written.
 */
export async function lockDataDir(dir: string): Promise<DataDirLock> {
  const folder = path.resolve(dir);
  // Tells others which process to stop, and which file it holds; the kernel holds the lock itself.
  const holder = path.join(folder, 'lock.pid');
  let lock: FileLock | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    lock = tryLock(path.join(folder, 'lock'));
    if (lock) {
      const { ino } = await stat(path.join(folder, 'lock'));
      const heldFile = (await readHolder(holder))[1];
      // The process that locks the original file is still running: this folder is a copy.
      if (heldFile !== undefined && heldFile !== String(ino)) throw copied(folder, holder);
      await writeFile(holder, `${process.pid}\n${ino}\n`, { mode: 0o600 });
    }
  } catch (error) {
    lock?.release();
    throw error instanceof EmbeddedStartError ? error : unusable(folder, error);
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

/** The process that holds the folder, or held it when it was killed, and the inode of the file that it locked. */
async function readHolder(holder: string): Promise<string[]> {
  const text = await readFile(holder, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

function copied(folder: string, holder: string): EmbeddedStartError {
  return new EmbeddedStartError(
    'data_dir_copied',
    `DATA_DIR ${folder} was copied from a folder that was in use. Files that are copied while they are written do not fit together, and work on them ` +
      `may go wrong long after the start. Take a copy that npm run backup has made, or one of a service that was stopped. If nothing ran when it ` +
      `was copied, because the process had been killed, remove ${holder} and start again.`,
  );
}

async function inUse(folder: string, holder: string): Promise<EmbeddedStartError> {
  const [pid = ''] = await readHolder(holder);
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
    EACCES: 'is not writable by this user',
    EPERM: 'is not writable by this user',
    EROFS: 'is on a read-only file system',
    ENOSPC: 'is on a full disk',
    EDQUOT: 'is on a disk where this user has used up the quota',
    // Opening the lock in a read-only folder fails inside SQLite without details.
    ERR_SQLITE_ERROR: 'is not writable by this user, or its file system cannot lock files',
  };
  const reason = reasons[systemErrorCode(error) ?? ''] ?? `cannot be used (${messageOf(error)})`;
  return new EmbeddedStartError('data_dir_unusable', `DATA_DIR ${folder} ${reason}. Fix that, or ${CHOOSE_ANOTHER}.`, {
    cause: error,
  });
}
