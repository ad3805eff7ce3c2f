import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

const KEPT_LINES = 60;

/** How a server ended, with the last lines it wrote. */
export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  log: string;
}

/** A server started by this process. It does not keep this process alive. */
export interface ServerProcess {
  pid: number;
  /** Settles when the server has ended, for whatever reason. Never rejects. */
  exited: Promise<ServerExit>;
  running(): boolean;
  /** The last lines that it wrote. */
  log(): string;
  /** Sends each signal in turn until the server has ended, waiting `ms` after each. */
  end(steps: readonly { signal: NodeJS.Signals; ms: number }[]): Promise<void>;
}

/**
 * Starts a server in its own process group, so that Ctrl-C in the terminal reaches only this process, which then stops
 * everything in order.
 *
 * @throws the system error if the program can't be started at all.
 */
export async function spawnServer(
  command: readonly string[],
  options: { env: NodeJS.ProcessEnv; onLine?: (line: string) => void },
): Promise<ServerProcess> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env: options.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const lines: string[] = [];
  const keep = (line: string) => {
    lines.push(line);
    if (lines.length > KEPT_LINES) lines.shift();
    options.onLine?.(line);
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', keep);

  let running = true;
  const exited = new Promise<ServerExit>((resolve) => {
    // 'close' comes after the last line has been read; a grandchild that holds the pipe must not delay it.
    child.once('exit', async (code, signal) => {
      running = false;
      await Promise.race([once(child, 'close'), delay(200)]);
      resolve({ code, signal, log: lines.join('\n') });
    });
  });
  await once(child, 'spawn');
  letGo(child);

  return {
    pid: child.pid ?? 0,
    exited,
    running: () => running,
    log: () => lines.join('\n'),
    async end(steps) {
      for (const { signal, ms } of steps) {
        if (!running) break;
        child.kill(signal);
        const patience = new AbortController();
        await Promise.race([exited, delay(ms, undefined, { signal: patience.signal }).catch(() => {})]);
        // A leftover timer would keep this process from ending.
        patience.abort();
      }
    },
  };
}

/** Lets this process end while the server runs. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdout, child.stderr]) unrefStream(stream);
}

function unrefStream(stream: Readable | null): void {
  // Pipes of child processes are sockets; the type only declares them readable.
  if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
}
