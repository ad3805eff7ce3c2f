import type { Database } from '../../src/db/database.ts';
import { newId } from '../../src/domain/ids.ts';
import { createWorkspace } from '../../src/services/workspaces/workspaces.ts';

const DAY_MS = 24 * 60 * 60_000;

/** An id as if created some days ago. */
function oldId(ageDays: number): string {
  const hex = (Date.now() - ageDays * DAY_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`;
}

/** Rows of webhooks and related tables, written without the API. */
export interface HousekeepingRows {
  workspaceId: string;
  webhook(row?: {
    url?: string;
    disabled?: boolean;
    secret?: Buffer;
    previous?: { secret: Buffer; expiresInHours: number };
    headers?: Buffer;
  }): Promise<string>;
  /** By default a dispatched one. */
  event(row?: { ageDays?: number; dispatched?: boolean; test?: boolean }): Promise<string>;
  /** With one attempt. By default delivered. */
  delivery(eventId: string, row?: { status?: string; trigger?: string; toEnd?: boolean }): Promise<string>;
  notification(row?: { webhookId?: string; message?: string; ageDays?: number }): Promise<string>;
  /** Which of these rows are there, in their order. */
  present(table: 'events' | 'deliveries' | 'delivery_attempts' | 'notifications', ids: string[]): Promise<boolean[]>;
}

/** In a workspace `rows` of `ada@example.com`. */
export async function housekeepingRows(db: Database): Promise<HousekeepingRows> {
  const { id: workspaceId } = await createWorkspace(db.system, 'rows', 'ada@example.com');
  const { query } = db.system;
  return {
    workspaceId,
    async webhook({ url = 'https://example.com/', disabled = false, secret = Buffer.of(0), previous, headers } = {}) {
      const id = newId();
      await query(
        {
          text: `insert into webhooks (workspace_id, id, url, events, status, secret, previous_secret,
                   previous_secret_expires_at, headers, created_at, updated_at)
                 values ($1, $2, $3, '{}', $4, $5, $6, now() + make_interval(hours => $7), $8, now(), now())`,
        },
        [
          workspaceId,
          id,
          url,
          disabled ? 'disabled' : 'enabled',
          secret,
          previous?.secret,
          previous?.expiresInHours,
          headers,
        ],
      );
      return id;
    },
    async event({ ageDays = 0, dispatched = true, test = false } = {}) {
      const id = oldId(ageDays);
      await query(
        {
          text: `insert into events (workspace_id, id, type, data, test, created_at, dispatched_at)
                 select $1, $2, 'prompt.created', '{}', $3, made, case when $4 then made end
                 from (select now() - make_interval(secs => $5) as made)`,
        },
        [workspaceId, id, test, dispatched, ageDays * 86_400],
      );
      return id;
    },
    async delivery(eventId, { status = 'delivered', trigger = 'event', toEnd = false } = {}) {
      const id = newId();
      await query(
        {
          text: `insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, to_end, created_at)
                 values ($1, $2, $3, $4, $5, $6, $7, now())`,
        },
        [workspaceId, id, eventId, newId(), trigger, status, toEnd],
      );
      await query(
        {
          text: `insert into delivery_attempts (delivery_id, attempt, started_at, duration_ms) values ($1, 1, now(), 5)`,
        },
        [id],
      );
      return id;
    },
    async notification({ webhookId, message = 'It failed.', ageDays = 0 } = {}) {
      const id = oldId(ageDays);
      await query(
        {
          text: `insert into notifications (workspace_id, id, type, message, webhook_id, email_pending, created_at)
                 values ($1, $2, 'webhook.disabled', $3, $4, true, now() - make_interval(secs => $5))`,
        },
        [workspaceId, id, message, webhookId, ageDays * 86_400],
      );
      return id;
    },
    async present(table, ids) {
      const key = table === 'delivery_attempts' ? 'delivery_id' : 'id';
      const rows = await query<{ id: string }>({ text: `select ${key} as id from ${table} where ${key} = any($1)` }, [
        ids,
      ]);
      return ids.map((id) => rows.some((row) => row.id === id));
    },
  };
}
