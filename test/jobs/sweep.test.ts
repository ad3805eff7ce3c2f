import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { expiredBy } from '../../src/capabilities.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { TRASH_WORKSPACE } from '../../src/db/trash.ts';
import { UUID_V7 } from '../../src/db/uuid-v7.ts';
import { newId } from '../../src/domain/ids.ts';
import { cleanUp } from '../../src/jobs/clean-up.ts';
import { sweep } from '../../src/jobs/sweep.ts';
import { createTestDatabase } from '../support/database.ts';

const DAY_MS = 86_400_000;
const NEVER = new AbortController().signal;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 8 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(() =>
  db.system.query({
    text: 'truncate executions, evaluations, evaluation_results, evaluation_judgements, dataset_versions, dataset_examples, scores cascade',
  }),
);

async function count(from: string): Promise<number> {
  const [row] = await db.system.query<{ count: number }>({ text: `select count(*)::int as count from ${from}` });
  return row?.count ?? 0;
}

/** An id as of some days ago. */
function idOf(ageDays: number): string {
  const hex = (Date.now() - ageDays * DAY_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`;
}

async function execution(status: string, ageDays: number, endedDaysAgo: number): Promise<string> {
  const id = idOf(ageDays);
  await db.system.query(
    {
      text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables,
               input, metadata, created_at, finished_at)
             values ($1, $2, $3, 'p', 1, 'm', 'p', '{}', '{}', '', '{}', now(), now() - make_interval(days => $4))`,
    },
    [newId(), id, status, endedDaysAgo],
  );
  return id;
}

async function evaluation(row: {
  workspaceId?: string;
  status?: string;
  ageDays?: number;
  results?: number;
  examplesId?: string;
}): Promise<string> {
  const { workspaceId = newId(), status = 'completed', ageDays = 0, results = 0, examplesId } = row;
  const id = idOf(ageDays);
  await db.system.query(
    {
      text: `insert into evaluations (workspace_id, id, prompt_name, prompt_version, content, model, provider, parameters, examples_id,
               examples_hash, examples_total, evaluators, threshold, baseline_mode, concurrency, metadata, status, created_at, finished_at)
             values ($1, $2, 'p', 1, '{}', 'm', 'p', '{}', $3, '', 0, '[]', 0.8, 'none', 1, '{}', $4, now(), now() - make_interval(days => $5))`,
    },
    [workspaceId, id, examplesId ?? null, status, ageDays],
  );
  await db.system.query(
    {
      text: `insert into evaluation_results (evaluation_id, seq, example_key, variables, status, output, score, created_at)
             select $1, seq, 'example ' || seq, '{"text": "some text"}', 'scored', repeat('an answer ', 20), 1, now()
             from generate_series(0, $2::int - 1) as seq`,
    },
    [id, results],
  );
  await db.system.query(
    {
      text: `insert into evaluation_judgements (evaluation_id, seq, evaluator, answer, created_at)
             select $1, seq, 'judge', '{}', now() from generate_series(0, $2::int - 1, 10) as seq`,
    },
    [id, results],
  );
  return id;
}

async function examples(datasetId: string | null, total: number): Promise<string> {
  const id = newId();
  await db.system.query(
    {
      text: `insert into dataset_versions (workspace_id, id, dataset_id, version, examples_total, hash, created_at)
             values ($1, $1, $2, 1, $3, '', now())`,
    },
    [id, datasetId, total],
  );
  await db.system.query(
    {
      text: `insert into dataset_examples (workspace_id, dataset_version_id, seq, example_key, variables)
             select $1, $1, seq, seq::text, '{}' from generate_series(0, $2::int - 1) as seq`,
    },
    [id, total],
  );
  return id;
}

const ids = async (table: string) =>
  (await db.system.query<{ id: string }>({ text: `select id from ${table}` })).map(({ id }) => id).sort();

test('executions are deleted after their retention; unfinished and recent ones stay', async () => {
  await execution('completed', 40, 31);
  await execution('failed', 40, 31);
  const kept = [
    await execution('completed', 40, 29),
    await execution('running', 40, 31),
    await execution('completed', 2, 1),
  ];
  await cleanUp(db.system, expiredBy({ events: DAY_MS }));
  expect(await count('executions')).toBe(5);
  await cleanUp(db.system, expiredBy({ events: DAY_MS, executions: 30 * DAY_MS }));
  expect(await ids('executions')).toEqual(kept.sort());
});

test('evaluations are deleted after their retention, with their rows', async () => {
  await evaluation({ ageDays: 31, results: 1_200, examplesId: await examples(null, 1_200) });
  const kept = [
    await evaluation({ ageDays: 29, results: 3, examplesId: await examples(null, 3) }),
    await evaluation({ ageDays: 31, results: 2, status: 'running' }),
  ];
  await cleanUp(db.system, expiredBy({ events: DAY_MS, evaluations: 30 * DAY_MS }));
  expect(await ids('evaluations')).toEqual(kept.sort());
  expect(await count('evaluation_results')).toBe(5);
  expect(await count('evaluation_judgements')).toBe(2);
  expect(await count('dataset_versions')).toBe(1);
  expect(await count('dataset_examples')).toBe(3);
});

test('unreferenced examples are deleted, even by several processes', async () => {
  const dataset = newId();
  await db.system.query(
    {
      text: `insert into datasets (workspace_id, id, name, latest_version, created_at, updated_at) values ($1, $1, 'd', 1, now(), now())`,
    },
    [dataset],
  );
  await examples(dataset, 10);
  await evaluation({ examplesId: await examples(null, 10) });
  for (let set = 0; set < 5; set++) await examples(null, 1_000);
  await Promise.all([sweep(db.system, NEVER), sweep(db.system, NEVER), sweep(db.system, NEVER)]);
  await sweep(db.system, NEVER);
  expect(await count('dataset_versions')).toBe(2);
  expect(await count('dataset_examples')).toBe(20);
});

test('a stopping process leaves the rest to the next', async () => {
  await evaluation({ workspaceId: TRASH_WORKSPACE, results: 5_000 });
  const stopping = new AbortController();
  const sweeping = sweep(db.system, stopping.signal);
  stopping.abort();
  await sweeping;
  const left = await count('evaluation_results');
  expect(left).toBeGreaterThan(0);
  expect(await count('evaluations')).toBe(1);
  await sweep(db.system, NEVER);
  expect(await count('evaluation_results')).toBe(0);
  expect(await count('evaluations')).toBe(0);
});

test('20,000 results are deleted while others read and write, without lock waits', async () => {
  const own = newId();
  await evaluation({ workspaceId: TRASH_WORKSPACE, results: 20_000, examplesId: await examples(null, 4_000) });
  const busy = await evaluation({ workspaceId: own, status: 'running' });
  const { query } = db.workspace(own);
  let deleted = false;
  const sweeping = sweep(db.system, NEVER).finally(() => {
    deleted = true;
  });
  let [requests, waited] = [0, 0];
  while (!deleted) {
    await query({
      text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables,
               input, metadata, created_at) values ($1, ${UUID_V7}, 'queued', 'p', 1, 'm', 'p', '{}', '{}', '', '{}', now())`,
    });
    await query({ text: `update executions set status = 'running' where workspace_id = $1 and status = 'queued'` });
    await query({
      text: 'select id, input, output from executions where workspace_id = $1 order by id desc limit 100',
    });
    await db.system.query(
      {
        text: `insert into evaluation_results (evaluation_id, seq, example_key, variables, status, created_at)
               values ($1, $2, 'k', '{}', 'scored', now())`,
      },
      [busy, requests],
    );
    waited += await count(`pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    requests += 1;
  }
  await sweeping;
  expect(requests).toBeGreaterThan(20);
  expect(waited).toBe(0);
  expect(await count('evaluation_results')).toBe(requests);
  expect(await count('dataset_examples')).toBe(0);
});

test('only scores of a deleted subject are deleted', async () => {
  const workspaceId = newId();
  const [kept, trashed] = [
    await evaluation({ workspaceId, results: 2 }),
    await evaluation({ workspaceId, results: 2 }),
  ];
  const [old, young] = [await execution('completed', 40, 40), await execution('completed', 1, 1)];
  const score = (columns: string, ...values: string[]) =>
    db.system.query(
      {
        text: `insert into scores (workspace_id, id, name, data_type, number, ${columns}, source, subject_at, created_at, updated_at)
               select coalesce((select workspace_id from executions where id = $1), $2), gen_random_uuid(), 'helpful', 'numeric', 1,
                 $1${columns.includes('example_id') ? `, 'example 1'` : ''}, 'api', now(), now(), now() from generate_series(1, 600)`,
      },
      [...values, workspaceId],
    );
  for (const id of [kept, trashed]) await score('evaluation_id, example_id', id);
  for (const id of [old, young]) await score('execution_id', id);
  await db.system.query({ text: `update evaluations set workspace_id = '${TRASH_WORKSPACE}' where id = $1` }, [
    trashed,
  ]);
  await cleanUp(db.system, expiredBy({ events: DAY_MS, executions: 30 * DAY_MS }), NEVER);
  expect(await count('scores')).toBe(1_200);
  expect(await count(`scores where evaluation_id = '${kept}' or execution_id = '${young}'`)).toBe(1_200);
  expect(await count(`evaluations where id = '${trashed}'`)).toBe(0);
});

/** Makes a statement that deletes that many rows of a table fail during the work. */
async function whileDeletingFails(table: string, condition: string, work: () => Promise<void>): Promise<void> {
  await db.system.query({
    text: `create function refuse_fn() returns trigger language plpgsql as $$ begin
             if (select ${condition} from gone) then raise exception 'refused'; end if; return null; end $$`,
  });
  await db.system.query({
    text: `create trigger a_refuse after delete on ${table} referencing old table as gone for each statement execute function refuse_fn()`,
  });
  try {
    await work();
  } finally {
    await db.system.query({ text: 'drop function refuse_fn cascade' });
  }
}

test('the many scores of an expired execution are deleted first, in separate steps', async () => {
  for (let index = 0; index < 2; index += 1) {
    const id = await execution('completed', 40, 40);
    await db.system.query(
      {
        text: `insert into scores (workspace_id, id, name, data_type, number, execution_id, source, subject_at, created_at, updated_at)
               select workspace_id, gen_random_uuid(), 'helpful', 'numeric', 1, id, 'api', now(), now(), now()
               from executions, generate_series(1, 600) where id = $1`,
      },
      [id],
    );
  }
  await whileDeletingFails('scores', 'count(*) > 500', () =>
    cleanUp(db.system, expiredBy({ events: DAY_MS, executions: 30 * DAY_MS }), NEVER),
  );
  expect([await count('executions'), await count('scores')]).toEqual([0, 0]);
});

test('a failure does not block other deletions, and is reported', async () => {
  await execution('completed', 40, 40);
  await evaluation({ ageDays: 31, results: 2 });
  await whileDeletingFails('executions', 'count(*) > 0', async () => {
    const retention = expiredBy({ events: DAY_MS, executions: 30 * DAY_MS, evaluations: 30 * DAY_MS });
    await expect(cleanUp(db.system, retention, NEVER)).rejects.toMatchObject({
      errors: [expect.objectContaining({ message: 'refused' })],
    });
  });
  expect([await count('executions'), await count('evaluations'), await count('evaluation_results')]).toEqual([1, 0, 0]);
});
