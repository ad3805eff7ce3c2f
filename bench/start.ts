import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../src/embedded/ports.ts';
import { endWithThisProcess, plainEnvironment } from './child.ts';
import { type Outcome, row } from './report.ts';
import { untilReady } from './service.ts';

const ROUNDS = 4;

/** Starts, waits for a 200 of `/readyz` and stops again. @returns the seconds until ready */
async function startOnce(dataDir: string): Promise<number> {
  const port = await freePort();
  const started = performance.now();
  const npm = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: plainEnvironment({
      // Empty values count as unset, whatever a `.env` file says.
      DATABASE_URL: '',
      TEMPORAL_ADDRESS: '',
      PORT: String(port),
      METRICS_PORT: '0',
      TEMPORAL_UI_PORT: '0',
      DATA_DIR: dataDir,
    }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithThisProcess(npm);
  npm.stdout.resume();
  const closed = once(npm, 'close');
  try {
    await untilReady(`http://127.0.0.1:${port}`, () => npm.exitCode === null);
    return (performance.now() - started) / 1000;
  } finally {
    npm.kill('SIGTERM');
    // Not before the last process that holds its output has ended.
    await closed;
  }
}

/** `npm start` with its own PostgreSQL and Temporal, from the command until it is ready. */
export async function measureStart(): Promise<Outcome> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-bench-'));
  const dataDir = path.join(folder, 'data');
  try {
    const first = await startOnce(dataDir);
    const warm: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) warm.push(await startOnce(dataDir));
    return {
      benchmark: 'start (npm start to a 200 of /readyz)',
      rows: [row('a new data directory', 's', [first]), row('warm', 's', warm, { below: 8 })],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
