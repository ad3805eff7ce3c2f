import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { newId, publicId } from '../../../src/domain/ids.ts';
import { sweep } from '../../../src/jobs/sweep.ts';
import { storeExamples } from '../../../src/services/datasets/inline-examples.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { countRows, download, jsonLines, upload } from './datasets-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const CSV = 'text/csv';

async function pages(path: string): Promise<Record<string, unknown>[][]> {
  const all: Record<string, unknown>[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: { body: { data: Record<string, unknown>[]; next_cursor: string | null } } = await service.call(
      'GET',
      `${path}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    all.push(body.data);
    cursor = body.next_cursor;
  }
  return all;
}

test('lists datasets by name with their latest version', async () => {
  for (const name of ['list/b', 'list/a', 'list/c', 'list/b'])
    await upload(service, name, jsonLines([{ variables: {} }]));
  const all = await pages('/datasets?limit=2');
  expect(all.flat().map(({ name, version }) => [name, version])).toEqual([
    ['list/a', 1],
    ['list/b', 2],
    ['list/c', 1],
  ]);
  expect(all.map(({ length }) => length)).toEqual([2, 1]);
});

test('reads a version and lists them, newest first', async () => {
  for (const x of [1, 2, 3]) await upload(service, 'read/one', jsonLines([{ variables: { x } }]));
  const latest = await service.call('GET', '/datasets/read/one');
  const second = await service.call('GET', '/datasets/read%2Fone?version=2');
  expect([latest.body.version, second.body.version]).toEqual([3, 2]);
  expect(
    (await pages('/datasets/read/one/versions?limit=2')).map((page) => page.map(({ version }) => version)),
  ).toEqual([[3, 2], [1]]);
  expect((await service.call('GET', '/datasets/read/one/versions')).body.data).toContainEqual(second.body);
});

test.each(['', '/versions', '/examples', '/export'])(
  'names the missing one: GET /datasets/{name}%s',
  async (suffix) => {
    const missing = await service.call('GET', `/datasets/none/such${suffix}`);
    expect([missing.status, missing.body.error.message]).toEqual([
      404,
      'The dataset "none/such" does not exist in this workspace.',
    ]);
    if (suffix === '/versions') return;
    await upload(service, 'has/one', jsonLines([{ variables: {} }]));
    const { version } = (await service.call('GET', '/datasets/has/one')).body;
    const answer = await service.call('GET', `/datasets/has/one${suffix}?version=${version + 1}`);
    expect([answer.status, answer.body.error.message]).toEqual([
      404,
      `Version ${version + 1} of the dataset "has/one" does not exist in this workspace.`,
    ]);
  },
);

test('pages through the examples of one version, even during another upload', async () => {
  await upload(service, 'paged', jsonLines(Array.from({ length: 25 }, (_, n) => ({ variables: { n } }))));
  const first = await service.call('GET', '/datasets/paged/examples?limit=10');
  await upload(service, 'paged', jsonLines([{ variables: { n: -1 } }]));
  const second = await service.call('GET', `/datasets/paged/examples?limit=10&cursor=${first.body.next_cursor}`);
  const third = await service.call(
    'GET',
    `/datasets/paged/examples?limit=10&cursor=${second.body.next_cursor}&version=1`,
  );
  const numbers = [first, second, third].flatMap(({ body }) =>
    body.data.map((example: { variables: { n: number } }) => example.variables.n),
  );
  expect(numbers).toEqual(Array.from({ length: 25 }, (_, n) => n));
  expect(third.body.next_cursor).toBeNull();
  const wrong = await service.call('GET', `/datasets/paged/examples?cursor=${first.body.next_cursor}&version=2`);
  expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, 'cursor']);
  const forged = await service.call('GET', '/datasets/paged/examples?cursor=eyJ4Ijoxf');
  expect(forged.status).toBe(400);
});

/** Examples of 12 MB together: pages hold 4 MiB. */
const LARGE = Array.from({ length: 12 }, (_, n) => ({
  id: `e${n}`,
  variables: { x: 'y'.repeat(1_000_000), n: `<${n}>` },
}));

test('a page of large examples ends early; the next continues', async () => {
  await upload(service, 'large', jsonLines(LARGE));
  const all = await pages('/datasets/large/examples?limit=1000');
  expect(all.length).toBeGreaterThan(1);
  expect(Math.max(...all.map(({ length }) => length))).toBeLessThan(8);
  expect(all.flat().map(({ id }) => id)).toEqual(LARGE.map(({ id }) => id));
  const found = await pages('/datasets/large/examples?q=%3C1');
  expect(found.flat().map(({ seq }) => seq)).toEqual([1, 10, 11]);
  expect(found.length).toBeGreaterThan(1);
});

test('examples are found by a text in their id or in a value at any depth, in any case', async () => {
  await upload(
    service,
    'searched',
    jsonLines([
      { id: 'Order-100%_a', variables: { text: 'plain' } },
      { variables: { deep: [{ name: 'Grüße, "ADA"\n\\o/' }] } },
      { variables: { n: 4711, text: 'x' }, expected: ['said: 100 %'], metadata: { source: 'Support' } },
      { variables: { text: 'x', needle: null }, expected: null },
    ]),
  );
  const found = async (q: string) =>
    (await pages(`/datasets/searched/examples?limit=2&q=${encodeURIComponent(q)}`)).flat().map(({ seq }) => seq);
  expect(await found('order-')).toEqual([0]);
  expect(await found('%')).toEqual([0, 2]);
  expect(await found('_')).toEqual([0]);
  expect(await found('100%')).toEqual([0]);
  expect(await found('\\')).toEqual([1]);
  expect(await found('\\o')).toEqual([1]);
  expect(await found('"ada"\n')).toEqual([1]);
  expect(await found('GRÜSSE')).toEqual([]);
  expect(await found('GRÜ')).toEqual([1]);
  expect(await found('711')).toEqual([2]);
  expect(await found('support')).toEqual([2]);
  expect(await found('x')).toEqual([2, 3]);
  // Neither names, nor how JSON is written, nor the hashes of contents.
  for (const q of ['needle', 'null', '{', '", "', 'sha256', "'; drop table dataset_examples; --"])
    expect([q, await found(q)]).toEqual([q, []]);
  for (const q of ['', 'x'.repeat(201), 'a\0b']) {
    const { status, body } = await service.call('GET', `/datasets/searched/examples?q=${encodeURIComponent(q)}`);
    expect([status, body.error.details[0].path]).toEqual([400, 'q']);
  }
  const other = await createOtherWorkspace(service, 'searching');
  await upload(service, 'searched', jsonLines([{ variables: { text: 'its own' } }]), { key: other.key });
  expect((await other.call('GET', '/datasets/searched/examples?q=plain')).body).toEqual({
    data: [],
    next_cursor: null,
  });
});

test('a page of a search examines a limited number of examples, and has a cursor', async () => {
  const examples = Array.from({ length: 12_000 }, (_, n) => ({
    variables: { text: n === 7_000 || n === 11_999 ? `the needle ${n}` : `hay ${n}` },
  }));
  await upload(service, 'haystack', jsonLines(examples));
  const found = async (q: string) =>
    (await pages(`/datasets/haystack/examples?q=${q}`)).map((page) => page.map(({ seq }) => seq));
  expect(await found('needle')).toEqual([[], [7_000], [11_999]]);
  expect(await found('nothing')).toEqual([[], [], []]);
  expect(await found('hay%2099&limit=2').then((all) => all[0])).toEqual([99, 990]);
});

test('an export as JSON Lines can be uploaded again and is the same', async () => {
  const examples = [
    { id: 'a', variables: { z: 1, a: { b: [1.5, 1e21, -0.1, null, 'é🙂'] }, '': 'empty name' }, expected: null },
    { variables: {}, expected: { x: [] }, metadata: { 'variables.x': 1 } },
    { variables: {}, expected: { x: [] } },
    { variables: { text: 'a "quote", a\nnewline and a \\ backslash \u2028' }, expected: '' },
    ...Array.from({ length: 3000 }, (_, n) => ({ variables: { n }, expected: `x${n}` })),
  ];
  const first = await upload(service, 'round/trip', jsonLines(examples));
  const file = await download(service, 'round/trip/export');
  expect(file.headers.get('content-type')).toBe('application/x-ndjson');
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="round-trip-v1.jsonl"');
  const second = await upload(service, 'round/trip-2', file.text);
  expect(second.body).toMatchObject({ examples_total: 3004, hash: first.body.hash });
  const again = await download(service, 'round/trip-2/export?format=jsonl&version=1');
  expect(again.text).toBe(file.text);
});

test('an export as CSV can be uploaded again and is the same', async () => {
  const examples = [
    { id: 'a', variables: { x: 'a,b\r\n"c"', id: '1', 'metadata.y': '', 'variables.z': ' s ' }, expected: 'é' },
    { variables: { x: '', id: '', 'metadata.y': '=1+1', 'variables.z': 'n\n' }, expected: '', metadata: { m: '' } },
    { variables: { x: '', id: '', 'metadata.y': 'q', 'variables.z': '' }, metadata: { k: 'v' } },
  ].map((each) => ({
    ...each,
    variables: { ...each.variables, Expected: 'x;y', ' ID': '', 'p;q;r;s;t;u;v;w\t': ';;' },
  }));
  const first = await upload(service, 'csv/round', jsonLines(examples));
  const file = await download(service, 'csv/round/export?format=csv');
  expect(file.headers.get('content-type')).toMatch(/^text\/csv/);
  const second = await upload(service, 'csv/round-2', file.text, { type: CSV });
  expect(second.body).toMatchObject({ examples_total: 3, hash: first.body.hash });
  const read = await service.call('GET', '/datasets/csv/round-2/examples');
  expect(read.body.data[1].metadata).toEqual({ m: '' });
});

test('CSV shows values other than text as JSON', async () => {
  const values = { n: 1.5, o: { b: [true], a: null }, t: 'text' };
  await upload(service, 'csv/values', jsonLines([{ variables: values, expected: [1] }]));
  const file = await download(service, 'csv/values/export?format=csv');
  expect(file.text).toBe('id,n,o,t,expected\n,1.5,"{""a"":null,""b"":[true]}",text,[1]\n');
});

test('CSV has no cell that is a formula to a spreadsheet, and its upload restores every text', async () => {
  const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', "'=1", "''=1", "'", "'a", 'a=1'];
  const examples = texts.map((text, index) => ({
    id: index === 0 ? text : `${index}`,
    variables: { '=name': text, n: text },
    expected: text,
    metadata: { '=m': text },
  }));
  const first = await upload(service, 'csv/formulas', jsonLines(examples));
  expect(first.body).toMatchObject({ examples_total: texts.length });
  const file = await download(service, 'csv/formulas/export?format=csv');
  const cells: string[][] = parse(file.text);
  expect(cells[0]).toEqual(['id', 'variables.=name', 'n', 'expected', 'metadata.=m']);
  expect(cells.flat().filter((cell) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([]);
  expect(cells[1]).toEqual(["'=1+1", "'=1+1", "'=1+1", "'=1+1", "'=1+1"]);
  const second = await upload(service, 'csv/formulas-2', file.text, { type: CSV });
  expect(second.body).toMatchObject({ hash: first.body.hash });
});

test('reports if CSV would have too many columns', async () => {
  const variables = Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`v${n}`, '']));
  await upload(service, 'csv/wide', jsonLines([{ variables }]));
  const answer = await service.call('GET', '/datasets/csv/wide/export?format=csv');
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringMatching(/format=jsonl/)]);
  expect((await service.call('GET', '/datasets/csv/wide/export?format=xml')).status).toBe(400);
});

test('an export ends when its caller disconnects, and does not look complete if its examples are deleted meanwhile', async () => {
  // Far more than sockets hold.
  const large = Array.from({ length: 24 }, () => ({ variables: { x: 'y'.repeat(1_000_000) } }));
  await upload(service, 'cut', jsonLines(large));
  const begin = (signal?: AbortSignal) =>
    fetch(`${service.origin}/v1/datasets/cut/export`, {
      headers: { Authorization: `Bearer ${service.key}` },
      ...(signal && { signal }),
    });
  const abort = new AbortController();
  const left = await begin(abort.signal);
  await left.body?.getReader().read();
  abort.abort();
  const response = await begin();
  expect((await service.call('DELETE', '/datasets/cut')).status).toBe(200);
  await sweep(service.dependencies.db.system, new AbortController().signal);
  await expect(response.text()).rejects.toThrow();
});

test('deletes a dataset with all its data; its version numbers are not reused', async () => {
  const before = await countRows(service);
  await upload(service, 'deleted?description=old', jsonLines([{ variables: { x: 1 } }]));
  const second = await upload(service, 'deleted', jsonLines([{ variables: { x: 2 } }]));
  const answer = await service.call('DELETE', '/datasets/deleted');
  expect([answer.status, answer.body]).toEqual([200, second.body]);
  await sweep(service.dependencies.db.system, new AbortController().signal);
  expect(await countRows(service)).toMatchObject({ versions: before.versions, examples: before.examples });
  for (const path of ['', '/examples', '/versions', '?version=1'])
    expect((await service.call('GET', `/datasets/deleted${path}`)).status).toBe(404);
  expect((await service.call('DELETE', '/datasets/deleted')).status).toBe(404);
  expect((await service.call('GET', '/datasets')).body.data.map(({ name }: { name: string }) => name)).not.toContain(
    'deleted',
  );
  const third = await upload(service, 'deleted', jsonLines([{ variables: { x: 3 } }]));
  expect(third.body).toMatchObject({ version: 3, description: null });
  expect(third.body.created_at > second.body.created_at).toBe(true);
  expect((await service.call('GET', '/datasets/deleted/versions')).body.data).toHaveLength(1);
});

async function addEvaluation(name: string, status: string): Promise<string> {
  const id = newId();
  const { query } = service.dependencies.db.system;
  await query(
    {
      text: `insert into evaluations (id, workspace_id, prompt_name, prompt_version, content, model, provider, parameters,
               dataset_name, dataset_version, examples_id, examples_hash, examples_total, evaluators, threshold,
               baseline_mode, concurrency, metadata, status, created_at)
             select $1, d.workspace_id, 'p', 1, '{}', 'sandbox/echo', 'sandbox', '{}', d.name, v.version, v.id, v.hash,
               v.examples_total, '[]', 0.8, 'none', 1, '{}', $3, now()
             from datasets d join dataset_versions v on v.dataset_id = d.id where d.name = $2 and v.version = 1`,
    },
    [id, name, status],
  );
  return id;
}

test('is not deleted while an unfinished evaluation uses it', async () => {
  await upload(service, 'in/use', jsonLines([{ variables: { x: 1 } }]));
  await upload(service, 'in/use', jsonLines([{ variables: { x: 2 } }]));
  const id = await addEvaluation('in/use', 'paused');
  const refused = await service.call('DELETE', '/datasets/in/use');
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_state']);
  expect(refused.body.error.message).toContain(publicId('evaluation', id));
  const { query } = service.dependencies.db.system;
  await query({ text: `update evaluations set status = 'canceled' where id = $1` }, [id]);
  expect((await service.call('DELETE', '/datasets/in/use')).status).toBe(200);
  const [evaluation] = await query({ text: 'select examples_id, dataset_name from evaluations where id = $1' }, [id]);
  expect(evaluation).toEqual({ examples_id: null, dataset_name: 'in/use' });
});

test('inline examples are not a dataset', async () => {
  const db = service.dependencies.db.workspace(service.workspaceId);
  const before = (await service.call('GET', '/datasets?limit=1000')).body;
  await db.transaction((query) => storeExamples(query, { check: async () => {} }, [{ variables: {} }]));
  expect((await service.call('GET', '/datasets?limit=1000')).body).toEqual(before);
});

test('a dataset of the same name in another workspace is unaffected', async () => {
  const other = await createOtherWorkspace(service, 'other');
  await upload(service, 'mine', jsonLines([{ variables: { x: 'secret' } }]));
  const own = await upload(service, 'mine', jsonLines([{ variables: {} }]), { key: other.key });
  expect(own.body.version).toBe(1);
  expect((await service.call('GET', '/datasets/mine')).body).toMatchObject({ version: 1, examples_total: 1 });
  expect((await other.call('DELETE', '/datasets/mine')).status).toBe(200);
  expect((await service.call('GET', '/datasets/mine/examples')).body.data[0].variables).toEqual({ x: 'secret' });
});
