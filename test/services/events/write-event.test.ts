import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { CHANNELS } from '../../../src/db/listener.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { EventType } from '../../../src/domain/webhooks/events.ts';
import { SAMPLE_DATA } from '../../../src/domain/webhooks/events.ts';
import { writeEvent } from '../../../src/services/events/write-event.ts';
import { claimExecution } from '../../../src/services/executions/run/claim-execution.ts';
import { failExecution } from '../../../src/services/executions/run/end-execution.ts';
import { storeResponse } from '../../../src/services/executions/run/store-response.ts';
import { createTestDatabase } from '../../support/database.ts';
import { type ExecutionRows, executionRows } from '../../support/processes-rows.ts';
import { waitFor } from '../../support/wait-for.ts';

const RESPONSE = {
  output: 'Hi',
  toolCalls: [],
  finishReason: 'stop' as const,
  tokens: { input: 10, output: 5, cached_input: 0, reasoning: 0, total: 15 },
  cost: { amount: '0.25', currency: 'USD' as const, pricing: null },
  modelMs: 7,
  providerModel: null,
};

let database: { url: string; drop(): Promise<void> };
let db: Database;
let rows: ExecutionRows;
let listener: pg.Client;
let heard: number;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 5 });
  rows = await executionRows(db);
  await db.system.query(
    { text: `insert into workspaces (id, name, owner_email, created_at) values ($1, 'other', 'o@example.com', now())` },
    [newId()],
  );
  listener = new pg.Client({ connectionString: database.url });
  await listener.connect();
  listener.on('notification', ({ channel }) => {
    if (channel === CHANNELS.eventWritten) heard += 1;
  });
  await listener.query(`listen ${CHANNELS.eventWritten}`);
});
afterAll(async () => {
  await listener?.end();
  await db?.close();
  await database?.drop();
});
beforeEach(async () => {
  await db.system.query({ text: 'delete from webhooks' });
  await db.system.query({ text: 'delete from events' });
  heard = 0;
});

/** Each way in which events are written. */
const writers: { type: EventType; write: () => Promise<unknown> }[] = [
  {
    type: 'prompt.created',
    async write() {
      const [row] = await db.system.query<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
      await db
        .workspace(row?.id ?? '')
        .transaction((query) => writeEvent(query, 'prompt.created', SAMPLE_DATA['prompt.created']));
    },
  },
  {
    type: 'execution.completed',
    async write() {
      const id = await rows.queue({});
      await claimExecution(db.system.query, id);
      await storeResponse(db.system.query, id, 1, RESPONSE);
    },
  },
  {
    type: 'execution.failed',
    async write() {
      const error = { code: 'model_unavailable', message: 'It does not respond.' };
      await failExecution(db.system.query, await rows.queue({}), error);
    },
  },
];
const OTHER: EventType = 'evaluation.completed';

async function webhook(events: EventType[], { workspace = 'default', status = 'enabled' } = {}): Promise<void> {
  await db.system.query(
    {
      text: `insert into webhooks (workspace_id, id, url, events, status, secret, created_at, updated_at)
             select id, $1, 'http://localhost/', $2, $3, '', now(), now() from workspaces where name = $4`,
    },
    [newId(), events, status, workspace],
  );
}

/** Whether the event that was written last is left to the relay. */
async function isLeft(type: EventType): Promise<boolean> {
  const found = await db.system.query<{ type: string; left: boolean }>({
    text: 'select type, dispatched_at is null as left from events',
  });
  expect(found).toMatchObject([{ type }]);
  return found[0]?.left ?? false;
}

test.each(writers)('$type is left to the relay, with a signal, if a webhook is subscribed', async ({ type, write }) => {
  await webhook([OTHER, type]);
  await write();
  expect(await isLeft(type)).toBe(true);
  await waitFor('the notification', async () => heard === 1);
});

test.each(writers)('$type is done when it is written if none is, without a notification', async ({ type, write }) => {
  await webhook([OTHER]);
  await webhook([type], { status: 'disabled' });
  await webhook([type], { workspace: 'other' });
  await write();
  expect(await isLeft(type)).toBe(false);
  // Notifications arrive in order.
  await db.system.query({ text: `select pg_notify('${CHANNELS.eventWritten}', 'the end')` });
  await waitFor('a notification', async () => heard > 0);
  expect(heard).toBe(1);
});
