import { v7 } from 'uuid';
import type { DeliveryTrigger } from '../../../src/db/entities/webhook.ts';
import { newId, publicId } from '../../../src/domain/ids.ts';
import type { DeliveryStatus } from '../../../src/domain/webhooks/delivery-states.ts';
import type { EventType } from '../../../src/domain/webhooks/events.ts';
import type { Answer, TestService } from '../../support/service.ts';

export const HOOK = 'https://example.com/hooks/prompts';

/** The body of a public id. */
export const uuidOf = (id: string) => id.slice(id.indexOf('_') + 1);

/** Registers a webhook and returns the response body. */
export async function registerWebhook(service: TestService, over: object = {}): Promise<Answer['body']> {
  const { status, body } = await service.call('POST', '/webhooks', { body: { url: HOOK, ...over } });
  if (status !== 201) throw new Error(`Not registered: ${JSON.stringify(body)}`);
  return body;
}

export interface EventOptions {
  type?: EventType;
  at?: Date;
  test?: boolean;
  dispatched?: boolean;
}

/** Keeps ids of the same millisecond in order of creation. */
let stored = 0;

/** Writes an event of the first workspace that a relay has dispatched. @returns its public id */
export async function storeEvent(
  { dependencies: { db } }: TestService,
  { type = 'prompt.created', at = new Date(), test = false, dispatched = true }: EventOptions = {},
): Promise<string> {
  stored += 1;
  const id = v7({ msecs: at.getTime(), seq: stored });
  await db.system.query(
    {
      text: `insert into events (workspace_id, id, type, data, test, created_at, dispatched_at)
             values ((select id from workspaces where name = 'default'), $1, $2, '{"a":1}', $3, $4, $5)`,
    },
    [id, type, test, at, dispatched ? at : null],
  );
  return publicId('event', id);
}

export interface DeliveryOptions {
  eventId?: string;
  type?: EventType;
  status?: DeliveryStatus;
  trigger?: DeliveryTrigger;
  started?: boolean;
  at?: Date;
}

/** Writes a delivery to a webhook. @returns its public id */
export async function storeDelivery(
  service: TestService,
  webhookId: string,
  { eventId, type, status = 'delivered', trigger = 'event', started = true, at: madeAt }: DeliveryOptions = {},
): Promise<string> {
  const at = madeAt ?? new Date();
  // An id starts with its creation time.
  const id = madeAt === undefined ? newId() : v7({ msecs: at.getTime() });
  const event = eventId ?? (await storeEvent(service, type === undefined ? {} : { type }));
  const ended = status !== 'queued' && status !== 'waiting';
  await service.dependencies.db.system.query(
    {
      text: `insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at, claimed_at, started_at,
               finished_at)
             values ((select id from workspaces where name = 'default'), $1, $2, $3, $4, $5, $6, $7, $7, $8)`,
    },
    [id, uuidOf(event), uuidOf(webhookId), trigger, status, at, started ? at : null, ended ? at : null],
  );
  return publicId('delivery', id);
}

/** Everything that the database holds, as text; bytes in hexadecimal. */
export async function dumpDatabase({ dependencies: { db } }: TestService): Promise<string> {
  const tables = await db.system.query<{ name: string }>({
    text: `select quote_ident(table_name) as name from information_schema.tables
           where table_schema = 'public' and table_type = 'BASE TABLE'`,
  });
  const dumps = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await db.system.query<{ dump: string | null }>({
        text: `select string_agg(t::text, E'\\n') as dump from ${name} t`,
      });
      return `${name}\n${row?.dump ?? ''}`;
    }),
  );
  return dumps.join('\n');
}

/** Changes the row of a webhook behind the back of the service. */
export async function updateWebhookRow(service: TestService, id: string, assignments: string): Promise<void> {
  await service.dependencies.db.system.query({ text: `update webhooks set ${assignments} where id = $1` }, [
    uuidOf(id),
  ]);
}

/** Its deliveries in the database, the oldest first. */
export function deliveryRowsOf(service: TestService, webhookId: string) {
  return service.dependencies.db.system.query<{ status: string; status_reason: string | null; to_end: boolean }>(
    { text: 'select status, status_reason, to_end from deliveries where webhook_id = $1 order by id' },
    [uuidOf(webhookId)],
  );
}

/** The invalid fields of an error. */
export const detailsOf = (body: { error: { details: { path: string; message: string }[] } }) => body.error.details;
