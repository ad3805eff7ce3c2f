import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { freePort } from '../src/embedded/ports.ts';
import { endProcess, endWithThisProcess, plainEnvironment } from './child.ts';
import type { Servers } from './servers.ts';

const READY_TIMEOUT_MS = 120_000;
const Package = z.object({ scripts: z.record(z.string(), z.string()) });
const WORKERS_READY = 'workers started';
/** Shared, so that every process of a run decrypts what the others encrypted. */
const ENCRYPTION_KEY = randomBytes(32).toString('base64');
/** A key with all scopes: the first process of a run creates it. */
const API_KEY = `bench-${randomBytes(24).toString('hex')}`;

/** A process of the service. */
export interface Part {
  pid: number;
  /** Current memory of the process. */
  rssBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** A process with the API. */
export interface Service extends Part {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** A key with all scopes. */
  key: string;
  /** Calls `/v1` + path. @returns the parsed body @throws Error for any status except 2xx */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** The Node.js options of a script in package.json, such as memory limits, and its program. */
async function nodeArguments(script: string): Promise<{ options: string[]; program: string }> {
  const { scripts } = Package.parse(JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')));
  const [program = '', ...options] = (scripts[script] ?? '').split(' ').slice(2).reverse();
  return { options, program: fileURLToPath(new URL(`../${program}`, import.meta.url)) };
}

/** Starts a script of package.json as a process; `isReady` receives its log so far. */
async function startPart(
  script: 'start' | 'api' | 'worker',
  servers: Servers,
  environment: Record<string, string>,
  isReady: (log: string) => Promise<boolean>,
  profileFolder?: string,
): Promise<Part> {
  const folder = await mkdtemp(path.join(servers.folder, `${script}-`));
  const profiling = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
  const logFile = path.join(folder, 'log');
  const log = openSync(logFile, 'a');
  const { options, program } = await nodeArguments(script);
  const child = spawn(process.execPath, [...options, ...profiling, program], {
    cwd: folder,
    env: plainEnvironment({
      METRICS_PORT: '0',
      DATA_DIR: path.join(folder, 'data'),
      DATABASE_URL: servers.databaseUrl,
      TEMPORAL_ADDRESS: servers.temporalAddress,
      TEMPORAL_UI_PORT: '0',
      BOOTSTRAP_API_KEY: API_KEY,
      ENCRYPTION_KEY,
      RATE_LIMIT_PER_MINUTE: '0',
      ...environment,
    }),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  endWithThisProcess(child);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  try {
    await until(async () => isReady(await readFile(logFile, 'utf8')), isRunning);
  } catch (error) {
    await endProcess(child);
    throw new Error(`${script} did not start: ${await readFile(logFile, 'utf8')}`, { cause: error });
  }
  return { pid: child.pid ?? 0, rssBytes: () => rssOf(child.pid ?? 0), stop: () => endProcess(child) };
}

async function startWithApi(
  script: 'start' | 'api',
  servers: Servers,
  environment: Record<string, string>,
  profileFolder?: string,
): Promise<Service> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const settings = { PORT: String(port), ...environment };
  const part = await startPart(script, servers, settings, () => isReady(origin), profileFolder);
  return {
    ...part,
    origin,
    key: API_KEY,
    call: (method, at, body) => call(`${origin}/v1${at}`, API_KEY, method, body),
  };
}

/**
 * Starts the service in one process, like `npm start`, and waits until it is ready.
 * @param environment additional settings
 * @param profileFolder for a CPU profile of the process when it ends
 */
export function startService(
  servers: Servers,
  environment: Record<string, string> = {},
  profileFolder?: string,
): Promise<Service> {
  return startWithApi('start', servers, environment, profileFolder);
}

/** Starts only the API, like `npm run api`. */
export function startApi(
  servers: Servers,
  environment: Record<string, string> = {},
  profileFolder?: string,
): Promise<Service> {
  return startWithApi('api', servers, environment, profileFolder);
}

/** Starts a process with only workers, like `npm run worker`. */
export function startWorker(servers: Servers, environment: Record<string, string> = {}): Promise<Part> {
  return startPart('worker', servers, environment, async (log) => log.includes(WORKERS_READY));
}

async function isReady(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/readyz`);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Waits for a 200 of `/readyz`. @throws Error if the process ended, or after 2 min */
export function untilReady(origin: string, isRunning: () => boolean): Promise<void> {
  return until(() => isReady(origin), isRunning);
}

async function until(isSo: () => Promise<boolean>, isRunning: () => boolean): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (isRunning() && Date.now() < deadline) {
    if (await isSo()) return;
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
  return text === '' ? undefined : JSON.parse(text);
}
