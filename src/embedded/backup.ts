import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { z } from 'zod';
import { lockDataDir } from './data-dir.ts';
import { EmbeddedStartError, systemErrorCode } from './errors.ts';
import { urlOfRunningPostgres } from './postgres/running-postgres.ts';

/** Files of the data directory, other than those of PostgreSQL and Temporal, that cannot be recreated. */
const SECRETS = ['encryption-key', 'first-api-key'];
/** PostgreSQL folders whose contents belong to the running server. */
const LEFT_EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|pgsql_tmp.*|pg_internal\.init.*)$/;

const WAIT_FOR_TEMPORAL_MS = 60_000;

/** A completed backup. */
export interface Backup {
  folder: string;
  /** Whether the service was running during the backup. */
  live: boolean;
  bytes: number;
}

/**
 * Copies a data directory so that a service can be started on the copy. If the service is running, each part is copied in a consistent
 * state, Temporal before PostgreSQL.
 * @param target a new or empty folder
 * @throws {EmbeddedStartError} `data_dir_unusable` if there is nothing to copy or no place for it; `data_dir_in_use` while the service
 * starts or stops
 */
export async function backUp(dataDir: string, target: string): Promise<Backup> {
  const [source, folder] = [path.resolve(dataDir), path.resolve(target)];
  await requireEmpty(folder);
  const url = await urlOfRunningPostgres(path.join(source, 'postgres'), 'postgres');
  if (url === undefined && !(await exists(path.join(source, 'postgres', 'PG_VERSION'))))
    throw new EmbeddedStartError(
      'data_dir_unusable',
      `DATA_DIR ${source} holds no database of npm start: there is nothing to back up.`,
    );
  await mkdir(path.dirname(folder), { recursive: true });
  // Created under another name and renamed, so that a partial copy is never taken for a backup.
  const aside = await mkdtemp(`${folder}.partial-`);
  try {
    const lock = url === undefined ? await lockDataDir(source) : undefined;
    try {
      await copyTemporal(path.join(source, 'temporal', 'temporal.db'), path.join(aside, 'temporal'));
      const postgres = [path.join(source, 'postgres'), path.join(aside, 'postgres')] as const;
      if (url === undefined) await copyTree(...postgres, { isLive: false });
      else await copyRunning(...postgres, url);
      for (const name of SECRETS) await copyIfThere(path.join(source, name), path.join(aside, name));
    } finally {
      await lock?.release();
    }
    const bytes = await sizeOf(aside);
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
    return { folder, live: url !== undefined, bytes };
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    throw error;
  }
}

async function requireEmpty(folder: string): Promise<void> {
  const present = await readdir(folder).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
  if (present.length > 0)
    throw new EmbeddedStartError('data_dir_unusable', `${folder} is not empty: name a new folder for the backup.`);
}

/**
 * Takes a consistent copy of Temporal's file while its server runs. Without it, unfinished work is started again from
 * PostgreSQL.
 */
async function copyTemporal(file: string, target: string): Promise<void> {
  if (!(await exists(file))) return;
  await mkdir(target, { mode: 0o700 });
  // Temporal's schema has texts in double quotes.
  const database = new DatabaseSync(file, { timeout: WAIT_FOR_TEMPORAL_MS, enableDoubleQuotedStringLiterals: true });
  try {
    database.prepare('vacuum into ?').run(path.join(target, path.basename(file)));
  } finally {
    database.close();
  }
}

/**
 * A base backup: the files as found, and the log that makes them consistent when a server starts on them
 * (https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP).
 */
async function copyRunning(source: string, target: string, url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    // The server keeps the log until this session ends.
    const slot = `backup_${randomBytes(6).toString('hex')}`;
    // raw SQL: functions of the server, of no database and no table.
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [slot]);
    // raw SQL: as above.
    const { rows: started } = await client.query(
      `select pg_walfile_name(pg_backup_start('npm run backup', fast => true)) as segment`,
    );
    await copyTree(source, target, { isLive: true });
    // raw SQL: as above.
    const { rows: ended } = await client.query(
      `select labelfile, pg_walfile_name(lsn) as segment from pg_backup_stop(wait_for_archive => false)`,
    );
    const [start, end] = [Started.parse(started[0]), Ended.parse(ended[0])];
    await writeFile(path.join(target, 'backup_label'), end.labelfile, { mode: 0o600 });
    const log = path.join(target, 'pg_wal');
    await mkdir(path.join(log, 'archive_status'), { recursive: true, mode: 0o700 });
    for (const name of await readdir(path.join(source, 'pg_wal')))
      if (/^[0-9A-F]{24}$/.test(name) && name >= start.segment && name <= end.segment)
        await copyFile(path.join(source, 'pg_wal', name), path.join(log, name));
  } finally {
    await client.end();
  }
}

const Started = z.object({ segment: z.string() });
const Ended = z.object({ segment: z.string(), labelfile: z.string() });

/** @param options.isLive a server is using it: files may come and go, and the server's own files are left out */
async function copyTree(source: string, target: string, { isLive }: { isLive: boolean }): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [path.join(source, entry.name), path.join(target, entry.name)];
    if (entry.isDirectory()) {
      if (isLive && LEFT_EMPTY.has(entry.name)) await mkdir(to, { mode: 0o700 });
      else await ifStillThere(copyTree(from, to, { isLive }));
    } else if (entry.isFile() && !(isLive && LEFT_OUT.test(entry.name))) await copyIfThere(from, to);
  }
}

const copyIfThere = (from: string, to: string) => ifStillThere(copyFile(from, to));

async function ifStillThere(copying: Promise<void>): Promise<void> {
  try {
    await copying;
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(path.join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
