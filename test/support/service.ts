import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import process from 'node:process';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { request } from 'undici';
import { startApi } from '../../src/api/server.ts';
import { CAPABILITIES } from '../../src/capabilities.ts';
import { parseSettings } from '../../src/config.ts';
import { connectDependencies, type Dependencies } from '../../src/dependencies.ts';
import { generateApiKey } from '../../src/services/access/api-keys.ts';
import { DEFAULT_WORKSPACE, ensureFirstKey } from '../../src/services/workspaces/bootstrap.ts';
import { deleteWorkspace } from '../../src/services/workspaces/delete-workspace.ts';
import { getWorkspace } from '../../src/services/workspaces/workspaces.ts';
import { createTestDatabase } from './database.ts';
import './one-runtime.ts';
import { atProcessEnd } from './process-end.ts';
import { sharedProviders } from './providers/shared.ts';
import { PATIENCE_MS } from './wait-for.ts';

/** A response of the API. `body` is parsed JSON, or the text if it is not JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  // Untyped: tests assert the shape of responses themselves.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
}

export type Call = (
  method: string,
  path: string,
  options?: {
    body?: unknown;
    raw?: string | Uint8Array<ArrayBuffer> | ReadableStream;
    headers?: Record<string, string>;
    key?: string | null;
    /** Do not read the body of a stream of server-sent events. */
    leavesStreams?: boolean;
  },
) => Promise<Answer>;

/** The whole service in this process. */
export interface TestService {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** The first key of the workspace `default`, with all scopes. */
  key: string;
  /** The ID of that workspace. */
  workspaceId: string;
  dependencies: Dependencies;
  databaseUrl: string;
  /** Calls `/v1` + path as JSON with the first key, another, or (null) none. */
  call: Call;
  stop(): Promise<void>;
}

/** Options that differ from those of most test files. */
export interface ServiceOptions {
  /** Default: true. */
  workers?: boolean;
  /** Uses the stand-ins of {@link sharedProviders} as its providers. */
  providers?: boolean;
  /** Why a separate workspace on the shared service is not enough: a service is started only for this file. */
  own?: string;
}

/** Settings that only the API reads. Workers also read some quotas. */
const OF_API = /^(QUOTA_(STREAMS|UPLOADS)|TRUST_PROXY|MAX_CONNECTIONS(_PER_ADDRESS)?|CORS_ORIGINS|CONSOLE_LOCALE)$/;

/**
 * A service for a test file: a new workspace `default` on a service that the files of a Jest process share, with or without workers
 * and providers. If only settings of the API differ, the file gets a separate API on that service; with other settings, or `own`, a
 * separate service. Earlier files used other workspaces.
 * @param environment additional settings
 */
export async function startTestService(
  environment: Record<string, string> = {},
  { workers = true, providers = false, own }: ServiceOptions = {},
): Promise<TestService> {
  const names = Object.keys(environment);
  const isOfApi = names.every((name) => OF_API.test(name) || (!workers && name.startsWith('QUOTA_')));
  const settings = { ...(providers && (await sharedProviders()).settings), ...environment };
  if (own !== undefined || !isOfApi) return startOwnService(settings, workers);
  const shared = await sharedService(workers, providers);
  const dependencies =
    names.length === 0
      ? shared.dependencies
      : { ...shared.dependencies, settings: settingsWith(settings), registry: new Registry() };
  // Like the first key on an empty database. Names are unique, so those of earlier files are released.
  await dependencies.db.system.query((all) =>
    all
      .updateTable('workspaces')
      .set((eb) => ({ name: sql<string>`${eb.ref('name')} || ' until ' || ${eb.ref('id')}` }))
      .where('name', 'not like', '% until %'),
  );
  const key = generateApiKey();
  const workspaceId = await makeFirst(dependencies, key);
  const api = names.length === 0 ? undefined : await startApi(dependencies, { eager: workers });
  const origin = api === undefined ? shared.origin : `http://127.0.0.1:${api.port}`;
  return {
    ...shared,
    dependencies,
    origin,
    key,
    workspaceId,
    call: createCall(origin, key),
    async stop() {
      await api?.close(1_000);
      // Unfinished work must not call the stand-ins of the next file.
      if (providers) await endWorkspaces(dependencies);
    },
  };
}

const started = new Map<string, Promise<TestService>>();

/** One for all files of this process, until it ends. */
function sharedService(workers: boolean, providers: boolean): Promise<TestService> {
  const which = JSON.stringify({ workers, providers });
  const running =
    started.get(which) ?? (async () => startOwnService(providers ? (await sharedProviders()).settings : {}, workers))();
  if (!started.has(which)) atProcessEnd(async () => (await running).stop());
  started.set(which, running);
  return running;
}

/** Deletes the workspaces of a file, and ends their unfinished work. */
async function endWorkspaces({ db, client, taskQueues, settings, log }: Dependencies): Promise<void> {
  const workspaces = await db.system.query((all) =>
    all
      .selectFrom('workspaces')
      .select(['id', 'name'])
      .where('name', 'not like', '% until %')
      .where('deleted_at', 'is', null),
  );
  const starter = { client, taskQueues, eager: false, retryWaitsMs: settings.webhooks.retryWaitsMs };
  for (const { id, name } of workspaces) {
    await deleteWorkspace(db.system, name);
    for (const { end } of CAPABILITIES.toReversed())
      await end?.({ ...starter, log }, db.workspace(id), AbortSignal.timeout(PATIENCE_MS));
  }
}

/** Concurrent test files share Temporal, each with separate task queues. */
const settingsWith = (environment: Record<string, string>) =>
  parseSettings({
    PORT: '0',
    METRICS_PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'silent',
    TEMPORAL_TASK_QUEUE_PREFIX: `test-${randomBytes(6).toString('hex')}`,
    ...environment,
  });

async function startOwnService(environment: Record<string, string>, withWorkers: boolean): Promise<TestService> {
  const database = await createTestDatabase();
  const settings = settingsWith(environment);
  const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
  const dependencies = await connectDependencies(
    settings,
    {
      databaseUrl: database.url,
      temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
      encryptionKeys: [randomBytes(32)],
      allowPrivate: settings.webhooks.allowPrivate ?? 'loopback',
    },
    log,
  );
  const key = generateApiKey();
  const workspaceId = await makeFirst(dependencies, key);
  // Test files without workers need not load them.
  const workers = withWorkers ? await (await import('../../src/worker.ts')).startWorkers(dependencies) : undefined;
  const api = await startApi(dependencies, { eager: withWorkers });
  const origin = `http://127.0.0.1:${api.port}`;
  return {
    origin,
    key,
    workspaceId,
    dependencies,
    databaseUrl: database.url,
    call: createCall(origin, key),
    async stop() {
      await api.close(1_000);
      await workers?.stop();
      await dependencies.close();
      await database.drop();
    },
  };
}

/** @returns the id of the workspace `default`, whose first key this is */
async function makeFirst({ db }: Dependencies, key: string): Promise<string> {
  await ensureFirstKey(db, key);
  return (await getWorkspace(db.system, DEFAULT_WORKSPACE)).id;
}

/** A function that calls the API at `origin`, with undici, which takes half the time of `fetch`. */
export function createCall(origin: string, defaultKey: string): Call {
  return async (method, path, { body, raw, headers = {}, key = defaultKey, leavesStreams = false } = {}) => {
    const sent = new Headers({
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    });
    const response = await request(`${origin}/v1${path}`, {
      method,
      headers: Object.fromEntries(sent),
      body: raw === undefined ? (body === undefined ? null : JSON.stringify(body)) : toSend(raw),
    });
    const received = headersOf(response.headers);
    const type = received.get('Content-Type') ?? '';
    if (leavesStreams && type.startsWith('text/event-stream')) {
      response.body.on('error', () => {}).destroy();
      return { status: response.statusCode, headers: received, body: '' };
    }
    const text = await response.body.text();
    return { status: response.statusCode, headers: received, body: type.includes('json') ? JSON.parse(text) : text };
  };
}

function toSend(raw: string | Uint8Array<ArrayBuffer> | ReadableStream): string | Uint8Array | Readable {
  return raw instanceof ReadableStream ? Readable.fromWeb(raw) : raw;
}

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(received))
    for (const value of [values ?? []].flat()) headers.append(name, value);
  return headers;
}
