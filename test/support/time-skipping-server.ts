import { access, chmod, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedStartError } from '../../src/embedded/errors.ts';
import { userCacheDir } from '../../src/embedded/programs/cache-dir.ts';
import { goPlatform, locateArchive, TEMPORAL_DOWNLOADS, unpackArchive } from '../../src/embedded/programs/download.ts';
import { findOnPath, run } from '../../src/embedded/programs/programs.ts';
import {
  fillOnce,
  firstSource,
  NoSourceError,
  type Source,
  withProgress,
} from '../../src/embedded/programs/sources.ts';

/** The test server's version, as in tools/time-skipping-server/pom.xml. */
const VERSION = '1.38.0';
/** The client for which the download service selects the server; the version in package.json. */
const SDK = 'sdk-name=sdk-typescript&sdk-version=1.24.0';
const LEAST_JAVA = 11;
const POM = fileURLToPath(new URL('../../tools/time-skipping-server/pom.xml', import.meta.url));
const MAVEN_TIMEOUT_MS = 10 * 60_000;

/** Dies with its parent if the system supports that, and starts fast: it lives for one test run. */
const LAUNCHER = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
set -- java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Xmx256m -cp "$here/jars/*" \\
  io.temporal.testserver.TestServer "$@"
if setpriv --pdeathsig KILL true 2>/dev/null; then set -- setpriv --pdeathsig KILL "$@"; fi
exec "$@" >/dev/null 2>&1
`;

export interface EnsureTimeSkippingServerOptions {
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
 * The path of Temporal's time-skipping test server, for `TestWorkflowEnvironment.createTimeSkipping` with an executable of type
 * `existing-path`: from the cache, otherwise downloaded, otherwise assembled from Maven's archives.
 *
 * @throws {EmbeddedStartError} `test_server_unavailable` with the reason of every source and what to install.
 */
export async function ensureTimeSkippingServer(options: EnsureTimeSkippingServerOptions): Promise<string> {
  const { report, env = process.env, downloadBaseUrl = TEMPORAL_DOWNLOADS } = options;
  const { platform, arch } = goPlatform();
  const folder = path.join(
    options.cacheDir ?? userCacheDir(env),
    'time-skipping-server',
    `${VERSION}-${platform}-${arch}`,
  );
  const server = path.join(folder, 'temporal-test-server');
  const isCached = () =>
    access(server).then(
      () => true,
      () => false,
    );
  const intoCache = async (fill: (scratch: string) => Promise<void>) => {
    const onWait = () => report('Another process is fetching the time-skipping server, waiting for it…');
    await fillOnce({ folder, isFilled: isCached, fill, onWait });
    return server;
  };

  const sources: Source[] = [
    {
      name: 'the cache',
      async find() {
        if (!(await isCached())) throw new Error(`${folder} has none yet`);
        return server;
      },
    },
    {
      name: 'its official download',
      find: () =>
        intoCache((scratch) =>
          withProgress('Downloading the time-skipping server', report, async () => {
            const query = `platform=${platform}&arch=${arch}&format=tar.gz&${SDK}`;
            const address = `${downloadBaseUrl}/temporal-test-server/default?${query}`;
            const { archiveUrl, fileToExtract } = await locateArchive(address);
            const file = await unpackArchive(archiveUrl, fileToExtract, scratch);
            await rename(file, path.join(scratch, path.basename(server)));
            await rm(path.join(scratch, 'archive.tar.gz'));
          }),
        ),
    },
    { name: 'Maven', find: () => intoCache((scratch) => assemble(scratch, path.basename(server), env, report)) },
  ];
  try {
    return await firstSource('Time-skipping server', sources, report);
  } catch (error) {
    if (!(error instanceof NoSourceError)) throw error;
    const reasons = error.reasons.map((reason) => `  - ${reason}`).join('\n');
    throw new EmbeddedStartError(
      'test_server_unavailable',
      `The time-skipping test server is not available:\n${reasons}\n` +
        `Let this machine reach ${TEMPORAL_DOWNLOADS}, or install Maven and Java ${LEAST_JAVA} or newer.`,
      { cause: error },
    );
  }
}

async function assemble(
  scratch: string,
  launcher: string,
  env: NodeJS.ProcessEnv,
  report: (line: string) => void,
): Promise<void> {
  if (!(await findOnPath('mvn', env))) throw new Error('Maven is not installed');
  await checkJava(env);
  const jars = path.join(scratch, 'jars');
  const args = ['--batch-mode', '--quiet', '--file', POM, 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  const { code, output } = await withProgress('Fetching the time-skipping server with Maven', report, () =>
    run('mvn', args, { env, cwd: scratch, timeoutMs: MAVEN_TIMEOUT_MS }),
  );
  if (code !== 0) throw new Error(`Maven failed (${output.slice(0, 600).replaceAll('\n', ' ')})`);
  const file = path.join(scratch, launcher);
  await writeFile(file, LAUNCHER);
  await chmod(file, 0o755);
}

async function checkJava(env: NodeJS.ProcessEnv): Promise<void> {
  const { code, output } = await run('java', ['-version'], { env, timeoutMs: 20_000 });
  if (code !== 0) throw new Error('Java is not installed');
  // "1.8.0_392" up to Java 8, "17.0.15" or "21" since.
  const [major = 0, minor = 0] = (/version "(\d+)(?:\.(\d+))?/.exec(output)?.slice(1) ?? []).map(Number);
  const version = major === 1 ? minor : major;
  if (version < LEAST_JAVA) throw new Error(`Java is ${version}, and ${LEAST_JAVA} is needed`);
}
