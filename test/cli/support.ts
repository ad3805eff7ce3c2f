import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { run } from '../../scripts/python.ts';
import { atProcessEnd } from '../support/process-end.ts';
import { type Started, startProcess } from '../support/processes.ts';
import type { TestService } from '../support/service.ts';
import type { Asked } from './warm-program.ts';

export const PROGRAM = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url));
const WARM_PROGRAM = fileURLToPath(new URL('warm-program.ts', import.meta.url));

const AT_A_TERMINAL = `
import os, pty, sys
asks, typed, command = sys.argv[1].encode(), sys.argv[2].encode(), sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown, is_asked = b"", False
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    shown += data
    if asks in shown and not is_asked:
        is_asked = True
        for byte in typed:
            os.write(terminal, bytes([byte]))
_, status = os.waitpid(pid, 0)
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(status))
`;

/** Runs `pms` in a pseudo-terminal, and types an answer at its prompt. @returns its status, and the terminal's content */
export function atTerminal(asks: string, typed: string, args: readonly string[], env: Record<string, string>) {
  const command = [process.execPath, '--conditions=pms-source', PROGRAM, ...args];
  return run('python3', ['-c', AT_A_TERMINAL, asks, typed, ...command], { env });
}

/** The result of a command. */
export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The program, in a separate folder. */
export interface Cli {
  folder: string;
  /**
   * Runs `pms` with these arguments. Its process is kept for the next time, as loading its modules takes most of the time; `start` has its
   * own process. @param input on standard input
   */
  pms(args: string[], options?: { env?: Record<string, string>; input?: string }): Promise<Ended>;
  /** The same without waiting. `killOrphans` of test/support/processes.ts ends the remaining processes. */
  start(args: string[], options?: { env?: Record<string, string>; nodeFlags?: string[] }): Started;
  remove(): Promise<void>;
}

/** A process of the program for the files of this Jest process. */
const warmProgram = {
  process: undefined as ChildProcess | undefined,
  last: Promise.resolve() as Promise<unknown>,
  async run(asked: Asked): Promise<Ended> {
    const before = this.last;
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    this.last = promise.catch(() => {});
    await before;
    const child = this.process ?? this.start();
    const onExit = () => reject(new Error(`The process ended in ${asked.args.join(' ')}.`));
    child.once('exit', onExit);
    child.once('message', (ended: Ended) => {
      child.off('exit', onExit);
      resolve(ended);
    });
    child.send(asked);
    return promise;
  },
  start(): ChildProcess {
    const child = fork(WARM_PROGRAM, { execArgv: ['--conditions=pms-source'] });
    child.once('exit', () => {
      this.process = undefined;
    });
    atProcessEnd(async () => {
      child.kill();
    });
    child.unref();
    child.channel?.unref();
    this.process = child;
    return child;
  },
};

/** @param service whose first key is in the program's environment; undefined for none */
export async function startCli(service?: Pick<TestService, 'origin' | 'key'>): Promise<Cli> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-cli-'));
  const access = service === undefined ? {} : { PMS_BASE_URL: service.origin, PMS_API_KEY: service.key };
  const own = { PMS_CONFIG_DIR: path.join(folder, '.config'), ...access };
  return {
    folder,
    start: (args, { env = {}, nodeFlags = [] } = {}) =>
      startProcess([process.execPath, ...nodeFlags, '--conditions=pms-source', PROGRAM, ...args], {
        cwd: folder,
        env: { ...own, ...env },
      }),
    async pms(args, { env = {}, input = '' } = {}) {
      const all = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...own, ...env };
      return warmProgram.run({ args, folder, env: all, input });
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
