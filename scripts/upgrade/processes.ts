import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { type Started, startProcess } from '../../test/support/processes.ts';

const READY = { api: /(the API listens|API listening) on/, worker: /the workers are at work|workers started/ } as const;
/**
 * Patterns that must not appear in a log: an uncaught error, an error that ended a process, or a workflow that its code cannot continue.
 */
const TROUBLE = /unhandled rejection|"level":60|Nondeterminism|TMPRL1100|error: column|violates/i;

/** A process of the service whose version changes. */
export interface Replaceable {
  kind: 'api' | 'worker';
  /** Stops it, waits for its end, and starts another version. */
  replace: (tree: string) => Promise<void>;
}

/** The Node.js command of a script in a version's package.json. */
function command(tree: string, kind: 'api' | 'worker'): string[] {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(path.join(tree, 'package.json'), 'utf8'),
  );
  // exec node …
  return [process.execPath, ...(scripts[kind] ?? '').split(' ').slice(2)];
}

/** Starts replaceable processes of the service, and records their problems. */
export class Processes {
  readonly troubles: string[] = [];
  readonly all: Replaceable[] = [];
  readonly #env: Record<string, string>;

  constructor(env: Record<string, string>) {
    this.#env = env;
  }

  async start(kind: 'api' | 'worker', tree: string, env: Record<string, string> = {}): Promise<void> {
    let current = await this.#spawn(kind, tree, env);
    this.all.push({
      kind,
      replace: async (next) => {
        await this.#stop(kind, current);
        current = await this.#spawn(kind, next, env);
      },
    });
    this.#running.push(() => this.#stop(kind, current));
  }

  /** Stops all of them, workers last: without workers, requests that wait for a run wait in vain. */
  async stop(): Promise<void> {
    for (const stop of this.#running) await stop();
  }

  readonly #running: (() => Promise<void>)[] = [];

  async #spawn(kind: 'api' | 'worker', tree: string, env: Record<string, string>): Promise<Started> {
    const started = startProcess(command(tree, kind), { cwd: tree, env: { ...this.#env, ...env } });
    await started.says(READY[kind]);
    return started;
  }

  async #stop(kind: string, started: Started): Promise<void> {
    started.kill('SIGTERM');
    const { code, signal, output } = await started.ended;
    if (code !== 0) this.troubles.push(`a process (${kind}) ended with ${code ?? signal}: ${output.slice(-500)}`);
    for (const line of output.split('\n')) if (TROUBLE.test(line)) this.troubles.push(`${kind}: ${line.slice(0, 600)}`);
  }
}
