import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedStartError } from '../errors.ts';
import { userCacheDir } from '../programs/cache-dir.ts';
import { goPlatform, TEMPORAL_DOWNLOADS, unpackArchive } from '../programs/download.ts';
import { findOnPath, run } from '../programs/programs.ts';
import { fillOnce, firstSource, NoSourceError, type Source, withProgress } from '../programs/sources.ts';

/** The version of the Temporal CLI to download or build; an installed one may be newer. Pinned in tools/temporal/go.mod too. */
export const TEMPORAL_CLI_VERSION = '1.5.1';
const LEAST_GO = '1.25';
const CLI_PACKAGE = 'github.com/temporalio/cli';
const GO_MODULE = fileURLToPath(new URL('../../../tools/temporal/', import.meta.url));

export interface EnsureTemporalOptions {
  /** Receives a line for each source and, during long steps, every 20 s. */
  report: (line: string) => void;
  /** Default: this user's cache, shared by all clones. */
  cacheDir?: string | undefined;
  /** Default: Temporal's own download service. */
  downloadBaseUrl?: string | undefined;
  /** Environment for finding and running programs. Default: this process's. */
  env?: NodeJS.ProcessEnv | undefined;
}

/**
 * The path of a `temporal` program that has the development server: the user's own if it is new enough, otherwise the one
 * in the cache, otherwise built by Go from the Go module proxy (verified by go.sum), otherwise downloaded.
 *
 * @throws {EmbeddedStartError} `temporal_unavailable` with the reason of every source and what to install.
 */
export async function ensureTemporal(options: EnsureTemporalOptions): Promise<string> {
  const { report, env = process.env, downloadBaseUrl = TEMPORAL_DOWNLOADS } = options;
  const { platform, arch } = goPlatform();
  const folder = path.join(
    options.cacheDir ?? userCacheDir(env),
    'temporal',
    `${TEMPORAL_CLI_VERSION}-${platform}-${arch}`,
  );
  const cached = path.join(folder, 'temporal');
  const isCached = async () => (await versionOf(cached, env)) === TEMPORAL_CLI_VERSION;
  const intoCache = async (fill: (scratch: string) => Promise<void>) => {
    const onWait = () => report('Waiting for another process that is fetching Temporal…');
    await fillOnce({ folder, isFilled: isCached, fill, onWait });
    return cached;
  };

  const sources: Source[] = [
    { name: 'the PATH', find: () => findInstalled(env) },
    {
      name: 'the cache',
      async find() {
        if (!(await isCached())) throw new Error(`${folder} has none yet`);
        return cached;
      },
    },
    // Before the download: Go verifies every module with go.sum, but nothing here can verify an archive.
    { name: 'a build with Go', find: () => intoCache((scratch) => build(path.join(scratch, 'temporal'), env, report)) },
    {
      name: 'its official download',
      find: () =>
        intoCache(async (scratch) => {
          const url = `${downloadBaseUrl}/cli/archive/v${TEMPORAL_CLI_VERSION}?platform=${platform}&arch=${arch}`;
          const work = () => unpackArchive(url, 'temporal', scratch);
          const file = await withProgress(`Downloading Temporal ${TEMPORAL_CLI_VERSION}`, report, work);
          await rm(path.join(scratch, 'archive.tar.gz'));
          await checkVersion(file, env);
        }),
    },
  ];
  try {
    return await firstSource('Temporal', sources, report);
  } catch (error) {
    if (!(error instanceof NoSourceError)) throw error;
    const reasons = error.reasons.map((reason) => `  - ${reason}`).join('\n');
    throw new EmbeddedStartError(
      'temporal_unavailable',
      `No Temporal server is available:\n${reasons}\nInstall the Temporal CLI ${TEMPORAL_CLI_VERSION} or newer ` +
        `(https://docs.temporal.io/cli), or Go ${LEAST_GO} or newer, or set TEMPORAL_ADDRESS to your own Temporal server.`,
      { cause: error },
    );
  }
}

async function findInstalled(env: NodeJS.ProcessEnv): Promise<string> {
  const file = await findOnPath('temporal', env);
  if (!file) throw new Error('it has no temporal program');
  const version = await versionOf(file, env);
  if (!version) throw new Error(`${file} does not report its version`);
  if (!isAtLeast(version, TEMPORAL_CLI_VERSION)) {
    throw new Error(`${file} is ${version}, and ${TEMPORAL_CLI_VERSION} is needed`);
  }
  return file;
}

async function build(file: string, env: NodeJS.ProcessEnv, report: (line: string) => void): Promise<void> {
  // Outside the module, because its go.mod would make an old Go fetch a newer one first.
  const { code, stdout } = await run('go', ['version'], { env: { ...env, GOTOOLCHAIN: 'local' }, cwd: '/' });
  if (code !== 0) throw new Error('Go is not installed');
  const version = /\bgo(\d+(?:\.\d+)+)/.exec(stdout)?.[1] ?? '0';
  if (!isAtLeast(version, LEAST_GO)) throw new Error(`Go is ${version}, and ${LEAST_GO} is needed`);
  const flags = `-s -w -X ${CLI_PACKAGE}/temporalcli.Version=${TEMPORAL_CLI_VERSION}`;
  const args = ['build', '-mod=readonly', '-trimpath', '-o', file, '-ldflags', flags, `${CLI_PACKAGE}/cmd/temporal`];
  // The user's Go settings must not change what is built, only where modules come from.
  const buildEnv = { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
  const result = await withProgress('Building Temporal (about 3 min the first time)', report, () =>
    run('go', args, { env: buildEnv, cwd: GO_MODULE }),
  );
  if (result.code !== 0) throw new Error(`go build failed (${result.output.slice(-600).replaceAll('\n', ' ')})`);
  await checkVersion(file, env);
}

async function checkVersion(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const version = await versionOf(file, env);
  if (version !== TEMPORAL_CLI_VERSION)
    throw new Error(`the new program does not run here, or its version is ${version ?? 'unknown'}`);
}

async function versionOf(file: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { code, stdout } = await run(file, ['--version'], { env, timeoutMs: 20_000 });
  return code === 0 ? /version v?(\d+\.\d+\.\d+)/.exec(stdout)?.[1] : undefined;
}

/** Compares dotted numbers; `least` may have fewer parts. */
function isAtLeast(version: string, least: string): boolean {
  const have = version.split('.').map(Number);
  for (const [index, need] of least.split('.').map(Number).entries()) {
    const part = have[index] ?? 0;
    if (part !== need) return part > need;
  }
  return true;
}
