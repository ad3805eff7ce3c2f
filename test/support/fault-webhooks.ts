import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { expect } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createCipher } from '../../src/domain/cipher.ts';
import { publicId } from '../../src/domain/ids.ts';
import { generateApiKey } from '../../src/services/access/api-keys.ts';
import { ensureFirstKey } from '../../src/services/workspaces/bootstrap.ts';
import { SEARCH_ATTRIBUTES } from '../../src/temporal/names.ts';
import { createTestDatabase } from './database.ts';
import { chooseProcesses, type Processes } from './fault-stage.ts';
import { killOrphans } from './processes.ts';
import { type Received, type Receiver, type Respond, startReceiver } from './receiver.ts';
import { until } from './wait-for.ts';
import { type DeliveryRow, type WebhookRows, webhookRows } from './webhook-rows.ts';

/** API, workers, their database and their Temporal, open to inspection by a test. */
export interface WebhookStage extends Processes {
  rows: WebhookRows;
  query: Database['system']['query'];
  temporal: Client;
  /** Waits until that many deliveries of a webhook have this status, through outages of the database. */
  untilStatus(webhookId: string, status: string, count: number): Promise<void>;
  /** Waits until that many deliveries of a webhook have ended, and Temporal lists their workflows, if any, as closed. */
  untilEnded(webhookId: string, count: number): Promise<void>;
  /** As if processes that have claimed deliveries, and are dead, had been so for longer than their claims last. */
  letClaimsExpire(): Promise<void>;
}

/** The set-up of one file's tests, all of which ends together. */
export interface Scene {
  /** The test starts workers and API. @param servers default: a separate database, and the Temporal of all tests */
  stage(env: Record<string, string>, servers?: { databaseUrl: string; temporalAddress: string }): Promise<WebhookStage>;
  receiver(respond?: Respond, port?: number): Promise<Receiver>;
  /** Registers a clean-up, which runs after later set-up is gone. */
  afterwards(cleanUp: () => Promise<void>): void;
  end(): Promise<void>;
}

/** For `afterAll`: `end`. */
export function createScene(): Scene {
  const cleanUps: (() => Promise<void>)[] = [];
  const afterwards = (cleanUp: () => Promise<void>) => void cleanUps.push(cleanUp);

  async function ownDatabase() {
    const database = await createTestDatabase();
    afterwards(() => database.drop());
    return { databaseUrl: database.url, temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' };
  }

  return {
    async stage(env, servers) {
      const { databaseUrl, temporalAddress } = servers ?? (await ownDatabase());
      const key = randomBytes(32);
      const processes = await chooseProcesses({
        databaseUrl,
        temporalAddress,
        env: { ENCRYPTION_KEY: key.toString('base64'), WEBHOOK_ALLOW_PRIVATE: 'loopback', ...env },
      });
      const db = await openDatabase(databaseUrl, { poolSize: 10 });
      afterwards(() => db.close());
      await ensureFirstKey(db, generateApiKey());
      const connection = Connection.lazy({ address: temporalAddress });
      afterwards(() => connection.close());
      return { ...processes, ...lookInto(db, new Client({ connection })), rows: webhookRows(db, createCipher([key])) };
    },
    async receiver(respond, port) {
      const receiver = await startReceiver(respond, port);
      afterwards(() => receiver.close());
      return receiver;
    },
    afterwards,
    async end() {
      await killOrphans();
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    },
  };
}

function lookInto({ system: { query } }: Database, temporal: Client) {
  return {
    query,
    temporal,
    async untilStatus(webhookId: string, status: string, count: number) {
      const counted = { text: 'select count(*)::int as count from deliveries where webhook_id = $1 and status = $2' };
      await until(`${count} deliveries to be ${status}`, async () => {
        const [row] = await query<{ count: number }>(counted, [webhookId, status]);
        return (row?.count ?? 0) >= count;
      });
    },
    async untilEnded(webhookId: string, count: number) {
      const counted = {
        text: `select count(*) filter (where finished_at is not null and not to_end)::int as ended,
                 count(*) filter (where finished_at is null or to_end)::int as open, count(started_at)::int as workflows
               from deliveries where webhook_id = $1`,
      };
      const ofWebhook = `${SEARCH_ATTRIBUTES.webhook.name} = '${publicId('webhook', webhookId)}'`;
      const countOf = async (status: string) =>
        (await temporal.workflow.count(`${ofWebhook} and ExecutionStatus ${status} 'Running'`)).count;
      await until(`${count} deliveries and their workflows to be ended`, async () => {
        const [row] = await query<{ ended: number; open: number; workflows: number }>(counted, [webhookId]);
        if (row?.ended !== count || row.open > 0) return false;
        return (await countOf('!=')) >= row.workflows && (await countOf('=')) === 0;
      });
    },
    async letClaimsExpire() {
      const text = `with expired as (update deliveries set claimed_at = claimed_at - interval '1 minute')
                    select pg_notify('delivery_changed', '')`;
      await query({ text });
    },
  };
}

/** Delays a receiver's responses. */
export interface Hold {
  respond: Respond;
  /** Requests that wait for their answer. */
  held(): number;
  /** Sends these responses, and all later ones immediately. */
  release(): void;
}

/** Holds responses. @param status of the eventual response */
export function holding(status = 200): Hold {
  const released = Promise.withResolvers<void>();
  let held = 0;
  return {
    async respond(_request, response) {
      held += 1;
      await released.promise;
      response.writeHead(status).end();
    },
    held: () => held,
    release: () => released.resolve(),
  };
}

/** For reporting. */
export function secondsSince(at: number, until = Date.now()): string {
  return ((until - at) / 1_000).toFixed(1);
}

/** When the last of these events first arrived. */
export function allCameAt(received: readonly Received[], eventIds: readonly string[]): number {
  return Math.max(
    ...eventIds.map(
      (id) => received.find(({ headers }) => headers['x-event-id'] === publicId('event', id))?.at ?? Infinity,
    ),
  );
}

/** Lost events, and duplicate requests for the same event and attempt. */
export function tally(received: readonly Received[], eventIds: readonly string[]) {
  const events = new Set(received.map(({ headers }) => headers['x-event-id']));
  const attempts = new Set(received.map(attemptOf));
  return {
    lost: eventIds.filter((id) => !events.has(publicId('event', id))).length,
    duplicates: received.length - attempts.size,
  };
}

function attemptOf({ headers }: Received): string {
  return [headers['x-delivery-id'], headers['x-delivery-attempt']].join('/');
}

function recordedIn(deliveries: readonly DeliveryRow[]): string[] {
  return deliveries.flatMap(({ id, attempts }) =>
    attempts.filter(({ status }) => status !== null).map(({ attempt }) => `${publicId('delivery', id)}/${attempt}`),
  );
}

/** Expects the attempts at a receiver, which answers all of them, to be exactly those in the database. */
export function expectRecorded(received: readonly Received[], deliveries: readonly DeliveryRow[]): void {
  expect(recordedIn(deliveries).toSorted()).toEqual([...new Set(received.map(attemptOf))].toSorted());
}

/** The number of attempts at a receiver that are not in the database: those in flight when a worker was killed. */
export function inFlight(received: readonly Received[], deliveries: readonly DeliveryRow[]): number {
  const recorded = new Set(recordedIn(deliveries));
  return new Set(received.map(attemptOf).filter((attempt) => !recorded.has(attempt))).size;
}
