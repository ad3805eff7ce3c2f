import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { countRows, download, jsonLines, upload } from './datasets-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const add = (name: string, examples: unknown[], headers = {}) =>
  service.call('POST', `/datasets/${name}/examples`, { body: { examples }, headers });
const addFile = (name: string, raw: string, type: string) =>
  service.call('PUT', `/datasets/${name}?mode=add`, { raw, headers: { 'Content-Type': type } });
const examplesOf = async (name: string) =>
  (await service.call('GET', `/datasets/${name}/examples?limit=1000`)).body.data.map(
    ({ seq: _seq, key: _key, ...example }: Record<string, unknown>) => example,
  );
const entriesOf = async (name: string) =>
  (await service.call('GET', `/audit-log?resource=dataset:${encodeURIComponent(name)}`)).body.data.map(
    ({ action }: { action: string }) => action,
  );

const [ADA, BOB] = [
  { id: 'a', variables: { name: 'Ada' }, expected: 'Hi Ada' },
  { id: 'b', variables: { name: 'Bob' }, metadata: { source: 'wiki' } },
];

test('adds to the latest version, replaces examples by id in their position, and reports it', async () => {
  await upload(service, 'add/some', jsonLines([ADA, BOB]));
  const [corrected, cid] = [
    { ...ADA, expected: null },
    { id: 'c', variables: { name: 'Cid' } },
  ];
  const answer = await add('add/some', [cid, corrected, BOB, { variables: { name: 'Dan' } }]);
  expect(answer).toMatchObject({
    status: 201,
    body: { name: 'add/some', version: 2, examples_total: 4, added: 2, replaced: 1, unchanged: 1 },
  });
  expect(await examplesOf('add/some')).toEqual([corrected, BOB, cid, { variables: { name: 'Dan' } }]);
  // Fields of a replaced example that the new one lacks are gone.
  expect((await add('add/some', [{ id: 'b', variables: {} }])).body).toMatchObject({
    version: 3,
    replaced: 1,
    added: 0,
  });
  expect((await examplesOf('add/some'))[1]).toEqual({ id: 'b', variables: {} });
  const file = await download(service, 'add/some/export');
  const uploaded = await upload(service, 'add/same', file.text);
  expect(uploaded.body.hash).toBe((await service.call('GET', '/datasets/add/some')).body.hash);
});

test('creates no version, and no entry in the audit log, if nothing changes', async () => {
  const examples = [ADA, { variables: { n: 1 } }, { variables: { n: 1 } }];
  const made = await add('add/none', examples);
  expect(made.body).toMatchObject({ version: 1, examples_total: 3, added: 3, replaced: 0, unchanged: 0 });
  const before = await countRows(service);
  for (const given of [examples, [{ variables: { n: 1.0 } }]]) {
    const answer = await add('add/none', given);
    expect(answer).toMatchObject({
      status: 201,
      body: { version: 1, hash: made.body.hash, examples_total: 3, added: 0, replaced: 0, unchanged: given.length },
    });
  }
  expect(await countRows(service)).toEqual(before);
  expect(await entriesOf('add/none')).toEqual(['dataset.created']);
});

test('loses nothing added at the same time, even to a new dataset', async () => {
  const ids = Array.from({ length: 16 }, (_, n) => `at-once-${n}`);
  for (const half of [ids.slice(0, 8), ids.slice(8)]) {
    const answers = await Promise.all(half.map((id) => add('add/at-once', [{ id, variables: {} }])));
    expect(answers.map(({ status }) => status)).toEqual(half.map(() => 201));
  }
  const stored = (await examplesOf('add/at-once')).map(({ id }: { id: string }) => id);
  expect(stored.toSorted()).toEqual(ids.toSorted());
});

test('the same Idempotency-Key makes one version', async () => {
  const headers = { 'Idempotency-Key': 'add-once' };
  const answers = await Promise.all([add('add/once', [ADA], headers), add('add/once', [ADA], headers)]);
  expect(answers[0]?.body).toEqual(answers[1]?.body);
  expect(answers[0]?.body).toMatchObject({ version: 1, added: 1 });
});

test.each([
  ['no examples', { examples: [] }, 'examples: must have at least one example'],
  ['too many', { examples: Array.from({ length: 1001 }, () => ADA) }, 'examples: must have at most 1000 examples'],
  ['an id twice', { examples: [ADA, BOB, ADA] }, 'examples.2.id: is the id of examples.0 too: "a"'],
  ['an unknown field', { examples: [{ ...ADA, output: 'x' }] }, 'examples.0.output: is not a known field'],
])('refuses %s and makes no version', async (_, body, message) => {
  const before = await countRows(service);
  const answer = await service.call('POST', '/datasets/add/refused/examples', { body });
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(message)]);
  expect(await countRows(service)).toEqual(before);
});

test('reaches no other workspace', async () => {
  await add('add/theirs', [ADA]);
  const other = await createOtherWorkspace(service, 'adding');
  const answer = await other.call('POST', '/datasets/add/theirs/examples', { body: { examples: [BOB] } });
  expect(answer.body).toMatchObject({ version: 1, examples_total: 1 });
  expect(await examplesOf('add/theirs')).toEqual([ADA]);
});

test('an upload can also add, from JSON Lines and CSV', async () => {
  await upload(service, 'add/files', jsonLines([ADA, BOB]));
  const csv = await addFile('add/files', 'ID;name;Expected\na;Ada;Hello\nd;Dan;\n', 'text/csv');
  expect(csv).toMatchObject({
    status: 200,
    body: { version: 2, examples_total: 3, added: 1, replaced: 1, unchanged: 0, delimiter: ';' },
  });
  const lines = await addFile('add/files', jsonLines([BOB]), 'application/x-ndjson');
  expect(lines.body).toMatchObject({ version: 2, added: 0, replaced: 0, unchanged: 1 });
  expect((await examplesOf('add/files')).map(({ id }: { id: string }) => id)).toEqual(['a', 'b', 'd']);
  const replaced = await upload(service, 'add/files', jsonLines([BOB]));
  expect(replaced.body).toMatchObject({ version: 3, examples_total: 1 });
  expect(replaced.body).not.toHaveProperty('added');
});

test('adds to a dataset of any size, examples and executions', async () => {
  const many = Array.from({ length: 60_000 }, (_, n) => ({ id: `m${n}`, variables: { n }, expected: `${n}` }));
  await upload(service, 'add/large', jsonLines(many));
  const changed = { ...many[30_000], expected: 'other' };
  expect((await add('add/large', [changed, ADA])).body).toMatchObject({
    version: 2,
    examples_total: 60_001,
    added: 1,
    replaced: 1,
  });
  await service.call('POST', '/prompts', { body: { name: 'add/echo', template: 'Hi', model: 'sandbox/echo' } });
  const { body: run } = await service.call('POST', '/executions', { body: { prompt_name: 'add/echo', variables: {} } });
  const from = await service.call('POST', '/datasets/add/large/from-executions', { body: { execution_ids: [run.id] } });
  expect(from).toMatchObject({ status: 201, body: { version: 3, examples_total: 60_002, added: 1 } });
  const file = await download(service, 'add/large/export');
  const ids = file.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  expect(ids).toEqual([...many.map(({ id }) => id), 'a', run.id]);
  expect((await upload(service, 'add/large-2', file.text)).body.hash).toBe(from.body.hash);
});
