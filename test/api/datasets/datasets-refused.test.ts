import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Query } from '../../../src/db/database.ts';
import { sweep } from '../../../src/jobs/sweep.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { countRows, jsonLines, openUpload, upload } from './datasets-support.ts';

const CSV = 'text/csv';
const MIB = 1024 * 1024;

let service: TestService;
let before: Awaited<ReturnType<typeof countRows>>;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  before = await countRows(service);
});
// Whatever is refused leaves nothing behind.
afterEach(async () => {
  expect(await countRows(service)).toEqual(before);
});

const good = (id: string) => JSON.stringify({ id, variables: { x: 1 } });

test.each([
  ['no JSON', '{"variables":', /^Line 2: is not valid JSON: /],
  ['an array', '[]', /^Line 2: must be an object/],
  ['null', 'null', /^Line 2: must be an object/],
  ['no variables', '{}', /^Line 2: variables: is required/],
  ['variables that are not an object', '{"variables":[1]}', /^Line 2: variables: is required: an object/],
  ['an unknown field', '{"variables":{},"expects":1}', /^Line 2: expects: is not a known field/],
  ['an empty id', '{"id":"","variables":{}}', /^Line 2: id: must not be empty/],
  ['a long id', JSON.stringify({ id: 'i'.repeat(201), variables: {} }), /^Line 2: id: must be at most 200/],
  ['a number as id', '{"id":7,"variables":{}}', /^Line 2: id: must be a string/],
  ['an id like a hash', '{"id":"sha256:00","variables":{}}', /^Line 2: id: must not start with "sha256:"/],
  ['an id that was there', good('one'), /^Line 2: id: is the id of line 1 too: "one"/],
  ['metadata that is not an object', '{"variables":{},"metadata":"x"}', /^Line 2: metadata: must be an object/],
  ['NUL', '{"variables":{"x":"\\u0000"}}', /^Line 2: variables\.x: must not contain NUL/],
  ['half a surrogate pair', '{"variables":{},"expected":["\\ud800"]}', /^Line 2: expected\.0: must not contain NUL/],
  ['half a surrogate pair as a name', '{"variables":{"\\udc00":1}}', /^Line 2: variables: has a name/],
  ['__proto__', '{"variables":{"__proto__":{}}}', /^Line 2: variables\.__proto__: is not allowed/],
  [
    'a number out of range',
    '{"variables":{"x":1e999}}',
    /^Line 2: variables\.x: has more digits than a number can keep/,
  ],
  [
    'deep nesting',
    `{"variables":{"x":${'['.repeat(40)}${']'.repeat(40)}}}`,
    /^Line 2: variables\.x.*nested deeper than 32/,
  ],
  ['very deep nesting', '['.repeat(90_000), /^Line 2: is not valid JSON/],
  ['too many values', `{"variables":{"x":[${'{},'.repeat(100_000)}1]}}`, /^Line 2: has more than 100000 JSON values/],
  ['two objects on a line', `${good('a')}${good('b')}`, /^Line 2: is not valid JSON/],
  ['a lone CR between lines', `${good('a')}\r${good('b')}`, /^Line 2: is not valid JSON/],
  ['a large line', JSON.stringify({ variables: { x: 'y'.repeat(2 * MIB) } }), /^Line 2: is longer than 1048576 bytes/],
])('refuses a line with %s and names it', async (_, line, message) => {
  const answer = await upload(service, 'bad', `${good('one')}\n${line}\n${good('three')}\n`);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(message) });
  expect(answer.body.error.details[0].path).toMatch(/^lines\.2/);
});

test('refuses a small line that exceeds the limit when its numbers are expanded', async () => {
  const numbers = `[${Array(90_000).fill('1e20').join()}]`;
  const answer = await upload(service, 'bad', `{"variables":{"x":${numbers}}}`);
  expect(answer.body.error.message).toMatch(/^Line 1: takes more than 1048576 bytes as compact JSON/);
});

test('takes a line of exactly 1 MiB and refuses one more byte', async () => {
  const frame = '{"variables":{"x":""}}'.length;
  const name = `exact/${Date.now()}`;
  const over = await upload(service, name, JSON.stringify({ variables: { x: 'y'.repeat(MIB - frame + 1) } }));
  expect(over.status).toBe(400);
  const exact = await upload(service, name, `${JSON.stringify({ variables: { x: 'y'.repeat(MIB - frame) } })}\r\n`);
  expect(exact.status).toBe(200);
  await service.call('DELETE', `/datasets/${name}`);
  // Deletion runs in steps; there is no worker here to do them.
  await sweep(service.dependencies.db.system, new AbortController().signal);
  before = { ...before, datasets: before.datasets + 1 };
});

test.each([
  ['nothing', '', /holds no examples/],
  ['blank lines only', '\n \r\n\n', /holds no examples/],
  ['a BOM only', '\uFEFF', /holds no examples/],
])('refuses an upload of %s', async (_, text, message) => {
  const answer = await upload(service, 'empty', text);
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringMatching(message)]);
});

test.each([
  ['nothing', '', /holds no examples/],
  ['a header only', 'id,x\n', /holds no examples/],
  ['a column without a name', 'id,,x\n1,2,3\n', /^Line 1: column 2 has no name/],
  ['a column twice', 'x,id,variables.x\n1,2,3\n', /^Line 1: column 3 has the same name as column 1/],
  ['a column twice, with spaces', 'x, x \n1,2\n', /^Line 1: column 2 has the same name as column 1/],
  ['an id twice, in other cases', 'Id,ID,x\n1,2,3\n', /^Line 1: column 2 has the same name as column 1/],
  ['metadata without a name', 'x,metadata.\n1,2\n', /^Line 1: column 2 has no name after the dot/],
  ['__proto__', 'x,__proto__\n1,2\n', /^Line 1: column 2 has a name that is not allowed/],
  [
    'too many columns',
    `${Array.from({ length: 1001 }, (_, n) => `c${n}`).join()}\n`,
    /^Line 1: column 1001 exceeds the limit/,
  ],
  ['a record that is too short', 'a,b\n1,2\n3\n', /^Line 3: has 1 cells where the header has 2/],
  ['a record that is too long, behind one of two lines', 'a,b\n"1\r\n1",2\n\n3,4,5\n', /^Line 5: has 3 cells/],
  ['a quote that is not closed', 'a,b\n1,2\n3,"4\n5,6\n', /^Line 3: opens a quote that is not closed/],
  ['text behind a quote', 'a,b\n\n1,2\n3,"4"5\n', /^Line 4: has text after a closing quote/],
  ['semicolons and too few cells', 'a;b\n1;2\n3;4;5\n', /^Line 3: has 3 cells where the header has 2/],
  ['a delimiter named, and too few cells', 'sep=;\na;b\n1;2\n\n3\n', /^Line 5: has 1 cells/],
  ['old line ends and too few cells', 'a,b\r1,"2\r2"\r3\r', /^Line 4: has 1 cells/],
  ['a quote inside a cell', 'a,b\n1,2"3\n', /^Line 2: has a quote inside an unquoted cell/],
  ['an id twice', 'id,x\n1,a\n2,"b\nb"\n1,c\n', /^Line 5: id: is the id of line 2 too: "1"/],
  ['NUL', 'x\n1\n"\0"\n', /^Line 3: variables\.x: must not contain NUL/],
  ['a large cell', `x\n1\n${'y'.repeat(2 * MIB)}\n`, /^Line 3: is longer than 1048576 bytes/],
  ['endless cells', `x\n1\n${','.repeat(2 * MIB)}\n`, /^Line 3: has more than 1000 cells/],
  ['a long id', `id,x\n${'i'.repeat(201)},1\n`, /^Line 2: id: must be at most 200/],
])('refuses CSV with %s and locates it', async (_, text, message) => {
  const answer = await upload(service, 'bad', text, { type: CSV });
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.body.error.message).toMatch(message);
});

test.each([
  ['JSON Lines', 'application/x-ndjson', [`${good('a')}\n${good('b')}\n`, '{"variables":{"x":"', '"}}\n']],
  ['CSV', CSV, ['id,x\na,1\n', 'b,', '\nc,3\n']],
])('refuses %s that is not UTF-8 and locates it', async (_, type, [head = '', open = '', close = '']) => {
  for (const bytes of [[0xff], [0xc3], [0xe2, 0x82], [0xc0, 0x80], [0xed, 0xa0, 0x80]]) {
    const raw = new Uint8Array(Buffer.concat([Buffer.from(head + open), Buffer.from(bytes), Buffer.from(close)]));
    const answer = await upload(service, 'bad', raw, { type });
    expect(answer.body.error.message).toBe('Line 3: is not valid UTF-8');
  }
  const cut = new Uint8Array(Buffer.concat([Buffer.from(head + open), Buffer.from([0xe2, 0x82])]));
  expect((await upload(service, 'bad', cut, { type })).body.error.message).toBe('Line 3: is not valid UTF-8');
});

test.each([
  ['no type', {}, /^Send the examples as JSON Lines/],
  ['JSON', { 'Content-Type': 'application/json' }, /^Send the examples as JSON Lines/],
  ['another charset', { 'Content-Type': 'text/csv; charset=latin1' }, /UTF-8/],
  ['gzip', { 'Content-Type': 'application/x-ndjson', 'Content-Encoding': 'gzip' }, /without Content-Encoding/],
])('refuses %s', async (_, headers, message) => {
  const raw = new Uint8Array(gzipSync(jsonLines([{ variables: {} }])));
  const answer = await service.call('PUT', '/datasets/typed', { raw, headers });
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.body.error.message).toMatch(message);
});

test.each([
  'a/examples',
  'a/export',
  'a/versions',
  'a/from-executions',
  'a/from-traces',
  'a/from-scores',
  'a/generate',
  'a//b',
  '../b',
  'a b',
  'é',
  'x'.repeat(201),
])('refuses the name %s', async (name) => {
  const answer = await upload(service, encodeURIComponent(name), jsonLines([{ variables: {} }]));
  expect(answer.status).toBe(400);
});

test('refuses a declared size that is too large before the upload', async () => {
  const { request, answer } = openUpload(service, 'large', { 'Content-Length': String(256 * MIB + 1) });
  request.flushHeaders();
  const { status, body } = await answer;
  expect([status, JSON.parse(body).error.code]).toEqual([400, 'payload_too_large']);
  request.destroy();
});

test('refuses an endless stream', async () => {
  const { request, answer } = openUpload(service, 'large');
  const chunk = Buffer.alloc(MIB, `${' '.repeat(1023)}\n`);
  let answered = false;
  const settled = answer.finally(() => {
    answered = true;
  });
  let sent = 0;
  while (!answered && sent < 600) {
    sent += 1;
    if (!request.write(chunk)) await Promise.race([new Promise((resolve) => request.once('drain', resolve)), settled]);
    await nextTurn();
  }
  const { status, body } = await settled;
  expect([status, JSON.parse(body).error.code]).toEqual([400, 'payload_too_large']);
  expect(sent).toBeLessThan(300);
  request.destroy();
});

test('a caller that sends everything before reading gets the answer, and keeps the connection', async () => {
  const text = `nonsense\n${`${good('x')}\n`.repeat(400_000)}`;
  const answer = await upload(service, 'whole', text);
  expect(answer.body.error.message).toMatch(/^Line 1: is not valid JSON/);
  expect((await service.call('GET', '/datasets')).status).toBe(200);
});

test('a caller that leaves half-way leaves nothing, not even on disk', async () => {
  // Files left there by a killed process do not belong to this upload.
  const before = new Set(await readdir(tmpdir()));
  const { request, answer } = openUpload(service, 'gone');
  for (let n = 0; n < 50; n += 1) request.write(`${JSON.stringify({ variables: { n, x: 'y'.repeat(100_000) } })}\n`);
  await new Promise((resolve) => request.once('drain', resolve));
  request.destroy();
  await expect(answer).rejects.toThrow();
  await waitFor('the folder to be empty', async () => {
    const names = await readdir(tmpdir());
    return !names.some((name) => name.startsWith('pms-upload-') && !before.has(name));
  });
  expect((await service.call('GET', '/datasets/gone')).status).toBe(404);
});

/** Sends a whole upload whose transaction is blocked at its end, when it locks the dataset's row. */
async function whileStored(act: (query: Query, upload: ReturnType<typeof openUpload>) => Promise<void>): Promise<void> {
  await service.dependencies.db.system.transaction(async (query) => {
    await query({ text: 'lock table datasets in exclusive mode' });
    const opened = openUpload(service, 'gone');
    opened.request.end(jsonLines([{ variables: {} }]));
    await waitFor('the upload to be held up', async () => (await query(HELD_UP)).length > 0);
    await act(query, opened);
  });
}
const HELD_UP = { text: `select pid from pg_locks where relation = 'datasets'::regclass and not granted` };

test('a caller that leaves while the examples are stored leaves nothing', async () => {
  await whileStored(async (_, { request, answer }) => {
    request.destroy();
    await expect(answer).rejects.toThrow();
  });
  // The next one gets its turn after it.
  expect((await upload(service, 'gone', 'nonsense')).status).toBe(400);
  await waitFor('the end of its transaction', async () => {
    const { query } = service.dependencies.db.system;
    return (
      (
        await query({
          text: `select 1 from pg_stat_activity where query like '%dataset_%' and xact_start is not null and pid <> pg_backend_pid()`,
        })
      ).length === 0
    );
  });
  expect((await service.call('GET', '/datasets/gone')).status).toBe(404);
});

test('a database outage while the examples are stored leaves nothing', async () => {
  await whileStored(async (query, { answer }) => {
    await query({ text: `select pg_terminate_backend(pid) from (${HELD_UP.text}) as held_up` });
    const { status, body } = await answer;
    expect([status, JSON.parse(body).error.code]).toEqual([500, 'temporarily_unavailable']);
  });
});
