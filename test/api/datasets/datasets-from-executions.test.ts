import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parsePublicId } from '../../../src/domain/ids.ts';
import {
  createFromExecutions,
  type ExecutionSelection,
} from '../../../src/services/datasets/create-from-executions.ts';
import { createQuotas } from '../../../src/services/workspaces/quotas.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { countRows, download, upload } from './datasets-support.ts';

let service: TestService;
const runs: { id: string; created_at: string }[] = [];
let failed: { id: string };

beforeAll(async () => {
  service = await startTestService();
  const prompt = (name: string, model: string) =>
    service.call('POST', '/prompts', { body: { name, template: 'Hello {{ name }}.', model } });
  const run = async (prompt_name: string, name: unknown) =>
    (await service.call('POST', '/executions', { body: { prompt_name, variables: { name } } })).body;
  await prompt('from/echo', 'sandbox/echo');
  await prompt('from/fail', 'sandbox/fail');
  for (const name of ['Ada', { first: 'Grace' }, 3]) runs.push(await run('from/echo', name));
  failed = await run('from/fail', 'x');
});
afterAll(() => service?.stop());

const make = (name: string, body: unknown, headers = {}) =>
  service.call('POST', `/datasets/${name}/from-executions`, { body, headers });
const examplesOf = async (name: string) => (await service.call('GET', `/datasets/${name}/examples`)).body.data;

test('turns the completed executions of a prompt into examples, oldest first', async () => {
  const answer = await make('runs/echo', { prompt_name: 'from/echo' });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ name: 'runs/echo', version: 1, examples_total: 3 });
  const examples = await examplesOf('runs/echo');
  expect(examples.map(({ id }: { id: string }) => id)).toEqual(runs.map(({ id }) => id));
  expect(examples[0]).toEqual({
    seq: 0,
    key: runs[0]?.id,
    id: runs[0]?.id,
    variables: { name: 'Ada' },
    expected: 'Hello Ada.',
    metadata: {
      execution_id: runs[0]?.id,
      prompt_name: 'from/echo',
      prompt_version: 1,
      model: 'sandbox/echo',
      created_at: runs[0]?.created_at,
    },
  });
  expect(examples[1].variables).toEqual({ name: { first: 'Grace' } });
});

test('has the same hash as the same examples uploaded', async () => {
  const made = await make('runs/hash', { prompt_name: 'from/echo' });
  const file = await download(service, 'runs/hash/export');
  expect((await upload(service, 'runs/hash', file.text)).body).toMatchObject({ version: 2, hash: made.body.hash });
});

test('uses the filters, the newest up to the limit, and no expectation if not wanted', async () => {
  const idsBy = async (body: object) => {
    const { status } = await make('runs/filtered', { ...body, mode: 'replace' });
    expect(status).toBe(201);
    return (await examplesOf('runs/filtered')).map(({ id }: { id: string }) => id);
  };
  const [first, second, third] = runs.map(({ id }) => id);
  expect(await idsBy({ prompt_name: 'from/echo', limit: 2 })).toEqual([second, third]);
  expect(await idsBy({ model: 'sandbox/echo', until: runs[1]?.created_at })).toEqual([first]);
  expect(await idsBy({ prompt_name: 'from/echo', since: runs[1]?.created_at })).toEqual([second, third]);
  expect(await idsBy({ execution_ids: [third, first, third] })).toEqual([first, third]);
  expect(await idsBy({ status: 'failed' })).toEqual([failed.id]);
  expect((await examplesOf('runs/filtered'))[0]).not.toHaveProperty('expected');
  await make('runs/filtered', { prompt_name: 'from/echo', expected: 'none', mode: 'replace' });
  expect((await examplesOf('runs/filtered'))[0]).not.toHaveProperty('expected');
});

test.each([
  ['no match', { prompt_name: 'from/none' }, /No execution with the status "completed" matches/],
  ['an unknown field', { prompt: 'x' }, /prompt: is not a known field/],
  ['too high a limit', { limit: 100_001 }, /limit: must be a whole number from 1 to 100000/],
  ['a broken id', { execution_ids: ['exec_1'] }, /execution_ids\.0: is not the id/],
  ['no ids', { execution_ids: [] }, /execution_ids: must not be empty/],
])('refuses %s and makes no version', async (_, body, message) => {
  const before = await countRows(service);
  const answer = await make('runs/refused', body);
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringMatching(message)]);
  expect(await countRows(service)).toEqual(before);
});

test('names the executions that do not match', async () => {
  const answer = await make('runs/refused', { execution_ids: [runs[0]?.id, failed.id] });
  expect(answer.body.error.details).toEqual([{ path: 'execution_ids', message: expect.stringContaining(failed.id) }]);
  expect(answer.body.error.message).not.toContain(runs[0]?.id);
});

test('the same Idempotency-Key makes one version', async () => {
  const headers = { 'Idempotency-Key': 'from-once' };
  const [one, two] = await Promise.all([
    make('runs/once', { prompt_name: 'from/echo' }, headers),
    make('runs/once', { prompt_name: 'from/echo' }, headers),
  ]);
  expect(one?.body).toEqual(two?.body);
  expect((await service.call('GET', '/datasets/runs/once')).body.version).toBe(1);
});

test('executions of another workspace do not match', async () => {
  const other = await createOtherWorkspace(service, 'other');
  for (const body of [{ prompt_name: 'from/echo' }, { execution_ids: [runs[0]?.id] }]) {
    const answer = await other.call('POST', '/datasets/theirs/from-executions', { body });
    expect(answer.status).toBe(400);
  }
});

test('adds to existing examples, each execution once, and replaces them only if requested', async () => {
  const lines = Array.from({ length: 50 }, (_, n) => JSON.stringify({ id: `mine ${n}`, variables: { name: `${n}` } }));
  await upload(service, 'runs/grown', lines.join('\n'));
  const [first, second, third] = runs.map(({ id }) => id);
  const added = await make('runs/grown', { execution_ids: [second] });
  expect(added.body).toMatchObject({ version: 2, examples_total: 51 });
  const again = await make('runs/grown', { prompt_name: 'from/echo' });
  expect(again.body).toMatchObject({ version: 3, examples_total: 53 });
  const ids = (await examplesOf('runs/grown')).map(({ id }: { id: string }) => id);
  expect(ids.slice(49)).toEqual(['mine 49', second, first, third]);
  for (const [body, unchanged] of [
    [{ execution_ids: [first] }, 1],
    [{ prompt_name: 'from/echo' }, 0],
  ] as const) {
    const none = await make('runs/grown', body);
    expect(none).toMatchObject({
      status: 201,
      body: { version: 3, examples_total: 53, added: 0, replaced: 0, unchanged },
    });
  }
  expect((await make('runs/grown', { prompt_name: 'from/none' })).status).toBe(400);
  const replaced = await make('runs/grown', { execution_ids: [third], mode: 'replace' });
  expect(replaced.body).toMatchObject({ examples_total: 1 });
});

test('loses nothing added at the same time', async () => {
  const answers = await Promise.all(runs.map(({ id }) => make('runs/at-once', { execution_ids: [id] })));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  const ids = (await examplesOf('runs/at-once')).map(({ id }: { id: string }) => id);
  expect(ids.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
});

test('does not hide an upload that made the dataset at the same time: it fails, and can be repeated', async () => {
  const [first] = runs.map(({ id }) => id);
  const { db, settings } = service.dependencies;
  const quotas = createQuotas(settings.quotas);
  const [workspace] = await db.system.query<{ id: string }>(
    {
      text: `select workspace_id as id from executions where id = $1`,
    },
    [parsePublicId('execution', first ?? '')],
  );
  // Called once the add has seen that there is no dataset.
  const check: typeof quotas.check = async (...given: Parameters<typeof quotas.check>) => {
    expect((await upload(service, 'runs/raced', JSON.stringify({ id: 'uploaded', variables: {} }))).status).toBe(200);
    return quotas.check(...given);
  };
  const selection: ExecutionSelection = {
    status: 'completed',
    executionIds: [first ?? ''],
    limit: 10,
    expected: 'none',
    mode: 'add',
  };
  const adding = db
    .workspace(workspace?.id ?? '')
    .transaction((query) => createFromExecutions(query, { ...quotas, check }, 'runs/raced', selection));
  await expect(adding).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect((await examplesOf('runs/raced')).map(({ id }: { id: string }) => id)).toEqual(['uploaded']);
  expect((await make('runs/raced', { execution_ids: [first] })).body).toMatchObject({ version: 2, examples_total: 2 });
});
