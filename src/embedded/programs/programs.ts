import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../errors.ts';

export interface RunOptions {
  env?: NodeJS.ProcessEnv | undefined;
  cwd?: string | undefined;
  /** Default: no limit. */
  timeoutMs?: number | undefined;
}

/** The result of a finished program: `code` is null if it was killed, timed out, or could not be started. */
export interface RunResult {
  code: number | null;
  /** Standard output and standard error, in that order; the start error if the program could not be started. */
  output: string;
  stdout: string;
}

/** Runs a program to its end. Never rejects: a missing or failing program is a result too. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve) => {
    const { env, cwd, timeoutMs: timeout } = options;
    const settings = { env, cwd, timeout, killSignal: 'SIGKILL', maxBuffer: 64 << 20 } as const;
    try {
      const child = execFile(command, args, settings, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
        const problem = error !== null && code === null ? `\n${error.killed ? 'timed out' : error.message}` : '';
        resolve({ code, stdout, output: `${stdout}${stderr}${problem}`.trim() });
      });
      child.stdin?.end();
    } catch (error) {
      resolve({ code: null, stdout: '', output: messageOf(error) });
    }
  });
}

/** The location of a program on the PATH of `env`; undefined if not found. */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(path.delimiter)) {
    if (folder === '') continue;
    const file = path.join(folder, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/**
 * The command line of a live process, undefined if there is no such process. Because process ids are reused, a pid file is
 * trusted only if this names the same program and the same data.
 */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  if (process.platform === 'linux') {
    try {
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      return text === '' ? undefined : text.replaceAll('\0', ' ').trimEnd();
    } catch {
      return undefined;
    }
  }
  const { code, stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : undefined;
}

/**
 * The command, wrapped so that Linux ends it when this process dies, even by SIGKILL. On other systems, or without `setpriv`
 * from util-linux, the command itself: the next start then ends whatever a killed parent left.
 *
 * Linux counts the death of the thread that spawned as the death of the parent: start servers from the main thread.
 */
export async function endWithParent(command: readonly string[], signal: 'INT' | 'KILL'): Promise<string[]> {
  if (process.platform !== 'linux') return [...command];
  const wrapper = ['setpriv', `--pdeathsig=${signal}`];
  // Tried rather than looked up: other implementations of setpriv lack the option.
  const { code } = await run('setpriv', [`--pdeathsig=${signal}`, 'true']);
  return code === 0 ? [...wrapper, ...command] : [...command];
}
