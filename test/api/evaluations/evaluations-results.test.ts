import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { publicId } from '../../../src/domain/ids.ts';
import { seedEvaluation } from '../../support/seed-rows.ts';
import { createOtherWorkspace } from '../workspace.ts';
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

test('regressions and improvements are counted against the last run over the same dataset', async () => {
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
    regressions: { total: 1, examples: [{ key: 'b1', seq_a: 1, seq_b: 1, difference: -1 }] },
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

test('inline examples without ids are matched by content with the previous run over the same ones', async () => {
  const examples = [1, 2, 2].map((n) => ({ variables: { text: `same ${n}` }, expected: 'x' }));
  const first = await stage.run({ examples });
  const other = await stage.run({ examples: examples.slice(1) });
  const second = await stage.run({ examples });
  expect([other.baseline_id, second.baseline_id]).toEqual([null, first.id]);
  expect((await stage.results(second.id)).map((row: { baseline_score: number }) => row.baseline_score)).toEqual([
    0, 0, 0,
  ]);
});

test('results come in pages and as CSV without spreadsheet formulas', async () => {
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

test('a list shows final sums, by prompt, status and dataset', async () => {
  await stage.prompt('listed');
  const run = await stage.run({ prompt_name: 'listed', examples: examplesOf('listed', 2) });
  const list = async (query: string) => (await stage.service.call('GET', `/evaluations?${query}`)).body.data;
  // Batch fields are only in single reads.
  const { batches, savings, ...listed } = run;
  expect({ batches, savings }).toEqual({ batches: [], savings: { amount: '0', currency: 'USD' } });
  expect(await list('prompt_name=listed')).toEqual([listed]);
  expect(await list('prompt_name=listed&status=failed')).toEqual([]);
  expect(await list('prompt_name=listed&dataset=none')).toEqual([]);
  expect(await list(`prompt_name=listed&since=${run.created_at}`)).toHaveLength(1);
  expect(await list(`prompt_name=listed&until=${run.created_at}`)).toEqual([]);
});

type Listed = { seq: number; example_id: string; score: number | null };

/** The results that a filter leaves, page by page. */
async function pagesOf(id: string, query: string): Promise<Listed[][]> {
  const pages: Listed[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer: { status: number; body: { data: Listed[]; next_cursor: string | null } } = await stage.service.call(
      'GET',
      `/evaluations/${id}/results?${query}${cursor && `&cursor=${cursor}`}`,
    );
    expect(answer.status).toBe(200);
    pages.push(answer.body.data);
    cursor = answer.body.next_cursor;
  }
  return pages;
}
const idsOf = async (id: string, query: string) =>
  (await pagesOf(id, query)).flat().map(({ example_id }) => example_id);

test('results are filtered by the score of the example or an evaluator, with other filters', async () => {
  const evaluators = [
    { type: 'exact_match', name: 'exact' },
    { type: 'contains', name: 'half_of-it', values: ['Answer'], weight: 1 },
  ];
  stage.openai.behave({ mode: 'fail', status: 400, matching: 'scored 1' });
  const run = await stage.run({ examples: examplesOf('scored', 8), evaluators });
  stage.openai.behave();
  // Eight examples: the second has failed, and the fourth and the eighth have another expected value.
  const [wrong, right] = [
    ['scored-3', 'scored-7'],
    ['scored-0', 'scored-2', 'scored-4', 'scored-5', 'scored-6'],
  ];
  expect(await idsOf(run.id, 'max_score=0.5')).toEqual(['scored-1', ...wrong]);
  expect(await idsOf(run.id, 'min_score=0.5&max_score=0.5')).toEqual(wrong);
  expect(await idsOf(run.id, 'min_score=0.50001&limit=2')).toEqual(right);
  expect(await idsOf(run.id, 'max_score=0&evaluator=exact')).toEqual(wrong);
  expect(await idsOf(run.id, 'min_score=1&evaluator=half_of-it')).toHaveLength(7);
  expect(await idsOf(run.id, 'max_score=0&failed=true')).toEqual(['scored-1']);
  expect(await idsOf(run.id, 'max_score=1&failed=true&evaluator=exact')).toEqual([]);
  expect(await idsOf(run.id, 'regression=true&max_score=0&evaluator=exact')).toEqual(wrong);
  expect(await idsOf(run.id, 'regression=true&failed=false')).toEqual(wrong);
  expect(await idsOf(run.id, 'example_id=scored-4')).toEqual(['scored-4']);
  expect(await idsOf(run.id, 'example_id=scored')).toEqual([]);
  const csv = await stage.service.call('GET', `/evaluations/${run.id}/results?max_score=0.5&format=csv`);
  expect(String(csv.body).trim().split('\n')).toHaveLength(4);

  for (const [query, path, message] of [
    ['evaluator=other&min_score=0', 'evaluator', /must be an evaluator of this evaluation: exact, half_of-it/],
    ['evaluator=exact', 'evaluator', /requires min_score, max_score/],
    ['min_score=0.6&max_score=0.5', 'max_score', /at least min_score/],
    ...['', '-1', '1.1', '50', 'x', '0x1', ' 1', 'NaN', '1,5'].map((text) => [
      `min_score=${encodeURIComponent(text)}`,
      'min_score',
      /must be a number from 0 to 1/,
    ]),
    ['example_id=a%00b', 'example_id', /NUL/],
  ] as [string, string, RegExp][]) {
    const { status, body } = await stage.service.call('GET', `/evaluations/${run.id}/results?${query}`);
    expect([query, status, body.error?.details?.map((each: { path: string }) => each.path)]).toEqual([
      query,
      400,
      [path],
    ]);
    expect(body.error.message).toMatch(message);
  }
});

test('one result is read by position', async () => {
  const run = await stage.run({ examples: examplesOf('single', 3) });
  const [, second] = await stage.results(run.id);
  const read = (seq: string, call = stage.service.call) => call('GET', `/evaluations/${run.id}/results/${seq}`);
  expect(await read('1')).toMatchObject({ status: 200, body: second });
  expect((await read('1')).body).toEqual(second);
  expect(await read('3')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  for (const seq of ['-1', 'x', '1.5', '99999999999']) expect((await read(seq)).status).toBe(400);
  const other = await createOtherWorkspace(stage.service, 'single');
  expect((await read('1', other.call)).status).toBe(404);
  const listed = await other.call('GET', `/evaluations/${run.id}/results?max_score=1`);
  expect(listed.status).toBe(404);
});

test('the model input of an example is read by its position', async () => {
  const { call } = stage.service;
  await call('POST', '/prompts', { body: { name: 'input/tone', template: 'Be kind.', model: 'sandbox/echo' } });
  const body = {
    name: 'input/greet',
    messages: [
      { role: 'system', content: '{{> input/tone }}' },
      { role: 'user', content: 'Greet {{ name }}' },
    ],
    model: 'sandbox/echo',
  };
  await call('POST', '/prompts', { body });
  const run = await stage.run({
    prompt_name: 'input/greet',
    examples: [{ variables: { name: 'Ada' }, expected: 'x' }],
  });
  // The sent input does not change.
  await call('PUT', '/prompts/input/tone', { body: { template: 'Be rude.' } });
  const path = `/evaluations/${run.id}/results/0/input`;
  expect(await call('GET', path)).toMatchObject({
    status: 200,
    body: {
      input: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Greet Ada' },
      ],
    },
  });
  const missing = await call('GET', `/evaluations/${run.id}/results/1/input`);
  expect(missing).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  const other = await createOtherWorkspace(stage.service, 'inputs');
  expect((await other.call('GET', path)).status).toBe(404);
});

test('a page with a rare filter examines a limited number of results, and has a cursor', async () => {
  const { query } = stage.service.dependencies.db.system;
  const [workspace] = await query<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
  const seeded = await seedEvaluation(query, { workspaceId: workspace?.id ?? '', count: 12_000, days: 1 });
  const id = publicId('evaluation', seeded);
  await query(
    { text: `update evaluation_results set score = 0.05 where evaluation_id = $1 and seq in (7000, 11999)` },
    [seeded],
  );
  const seqs = async (filter: string) => (await pagesOf(id, filter)).map((page) => page.map(({ seq }) => seq));
  expect(await seqs('min_score=0.01&max_score=0.09')).toEqual([[], [7_000], [11_999]]);
  expect(await seqs('max_score=0.5&evaluator=exact_match')).toEqual([[], [], []]);
  expect(await seqs('example_id=example-12000')).toEqual([[], [], [11_999]]);
  // These have an index: no more of them are there to examine.
  expect(await seqs('regression=true&max_score=1')).toEqual([[4_999, 9_999]]);
  const csv = await stage.service.call('GET', `/evaluations/${id}/results?max_score=0.09&min_score=0.01&format=csv`);
  expect(String(csv.body).trim().split('\n')).toHaveLength(3);
});

test('a comparison is narrowed by evaluator and metadata, grouped by a metadata key, and lists unchanged examples', async () => {
  const right = (index: number) => `Answer to: Say g${index}`;
  const rows = (wrong: (index: number) => boolean) =>
    Array.from({ length: 12 }, (_, index) => ({
      id: `g${index}`,
      variables: { text: `g${index}` },
      expected: wrong(index) ? 'x' : right(index),
      ...(index < 10 && { metadata: { topic: index < 8 ? 'billing' : 'returns', urgent: index === 0 } }),
      ...(index === 10 && { metadata: { note: '🙂'.repeat(250) } }),
    }));
  const evaluators = [
    { type: 'exact_match', name: 'exact' },
    { type: 'contains', name: 'answers', values: ['Answer'] },
  ];
  await upload(
    'grouped',
    rows((index) => index >= 8),
  );
  const before = await stage.run({ dataset: 'grouped', evaluators });
  await upload(
    'grouped',
    rows((index) => index < 8),
  );
  const after = await stage.run({ dataset: 'grouped', evaluators });
  const compare = async (query: string) =>
    stage.service.call('GET', `/evaluations/${after.id}/compare/${before.id}${query}`);
  const { body: all } = await compare('?group_by=topic');
  expect(all).toMatchObject({
    examples_compared: 12,
    metadata_keys: ['note', 'topic', 'urgent'],
    by_group: {
      total: 3,
      groups: [
        {
          value: 'billing',
          examples: 8,
          score_a: 1,
          score_b: 0.5,
          difference: -0.5,
          verdict: 'regression',
          regressions: 8,
        },
        { value: 'returns', examples: 2, difference: 0.5, verdict: 'too_few_differences', improvements: 2 },
        { value: null, examples: 2, difference: 0.5 },
      ],
    },
  });
  expect(all.by_group.groups[0].interval.high).toBeLessThan(0);
  expect(all).not.toHaveProperty('unchanged_examples');
  const { body: returns } = await compare('?metadata_key=topic&metadata_value=returns&evaluator=exact&limit=1');
  expect(returns).toMatchObject({ examples_compared: 2, score_a: 0, score_b: 1, regressions: { total: 0 } });
  expect(returns.improvements).toMatchObject({ total: 2, examples: [{ key: 'g8', difference: 1 }] });
  const { body: same } = await compare('?evaluator=answers&unchanged=true&metadata_key=urgent&metadata_value=true');
  expect(same).toMatchObject({ verdict: 'no_change', unchanged: 1, unchanged_examples: [{ key: 'g0', score_a: 1 }] });
  // Characters are counted as PostgreSQL does.
  const note = encodeURIComponent('🙂'.repeat(250));
  const { body: long } = await compare(`?metadata_key=note&metadata_value=${note}`);
  expect(long).toMatchObject({ examples_compared: 1 });
  for (const [query, path] of [
    ['?evaluator=none', 'evaluator'],
    ['?metadata_key=topic', 'metadata_value'],
    ['?limit=1001', 'limit'],
    ['?group_by=', 'group_by'],
  ] as const)
    expect(await compare(query)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', details: [{ path }] } },
    });
  expect(
    (await stage.results(after.id, '?metadata_key=topic&metadata_value=returns')).map(
      (row: { example_id: string }) => row.example_id,
    ),
  ).toEqual(['g8', 'g9']);
});

test('results are sorted page by page, searched, and totaled', async () => {
  const run = await stage.run({
    examples: [
      { id: 'ada', variables: { text: 'A % of 1' }, expected: 'x' },
      { id: 'bob', variables: { text: 'B' }, expected: 'Answer to: Say B' },
      { id: 'cy', variables: { text: 'C' }, expected: 'y' },
      { id: 'di', variables: { text: 'D' }, expected: 'Answer to: Say D' },
    ],
    evaluators: [
      { type: 'exact_match', name: 'exact' },
      { type: 'contains', name: 'has_a', values: ['A %'] },
    ],
    baseline: null,
  });
  const list = async (query: string) => {
    const keys: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at = `/evaluations/${run.id}/results?limit=1&${query}&cursor=${cursor}`;
      const { status, body } = await stage.service.call('GET', at.replace(/&cursor=$/, ''));
      expect(status).toBe(200);
      keys.push(...body.data.map((row: { example_id: string }) => row.example_id));
      cursor = body.next_cursor;
    }
    return keys.join(' ');
  };
  expect(await list('sort=-score')).toBe('ada bob di cy');
  expect(await list('sort=score')).toBe('cy ada bob di');
  expect(await list('sort=-score&evaluator=exact')).toBe('bob di ada cy');
  expect(await list('sort=-score&max_score=0.5')).toBe('ada bob di cy');
  expect((await list('sort=latency')).split(' ').sort()).toEqual(['ada', 'bob', 'cy', 'di']);
  expect((await list('sort=-change')).split(' ')).toHaveLength(4);
  expect((await list('sort=cost')).split(' ')).toHaveLength(4);
  expect(await list('q=a%20%25')).toBe('ada');
  expect(await list('q=SAY%20b')).toBe('bob');
  expect(await list('q=nothing%20like%20it')).toBe('');
  const sum = async (query = '') => stage.service.call('GET', `/evaluations/${run.id}/results/summary${query}`);
  expect((await sum()).body).toMatchObject({
    results: 4,
    scored: 4,
    failed: 0,
    passed: 0,
    score: 0.375,
    histogram: [1, 0, 0, 0, 0, 3, 0, 0, 0, 0],
    by_evaluator: { exact: 0.5, has_a: 0.25 },
    complete: true,
  });
  expect((await sum('?evaluator=exact&q=say')).body).toMatchObject({ results: 4, passed: 2, score: 0.5 });
  expect((await sum('?q=nothing%20like%20it')).body).toMatchObject({ results: 0, score: null, cost: { amount: null } });
  for (const [query, path] of [
    ['sort=name', 'sort'],
    ['sort=--score', 'sort'],
    ['sort=score&format=csv', 'sort'],
    ['q=', 'q'],
    ['evaluator=exact', 'evaluator'],
    ['metadata_value=x', 'metadata_value'],
  ] as const)
    expect(await stage.service.call('GET', `/evaluations/${run.id}/results?${query}`)).toMatchObject({
      status: 400,
      body: { error: { details: [{ path }] } },
    });
  expect(await sum('?evaluator=none')).toMatchObject({ status: 400 });

  // Unknown values sort below all others.
  await stage.service.dependencies.db.system.query(
    {
      text: `update evaluation_results set cost_amount = 5, assumed_cost = 1 where evaluation_id = $1 and example_key = 'cy'`,
    },
    [run.id.slice('eval_'.length)],
  );
  expect((await list('sort=-cost')).split(' ').at(-1)).toBe('cy');

  const cursorOf = async (query: string): Promise<string> =>
    (await stage.service.call('GET', `/evaluations/${run.id}/results?limit=1&${query}`)).body.next_cursor;
  for (const [of, query] of [
    ['', 'sort=score'],
    ['sort=score', ''],
    ['sort=score', 'sort=-score'],
    ['sort=latency', 'sort=cost'],
  ] as const)
    expect(
      await stage.service.call('GET', `/evaluations/${run.id}/results?${query}&cursor=${await cursorOf(of)}`),
    ).toMatchObject({ status: 400, body: { error: { details: [{ path: 'cursor' }] } } });
});
