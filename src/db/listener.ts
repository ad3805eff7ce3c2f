import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { CONNECTION_OPTIONS } from './orm.ts';

/** Channels of PostgreSQL notifications. */
export const CHANNELS = {
  /** The call of an execution's model starts, in another process than the one that started the execution. Payload: the execution's UUID. */
  executionBegun: 'execution_begun',
  /** An execution has ended. Payload: its UUID, and the execution if it is short (see `onExecutionFinished`). */
  executionFinished: 'execution_finished',
  /** A key was revoked. Payload: the SHA-256 of the key in hex. */
  apiKeyRevoked: 'api_key_revoked',
  /** A request ended a session. Payload: the SHA-256 of its token in hex. */
  sessionEnded: 'session_ended',
  /** A row was written to `events`. Payload: empty. */
  eventWritten: 'event_written',
  /** A request created or ended a delivery. Payload: empty. */
  deliveryChanged: 'delivery_changed',
  /** A delivery has ended. Payload: its UUID. Sent only for deliveries that a request may wait for. */
  deliveryFinished: 'delivery_finished',
  /** Rows were written to `stream_deltas`. Payload: empty. */
  streamWritten: 'stream_written',
} as const;

export type Channel = (typeof CHANNELS)[keyof typeof CHANNELS];

/**
 * A connection that receives notifications. Notifications sent while it is down are lost, so code that relies on them also polls
 * after `onReconnected`, or from time to time.
 */
export interface Listener {
  on(channel: Channel, heard: (payload: string) => void): void;
  onReconnected(callback: () => void): void;
  /** Whether notifications are currently received. */
  connected(): boolean;
  close(): Promise<void>;
}

const RECONNECT_MS = 500;
/** A connection that only listens sends nothing, so it would not notice that it is dead: it is probed this often. */
const ASK_EVERY_MS = 3_000;
const ANSWER_MS = 5_000;

const LISTEN = Object.values(CHANNELS)
  .map((channel) => `listen ${channel}`)
  .join('; ');

/** Repeating it has no effect, but gets a response. */
const listen = (client: pg.Client) => client.query(LISTEN);

/** Starts to listen, and continues through restarts of the database. */
export function openListener(databaseUrl: string, log: Logger): Listener {
  const handlers = new Map<Channel, ((payload: string) => void)[]>();
  const reconnected: (() => void)[] = [];
  let client: pg.Client | undefined;
  let up = false;
  const closing = new AbortController();

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: databaseUrl,
      ...CONNECTION_OPTIONS,
      query_timeout: ANSWER_MS,
    });
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    next.once('end', end);
    next.on('error', () => end());
    let asking: NodeJS.Timeout | undefined;
    next.on('notification', ({ channel, payload }) => {
      for (const heard of handlers.get(channel as Channel) ?? []) heard(payload ?? '');
    });
    try {
      await next.connect();
      // `close` only knows connections that are established.
      if (closing.signal.aborted) return;
      client = next;
      await listen(next);
      up = true;
      for (const callback of reconnected) callback();
      asking = setInterval(() => void listen(next).catch(() => end()), ASK_EVERY_MS);
      await ended;
    } finally {
      clearInterval(asking);
      up = false;
      client = undefined;
      await next.end().catch(() => {});
    }
  }

  const running = (async () => {
    while (!closing.signal.aborted) {
      try {
        await connect();
      } catch (error) {
        log.warn({ err: error }, 'cannot listen to the database; trying again');
      }
      await delay(RECONNECT_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  })();

  return {
    on(channel, heard) {
      handlers.set(channel, [...(handlers.get(channel) ?? []), heard]);
    },
    onReconnected(callback) {
      reconnected.push(callback);
    },
    connected: () => up,
    async close() {
      closing.abort();
      await client?.end().catch(() => {});
      await running;
    },
  };
}
