import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { type Database, openDatabase, type Statement } from '../../../src/db/database.ts';
import { DatabaseUnavailableError } from '../../../src/db/errors.ts';
import { createQuery } from '../../../src/db/query.ts';
import { createStreamWriter } from '../../../src/services/streams/stream-writer.ts';
import { createTestDatabase } from '../../support/database.ts';
import { type ExecutionRows, executionRows } from '../../support/processes-rows.ts';

let database: { url: string; drop(): Promise<void> };
let db: Database;
let rows: ExecutionRows;
let id: string;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 4 });
  rows = await executionRows(db);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(async () => {
  id = await rows.queue({ status: 'running' });
});

const log = pino({ level: 'silent' });
const text = (piece: string) => ({ type: 'text' as const, text: piece });
const written = (of = id) =>
  db.system.query((all) =>
    all
      .selectFrom('stream_deltas')
      .select(['attempt', 'sequence', 'type', 'data'])
      .where('execution_id', '=', of)
      .orderBy('attempt')
      .orderBy('sequence'),
  );

type Step = (statement: number) => Promise<void> | void;

/** A database connection that counts statements, and runs a hook before and after each. */
function watched(before: Step = () => {}, after: Step = () => {}) {
  let statements = 0;
  const query = createQuery(async <Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]) => {
    statements += 1;
    await before(statements);
    const result = await db.system.query<Row>(statement, values);
    await after(statements);
    return result;
  });
  return { query, statements: () => statements };
}

test('the first piece is written at once, later ones with the next statement, in order', async () => {
  const first = Promise.withResolvers<void>();
  const { query, statements } = watched((statement) => (statement === 1 ? first.promise : undefined));
  const stream = createStreamWriter({ query, log }).open(id, 1, 'ws_test');
  stream.onDelta(text('one '));
  expect(statements()).toBe(1);
  for (const piece of ['two ', 'three ', '']) stream.onDelta(text(piece));
  stream.onDelta({ type: 'tool_call', toolCall: { id: 'a', name: 'b', input: { c: [1] } } });
  stream.onDelta(text('four'));
  const end = stream.end();
  first.resolve();
  await end;
  expect(statements()).toBe(2);
  expect(await written()).toEqual([
    { attempt: 1, sequence: 2, type: 'text', data: 'one ' },
    { attempt: 1, sequence: 3, type: 'text', data: 'two three ' },
    { attempt: 1, sequence: 4, type: 'tool_call', data: '{"id":"a","name":"b","input":{"c":[1]}}' },
    { attempt: 1, sequence: 5, type: 'text', data: 'four' },
  ]);
});

test('all streams of a process share the same statements', async () => {
  const { query, statements } = watched();
  const writer = createStreamWriter({ query, log });
  const ids = await Promise.all(Array.from({ length: 50 }, () => rows.queue({ status: 'running' })));
  const streams = ids.map((each) => writer.open(each, 3, 'ws_test'));
  for (const stream of streams) stream.onDelta(text('piece'));
  await Promise.all(streams.map((stream) => stream.end()));
  expect(statements()).toBe(2);
  for (const each of ids)
    expect(await written(each)).toEqual([{ attempt: 3, sequence: 2, type: 'text', data: 'piece' }]);
});

test('a stream that begins is written before others are due', async () => {
  const isWritten = Promise.withResolvers<void>();
  const { query, statements } = watched(undefined, () => isWritten.resolve());
  const writer = createStreamWriter({ query, log });
  const second = await rows.queue({ status: 'running' });
  // With so many, pieces wait the longest.
  const silent = Array.from({ length: 300 }, () => writer.open(id, 2, 'ws_test'));
  const first = writer.open(id, 1, 'ws_test');
  first.onDelta(text('one '));
  await isWritten.promise;
  first.onDelta(text('two '));
  const begins = writer.open(second, 1, 'ws_test');
  begins.onDelta(text('piece'));
  // Timers fire in the order in which they are due, however late: those added later are due later.
  await delay(35);
  expect(statements()).toBe(2);
  await Promise.all([first, begins, ...silent].map((stream) => stream.end()));
  expect(await written()).toMatchObject([{ data: 'one ' }, { data: 'two ' }]);
});

test('a long text becomes rows, and no character is split', async () => {
  const long = `x${'😀'.repeat(10_000)}`;
  const stream = createStreamWriter({ query: db.system.query, log }).open(id, 1, 'ws_test');
  stream.onDelta(text(long));
  await stream.end();
  const found = await written();
  expect(found.length).toBeGreaterThan(2);
  expect(found.map(({ data }) => data).join('')).toBe(long);
  for (const { data } of found) expect(data.isWellFormed()).toBe(true);
});

test('text that PostgreSQL refuses is written like the stored response', async () => {
  const stream = createStreamWriter({ query: db.system.query, log }).open(id, 1, 'ws_test');
  stream.onDelta(text('a\u0000b\ud800'));
  await stream.end();
  expect(await written()).toMatchObject([{ data: 'a\ufffdb\ufffd' }]);
});

test('nothing is written for a deleted execution, and the others are', async () => {
  const writer = createStreamWriter({ query: db.system.query, log });
  const gone = writer.open('01980000-0000-7000-8000-000000000009', 1, 'ws_test');
  const there = writer.open(id, 1, 'ws_test');
  gone.onDelta(text('gone'));
  there.onDelta(text('there'));
  await Promise.all([gone.end(), there.end()]);
  expect(await written()).toHaveLength(1);
});

test('listeners are notified, without content', async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('listen stream_written');
  const heard = new Promise<pg.Notification>((resolve) => client.once('notification', resolve));
  const stream = createStreamWriter({ query: db.system.query, log }).open(id, 1, 'ws_test');
  stream.onDelta(text('news'));
  expect(await heard).toMatchObject({ channel: 'stream_written', payload: '' });
  await client.end();
});

describe('while the database is away', () => {
  const away = () => {
    throw new DatabaseUnavailableError(new Error('away'));
  };

  test('new text is kept, and written when it is back, without a gap', async () => {
    let isAway = true;
    const { query } = watched(() => (isAway ? away() : undefined));
    const stream = createStreamWriter({ query, log }).open(id, 1, 'ws_test');
    stream.onDelta(text('one '));
    stream.onDelta(text('two '));
    // Nothing waits for an outage.
    await stream.end();
    expect(await written()).toEqual([]);
    isAway = false;
    stream.onDelta(text('three'));
    await stream.end();
    const found = await written();
    expect(found.map(({ data }) => data).join('')).toBe('one two three');
    expect(found.map(({ sequence }) => sequence)).toEqual(found.map((_, index) => index + 2));
  });

  test('a statement with a lost result is repeated without harm', async () => {
    const { query } = watched(
      () => {},
      (statement) => (statement === 1 ? away() : undefined),
    );
    const stream = createStreamWriter({ query, log }).open(id, 1, 'ws_test');
    stream.onDelta(text('one '));
    await stream.end();
    stream.onDelta(text('two'));
    await stream.end();
    expect((await written()).map(({ data }) => data)).toEqual(['one ', 'two']);
  });

  test('a stream that takes too much memory ends early, and no others', async () => {
    let isAway = true;
    const { query } = watched(() => (isAway ? away() : undefined));
    const writer = createStreamWriter({ query, log });
    const other = await rows.queue({ status: 'running' });
    const [large, small] = [writer.open(id, 1, 'ws_large'), writer.open(other, 1, 'ws_small')];
    small.onDelta(text('small '));
    for (let megabyte = 0; megabyte < 20; megabyte += 1) large.onDelta(text('x'.repeat(1024 * 1024)));
    isAway = false;
    small.onDelta(text('goes on'));
    await Promise.all([large.end(), small.end()]);
    expect(await written()).toEqual([]);
    expect((await written(other)).map(({ data }) => data).join('')).toBe('small goes on');
  });
});

test('text that PostgreSQL refuses ends only its own stream early', async () => {
  let refuses = true;
  const { query } = watched(() => {
    if (refuses) throw Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code: '22P02' });
  });
  const writer = createStreamWriter({ query, log });
  const bad = writer.open(id, 1, 'ws_test');
  bad.onDelta(text('bad'));
  await bad.end();
  refuses = false;
  bad.onDelta(text('more'));
  await bad.end();
  expect(await written()).toEqual([]);
  const good = writer.open(id, 2, 'ws_test');
  good.onDelta(text('good'));
  await good.end();
  expect(await written()).toEqual([{ attempt: 2, sequence: 2, type: 'text', data: 'good' }]);
});
