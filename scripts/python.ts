import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { userCacheDir } from '../src/embedded/programs/cache-dir.ts';

type LeastVersion = readonly [major: number, minor: number];
/** The minimum version of the client. */
const LEAST_VERSION: LeastVersion = [3, 10];
const TIME_LIMIT_MS = 540_000;

/** The result of a program. */
export interface Ended {
  code: number | null;
  /** Standard output and standard error, interleaved. */
  output: string;
}

/** Runs a program to its end, forcibly after nine minutes. */
export function run(program: string, args: string[], { cwd, env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  return new Promise<Ended>((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIME_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/**
 * A recent enough Python: `$PYTHON`, otherwise the first on the PATH.
 * @throws Error that says what to install
 */
function findPython([leastMajor, leastMinor]: LeastVersion): { program: string; version: string } {
  const given = process.env['PYTHON'];
  const names = ['python3', 'python', ...['3.14', '3.13', '3.12', '3.11', '3.10'].map((version) => `python${version}`)];
  for (const program of given ? [given] : names) {
    const script = 'import platform, sys; print(sys.version_info[0], sys.version_info[1], platform.python_version())';
    const { status, stdout } = spawnSync(program, ['-c', script], { encoding: 'utf8' });
    if (status !== 0) continue;
    const [major = 0, minor = 0] = stdout.split(' ', 2).map(Number);
    if (major > leastMajor || (major === leastMajor && minor >= leastMinor))
      return { program, version: stdout.trim().split(' ').at(-1) ?? '' };
  }
  const wanted = `${leastMajor}.${leastMinor}`;
  throw new Error(
    given
      ? `PYTHON is ${given}, which is no Python ${wanted} or newer.`
      : `This needs Python ${wanted} or newer with venv (Debian: python3 and python3-venv). Install it, or name it in PYTHON.`,
  );
}

/**
 * The interpreter of a virtual environment with these packages, created once per user; after that no network is needed.
 * @param requirements file of pinned requirements
 * @param least default: the oldest Python that the client supports
 * @throws Error that says what to install
 */
export async function pythonWith(requirements: string, least = LEAST_VERSION): Promise<string> {
  const { program, version } = findPython(least);
  const hash = createHash('sha256').update(readFileSync(requirements)).update(version).digest('hex').slice(0, 16);
  const folder = path.join(userCacheDir(process.env), 'python', hash);
  const interpreter = path.join(folder, 'bin', 'python');
  if (existsSync(interpreter)) return interpreter;

  mkdirSync(path.dirname(folder), { recursive: true });
  // Created under another name and renamed, so that it is never found incomplete.
  const aside = mkdtempSync(`${folder}-`);
  try {
    const made = await run(program, ['-m', 'venv', aside]);
    if (made.code !== 0)
      throw new Error(`${program} can't make a virtual environment (Debian: install python3-venv). ${made.output}`);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', requirements];
    const installed = await run(path.join(aside, 'bin', 'python'), pip);
    if (installed.code !== 0)
      throw new Error(`The packages of ${requirements} can't be installed. ${installed.output}`);
    try {
      renameSync(aside, folder);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(interpreter)) throw error;
    }
    return interpreter;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
