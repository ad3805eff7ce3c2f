import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { jsonLines, openUpload, upload } from './datasets-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ QUOTA_UPLOADS: '100' }, { workers: false });
});
afterAll(() => service?.stop());

const CSV = 'text/csv';

async function examplesOf(name: string): Promise<Record<string, unknown>[]> {
  return (await service.call('GET', `/datasets/${name}/examples`)).body.data;
}

test('stores JSON Lines as the first version of a new dataset', async () => {
  const answer = await upload(
    service,
    'support/greetings?description=First+names',
    jsonLines([
      { id: 'ada', variables: { name: 'Ada' }, expected: 'Hello Ada!', metadata: { source: ['a', 1, null] } },
      { variables: { name: 'Grace', nested: { deep: [true] } }, expected: null },
      { variables: {} },
    ]),
  );
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    name: 'support/greetings',
    version: 1,
    examples_total: 3,
    hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    description: 'First names',
    created_at: expect.any(String),
    updated_at: expect.any(String),
    version_created_at: expect.any(String),
  });
  const content = '{"expected":null,"variables":{"name":"Grace","nested":{"deep":[true]}}}';
  expect(await examplesOf('support%2Fgreetings')).toEqual([
    {
      seq: 0,
      key: 'ada',
      id: 'ada',
      variables: { name: 'Ada' },
      expected: 'Hello Ada!',
      metadata: { source: ['a', 1, null] },
    },
    {
      seq: 1,
      key: `sha256:${createHash('sha256').update(content).digest('hex')}`,
      variables: { name: 'Grace', nested: { deep: [true] } },
      expected: null,
    },
    { seq: 2, key: expect.stringMatching(/^sha256:/), variables: {} },
  ]);
});

test('every upload is a new version and earlier versions stay', async () => {
  const first = await upload(service, 'versions-of-one', jsonLines([{ variables: { x: 1 } }]));
  const second = await upload(service, 'versions-of-one', jsonLines([{ variables: { x: 2 } }]));
  const third = await upload(service, 'versions-of-one', jsonLines([{ variables: { x: 1 } }]));
  expect([first, second, third].map(({ body }) => body.version)).toEqual([1, 2, 3]);
  expect(third.body.hash).toBe(first.body.hash);
  expect(second.body.hash).not.toBe(first.body.hash);
  expect(third.body.created_at).toBe(first.body.created_at);
  const old = await service.call('GET', '/datasets/versions-of-one/examples?version=2');
  expect(old.body.data[0].variables).toEqual({ x: 2 });
});

test('accepts output of programs: a BOM, CRLF, blank lines, no final newline, and every name of the type', async () => {
  const line = '{"variables":{"x":"é🙂"}}';
  const plain = await upload(service, 'tolerant', `${line}\n`);
  const texts = [line, `\uFEFF${line}`, `${line}\r\n`, `\n\r\n  \n${line}\n\n`, `{ "variables" : {"x":"\\u00e9🙂"} }`];
  for (const text of texts) {
    const answer = await upload(service, 'tolerant', text);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ examples_total: 1, hash: plain.body.hash });
  }
  for (const type of ['application/jsonl', 'application/json-lines', 'application/x-jsonlines; charset=UTF-8']) {
    expect((await upload(service, 'tolerant', line, { type })).body.hash).toBe(plain.body.hash);
  }
});

test('a character can be split in two', async () => {
  for (const type of ['application/x-ndjson', CSV]) {
    const bytes = Buffer.from(type === CSV ? 'x\n"a é🙂 b"\n' : '{"variables":{"x":"a é🙂 b"}}\n');
    const { request, answer } = openUpload(service, 'parts', { 'Content-Type': type });
    for (const byte of bytes) {
      request.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    request.end();
    expect((await answer).status).toBe(200);
    expect((await examplesOf('parts'))[0]).toMatchObject({ variables: { x: 'a é🙂 b' } });
  }
});

test('numbers equal examples without an id', async () => {
  const same = { variables: { a: 1, b: 2 }, expected: 'x' };
  await upload(
    service,
    'repeats',
    jsonLines([
      same,
      { expected: 'x', variables: { b: 2, a: 1 } },
      { ...same, metadata: { n: 3 } },
      { ...same, id: 'z' },
    ]),
  );
  const keys = (await examplesOf('repeats')).map(({ key }) => String(key));
  expect(keys).toEqual([expect.stringMatching(/^sha256:[0-9a-f]{64}$/), `${keys[0]}#2`, `${keys[0]}#3`, 'z']);
});

test('stores CSV: special columns, variables, quotes, newlines and empty cells', async () => {
  const answer = await upload(
    service,
    'csv/one',
    '\uFEFFid,name,variables.id,expected,metadata.source\r\n' +
      'a,"Ada, ""Countess""\r\nof Lovelace",v1,Hello,wiki\r\n' +
      '\r\n' +
      ',,v2,,\r\n' +
      ',,,,\r\n' +
      'c,x,v3,"",""\r\n',
    { type: CSV },
  );
  expect(answer.status).toBe(200);
  expect(await examplesOf('csv/one')).toEqual([
    {
      seq: 0,
      key: 'a',
      id: 'a',
      variables: { name: 'Ada, "Countess"\r\nof Lovelace', id: 'v1' },
      expected: 'Hello',
      metadata: { source: 'wiki' },
    },
    { seq: 1, key: expect.stringMatching(/^sha256:/), variables: { name: '', id: 'v2' } },
    { seq: 2, key: 'c', id: 'c', variables: { name: 'x', id: 'v3' }, expected: '', metadata: { source: '' } },
  ]);
});

const READ = [
  { key: 'a', id: 'a', variables: { question: 'Where, or when?' }, expected: 'Here; now', metadata: { Team: 'x y' } },
  { key: 'b', id: 'b', variables: { question: '' }, expected: '1,5' },
].map((example, seq) => ({ seq, ...example }));
const records = (delimiter: string, lineEnd = '\n', headings = ['id', 'question', 'expected', 'metadata.Team']) =>
  [headings, ['a', '"Where, or when?"', '"Here; now"', 'x y'], ['b', '', '"1,5"', '']]
    .map((cells) => cells.join(delimiter) + lineEnd)
    .join('');

test.each([
  ['semicolons', ';', records(';')],
  ['tabs', '\t', records('\t', '\r\n')],
  ['a delimiter that its first line names', '|', `sep=|\r\n${records('|', '\r\n')}`],
  ['a byte order mark before that line', ';', `\uFEFF"sep=;"\n${records(';')}`],
  ['old line ends', ',', records(',', '\r')],
  ['semicolons and old line ends', ';', records(';', '\r').trimEnd()],
  ['headings in any case', ',', records(',', '\n', ['ID', 'question', 'Expected', 'metadata.Team'])],
  ['spaces around headings', ';', records(';', '\n', [' id', ' question ', 'expected ', '  metadata.Team '])],
])('reads CSV with %s and names its delimiter', async (_, delimiter, text) => {
  const answer = await upload(service, 'csv/forms', text, { type: CSV });
  expect(answer).toMatchObject({ status: 200, body: { examples_total: 2, delimiter } });
  expect(await examplesOf('csv/forms')).toEqual(READ);
});

test.each([
  ['a sentence as the only heading', 'Question (with a; or b)\nWhat is it?\nWhy?\n', 'Question (with a; or b)'],
  ['a heading in quotes', '"a;b;c"\nx;y\n', 'a;b;c'],
])('reads CSV with %s as one column', async (_, text, variable) => {
  expect((await upload(service, 'csv/one-column', text, { type: CSV })).body.delimiter).toBe(',');
  expect(Object.keys((await examplesOf('csv/one-column'))[0]?.['variables'] ?? {})).toEqual([variable]);
});

test('a column named exactly id or expected is special, and the others are variables', async () => {
  await upload(service, 'csv/cases', 'Expected,expected,EXPECTED\n1,2,3\n', { type: CSV });
  expect(await examplesOf('csv/cases')).toMatchObject([{ variables: { Expected: '1', EXPECTED: '3' }, expected: '2' }]);
  expect((await upload(service, 'csv/cases', jsonLines([{ variables: { x: 'y' } }]))).body).not.toHaveProperty(
    'delimiter',
  );
});

test('CSV and JSON Lines of the same examples have the same hash', async () => {
  const csv = await upload(service, 'same/csv', 'id,name,expected\na,Ada,Hi\n,Bob,\n', { type: CSV });
  const lines = await upload(
    service,
    'same/lines',
    jsonLines([{ id: 'a', variables: { name: 'Ada' }, expected: 'Hi' }, { variables: { name: 'Bob' } }]),
  );
  expect(csv.body.hash).toBe(lines.body.hash);
});

test('ten uploads at once to a new name are ten versions', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      upload(
        service,
        'at/once',
        jsonLines(Array.from({ length: 300 }, (_, n) => ({ id: `e${n}`, variables: { index, n } }))),
      ),
    ),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(answers.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const { body: log } = await service.call('GET', '/audit-log?resource=dataset:at/once');
  expect(log.data.filter(({ action }: { action: string }) => action === 'dataset.created')).toHaveLength(1);
  expect(log.data).toHaveLength(10);
  for (const [index, { body }] of answers.entries()) {
    const { data } = (await service.call('GET', `/datasets/at/once/examples?version=${body.version}&limit=1000`)).body;
    expect(data).toHaveLength(300);
    expect(data[299]).toMatchObject({ seq: 299, id: 'e299', variables: { index, n: 299 } });
  }
});

test('slow uploads delay no one, whatever their number', async () => {
  const slow = Array.from({ length: 30 }, (_, index) => openUpload(service, `slow/${index % 2}`));
  for (const { request } of slow) request.write('{"variables":{}}\n');
  const quick = await upload(service, 'slow/0', jsonLines([{ variables: {} }]));
  expect(quick.body).toMatchObject({ name: 'slow/0', version: 1 });
  for (const { request } of slow) request.end();
  const answers = await Promise.all(slow.map(({ answer }) => answer));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await service.call('GET', '/datasets/slow/0')).body.version).toBe(16);
});

test('Expect: 100-continue is answered before the body is sent', async () => {
  const { request, answer } = openUpload(service, 'expect', { Expect: '100-continue' });
  request.flushHeaders();
  await new Promise((resolve) => request.once('continue', resolve));
  request.end('{"variables":{}}\n');
  expect((await answer).status).toBe(200);
});
