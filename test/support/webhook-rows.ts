import type { Database } from '../../src/db/database.ts';
import type { Cipher } from '../../src/domain/cipher.ts';
import { newId } from '../../src/domain/ids.ts';
import type { EventType } from '../../src/domain/webhooks/events.ts';
import { EVENT_TYPES } from '../../src/domain/webhooks/events.ts';
import { encryptHeaders, encryptSecret } from '../../src/services/webhooks/encrypted-columns.ts';
import { waitFor } from './wait-for.ts';

/** The signing secret of tests that do not depend on it. */
export const TEST_SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

/** A row of `deliveries`, with its attempts. */
export interface DeliveryRow {
  id: string;
  event_id: string;
  status: string;
  status_reason: string | null;
  attempts_made: number;
  next_attempt_at: Date | null;
  started_at: Date | null;
  to_end: boolean;
  attempts: { attempt: number; status: number | null; error: string | null; response_body: string | null }[];
}

/** Rows of webhooks, events and deliveries, written and read past the API. */
export interface WebhookRows {
  /** @returns the id of an enabled webhook of the workspace `default` */
  webhook(row: {
    url: string;
    events?: readonly EventType[];
    headers?: Record<string, string>;
    ratePerMinute?: number;
  }): Promise<string>;
  /** Writes an event and notifies the relays. @returns its id */
  event(type?: EventType, data?: object): Promise<string>;
  /** Several events in one transaction. */
  events(count: number): Promise<string[]>;
  /** Deliveries of a webhook, oldest first. */
  deliveries(webhookId: string): Promise<DeliveryRow[]>;
  /** Waits until that many deliveries of a webhook have this status, and returns them all. */
  reached(webhookId: string, status: string, count?: number): Promise<DeliveryRow[]>;
  /** Waits until that many deliveries of a webhook have had a workflow. */
  started(webhookId: string, count?: number): Promise<DeliveryRow[]>;
  read(webhookId: string): Promise<Record<string, unknown>>;
  notifications(webhookId: string): Promise<Record<string, unknown>[]>;
}

/** The workspace `default` must be there. */
export function webhookRows(db: Database, cipher: Cipher): WebhookRows {
  const { query } = db.system;
  const insertEvents = (ids: string[], type: EventType, data: object) =>
    query(
      {
        text: `with written as (
                 insert into events (workspace_id, id, type, data, created_at)
                 select w.id, e.id, $2, $3, now() from workspaces w, unnest($1::uuid[]) as e (id) where w.name = 'default'
               ) select pg_notify('event_written', '')`,
      },
      [ids, type, data],
    );
  const rows: WebhookRows = {
    async webhook({ url, events = EVENT_TYPES, headers = {}, ratePerMinute = null }) {
      const id = newId();
      await query(
        {
          text: `insert into webhooks (workspace_id, id, url, events, status, secret, headers, rate_limit_per_minute, created_at, updated_at)
                 select id, $1, $2, $3, 'enabled', $4, $5, $6, now(), now() from workspaces where name = 'default'`,
        },
        [id, url, events, encryptSecret(cipher, TEST_SECRET), encryptHeaders(cipher, headers), ratePerMinute],
      );
      return id;
    },
    async event(type = 'prompt.created', data = { prompt_name: 'greet', version: 1 }) {
      const id = newId();
      await insertEvents([id], type, data);
      return id;
    },
    async events(count) {
      const ids = Array.from({ length: count }, newId);
      await insertEvents(ids, 'prompt.created', { prompt_name: 'greet', version: 1 });
      return ids;
    },
    deliveries: (webhookId) =>
      query<DeliveryRow & Record<string, unknown>>(
        {
          text: `select d.*, coalesce((select json_agg(a order by attempt) from delivery_attempts a where a.delivery_id = d.id), '[]') as attempts
                 from deliveries d where webhook_id = $1 order by id`,
        },
        [webhookId],
      ),
    reached: (webhookId, status, count = 1) =>
      waitFor(`${count} deliveries to be ${status}`, async () => {
        const all = await rows.deliveries(webhookId);
        return all.filter((each) => each.status === status).length >= count ? all : undefined;
      }),
    started: (webhookId, count = 1) =>
      waitFor(`${count} deliveries to have a workflow`, async () => {
        const all = await rows.deliveries(webhookId);
        return all.filter((each) => each.started_at !== null).length >= count ? all : undefined;
      }),
    async read(webhookId) {
      const [row] = await query({ text: 'select * from webhooks where id = $1' }, [webhookId]);
      if (row === undefined) throw new Error(`There is no webhook ${webhookId}.`);
      return row;
    },
    notifications: (webhookId) => query({ text: 'select * from notifications where webhook_id = $1' }, [webhookId]),
  };
  return rows;
}
