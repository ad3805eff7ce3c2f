import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import process from 'node:process';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { pino } from 'pino';
import { request } from 'undici';
import { startApi } from '../../src/api/server.ts';
import { parseSettings } from '../../src/config.ts';
import { connectDependencies, type Dependencies } from '../../src/dependencies.ts';
import { generateApiKey } from '../../src/services/access/api-keys.ts';
import { DEFAULT_WORKSPACE, ensureFirstKey } from '../../src/services/workspaces/bootstrap.ts';
import { getWorkspace } from '../../src/services/workspaces/workspaces.ts';
import { createTestDatabase } from './database.ts';
import './one-runtime.ts';
import { atProcessEnd } from './process-end.ts';

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
  /** Of that workspace, as the database has it. */
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
  /** Why a separate workspace on the shared service is not enough: a service is started only for this file. */
  own?: string;
}

/**
 * A service for a test file: a new workspace `default` on the service that all files of a Jest process share, with or without
 * workers, or (with additional settings, or `own`) a separate one. Earlier files used other workspaces.
 * @param environment additional settings
 */
export async function startTestService(
  environment: Record<string, string> = {},
  { workers = true, own }: ServiceOptions = {},
): Promise<TestService> {
  if (own !== undefined || Object.keys(environment).length > 0) return startOwnService(environment, workers);
  const { dependencies, ...shared } = await (workers ? sharedWithWorkers() : sharedWithoutWorkers());
  // Like the first key on an empty database. Names are unique, so those of earlier files are released.
  await dependencies.db.system.query((all) =>
    all
      .updateTable('workspaces')
      .set((eb) => ({ name: sql<string>`${eb.ref('name')} || ' until ' || ${eb.ref('id')}` }))
      .where('name', 'not like', '% until %'),
  );
  const key = generateApiKey();
  const workspaceId = await makeFirst(dependencies, key);
  return { ...shared, dependencies, key, workspaceId, call: createCall(shared.origin, key), stop: async () => {} };
}

/** One for all files of this process, until it ends. */
function sharedService(workers: boolean): () => Promise<TestService> {
  let started: Promise<TestService> | undefined;
  return () => {
    if (started === undefined) {
      started = startOwnService({}, workers);
      atProcessEnd(async () => (await started)?.stop());
    }
    return started;
  };
}

const sharedWithWorkers = sharedService(true);
const sharedWithoutWorkers = sharedService(false);

/** Concurrent test files share Temporal, each with separate task queues. */
async function startOwnService(environment: Record<string, string>, withWorkers: boolean): Promise<TestService> {
  const database = await createTestDatabase();
  const settings = parseSettings({
    PORT: '0',
    METRICS_PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'silent',
    TEMPORAL_TASK_QUEUE_PREFIX: `test-${randomBytes(6).toString('hex')}`,
    ...environment,
  });
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
