import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { roundScore } from '../../../src/domain/evaluations/scoring.ts';
import { newId, publicId } from '../../../src/domain/ids.ts';
import { compareEvaluations } from '../../../src/services/evaluations/results/compare-evaluations.ts';
import { type ComparedExample, compareRuns } from '../../support/comparison-reference.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
const workspaceId = newId();
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 4 });
  await db.system.query(
    {
      text: `insert into workspaces (id, name, owner_email, created_at) values ($1, 'compared', 'a@example.com', now())`,
    },
    [workspaceId],
  );
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

type Evaluator = string | { name: string; type: string; weight: number; ignore_case?: boolean };
const configOf = (evaluator: Evaluator) =>
  typeof evaluator === 'string' ? { name: evaluator, type: 'exact_match', weight: 1 } : evaluator;

async function insertRun(evaluators: Evaluator[], examples: ComparedExample[]): Promise<string> {
  const id = newId();
  await db.system.query(
    {
      text: `insert into evaluations (id, workspace_id, prompt_name, prompt_version, content, model, provider, parameters,
               examples_hash, examples_total, evaluators, threshold, baseline_mode, concurrency, metadata, status, created_at)
             values ($1, $2, 'p', 1, '{}', 'sandbox/echo', 'sandbox', '{}', '', $3, $4, 0.8, 'none', 1, '{}', 'completed', now())`,
    },
    [id, workspaceId, examples.length, JSON.stringify(evaluators.map(configOf))],
  );
  await db.system.query(
    {
      text: `insert into evaluation_results (evaluation_id, seq, example_key, variables, status, score, scores, created_at)
             select $1, ordinality - 1, x->>'key', '{}', case when (x->>'failed')::boolean then 'failed' else 'scored' end,
               (x->>'score')::float8,
               case when (x->>'failed')::boolean then null else
                 (select jsonb_object_agg(key, jsonb_build_object('score', value)) from jsonb_each(x->'scores')) end, now()
             from jsonb_array_elements($2::jsonb) with ordinality as list(x)`,
    },
    [id, JSON.stringify(examples)],
  );
  return id;
}

/** Examples with pseudorandom scores, some of which failed or share a key. */
function examplesOf(count: number, seed: number, offset: number): ComparedExample[] {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
  return Array.from({ length: count }, (_, at) => {
    const failed = random() < 0.05;
    const [exact, close] = [Math.round(random() * 4) / 4, Math.round(random() * 1e6) / 1e6];
    const score = failed ? 0 : roundScore((exact + close) / 2);
    const key = random() < 0.03 ? 'the same' : `example ${at + offset}`;
    return { key, score, failed, scores: failed ? {} : { exact, 'it is "close"': close } };
  });
}

const EVALUATORS = ['exact', 'it is "close"'];

test.each([
  ['nothing', 0, 0],
  ['a few', 5, 6],
  ['so many that they are drawn again', 700, 800],
  ['too many for that', 4_000, 4_200],
])('runs of %s are compared in the database as in memory', async (_, countA, countB) => {
  const [examplesA, examplesB] = [examplesOf(countA, 1, 0), examplesOf(countB, 2, 10)];
  const a = await insertRun(EVALUATORS, examplesA);
  const b = await insertRun([...EVALUATORS, 'only in b'], examplesB);
  const compared = await compareEvaluations(db.workspace(workspaceId), a, b);
  const expected = compareRuns(
    { id: publicId('evaluation', a), evaluators: EVALUATORS, examples: examplesA },
    { id: publicId('evaluation', b), evaluators: [...EVALUATORS, 'only in b'], examples: examplesB },
  );
  // Keys that only b has are in its order; the order of duplicates does not matter.
  const sorted = ({ total, keys }: { total: number; keys: string[] }) => ({ total, keys: keys.toSorted() });
  expect({ ...compared, only_in_b: sorted(compared.only_in_b) }).toEqual({
    ...expected,
    only_in_b: sorted(expected.only_in_b),
  });
});

test('a comparison excludes other workspaces', async () => {
  const a = await insertRun(['exact'], []);
  await expect(compareEvaluations(db.workspace(newId()), a, a)).rejects.toMatchObject({ code: 'not_found' });
});

/** An example with these scores by evaluator, whose stored score is `score`. */
const scored = (key: string, score: number, scores: Record<string, number>): ComparedExample => ({
  key,
  score,
  failed: false,
  scores,
});
const many = (count: number, toExample: (index: number) => ComparedExample) =>
  Array.from({ length: count }, (_, index) => toExample(index));
const compare = (a: string, b: string, options = {}) => compareEvaluations(db.workspace(workspaceId), a, b, options);

test('runs with other evaluators are compared over those that they share unchanged', async () => {
  // The stored scores fall by half because `strict` was added. The scores of the common evaluators are the same.
  const before = await insertRun(
    ['exact'],
    many(40, (index) => scored(`${index}`, 1, { exact: 1 })),
  );
  const after = await insertRun(
    ['exact', 'strict'],
    many(40, (index) => scored(`${index}`, 0.5, { exact: 1, strict: 0 })),
  );
  expect(await compare(before, after)).toMatchObject({
    comparable: true,
    verdict: 'no_change',
    score_a: 1,
    score_b: 1,
    difference: 0,
    regressions: { total: 0 },
    left_out_evaluators: [{ name: 'strict', reason: 'only_in_b' }],
    note: expect.stringContaining('Evaluators left out: strict (only in b).'),
  });
});

test('an evaluator with changed options is not compared with its old form', async () => {
  const exact = { name: 'exact', type: 'exact_match', weight: 1 };
  const before = await insertRun([exact], [scored('x', 1, { exact: 1 })]);
  const after = await insertRun([{ ...exact, ignore_case: true }], [scored('x', 0, { exact: 0 })]);
  expect(await compare(before, after)).toMatchObject({
    comparable: false,
    verdict: 'nothing_in_common',
    withheld: 'not_comparable',
    score_a: null,
    difference: null,
    p_value: null,
    regressions: { total: 0, examples: [] },
    left_out_evaluators: [{ name: 'exact', reason: 'changed' }],
  });
  expect(await compare(before, after, { evaluator: 'exact' })).toMatchObject({
    comparable: false,
    withheld: 'not_comparable',
  });
});

test('shared evaluators count by their weights in the run after', async () => {
  const weighing = (weight: number) => ({ name: 'heavy', type: 'exact_match', weight });
  const before = await insertRun([weighing(1), 'light'], [scored('x', 0.5, { heavy: 1, light: 0 })]);
  const after = await insertRun([weighing(3), 'light'], [scored('x', 0.75, { heavy: 1, light: 0 })]);
  expect(await compare(before, after)).toMatchObject({ verdict: 'no_change', score_a: 0.75, score_b: 0.75 });
});

test('no verdict is given if more than a tenth of the examples failed', async () => {
  const before = await insertRun(
    ['exact'],
    many(40, (index) => scored(`${index}`, 0, { exact: 0 })),
  );
  const failing = (failures: number) =>
    insertRun(
      ['exact'],
      many(40, (index) =>
        index < failures
          ? { key: `${index}`, score: 0, failed: true, scores: {} }
          : scored(`${index}`, 1, { exact: 1 }),
      ),
    );
  expect(await compare(before, await failing(4))).toMatchObject({ verdict: 'improvement', withheld: null });
  expect(await compare(before, await failing(5))).toMatchObject({
    withheld: 'failures',
    note: 'No verdict over 40 examples: more than a tenth of the examples failed. Failed calls, counted as 0: 0 in a, 5 in b.',
  });
  expect(await compare(before, await failing(40))).toMatchObject({ withheld: 'failures' });
});
