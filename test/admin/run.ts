import { spawn } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The result of an admin command. */
export interface AdminRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command line like its users, as a separate process. */
export function runAdmin(args: string[], settings: Record<string, string>): Promise<AdminRun> {
  const child = spawn(process.execPath, [path.join(root, 'src', 'admin', 'main.ts'), ...args], {
    cwd: root,
    // Nothing from the tests' own environment except what programs need to run.
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
