import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

function upload(name: string, rows: object[]) {
  const raw = rows.map((row) => JSON.stringify(row)).join('\n');
  return stage.service.call('PUT', `/datasets/${name}`, { raw, headers: { 'Content-Type': 'application/jsonl' } });
}

test('regressions and improvements are counted against the run before over the same dataset', async () => {
  const rows = (expected: string[]) =>
    expected.map((word, index) => ({ id: `b${index}`, variables: { text: `b${index}` }, expected: word }));
  const right = (index: number) => `Answer to: Say b${index}`;
  await upload('compared', rows([right(0), right(1), 'x', right(3)]));
  const before = await stage.run({ dataset: 'compared' });
  expect(before).toMatchObject({ baseline_id: null, regressions: 1 });
  await upload('compared', [
    ...rows([right(0), 'x', right(2)]),
    { id: 'new', variables: { text: 'new' }, expected: 'x' },
  ]);
  const after = await stage.run({ dataset: 'compared' });
  expect(after).toMatchObject({ baseline_id: before.id, regressions: 1, improvements: 1, score: 0.5 });
  const flags = (await stage.results(after.id)).map((row: Record<string, unknown>) => [
    row['example_id'],
    row['baseline_score'],
    row['regression'] ?? false,
    row['improvement'] ?? false,
  ]);
  expect(flags).toEqual([
    ['b0', 1, false, false],
    ['b1', 1, true, false],
    ['b2', 0, false, true],
    ['new', null, false, false],
  ]);
  expect(
    (await stage.results(after.id, '?regression=true')).map((row: { example_id: string }) => row.example_id),
  ).toEqual(['b1']);
  const compare = (id: string, other: string) => stage.service.call('GET', `/evaluations/${id}/compare/${other}`);
  expect((await compare(after.id, before.id)).body).toMatchObject({
    a: before.id,
    b: after.id,
    examples_compared: 3,
    regressions: { total: 1, examples: [{ key: 'b1', difference: -1 }] },
    improvements: { total: 1, examples: [{ key: 'b2' }] },
    only_in_a: { total: 1, keys: ['b3'] },
    only_in_b: { total: 1, keys: ['new'] },
  });
  expect((await compare(before.id, after.id)).body.regressions.examples).toMatchObject([{ key: 'b2' }]);
  expect(await stage.run({ dataset: 'compared', baseline: null })).toMatchObject({ baseline_id: null });
  expect(await stage.run({ dataset: 'compared', baseline: before.id })).toMatchObject({ baseline_id: before.id });
  const waiting = await stage.begin({ dataset: 'compared', start_at: '2099-01-01T00:00:00Z' });
  expect(await compare(waiting, before.id)).toMatchObject({ status: 400, body: { error: { code: 'invalid_state' } } });
  const deletion = await stage.service.call('DELETE', '/datasets/compared');
  expect(deletion).toMatchObject({ status: 400, body: { error: { code: 'invalid_state' } } });
  await stage.control(waiting, 'cancel');
  expect((await stage.service.call('DELETE', '/datasets/compared')).status).toBe(200);
  expect(await stage.results(after.id)).toHaveLength(4);
  expect(await stage.control(waiting, 'retry')).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_state' } },
  });
});

test('inline examples without ids are matched by their content with the run before over the same ones', async () => {
  const examples = [1, 2, 2].map((n) => ({ variables: { text: `same ${n}` }, expected: 'x' }));
  const first = await stage.run({ examples });
  const other = await stage.run({ examples: examples.slice(1) });
  const second = await stage.run({ examples });
  expect([other.baseline_id, second.baseline_id]).toEqual([null, first.id]);
  expect((await stage.results(second.id)).map((row: { baseline_score: number }) => row.baseline_score)).toEqual([
    0, 0, 0,
  ]);
});

test('results come in pages and as CSV that no spreadsheet takes for formulas', async () => {
  const run = await stage.run({
    examples: [...examplesOf('page', 4), { id: '=1+1', variables: { text: 'f' }, expected: '@x' }],
  });
  const pages: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await stage.service.call(
      'GET',
      `/evaluations/${run.id}/results?limit=2${cursor && `&cursor=${cursor}`}`,
    );
    pages.push(...body.data.map((row: { example_id: string }) => row.example_id));
    cursor = body.next_cursor;
  }
  expect(pages).toEqual(['page-0', 'page-1', 'page-2', 'page-3', '=1+1']);
  const csv = await stage.service.call('GET', `/evaluations/${run.id}/results?format=csv`);
  expect(csv.headers.get('Content-Type')).toContain('text/csv');
  const lines = String(csv.body).trim().split('\n');
  expect(lines[0]).toMatch(/^example_id,status,score,.*score\.exact_match,reason\.exact_match$/);
  expect(lines).toHaveLength(6);
  expect(lines[5]).toMatch(/^'=1\+1,scored,0,/);
  expect(lines[5]).toContain("'@x");
});

test('a list shows sums as they are at the end, by prompt, status and dataset', async () => {
  await stage.prompt('listed');
  const run = await stage.run({ prompt_name: 'listed', examples: examplesOf('listed', 2) });
  const list = async (query: string) => (await stage.service.call('GET', `/evaluations?${query}`)).body.data;
  expect(await list('prompt_name=listed')).toEqual([run]);
  expect(await list('prompt_name=listed&status=failed')).toEqual([]);
  expect(await list('prompt_name=listed&dataset=none')).toEqual([]);
  expect(await list(`prompt_name=listed&since=${run.created_at}`)).toHaveLength(1);
  expect(await list(`prompt_name=listed&until=${run.created_at}`)).toEqual([]);
});
