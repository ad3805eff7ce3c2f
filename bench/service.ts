import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { freePort } from '../src/embedded/ports.ts';
import { endProcess, endWithThisProcess, plainEnvironment } from './child.ts';
import type { Servers } from './servers.ts';

const READY_TIMEOUT_MS = 120_000;
const Package = z.object({ scripts: z.object({ start: z.string() }) });

/** The service in a process of its own, as `npm start` runs it. */
export interface Service {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** A key with all scopes. */
  key: string;
  pid: number;
  /** Memory of the process at present. */
  rssBytes(): Promise<number>;
  /** Calls `/v1` + path and gives the parsed answer. @throws Error on any status but 2xx */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** What `npm start` tells Node, such as how much memory to use. */
async function nodeOptions(): Promise<string[]> {
  const { scripts } = Package.parse(JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')));
  return scripts.start.split(' ').filter((part) => part.startsWith('--'));
}

/**
 * Starts the service on the given servers and waits until it is ready.
 * @param environment settings over the usual ones
 * @param profileFolder where to put a CPU profile of the process when it ends
 */
export async function startService(
  servers: Servers,
  environment: Record<string, string> = {},
  profileFolder?: string,
): Promise<Service> {
  const port = await freePort();
  const key = `bench-${randomBytes(24).toString('hex')}`;
  const folder = path.join(servers.folder, `service-${port}`);
  await mkdir(folder);
  const profiling = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
  const log = openSync(path.join(folder, 'log'), 'a');
  const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [...(await nodeOptions()), ...profiling, program], {
    cwd: folder,
    env: plainEnvironment({
      PORT: String(port),
      METRICS_PORT: '0',
      DATA_DIR: path.join(folder, 'data'),
      DATABASE_URL: servers.databaseUrl,
      TEMPORAL_ADDRESS: servers.temporalAddress,
      TEMPORAL_UI_PORT: '0',
      BOOTSTRAP_API_KEY: key,
      RATE_LIMIT_PER_MINUTE: '0',
      ...environment,
    }),
    stdio: ['ignore', log, log],
  });
  endWithThisProcess(child);
  const origin = `http://127.0.0.1:${port}`;
  try {
    await untilReady(origin, () => child.exitCode === null);
  } catch (error) {
    await endProcess(child);
    throw new Error(`The service did not start: ${await readFile(path.join(folder, 'log'), 'utf8')}`, { cause: error });
  }
  return {
    origin,
    key,
    pid: child.pid ?? 0,
    rssBytes: () => rssOf(child.pid ?? 0),
    call: (method, at, body) => call(`${origin}/v1${at}`, key, method, body),
    stop: () => endProcess(child),
  };
}

/** Waits for a 200 of `/readyz`. @throws Error where the process ended or 2 min have passed */
export async function untilReady(origin: string, isRunning: () => boolean): Promise<void> {
  const until = Date.now() + READY_TIMEOUT_MS;
  while (isRunning() && Date.now() < until) {
    const ready = await fetch(`${origin}/readyz`).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    if (ready) return;
    await delay(10);
  }
  throw new Error('It is not ready.');
}

/** Resident memory of a process. */
async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function call(url: string, key: string, method: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
