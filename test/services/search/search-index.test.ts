import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { newId } from '../../../src/domain/ids.ts';
import { bucketOfId, keyOf, wordsOf } from '../../../src/domain/text/search-words.ts';
import { keepSearchIndex } from '../../../src/jobs/keep-search-index.ts';
import { listExecutions } from '../../../src/services/executions/executions.ts';
import { searchExecutions } from '../../../src/services/search/find-executions.ts';
import { searchTraces } from '../../../src/services/search/find-traces.ts';
import { rareWords } from '../../../src/services/search/find-words.ts';
import { createPartitions } from '../../../src/services/traces/partitions.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let [own, other] = ['', ''];
const DAY_MS = 86_400_000;
const never = new AbortController().signal;

interface Given {
  output?: string;
  input?: string;
  input_messages?: unknown;
  tool_calls?: unknown;
  error?: unknown;
  status?: string;
  workspace?: string;
  daysAgo?: number;
}

/** @returns the ids, in the order of the rows */
async function add(rows: Given[]): Promise<string[]> {
  const ids = rows.map(({ daysAgo = 0 }, at) => newId(new Date(Date.now() - daysAgo * DAY_MS - (rows.length - at))));
  const json = rows.map((row, at) => ({
    status: 'completed',
    input: row.input_messages === undefined ? 'a question' : null,
    ...row,
    workspace_id: row.workspace ?? own,
    id: ids[at],
  }));
  await db.system.query(
    {
      text: `insert into executions (workspace_id, id, status, model, provider, parameters, variables, metadata, input, input_messages, output,
               tool_calls, error, created_at, finished_at)
             select workspace_id, id, status, 'sandbox/echo', 'sandbox', '{}', '{}', '{}', input, input_messages, output, tool_calls, error,
               now(), case when status = 'completed' then now() end
             from json_populate_recordset(null::executions, $1)`,
    },
    [JSON.stringify(json)],
  );
  return ids;
}

/** More than are read before the index is. */
const FILLERS = Array.from({ length: 700 }, (_, n) => ({ output: `an answer of number n${n}` }));

const count = async (table: string) =>
  (await db.system.query<{ count: number }>({ text: `select count(*)::int as count from ${table}` }))[0]?.count;

/** What the log says. */
const told: string[] = [];
const log = { info: (message: unknown) => void told.push(String(message)) };
const keep = (isWanted = true, signal = never) => keepSearchIndex(db.system, isWanted, log, signal);

/** Every page of a search. */
async function all(terms: string[], search = searchExecutions, filter = {}): Promise<string[]> {
  const ids: string[] = [];
  let before: string | undefined;
  do {
    const { rows, next } = await search(db.workspace(own), { ...filter, terms }, 50, before);
    ids.push(...rows.map(({ id }) => id));
    before = next;
  } while (before !== undefined);
  return ids;
}
const firstPage = async (terms: string[], filter = {}) => {
  const { rows, next } = await searchExecutions(db.workspace(own), { ...filter, terms }, 3, undefined);
  return { ids: rows.map(({ id }) => id), next };
};

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 4 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(async () => {
  [own, other] = [newId(), newId()];
  await db.system.query(
    {
      text: `insert into workspaces (id, name, owner_email, created_at)
             select id, id::text, 'owner@example.test', now() from unnest($1::uuid[]) as id`,
    },
    [[own, other]],
  );
});
afterEach(async () => {
  await keep(false);
  await db.system.query({ text: 'truncate executions, traces cascade' });
});

const OLD: Given[] = [
  { output: 'We refunded the money.' },
  { output: 'Refund of order 17, paid.' },
  { output: 'order 18 and 17' },
  { input_messages: [{ role: 'user', content: 'Where is my parcel?\nTracking: AB-12' }] },
  { input_messages: [{ role: 'user', content: [{ type: 'text', text: 'a parcel in a part' }] }] },
  { tool_calls: [{ id: 'c1', name: 'lookup', input: { deep: ['parcel', { name: 'Ärgernis' }] } }] },
  { error: { code: 'provider_error', message: 'the parcel overflowed' } },
  { output: '返金をお願いします' },
  { output: `${'x'.repeat(300 * 1024)} giant parcel` },
  { output: `${Array.from({ length: 6_000 }, (_, n) => `w${n}`).join(' ')} manifold` },
  { output: `${'a'.repeat(50)}b long` },
];

const TERMS = [
  ['refund'],
  ['refunded'],
  ['order 17'],
  ['order', '17'],
  ['ORDER', 'ref'],
  ['parcel'],
  ['tracking: ab-12'],
  ['ärger'],
  ['overflow', 'parcel'],
  ['返金'],
  ['お願い'],
  ['giant parcel'],
  ['manifold'],
  ['w5999'],
  ['a'.repeat(45)],
  ['nowhere'],
  ['user'],
  ['?'],
  ['n699'],
  ['answer'],
];

describe('with an index', () => {
  test('a search finds what it finds without one', async () => {
    await add(OLD.map((row) => ({ ...row, daysAgo: 40 })));
    await add(OLD.map((row) => ({ ...row, daysAgo: 3, workspace: other })));
    await add(FILLERS);
    await keep();
    for (const terms of TERMS) {
      const found = await all(terms);
      expect({ terms, found }).toEqual({ terms, found: await all(terms, listExecutions) });
      expect(found).toEqual([...found].sort().reverse());
    }
  });

  test('the first page reaches over all executions', async () => {
    const old = await add(Array.from({ length: 5 }, (_, n) => ({ output: 'a needle', daysAgo: 300 - n })));
    await add([...FILLERS, ...Array.from({ length: 5_000 }, () => ({ output: 'nothing' }))]);
    expect(await firstPage(['needle'])).toMatchObject({ ids: [], next: expect.any(String) });
    await keep();
    expect((await firstPage(['needle'])).ids).toEqual(old.slice(2).reverse());
    expect(await all(['needle'])).toEqual([...old].reverse());
    const since = new Date(Date.now() - 297.5 * DAY_MS);
    expect((await firstPage(['needle'], { since })).ids).toEqual(old.slice(3).reverse());
  });

  test('words that many new rows have are not looked up beside a rarer one', async () => {
    const [needle] = await add([{ output: 'an answer with a needle', daysAgo: 40 }]);
    const ids = await add(FILLERS);
    const rare = (...terms: string[]) => {
      const newest = () => ids.slice(-50).map((id) => ({ id, key: keyOf(own, 'execution', bucketOfId(id)) }));
      return rareWords(db.workspace(own).query, wordsOf(terms), newest);
    };
    expect(await rare('answer', 'needle')).toEqual(["answer':*", "needle':*"]);
    await keep();
    expect(await rare('answer', 'needle')).toEqual(["needle':*"]);
    expect(await rare('an answer', 'n699')).toEqual(["n699':*"]);
    expect(await rare('an answer')).toEqual(["an'", "answer':*"]);
    expect((await firstPage(['answer', 'needle'])).ids).toEqual([needle]);
  });

  test('what ends afterwards is indexed, and what is deleted is forgotten', async () => {
    await keep();
    const [id = ''] = await add([{ output: 'a needle', daysAgo: 2 }, ...FILLERS]);
    expect(await firstPage(['needle'])).toEqual({ ids: [], next: undefined });
    await keep();
    expect(await firstPage(['needle'])).toEqual({ ids: [id], next: undefined });
    expect(await count('search_candidates')).toBe(0);
    const words = await count('search_words');
    await db.system.query({ text: 'delete from executions where id = $1' }, [id]);
    expect(await count('search_words')).toBe((words ?? 0) - 1);
    expect((await firstPage(['needle'])).ids).toEqual([]);
  });

  test('an execution is indexed when it ends', async () => {
    const [id = ''] = await add([{ status: 'running', output: 'a needle', daysAgo: 2 }, ...FILLERS]);
    await keep();
    expect((await firstPage(['needle'])).ids).toEqual([]);
    await db.system.query({ text: `update executions set status = 'completed', finished_at = now() where id = $1` }, [
      id,
    ]);
    await keep();
    expect((await firstPage(['needle'])).ids).toEqual([id]);
  });

  test('building is resumed where it was interrupted, and searches reach over the rest meanwhile', async () => {
    const old = await add([{ output: 'a needle', daysAgo: 40 }, { output: 'a needle', daysAgo: 2 }, ...FILLERS]);
    const stopping = new AbortController();
    told.length = 0;
    const interrupted = keepSearchIndex(
      {
        ...db.system,
        transaction: async (work, options) => {
          const done = await db.system.transaction(work, options);
          if ((await count('search_words')) === 400) stopping.abort();
          return done;
        },
      },
      true,
      log,
      stopping.signal,
    );
    await interrupted;
    expect(await count('search_words')).toBe(400);
    expect((await all(['needle'])).toSorted()).toEqual(old.slice(0, 2).toSorted());
    await keep();
    expect(await count('search_words')).toBe(702);
    expect((await firstPage(['needle'])).ids).toEqual([old[1], old[0]]);
    await keep();
    await keep(false);
    await keep(false);
    // Once each, although it was interrupted, and looked after again.
    expect(told).toEqual([
      'building the search index, from the newest rows to the oldest',
      'the search index is complete',
      'the search index is removed',
    ]);
  });
});

describe('traces', () => {
  const day = Math.floor(Date.now() / DAY_MS) - 3;
  const started = new Date(day * DAY_MS + 1000);

  /** A settled trace with a step for each content. @returns its id */
  async function addTrace(steps: object[], { settled = true, workspace = own } = {}): Promise<string> {
    const id = newId();
    await db.system.query(
      {
        text: `insert into traces (workspace_id, id, status, started_at, first_day, last_day, settled_as, settle_at)
               values ($1, $2, 'ok', $3, $4, $4, $5, null)`,
      },
      [workspace, id, started, day, settled ? 'x' : null],
    );
    await createPartitions(db.system).ensure([day]);
    for (const [at, step] of steps.entries())
      await db.system.query(
        {
          text: `insert into trace_steps (workspace_id, trace_id, span_id, day, type, name, status, error, started_us, has_input, has_output,
                   complete, content, bytes)
                 values ($1, $2, $3, $4, 'tool', 'a step', 'ok', $5, 0, true, true, true, $6, 100)`,
        },
        [workspace, id, `${at}`.padStart(16, '0'), day, 'error' in step ? step.error : null, JSON.stringify(step)],
      );
    return id;
  }
  const find = async (...terms: string[]) =>
    (await searchTraces(db.workspace(own), { terms }, 50, undefined)).rows.map(({ id }) => id);

  test('are found by the texts of any of their steps, and of executions in them', async () => {
    const inSteps = await addTrace([
      { input: 'where is my\nparcel' },
      { toolCalls: [{ input: { note: 'refunded it' } }] },
    ]);
    const failed = await addTrace([{ error: 'the parcel overflowed' }]);
    const inRun = await addTrace([{}]);
    await addTrace([{ output: 'parcel refunded' }], { workspace: other });
    const [run] = await add([{ output: 'a parcel from an execution' }]);
    await db.system.query({ text: 'update executions set trace_id = $2 where id = $1' }, [run, inRun]);
    expect(await find('parcel')).toEqual([]);
    await keep();
    expect(await find('parcel')).toEqual([inRun, failed, inSteps].sort().reverse());
    expect(await find('parcel', 'refund')).toEqual([inSteps]);
    expect(await find('the parcel over')).toEqual([failed]);
    expect(await find('parcel the')).toEqual([]);
    expect(await find('from an execution')).toEqual([inRun]);
  });

  test('are indexed when they settle, again when they change, and forgotten when they are deleted', async () => {
    await keep();
    const id = await addTrace([{ input: 'a needle' }], { settled: false });
    await keep();
    expect(await find('needle')).toEqual([]);
    const settle = (as: string) =>
      db.system.query({ text: 'update traces set settled_as = $2 where id = $1' }, [id, as]);
    await settle('x');
    await keep();
    expect(await find('needle')).toEqual([id]);
    await db.system.query({ text: `update trace_steps set content = '{"input": "hay"}' where trace_id = $1` }, [id]);
    await settle('y');
    await keep();
    expect([await find('needle'), await find('hay')]).toEqual([[], [id]]);
    await db.system.query({ text: 'delete from traces where id = $1' }, [id]);
    expect(await count('search_words')).toBe(0);
  });

  test('a trace of many bytes is found, too', async () => {
    const id = await addTrace([{ input: 'a needle' }]);
    await db.system.query({ text: 'update traces set bytes = 2000000 where id = $1' }, [id]);
    await keep();
    expect([await find('needle'), await find('hay')]).toEqual([[id], []]);
  });
});

test('without the setting, nothing of the index is left, and nothing is noted', async () => {
  await keep();
  await add(FILLERS);
  await keep();
  await keep(false);
  await add([{ output: 'a needle' }]);
  for (const table of ['search_index', 'search_words', 'search_candidates']) expect(await count(table)).toBe(0);
  const triggers = await db.system.query({ text: `select tgname from pg_trigger where tgname like 'search%'` });
  expect(triggers).toEqual([]);
  expect((await firstPage(['needle'])).ids).toHaveLength(1);
});

test('two processes can keep it at once', async () => {
  await add(FILLERS);
  const results = await Promise.allSettled([keep(), keep(), keep()]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  expect(await count('search_words')).toBe(FILLERS.length);
});
