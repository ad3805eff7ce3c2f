import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/embedded/ports.ts';

/** The checkout. */
export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** How a process ended, with its complete output. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
}

/** A process that a test started, with its own child processes. */
export interface Started {
  pid: number;
  /** Its output so far, both streams. */
  output(): string;
  /** Waits until its output matches. @throws with the output if it ends before */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<Ended>;
  /** To the process and its group, as a terminal does. */
  interrupt(): void;
  /** Signals only this process. */
  kill(signal: NodeJS.Signals): void;
  /** Kills it and all its descendants, without clean-up. */
  killTree(): Promise<void>;
}

const running = new Set<Started>();

/** Ends processes that a test left running. For `afterEach`. */
export async function killOrphans(): Promise<void> {
  await Promise.all([...running].map((started) => started.killTree()));
}

/** Only what a program needs to run, without settings of this shell. */
function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
  return Object.fromEntries(
    Object.entries({ PATH, HOME, TMPDIR, XDG_CACHE_HOME, NODE_COMPILE_CACHE }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

/** Starts a command in the checkout, in a separate process group. */
export function startProcess(
  command: readonly string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Started {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: options.cwd ?? PROJECT,
    env: { ...bareEnvironment(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const started = handleOf(child);
  running.add(started);
  void started.ended.then(() => running.delete(started));
  return started;
}

/** Starts one of the project's scripts with the Node.js that runs the tests. */
export function startNode(script: string, env: Record<string, string> = {}, args: readonly string[] = []): Started {
  return startProcess([process.execPath, path.join(PROJECT, script), ...args], { env });
}

function handleOf(child: ChildProcess): Started {
  const pid = child.pid ?? 0;
  let output = '';
  let over = false;
  let news = () => {};
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      news();
    });
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    over = true;
    news();
    return { code, signal, output };
  });
  const handle: Started = {
    pid,
    ended,
    output: () => output,
    async says(pattern) {
      for (;;) {
        const match = pattern.exec(output);
        if (match) return match;
        if (over) throw new Error(`It ended before it said ${pattern}:\n${output}`);
        await new Promise<void>((resolve) => {
          news = resolve;
        });
      }
    },
    interrupt: () => void process.kill(-pid, 'SIGINT'),
    kill: (signal) => void child.kill(signal),
    async killTree() {
      for (const each of [pid, ...descendantsOf(pid)]) sendIfThere(each, 'SIGKILL');
      await ended;
    },
  };
  return handle;
}

/** Signals a process of the test, which may have ended. */
export function sendIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

interface ProcessEntry {
  pid: number;
  parent: number;
  command: string;
}

/** Every process of this machine, from /proc. */
function allProcesses(): ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The second field is a name in parentheses, which can contain anything.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      if (fields[0] === 'Z') return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return [{ pid: Number(name), parent: Number(fields[1]), command }];
    } catch {
      return [];
    }
  });
}

/** All descendants of a process. */
export function descendantsOf(pid: number): number[] {
  const all = allProcesses();
  const below = (parent: number): number[] =>
    all.filter((entry) => entry.parent === parent).flatMap((entry) => [entry.pid, ...below(entry.pid)]);
  return below(pid);
}

/** Processes whose command line contains a text, such as a data directory. */
export function processesNaming(text: string): ProcessEntry[] {
  return allProcesses().filter(({ command, pid }) => pid !== process.pid && command.includes(text));
}

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
