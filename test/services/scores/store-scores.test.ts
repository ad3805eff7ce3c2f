import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Database, openDatabase, type WorkspaceDatabase } from '../../../src/db/database.ts';
import { newId } from '../../../src/domain/ids.ts';
import { parseScoreCondition } from '../../../src/domain/scores/score-condition.ts';
import { deleteExecution } from '../../../src/services/executions/delete-execution.ts';
import { listExecutions } from '../../../src/services/executions/executions.ts';
import { withdrawScores } from '../../../src/services/queues/withdraw-scores.ts';
import { deleteScoreDefinition, setScoreDefinition } from '../../../src/services/scores/definitions.ts';
import { type ScoreToStore, storeScores } from '../../../src/services/scores/store-scores.ts';
import { createTestDatabase } from '../../support/database.ts';
import { seedExecutions } from '../../support/seed-rows.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let own: WorkspaceDatabase;
let ids: string[];
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 20 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(async () => {
  own = db.workspace(newId());
  await seedExecutions(db.system.query, { workspaceId: own.workspaceId, count: 10, days: 1 });
  ids = (await own.query((all) => all.selectFrom('executions').select('id').orderBy('id'))).map(({ id }) => id);
});

const store = (...scores: ScoreToStore[]) => own.transaction((query) => storeScores(query, scores));
const scoreOf = (
  index: number,
  name: string,
  value: ScoreToStore['value'],
  more: Partial<ScoreToStore> = {},
): ScoreToStore => ({
  name,
  value,
  subject: { executionId: ids[index] ?? '' },
  source: 'api',
  author: null,
  ...more,
});
const ANY = { min: null, max: null, categories: null, description: null };
const define = (name: string, definition: Partial<Parameters<typeof setScoreDefinition>[2]>) =>
  own.transaction((query) => setScoreDefinition(query, name, { data_type: 'numeric', ...ANY, ...definition }));
const list = async (...texts: string[]) => {
  const score = texts.map(parseScoreCondition).filter((condition) => typeof condition !== 'string');
  expect(score).toHaveLength(texts.length);
  const { rows } = await listExecutions(own, { score }, 100, undefined);
  return rows.map(({ id }) => ids.indexOf(id)).sort((a, b) => a - b);
};

test('a page with an unindexed condition examines a limited number of executions, and has a cursor', async () => {
  await seedExecutions(db.system.query, { workspaceId: own.workspaceId, count: 11_990, days: 1 });
  const all = (await own.query((every) => every.selectFrom('executions').select('id').orderBy('id', 'desc'))).map(
    ({ id }) => id,
  );
  const wanted = [all[100] ?? '', all[11_000] ?? '', all[11_001] ?? '', all[11_999] ?? ''];
  await store(...wanted.map((executionId) => scoreOf(0, 'rare', true, { subject: { executionId } })));
  await own.query((every) => every.updateTable('executions').set({ label: 'rare' }).where('id', 'in', wanted));
  const score = [parseScoreCondition('rare=true')].filter((condition) => typeof condition !== 'string');
  for (const filter of [{ score }, { label: 'rare' }]) {
    const pages: number[][] = [];
    let before: string | undefined;
    do {
      const page = await listExecutions(own, filter, 1, before);
      pages.push(page.rows.map(({ id }) => all.indexOf(id)));
      before = page.next;
    } while (before !== undefined);
    expect(pages).toEqual([[100], [], [11_000], [11_001], [11_999]]);
  }
});

test('scores are stored with known data of their execution', async () => {
  const [helpful, topic, spam, note] = await store(
    scoreOf(0, 'helpful', 0.5, { comment: 'so so', metadata: { by: 'x' } }),
    scoreOf(0, 'topic', 'billing'),
    scoreOf(1, 'spam', true),
    scoreOf(1, 'note', 'a text', { dataType: 'text' }),
  );
  expect(helpful).toMatchObject({
    name: 'helpful',
    data_type: 'numeric',
    number: 0.5,
    comment: 'so so',
    metadata: { by: 'x' },
  });
  expect(topic).toMatchObject({ data_type: 'categorical', text: 'billing', execution_id: ids[0] });
  expect(spam).toMatchObject({ data_type: 'boolean', number: 1, text: null });
  expect(note).toMatchObject({ data_type: 'text', text: 'a text' });
  const [row] = await own.query((all) => all.selectFrom('scores').selectAll().where('name', '=', 'helpful'));
  expect(row).toMatchObject({ prompt_name: 'rare', prompt_version: 1, model: 'sandbox/rare', release_id: null });
});

test('a number too small to have a square is stored as 0', async () => {
  const stored = await store(scoreOf(0, 'a', 1e-200), scoreOf(0, 'b', -1e-200), scoreOf(0, 'c', 1e-100));
  expect(stored.map(({ number }) => number)).toEqual([0, 0, 1e-100]);
});

test('a number too small to have a square can be withdrawn from a release', async () => {
  const [score] = await store(scoreOf(0, 'helpful', 1));
  await db.system.query(
    {
      text: `update scores set number = 1e-200, release_id = gen_random_uuid(), release_stage = 0, arm = 'stable' where id = $1`,
    },
    [score?.id],
  );
  await own.transaction((query) => withdrawScores(query, [score?.id ?? '']));
  expect(await own.query((all) => all.selectFrom('scores').select('id'))).toEqual([]);
});

test('a score replaces the one with its id, unless it differs in kind', async () => {
  const id = newId();
  await store(scoreOf(0, 'helpful', 0.1, { id, comment: 'first' }));
  const [again] = await store(scoreOf(0, 'helpful', 0.9, { id }));
  expect(again).toMatchObject({ number: 0.9, comment: null });
  await expect(store(scoreOf(1, 'helpful', 1, { id }))).rejects.toThrow('scores.0.id: belongs to a score of another');
  await expect(store(scoreOf(0, 'other', 1, { id }))).rejects.toThrow('scores.0.id: belongs to a score of another');
  await expect(store(scoreOf(0, 'a', 1, { id }), scoreOf(1, 'a', 1, { id }))).rejects.toThrow(
    'scores.1.id: is used by another',
  );
  const judged = { source: 'evaluator', evaluator: { rule: 'r', version: 'v1', model: null } } as const;
  await store(scoreOf(0, 'judge', 0.2, judged));
  await store(scoreOf(0, 'judge', 0.3, judged));
  const rows = await own.query((all) => all.selectFrom('scores').select(['name', 'number']).orderBy('name'));
  expect(rows).toEqual([
    { name: 'helpful', number: 0.9 },
    { name: 'judge', number: 0.3 },
  ]);
});

test('a score outside its definition is refused with the limit', async () => {
  await define('helpful', { min: 0, max: 1 });
  await define('topic', { data_type: 'categorical', categories: [{ value: 'billing', label: 'Billing' }] });
  const refused: [ScoreToStore, string][] = [
    [scoreOf(0, 'helpful', 1.5), 'scores.0.value: must be at most 1, as "helpful" is defined'],
    [scoreOf(0, 'helpful', -1), 'must be at least 0'],
    [scoreOf(0, 'helpful', 'good'), 'must be a number'],
    [scoreOf(0, 'helpful', true), 'must be a number'],
    [scoreOf(0, 'helpful', 1, { dataType: 'boolean' }), 'scores.0.data_type: must not be "boolean"'],
    [scoreOf(0, 'topic', 'else'), 'must be one of "billing"'],
    [scoreOf(0, 'new', Number.NaN), 'must be between'],
    [scoreOf(0, 'new', 'x'.repeat(201)), 'at most 200 characters'],
  ];
  for (const [score, message] of refused) await expect(store(score)).rejects.toThrow(message);
  await store(scoreOf(0, 'new', true));
  await expect(store(scoreOf(0, 'new', 0.5))).rejects.toThrow('must be true or false');
  await expect(define('new', { data_type: 'numeric' })).rejects.toThrow('must be "boolean"');
  await own.transaction((query) => deleteScoreDefinition(query, 'helpful'));
  await store(scoreOf(0, 'helpful', 'a category'));
});

test('subjects of other workspaces do not exist, and their ids are free', async () => {
  const [theirs] = await store(scoreOf(0, 'helpful', 0.5));
  const subject = { executionId: ids[0] ?? '' };
  const other = db.workspace(newId());
  await expect(
    other.transaction((query) => storeScores(query, [scoreOf(0, 'helpful', 0.5, { subject })])),
  ).rejects.toThrow('does not exist in this workspace');
  await seedExecutions(db.system.query, { workspaceId: other.workspaceId, count: 1, days: 1 });
  const [execution] = await other.query((all) => all.selectFrom('executions').select('id'));
  const [mine] = await other.transaction((query) =>
    storeScores(query, [scoreOf(0, 'x', 1, { id: theirs?.id, subject: { executionId: execution?.id ?? '' } })]),
  );
  expect(mine).toMatchObject({ id: theirs?.id, name: 'x' });
  expect(await own.query((all) => all.selectFrom('scores').select('name'))).toEqual([{ name: 'helpful' }]);
});

test('executions are found by their scores', async () => {
  await store(
    scoreOf(0, 'helpful', 0.2),
    scoreOf(1, 'helpful', 0.5),
    scoreOf(2, 'helpful', 0.9),
    scoreOf(1, 'topic', 'billing'),
    scoreOf(2, 'topic', '5'),
    scoreOf(2, 'spam', true),
    scoreOf(3, 'spam', false),
  );
  expect(await list('helpful<0.5')).toEqual([0]);
  expect(await list('score.helpful>=0.5')).toEqual([1, 2]);
  expect(await list('helpful>=0.5', 'topic=billing')).toEqual([1]);
  expect(await list('helpful!=0.5')).toEqual([0, 2]);
  expect(await list('topic!=billing')).toEqual([2]);
  expect(await list('topic=5')).toEqual([2]);
  expect(await list('spam=true')).toEqual([2]);
  expect(await list('spam=false')).toEqual([3]);
  for (const text of ['helpful', 'helpful<', '<1', 'helpful<billing', 'a b<1', 'a//b=1', 'x<1e999'])
    expect([text, typeof parseScoreCondition(text)]).toEqual([text, 'string']);
});

test('deleting an execution deletes its scores, and their bytes', async () => {
  await store(scoreOf(1, 'helpful', 0.2), scoreOf(2, 'helpful', 0.5));
  const bytes = async () => {
    const rows = await own.query((all) => all.selectFrom('storage_entries').select('bytes'));
    return rows.reduce((sum, row) => sum + row.bytes, 0);
  };
  const before = await bytes();
  await deleteExecution(own, ids[1] ?? '');
  expect(await own.query((all) => all.selectFrom('scores').select('number'))).toEqual([{ number: 0.5 }]);
  expect(before - (await bytes())).toBeGreaterThan(2 * 1024);
});

test('two that store the same names wait for each other, and both succeed', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `name-${index}`);
  const scoresOf = (index: number) => names.map((name) => scoreOf(index, name, index / 10));
  await Promise.all([
    ...Array.from({ length: 8 }, (_, index) => store(...scoresOf(index))),
    ...Array.from({ length: 8 }, (_, index) => store(...scoresOf(index).reverse())),
  ]);
  const rows = await own.query((all) => all.selectFrom('scores').select('id'));
  expect(rows).toHaveLength(16 * names.length);
});

test('scores per subject and per request are limited', async () => {
  const many = Array.from({ length: 1_000 }, () => scoreOf(0, 'helpful', 0.5));
  await store(...many);
  await expect(store(scoreOf(0, 'helpful', 0.5))).rejects.toThrow('at most 1000 scores');
  await expect(store(...many, scoreOf(1, 'helpful', 0.5))).rejects.toThrow('At most 1000 scores');
});
