// Sends the service requests that its OpenAPI document allows, and others:
// npm run check:fuzz [-- --seconds N] [--seed N] [--document FILE]
// Schemathesis generates the requests from openapi.json and checks each response: no 500, documented content types and schemas, invalid
// data rejected, a key required. The service runs like `npm start`, with its own database, and can reach only this machine. The run ends
// when its time is up (default: three minutes). Needs Python 3.11 or newer.
import { spawn } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { SCOPES } from '../src/domain/scopes.ts';
import { killOrphans, startNode } from '../test/support/processes.ts';
import { createTestEnvironment, E2E_KEY } from '../test/support/processes-service.ts';
import { pythonWith } from './python.ts';

const Key = z.object({ key: z.string() });
const root = fileURLToPath(new URL('..', import.meta.url));
const home = path.join(root, 'tools/schemathesis');
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '180' },
    seed: { type: 'string', default: '32' },
    document: { type: 'string', default: path.join(root, 'openapi.json') },
  },
});

/**
 * Runs Schemathesis against a service.
 * @param keys `FUZZ_KEY`, and `OTHER_KEY` of another workspace: see the configuration
 * @returns its exit status: 0 if it found nothing
 */
function fuzz(python: string, origin: string, keys: Record<'FUZZ_KEY' | 'OTHER_KEY', string>): Promise<number> {
  const config = ['--config-file', path.join(home, 'schemathesis.toml')];
  const bounds = ['--max-time', options.seconds, '--seed', options.seed];
  const args = ['-m', 'schemathesis.cli', ...config, 'run', options.document, '--url', `${origin}/v1`, ...bounds];
  const child = spawn(python, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...keys } });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Runs an operator command. @returns its output, parsed as JSON */
async function admin(env: Record<string, string>, ...args: string[]): Promise<unknown> {
  const { code, output } = await startNode('src/admin/main.ts', env, ['--json', ...args]).ended;
  if (code !== 0) throw new Error(`admin ${args.join(' ')}: ${output}`);
  return JSON.parse(output);
}

/** Creates a separate workspace for the run. @returns its key, with every scope */
async function createWorkspace(env: Record<string, string>): Promise<string> {
  await admin(env, 'workspace', 'create', 'fuzz', '--owner', 'fuzz@example.com');
  const scopes = ['--scopes', SCOPES.join(',')];
  return Key.parse(await admin(env, 'key', 'create', '--workspace', 'fuzz', '--name', 'fuzz', ...scopes)).key;
}

const python = await pythonWith(path.join(home, 'requirements.txt'), [3, 11]);
const place = await createTestEnvironment({
  // Generated addresses must not even reach this machine.
  WEBHOOK_ALLOW_PRIVATE: 'false',
  RATE_LIMIT_PER_MINUTE: '0',
  LOG_LEVEL: 'error',
});
const loopbackOnly = { NODE_OPTIONS: `--import ${new URL('loopback-only.ts', import.meta.url).href}` };
try {
  const service = startNode('src/main.ts', { ...place.env, ...loopbackOnly });
  await service.says(/Ctrl-C stops everything/);
  const key = await createWorkspace(place.env);
  process.exitCode = await fuzz(python, place.origin, { FUZZ_KEY: key, OTHER_KEY: E2E_KEY });
  if (process.exitCode !== 0) console.error(`== the service's log\n${service.output().slice(-10_000)}`);
  service.interrupt();
  await service.ended;
} finally {
  await killOrphans();
  await place.remove();
}
