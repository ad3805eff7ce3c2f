import { createHash } from 'node:crypto';
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { migrate } from '../../src/db/migrate.ts';
import { startPostgres } from '../../src/embedded/postgres/postgres.ts';
import { run } from '../../src/embedded/programs/programs.ts';
import { fillOnce } from '../../src/embedded/programs/sources.ts';
import { TEMPLATE_DATABASE } from './database.ts';
import { PROJECT, startNode } from './processes.ts';
import { installStateTriggers } from './state-triggers.ts';
import { waitFor } from './wait-for.ts';

// Artifacts that a test run needs and that depend only on sources, built once per state of these sources and kept in .cache.

const CACHE = path.join(PROJECT, '.cache');
/** V8's compile cache. */
export const COMPILE_CACHE = path.join(CACHE, 'compiled');

/** Over files, and all files in folders. */
function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256').update(process.version);
  const files = paths.flatMap((each) =>
    statSync(path.join(PROJECT, each)).isDirectory()
      ? globSync(`${each}/**/*.{ts,json}`, { cwd: PROJECT }).toSorted()
      : [each],
  );
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(path.join(PROJECT, file)));
  return hash.digest('hex').slice(0, 16);
}

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

/** Removes the artifacts of other states of the sources. */
async function removeOthers(prefix: string, kept: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const others = readdirSync(CACHE).filter((name) => name.startsWith(prefix) && !name.startsWith(kept));
  for (const name of others) await rm(path.join(CACHE, name), { recursive: true, force: true });
}

/** Puts a cluster of PostgreSQL with the migrated template database into a folder that is not there yet. */
export async function copyCluster(target: string): Promise<void> {
  const sources = ['src/db', 'src/domain', 'scripts/state-machines.ts', 'test/support/state-triggers.ts'];
  const prefix = 'test-cluster-';
  const name = `${prefix}${hashOf([...sources, 'package-lock.json'])}`;
  const folder = path.join(CACHE, name);
  const data = path.join(folder, 'data');
  if (!(await isThere(data))) {
    await removeOthers(prefix, name);
    await fillOnce({
      folder,
      isFilled: () => isThere(data),
      onWait: () => {},
      fill: (scratch) => makeCluster(path.join(scratch, 'data')),
    });
  }
  // Preserving the owner, which may be another user.
  const { code, output } = await run('cp', ['-a', data, target]);
  if (code !== 0) throw new Error(`The prepared database could not be copied: ${output}`);
}

async function makeCluster(dataDir: string): Promise<void> {
  // The smallest log, because it is copied, too.
  const settings = { min_wal_size: '32MB', max_wal_size: '32MB' };
  const postgres = await startPostgres({ dataDir, ephemeral: true, settings, log: () => {} });
  await migrate(postgres.url(TEMPLATE_DATABASE));
  await installStateTriggers(postgres.url(TEMPLATE_DATABASE));
  // Its `stop` removes the folder of a throw-away cluster. This is PostgreSQL's fast shutdown.
  process.kill(postgres.pid, 'SIGINT');
  // Polls instead of waiting for an event: nothing else may keep this process alive during the wait.
  await waitFor('the end of PostgreSQL', async () => !postgres.running());
}

/**
 * Lets processes of the tests reuse V8's compile cache. It is stored when a process exits normally, which most of theirs do
 * not.
 */
export async function fillCompileCache(): Promise<void> {
  const filled = path.join(COMPILE_CACHE, `filled-${hashOf(['src', 'package-lock.json'])}`);
  if (await isThere(filled)) return;
  const { code, output } = await startNode('test/support/load-service.ts').ended;
  if (code !== 0) throw new Error(`The service could not be loaded: ${output}`);
  await mkdir(COMPILE_CACHE, { recursive: true });
  await writeFile(filled, '');
}
