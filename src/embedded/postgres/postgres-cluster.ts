import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { adviceFor, EmbeddedStartError, messageOf, systemErrorCode } from '../errors.ts';
import { endOrphan } from '../orphan.ts';
import { run } from '../programs/programs.ts';
import { POSTGRES_MAJOR, type PostgresBinaries, postgresCommand, postgresEnv } from './postgres-program.ts';

/** The only role of an embedded cluster; it owns everything in it. */
export const POSTGRES_USER = 'pms';
const NOTES_FILE = 'embedded.json';

const notesSchema = z.object({ password: z.string().nullable(), port: z.number().int().nullable() });

/** Data kept between starts in the cluster's own folder: the password (null if none is needed) and the port. */
export type ClusterNotes = z.infer<typeof notesSchema>;

/** The notes last saved by {@link writeNotes}. */
export async function readNotes(dataDir: string): Promise<ClusterNotes> {
  return notesSchema.parse(JSON.parse(await readFile(path.join(dataDir, NOTES_FILE), 'utf8')));
}

/** Saves `notes` for the next start. */
export async function writeNotes(dataDir: string, notes: ClusterNotes): Promise<void> {
  const file = path.join(dataDir, NOTES_FILE);
  await writeFile(`${file}.new`, JSON.stringify(notes), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/**
 * Creates the cluster if there is none. It is created next to its final location and moved there, so that a kill leaves no
 * partial cluster.
 *
 * @returns the notes and the folder's real path, which identifies a running server.
 * @throws {EmbeddedStartError} `postgres_failed` if initdb fails or the folder holds something else.
 */
export async function ensureCluster(
  binaries: PostgresBinaries,
  dir: string,
  options: { ephemeral: boolean; log: (line: string) => void },
): Promise<{ dataDir: string; notes: ClusterNotes }> {
  const target = path.resolve(dir);
  try {
    await removeLeftovers(target);
    const version = await readIfThere(path.join(target, 'PG_VERSION'));
    if (version === undefined) await createCluster(binaries, target, options);
    else if (Number(version) !== POSTGRES_MAJOR) {
      throw new EmbeddedStartError(
        'postgres_failed',
        `${target} was written by PostgreSQL ${version.trim()}, and this release brings PostgreSQL ${POSTGRES_MAJOR}. ` +
          'Dump it with the release that wrote it, and load the dump into a new DATA_DIR.',
      );
    }
    const dataDir = await realpath(target);
    return { dataDir, notes: await readNotes(dataDir) };
  } catch (error) {
    if (error instanceof EmbeddedStartError) throw error;
    const advice = adviceFor(messageOf(error)) ?? 'Move the folder away, or choose another one.';
    throw new EmbeddedStartError('postgres_failed', `PostgreSQL's folder ${target}: ${messageOf(error)}. ${advice}`, {
      cause: error,
    });
  }
}

async function createCluster(
  binaries: PostgresBinaries,
  target: string,
  options: { ephemeral: boolean; log: (line: string) => void },
): Promise<void> {
  const present = await readdir(target).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
  if (present.length > 0) {
    throw new EmbeddedStartError(
      'postgres_failed',
      `${target} is not empty and holds no PostgreSQL cluster. Move its files away, or choose another folder.`,
    );
  }
  options.log(`Creating a PostgreSQL cluster in ${target}.`);
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  const scratch = `${leftoverPrefix(target)}${randomUUID()}`;
  const passwordFile = `${scratch}.password`;
  // Other users of the machine can reach the loopback port; a throw-away cluster holds nothing of value.
  const password = options.ephemeral ? null : randomBytes(24).toString('base64url');
  try {
    if (password !== null) await writeFile(passwordFile, password, { mode: 0o600 });
    const args = [
      `--pgdata=${scratch}`,
      `--username=${POSTGRES_USER}`,
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(password === null ? ['--auth=trust'] : ['--auth=scram-sha-256', `--pwfile=${passwordFile}`]),
      ...(options.ephemeral ? ['--no-sync'] : []),
    ];
    const [program = '', ...rest] = await postgresCommand(binaries.initdb, args);
    const { code, output } = await run(program, rest, { env: postgresEnv() });
    if (code !== 0) {
      const advice = adviceFor(output) ?? 'Fix that, or set DATABASE_URL to your own PostgreSQL server.';
      throw new EmbeddedStartError(
        'postgres_failed',
        `PostgreSQL could not create its files in ${target}. ${advice} Output of initdb:\n${lastLines(output)}`,
      );
    }
    await writeNotes(scratch, { password, port: null });
    await rename(scratch, target);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * Stops a server that an earlier, killed process left on this cluster, and removes a pid file that names no such
 * server: PostgreSQL would refuse to start if its number now belonged to some other process.
 *
 * @throws {EmbeddedStartError} `postgres_failed` if it doesn't stop.
 */
export async function stopOrphan(dataDir: string, log: (line: string) => void): Promise<void> {
  const pidFile = path.join(dataDir, 'postmaster.pid');
  const pid = Math.abs(Number((await readIfThere(pidFile))?.split('\n', 1)[0]));
  const isServer = (line: string) => /\bpostgres\b/.test(line) && ` ${line} `.includes(` ${dataDir} `);
  // First an orderly stop, then ways that leave recovery to the next start, which loses nothing either.
  const signals = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;
  if (await endOrphan({ pid, what: 'PostgreSQL', isServer, signals, log })) {
    await rm(pidFile, { force: true });
    return;
  }
  throw new EmbeddedStartError(
    'postgres_failed',
    `A PostgreSQL of an earlier run (pid ${pid}) holds ${dataDir} and does not stop. End it, then start again.`,
  );
}

/** initdb reports every step; the error is at the end. */
function lastLines(output: string): string {
  return output.split('\n').slice(-6).join('\n');
}

function leftoverPrefix(target: string): string {
  return path.join(path.dirname(target), `.${path.basename(target)}.new-`);
}

/** Removes the files of a start that was killed during initdb. */
async function removeLeftovers(target: string): Promise<void> {
  const prefix = path.basename(leftoverPrefix(target));
  const siblings = await readdir(path.dirname(target)).catch(() => []);
  for (const name of siblings) {
    if (name.startsWith(prefix)) await rm(path.join(path.dirname(target), name), { recursive: true, force: true });
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
