import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import process from 'node:process';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { request } from 'undici';
import { startApi } from '../../src/api/server.ts';
import { parseSettings } from '../../src/config.ts';
import { connectDependencies, type Dependencies } from '../../src/dependencies.ts';
import { generateApiKey } from '../../src/services/access/api-keys.ts';
import { ensureFirstKey } from '../../src/services/workspaces/bootstrap.ts';
import { createTestDatabase } from './database.ts';

/** An answer of the API. `body` is parsed JSON (the text, where it is none). */
export interface Answer {
  status: number;
  headers: Headers;
  // Tests look into answers freely; what they must look like is what they assert.
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

/** The whole service in this process, on a database of its own and the shared Temporal. */
export interface TestService {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** The first key of the workspace `default`, with all scopes. */
  key: string;
  foundation: Dependencies;
  databaseUrl: string;
  /** Calls `/v1` + path as JSON with the first key, another, or (null) none. */
  call: Call;
  stop(): Promise<void>;
}

/**
 * Starts API and (unless `workers` is false) workers. Test files that run at the same time share Temporal, each
 * with task queues of its own.
 * @param environment settings over the tests' own
 */
export async function startTestService(
  environment: Record<string, string> = {},
  { workers: withWorkers = true }: { workers?: boolean } = {},
): Promise<TestService> {
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
  const foundation = await connectDependencies(
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
  await ensureFirstKey(foundation.db, key);
  // Test files without workers need not load them.
  const workers = withWorkers ? await (await import('../../src/worker.ts')).startWorkers(foundation) : undefined;
  const api = await startApi(foundation, { eager: withWorkers });
  const origin = `http://127.0.0.1:${api.port}`;
  return {
    origin,
    key,
    foundation,
    databaseUrl: database.url,
    call: createCall(origin, key),
    async stop() {
      await api.close(1_000);
      await workers?.stop();
      await foundation.close();
      await database.drop();
    },
  };
}

/** A function that calls the API at `origin`: by undici, which takes half the time of `fetch`. */
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
