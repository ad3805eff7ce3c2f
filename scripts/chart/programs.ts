import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const TIME_LIMIT_MS = 900_000;

/** Runs a program to its end, in the project's folder. */
export function tried(program: string, args: string[], input = '') {
  const options = { cwd: ROOT, encoding: 'utf8', input, maxBuffer: 2 ** 28, timeout: TIME_LIMIT_MS } as const;
  return spawnSync(program, args, options);
}

/**
 * @returns its standard output
 * @throws Error with what it printed, where it fails
 */
export function run(program: string, args: string[], input = ''): string {
  const { status, stdout, stderr, error } = tried(program, args, input);
  if (error || status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? `status ${status}`}\n${stdout}${stderr}`);
  return stdout;
}

/** @throws Error with `what`, where `condition` does not hold */
export function assert(condition: unknown, what: string): void {
  if (!condition) throw new Error(what);
}
