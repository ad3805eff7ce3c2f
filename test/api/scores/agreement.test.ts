import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Query } from '../../../src/db/database.ts';
import { parsePublicId } from '../../../src/domain/ids.ts';
import type { HolderId } from '../../../src/services/members/holder.ts';
import { type ScoreToStore, storeScores } from '../../../src/services/scores/store-scores.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { copyExecutions } from '../queues/queues-support.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
let subjects: { executionId: string }[];
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', { body: { name: 'say', template: 'Hello.', model: 'sandbox/echo' } });
  const { body } = await service.call('POST', '/executions', { body: { prompt_name: 'say' } });
  const ids = await copyExecutions(service, body.id, 200);
  subjects = ids.map((id) => ({ executionId: parsePublicId('execution', id) ?? '' }));
});
afterAll(() => service?.stop());

async function store(scores: Omit<ScoreToStore, 'author'>[], author: string | null = null): Promise<void> {
  const { db } = service.dependencies;
  const [row] = await db.system.query<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
  await db.workspace(row?.id ?? '').transaction((query) =>
    storeScores(
      query,
      scores.map((score) => ({ ...score, author: author as HolderId | null })),
    ),
  );
}

const ask = async (query: string) => service.call('GET', `/evaluators/agreement?${query}`);
const judge = (rule: string, version: string) => ({
  source: 'evaluator' as const,
  evaluator: { rule, version, model: 'openai/judge' },
});
/** A contingency table as pairs: counts by judge (row) and people (column). */
const pairsOf = (table: number[][]) =>
  table.flatMap((row, judged) =>
    row.flatMap((count, people) => Array.from({ length: count }, () => ({ judged, people }))),
  );

test('each version of a judge is compared with people: a published table gives its published kappa', async () => {
  // Cohen (1960); test/vectors/agreement.json has the rest.
  const categories = ['personality', 'neurosis', 'psychosis'];
  const pairs = pairsOf([
    [88, 14, 18],
    [10, 40, 10],
    [2, 6, 12],
  ]);
  const each = (name: 'judged' | 'people') =>
    pairs.map((pair, index) => ({
      name: 'diagnosis',
      value: categories[pair[name]] ?? '',
      subject: subjects[index] ?? { executionId: '' },
    }));
  await store(
    each('people').map((score) => ({ ...score, source: 'person' as const })),
    'key_1',
  );
  await store(each('judged').map((score) => ({ ...score, ...judge('diagnose', 'aaaa'), comment: 'So it seems.' })));
  await store(
    each('people')
      .slice(0, 30)
      .map((score) => ({ ...score, ...judge('diagnose', 'bbbb') })),
  );
  const { status, body } = await ask('score=diagnosis');
  expect(status).toBe(200);
  expect(body).toMatchObject({ score: 'diagnosis', data_type: 'categorical', truncated: false });
  const first = body.evaluators.find(({ version }: { version: string }) => version === 'aaaa');
  expect(first).toMatchObject({
    rule: 'diagnose',
    model: 'openai/judge',
    n: 200,
    undecided: 0,
    same: 0.7,
    better_than_chance: true,
    disagreements_total: 60,
  });
  expect(first.measures).toHaveLength(1);
  expect(first.measures[0]).toMatchObject({ name: 'cohen_kappa', value: expect.closeTo(0.491525, 5) });
  expect(first.measures[0].interval.lower).toBeLessThan(0.42);
  expect(first.verdict).toMatch(/^Better than chance: moderate agreement/);
  expect(first.disagreements).toHaveLength(20);
  expect(first.disagreements[0]).toMatchObject({
    subject: { execution_id: expect.stringMatching(/^exec_/) },
    evaluator: expect.any(String),
    people: expect.any(String),
    reviewers: 1,
    reason: 'So it seems.',
  });
  const second = body.evaluators.find(({ version }: { version: string }) => version === 'bbbb');
  expect(second).toMatchObject({ n: 30, same: 1, disagreements_total: 0 });
  expect((await ask('score=diagnosis&rule=other')).body.evaluators).toEqual([]);
  expect((await ask('score=diagnosis&disagreements=3')).body.evaluators[1].disagreements.length).toBeLessThanOrEqual(3);
});

test('a judge no better than a coin is detected', async () => {
  const score = (value: boolean, index: number) => ({
    name: 'helpful',
    value,
    subject: subjects[index] ?? { executionId: '' },
  });
  const people = subjects.slice(0, 100).map((_, index) => score(index % 2 === 0, index));
  const coin = subjects.slice(0, 100).map((_, index) => score(index % 4 < 2, index));
  await store(
    people.map((one) => ({ ...one, source: 'person' as const })),
    'key_1',
  );
  await store(coin.map((one) => ({ ...one, ...judge('coin', 'cccc') })));
  await store(people.map((one) => ({ ...one, value: !one.value, ...judge('contrary', 'dddd') })));
  const { evaluators } = (await ask('score=helpful')).body;
  const of = (rule: string) => evaluators.find((one: { rule: string }) => one.rule === rule);
  expect(of('coin')).toMatchObject({
    n: 100,
    better_than_chance: false,
    verdict: expect.stringMatching(/^No better than chance/),
  });
  expect(of('contrary')).toMatchObject({
    better_than_chance: false,
    verdict: expect.stringMatching(/^Worse than chance/),
  });
  expect(of('contrary').disagreements[0]).toMatchObject({
    evaluator: expect.any(Boolean),
    people: expect.any(Boolean),
  });
});

test('numbers are compared by rank, several people by their median, the largest differences first', async () => {
  const score = (value: number, index: number) => ({
    name: 'stars',
    value,
    subject: subjects[index] ?? { executionId: '' },
  });
  const forty = subjects.slice(0, 40);
  for (const [author, more] of [
    ['key_1', 0],
    ['key_2', 1],
    ['key_3', 2],
  ] as const)
    await store(
      forty.map((_, index) => ({ ...score((index % 5) + more, index), source: 'person' as const })),
      author,
    );
  await store(
    forty.map((_, index) => ({ ...score(index === 7 ? 9 : (index % 5) + 1, index), ...judge('stars', 'eeee') })),
  );
  const [stars] = (await ask('score=stars')).body.evaluators;
  expect(stars.measures.map(({ name }: { name: string }) => name)).toEqual([
    'spearman_rho',
    'weighted_kappa_linear',
    'weighted_kappa_quadratic',
  ]);
  expect(stars).toMatchObject({
    n: 40,
    disagreements_total: 1,
    better_than_chance: true,
    mean_distance: expect.closeTo(6 / 40, 6),
  });
  expect(stars.disagreements).toMatchObject([{ evaluator: 9, people: 3, reviewers: 3, distance: 6 }]);
});

test('scores by users count only on request', async () => {
  const score = (value: number, index: number) => ({
    name: 'liked',
    value,
    subject: subjects[index] ?? { executionId: '' },
  });
  await store(subjects.slice(0, 30).map((_, index) => ({ ...score(index % 3, index), ...judge('liked', 'ffff') })));
  await store(subjects.slice(0, 30).map((_, index) => ({ ...score(index % 3, index), source: 'feedback' as const })));
  expect((await ask('score=liked')).body.evaluators).toEqual([]);
  expect((await ask('score=liked&feedback=true')).body.evaluators).toMatchObject([{ n: 30 }]);
});

test('the newest of many versions are compared, and as many scores as a process can hold', async () => {
  const { db } = service.dependencies;
  const first = subjects[0] ?? { executionId: '' };
  const value = { name: 'many', value: true, subject: first };
  await store([{ ...value, ...judge('many', 'v0') }]);
  await copyExecutions(service, first.executionId, 2_100);
  const columns = 'workspace_id, id, name, data_type, number, execution_id, source, author, rule, evaluator_version';
  // Each execution is scored by a person and by 65 versions, which differ from people on every second one.
  const insert = {
    text: `insert into scores (${columns}, evaluator_model, comment, subject_at, created_at, updated_at)
      select s.workspace_id, gen_random_uuid(), s.name, s.data_type, case when version = 0 then 1 else e.n % 2 end, e.id,
        case when version = 0 then 'person' else 'evaluator' end, case when version = 0 then 'key_1' end,
        case when version > 0 then s.rule end, case when version > 0 then 'v' || version end, s.evaluator_model,
        'Version ' || version, s.subject_at, s.created_at + version * interval '1 second', s.updated_at
      from (select * from scores where workspace_id = $1 and name = 'many') s
        cross join (select id, row_number() over (order by id) as n from executions where workspace_id = $1 order by id desc limit 2100) e
        cross join generate_series(0, 65) as version`,
  };
  // Without triggers, whose sums the test does not need, and without a time limit, since the machine may be busy.
  const work = async (query: Query) => {
    await query({ text: `set local session_replication_role = 'replica'` });
    await query(insert, [service.workspaceId]);
  };
  await db.system.transaction(work, { statementTimeoutMs: 0 });
  const { status, body } = await ask('score=many&disagreements=2');
  expect(status).toBe(200);
  expect(body.truncated).toBe(true);
  const versions: { version: string; n: number; disagreements: { reason: string }[] }[] = body.evaluators;
  expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 50 }, (_, index) => `v${65 - index}`));
  expect(versions.reduce((sum, { n }) => sum + n, 0)).toBe(100_000);
  expect(versions[0]?.disagreements.map(({ reason }) => reason)).toEqual(['Version 65', 'Version 65']);
});

test('refuses texts, unknown scores, other keys and other workspaces', async () => {
  await store([
    { name: 'note', value: 'Good.', dataType: 'text', subject: subjects[0] ?? { executionId: '' }, source: 'person' },
  ]);
  expect((await ask('score=note')).body.error).toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/score: is a text/),
  });
  expect((await ask('score=unknown')).status).toBe(404);
  expect((await ask('')).status).toBe(400);
  const { key } = await createKey(service, 'score', 'write');
  expect((await service.call('GET', '/evaluators/agreement?score=helpful', { key })).status).toBe(401);
  const other = await createOtherWorkspace(service, 'other');
  expect((await other.call('GET', '/evaluators/agreement?score=helpful')).status).toBe(404);
});
