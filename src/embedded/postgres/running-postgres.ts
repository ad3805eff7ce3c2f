import { readFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { systemErrorCode } from '../errors.ts';
import { POSTGRES_USER, readNotes } from './postgres-cluster.ts';

/**
 * The connection URL of a database in the PostgreSQL that another process runs on this cluster; undefined if none accepts
 * connections. Nothing is started or changed.
 *
 * @param dataDir Folder of the cluster.
 * @throws the system error if this user may not read the folder.
 */
export async function urlOfRunningPostgres(dataDir: string, database: string): Promise<string | undefined> {
  let lines: string[];
  try {
    // Line 1 is the server's process id, 4 its port, 8 its state:
    // https://www.postgresql.org/docs/current/storage-file-layout.html
    lines = (await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8')).split('\n').map((line) => line.trim());
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  const [pid = '', , , port = '', , , , state] = lines;
  if (state !== 'ready' || !isAlive(Number(pid))) return undefined;
  const { password } = await readNotes(dataDir);
  const login = password === null ? POSTGRES_USER : `${POSTGRES_USER}:${password}`;
  return `postgresql://${login}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

/** A killed server leaves its file behind. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}
