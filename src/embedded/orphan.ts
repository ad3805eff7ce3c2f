import { setTimeout as delay } from 'node:timers/promises';
import { commandLineOf } from './programs/programs.ts';

/**
 * Stops the server that an earlier, killed run left behind, if the process with that id still is that server.
 *
 * @param options.isServer checks the process's command line: the id may have been reused by another process.
 * @param options.signals tried in turn, each with 10 s to take effect.
 * @returns whether it is gone.
 */
export async function endOrphan(options: {
  pid: number;
  what: string;
  isServer: (commandLine: string) => boolean;
  signals: readonly NodeJS.Signals[];
  log: (line: string) => void;
}): Promise<boolean> {
  const { pid } = options;
  const isThere = async () => {
    const line = await commandLineOf(pid);
    return line !== undefined && options.isServer(line);
  };
  if (!(await isThere())) return true;
  options.log(`Stopping the ${options.what} that an earlier run left behind (pid ${pid}).`);
  for (const signal of options.signals) {
    const until = Date.now() + 10_000;
    if (await isThere()) process.kill(pid, signal);
    while (Date.now() < until) {
      if (!(await isThere())) return true;
      await delay(50);
    }
  }
  return false;
}
