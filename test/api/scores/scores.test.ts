import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
let execution: { id: string };
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', {
    body: { name: 'support/answer', template: 'Answer {{ question }}', model: 'sandbox/echo' },
  });
  await service.call('PUT', '/prompts/support/answer/labels/live', { body: { version: 1 } });
});
afterAll(() => service?.stop());

const run = async (more: object = {}) => {
  const body = { prompt_name: 'support/answer', label: 'live', variables: { question: 'x' }, ...more };
  const answer = await service.call('POST', '/executions', { body });
  expect([answer.status, answer.body.status]).toEqual([201, 'completed']);
  return answer.body;
};
beforeEach(async () => {
  execution = await run();
});

const post = (body: unknown, options: object = {}) => service.call('POST', '/scores', { body, ...options });
const scoreOf = (name: string, value: unknown, more: object = {}) => ({
  name,
  value,
  subject: { execution_id: execution.id },
  ...more,
});

test('a score is stored, replaced by its id, listed, shown with its execution, and deleted', async () => {
  const id = `score_${newId()}`;
  const created = await post(scoreOf('helpful', 0.25, { id, comment: 'too long', metadata: { ticket: '7' } }));
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    id,
    name: 'helpful',
    value: 0.25,
    data_type: 'numeric',
    subject: { execution_id: execution.id },
    source: 'api',
    author: expect.stringMatching(/^key_/),
    evaluator: null,
    comment: 'too long',
    metadata: { ticket: '7' },
  });
  const replaced = await post(scoreOf('helpful', 0.75, { id }));
  expect(replaced.body).toMatchObject({ id, value: 0.75, comment: null, created_at: created.body.created_at });
  const list = await service.call('GET', `/scores?execution_id=${execution.id}`);
  expect(list.body).toEqual({ data: [replaced.body], next_cursor: null });
  const record = await service.call('GET', `/executions/${execution.id}`);
  expect(record.body).toMatchObject({ label: 'live', scores: [replaced.body] });
  const deleted = await service.call('DELETE', `/scores/${id}`);
  expect([deleted.status, deleted.body]).toEqual([200, replaced.body]);
  expect((await service.call('DELETE', `/scores/${id}`)).status).toBe(404);
  expect((await service.call('GET', `/executions/${execution.id}`)).body).not.toHaveProperty('scores');
});

test('several are stored at once, or none, and once for each Idempotency-Key', async () => {
  const scores = Array.from({ length: 1_000 }, (_, index) => scoreOf('many', index / 1_000));
  const headers = { 'Idempotency-Key': newId() };
  const first = await post({ scores }, { headers });
  expect([first.status, first.body.data.length]).toEqual([201, 1_000]);
  expect(first.body.data.map(({ value }: { value: number }) => value)).toEqual(scores.map(({ value }) => value));
  const again = await post({ scores }, { headers });
  expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  expect(again.body).toEqual(first.body);
  const tooMany = await post({ scores: [...scores, scores[0]] });
  expect([tooMany.status, tooMany.body.error.message]).toEqual([400, expect.stringContaining('at most 1000 scores')]);

  execution = await run();
  const mixed = await post({ scores: [scoreOf('one', 1), scoreOf('one', 'text')] });
  expect(mixed.body.error.details).toEqual([
    { path: 'scores.1.value', message: expect.stringContaining('must be a number') },
  ]);
  expect((await service.call('GET', `/scores?execution_id=${execution.id}`)).body.data).toEqual([]);
});

test.each<[unknown, string]>([
  [{}, 'scores'],
  [{ name: 'helpful' }, 'value'],
  [{ name: 'a b', value: 1, subject: { execution_id: 'x' } }, 'name'],
  [{ name: 'helpful', value: null, subject: {} }, 'value'],
  [{ name: 'helpful', value: 1, subject: { execution_id: 'exec_1' } }, 'subject.execution_id'],
  [{ scores: [] }, 'scores'],
  [{ scores: [{ name: 'helpful' }] }, 'scores.0.value'],
  [{ name: 'helpful', value: 1, subject: { execution_id: `exec_${newId()}` }, source: 'evaluator' }, 'source'],
])('an invalid score is refused: %j', async (body, path) => {
  const { status, body: answer } = await post(body);
  expect([status, answer.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
});

test('a score of a missing subject is a 404 that names it', async () => {
  const id = `exec_${newId()}`;
  const { status, body } = await post({
    scores: [scoreOf('helpful', 1), { ...scoreOf('helpful', 1), subject: { execution_id: id } }],
  });
  expect([status, body.error.message]).toEqual([
    404,
    `scores.1.subject: the execution ${id} does not exist in this workspace.`,
  ]);
});

test('a definition refuses unfitting scores, naming the limit', async () => {
  const put = (name: string, body: unknown) => service.call('PUT', `/score-definitions/${name}`, { body });
  const defined = await put('quality/tone', {
    data_type: 'numeric',
    min: 1,
    max: 5,
    description: 'From cold to warm.',
  });
  expect([defined.status, defined.body]).toEqual([
    200,
    expect.objectContaining({ name: 'quality/tone', min: 1, max: 5, defined: true }),
  ]);
  const refused = await post(scoreOf('quality/tone', 6));
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    'value: must be at most 5, as "quality/tone" is defined',
  ]);
  await put('topic', {
    data_type: 'categorical',
    categories: [{ value: 'billing' }, { value: 'other', label: 'Else' }],
  });
  expect((await post(scoreOf('topic', 'refund'))).body.error.message).toContain('must be one of "billing", "other"');
  expect((await post(scoreOf('topic', 'other'))).status).toBe(201);
  expect((await put('topic', { data_type: 'boolean' })).body.error.details[0].path).toBe('data_type');
  for (const wrong of [
    { data_type: 'number' },
    { data_type: 'numeric', min: 2, max: 1 },
    { data_type: 'boolean', min: 0 },
    { data_type: 'text', categories: [{ value: 'a' }] },
    { data_type: 'categorical', categories: [{ value: 'a' }, { value: 'a' }] },
  ])
    expect((await put('wrong', wrong)).status).toBe(400);
  const list = await service.call('GET', '/score-definitions');
  expect(list.body.data.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['quality/tone', 'topic']),
  );
  expect((await service.call('GET', '/score-definitions/quality/tone')).body).toEqual(defined.body);
  expect((await service.call('DELETE', '/score-definitions/quality%2Ftone')).body).toEqual(defined.body);
  expect((await service.call('GET', '/score-definitions/quality/tone')).status).toBe(404);
  // Its scores keep their type.
  await service.call('DELETE', '/score-definitions/topic');
  expect((await service.call('GET', '/score-definitions/topic')).body).toMatchObject({
    data_type: 'categorical',
    defined: false,
  });
  expect((await post(scoreOf('topic', 1))).status).toBe(400);
});

test('a key with the scope score stores and deletes scores, and sees no stored data', async () => {
  const { key: scorer } = await createKey(service, 'score');
  const created = await post(scoreOf('by-scope', true), { key: scorer });
  expect(created.status).toBe(201);
  const token = await service.call('POST', `/executions/${execution.id}/feedback-token`, {
    body: { names: ['by-scope'] },
    key: scorer,
  });
  expect(token.status).toBe(201);
  const deleted = await service.call('DELETE', `/scores/${created.body.id}`, { key: scorer });
  expect([deleted.status, deleted.body.value, deleted.body.author]).toEqual([200, '', null]);
});

test('another workspace sees and changes nothing of it', async () => {
  const other = await createOtherWorkspace(service, `other-${newId()}`);
  const { body: score } = await post(scoreOf('secret', 1));
  expect((await other.call('GET', `/scores?execution_id=${execution.id}`)).body.data).toEqual([]);
  expect((await other.call('POST', '/scores', { body: scoreOf('secret', 0, { id: score.id }) })).status).toBe(404);
  expect((await service.call('GET', `/scores?name=secret`)).body.data).toEqual([score]);
});

test('lists are filtered, have cursors, and come as CSV', async () => {
  const evaluator = { rule: 'tone-judge', version: '7', model: 'sandbox/echo' };
  await post({ scores: [1, 2, 3, 4, 5].map((value) => scoreOf('paged', value)) });
  await post(scoreOf('judged', 0.5, { evaluator, comment: '=1+1' }));
  await post(scoreOf('judged', 0.75, { evaluator }));
  await post(scoreOf('judged', 0.1, { source: 'person' }));
  const list = async (query: string) =>
    (await service.call('GET', `/scores?execution_id=${execution.id}&${query}`)).body;
  expect((await list('source=evaluator')).data).toEqual([
    expect.objectContaining({ value: 0.75, evaluator, source: 'evaluator' }),
  ]);
  expect((await list('rule=tone-judge')).data).toHaveLength(1);
  expect((await list('source=person')).data).toHaveLength(1);
  expect((await list('prompt_name=support/answer')).data).toHaveLength(7);
  expect((await list('prompt_name=other')).data).toEqual([]);
  expect((await list(`since=${new Date(Date.now() + 60_000).toISOString()}`)).data).toEqual([]);
  const values: number[] = [];
  let cursor = '';
  do {
    const page = await list(`name=paged&limit=2${cursor}`);
    values.push(...page.data.map(({ value }: { value: number }) => value));
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor !== '');
  expect(values.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
  expect((await service.call('GET', '/scores?cursor=WzFd')).status).toBe(400);
  const csv = await service.call('GET', `/scores?execution_id=${execution.id}&format=csv&name=paged`);
  expect(csv.headers.get('Content-Type')).toContain('text/csv');
  expect(csv.body.trim().split('\n')).toHaveLength(6);
  expect(csv.body).toMatch(/^id,name,data_type,value,execution_id/);
});

test('executions are filtered by scores, and made into a dataset by them', async () => {
  const [bad, good] = [await run({ variables: { question: 'bad' } }), await run({ variables: { question: 'good' } })];
  const name = `rated-${newId()}`;
  await post({
    scores: [
      { ...scoreOf(name, 0.1), subject: { execution_id: bad.id } },
      { ...scoreOf(name, 0.9), subject: { execution_id: good.id } },
      { ...scoreOf(`${name}-topic`, 'billing'), subject: { execution_id: good.id } },
    ],
  });
  const list = async (...conditions: string[]) => {
    const query = conditions.map((condition) => `score=${encodeURIComponent(condition)}`).join('&');
    const { status, body } = await service.call('GET', `/executions?label=live&group=support&${query}`);
    return status === 200 ? body.data.map(({ id }: { id: string }) => id) : body.error.message;
  };
  expect(await list(`${name}<0.5`)).toEqual([bad.id]);
  expect(await list(`score.${name}>=0.5`, `${name}-topic=billing`)).toEqual([good.id]);
  expect(await list(`${name}>=0.5`, `${name}-topic=other`)).toEqual([]);
  expect(await list('helpful')).toContain('must be NAME OPERATOR VALUE');
  const twice = await service.call('GET', '/executions?model=a&model=b');
  expect(twice.body.error.message).toContain('must be given once');
  const created = await service.call('POST', '/datasets/bad-answers/from-executions', {
    body: { score: [`${name}<0.5`], prompt_name: 'support/answer', expected: 'none' },
  });
  expect([created.status, created.body.examples_total]).toEqual([201, 1]);
  const examples = await service.call('GET', '/datasets/bad-answers/examples');
  expect(examples.body.data).toEqual([expect.objectContaining({ key: bad.id, variables: { question: 'bad' } })]);
});

test('summaries are by prompt, version, label, arm and day', async () => {
  const name = `sum-${newId()}`;
  const second = await run({ label: undefined, version: 1 });
  await post({
    scores: [
      scoreOf(name, 1),
      { ...scoreOf(name, 0), subject: { execution_id: second.id } },
      scoreOf(`${name}-ok`, true),
      { ...scoreOf(`${name}-ok`, false), subject: { execution_id: second.id } },
      scoreOf(`${name}-topic`, 'billing'),
      { ...scoreOf(`${name}-topic`, 'billing'), subject: { execution_id: second.id } },
      { ...scoreOf(`${name}-topic`, '__proto__'), subject: { execution_id: second.id } },
    ],
  });
  const summary = async (query: string) => (await service.call('GET', `/scores/summary?${query}`)).body.data;
  expect(await summary(`name=${name}`)).toEqual([
    { name, data_type: 'numeric', n: 2, mean: 0.5, share_true: null, categories: null },
  ]);
  expect(await summary(`name=${name}-ok`)).toEqual([expect.objectContaining({ n: 2, mean: null, share_true: 0.5 })]);
  const [topics] = await summary(`name=${name}-topic`);
  expect(Object.entries(topics.categories)).toEqual([
    ['billing', 2],
    ['__proto__', 1],
  ]);
  const day = new Date().toISOString().slice(0, 10);
  expect(await summary(`name=${name}&group_by=prompt,version,label,arm,day`)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        prompt_name: 'support/answer',
        prompt_version: 1,
        label: 'live',
        release_id: null,
        arm: null,
        n: 1,
        mean: 1,
        day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      }),
      expect.objectContaining({ label: null, n: 1, mean: 0 }),
    ]),
  );
  expect(await summary(`name=${name}&until=${day}T00:00:00Z&since=2020-01-01T00:00:00Z`)).toEqual([]);
  expect((await service.call('GET', '/scores/summary?group_by=model')).status).toBe(400);
});

test('an example of an evaluation has scores, and its results show them', async () => {
  const created = await service.call('POST', '/evaluations', {
    body: {
      prompt_name: 'support/answer',
      examples: [
        { id: 'one', variables: { question: 'a' } },
        { id: 'two', variables: { question: 'b' } },
      ],
      evaluators: [{ type: 'contains', value: 'Answer' }],
      threshold: 0,
    },
  });
  expect(created.status).toBe(201);
  const { id } = created.body;
  await waitFor(
    'the evaluation to end',
    async () => (await service.call('GET', `/evaluations/${id}`)).body.status === 'completed',
  );
  const subject = { evaluation_id: id, example_id: 'two' };
  const score = await post({ name: 'person-says', value: 4, subject, source: 'person' });
  expect([score.status, score.body.subject]).toEqual([201, subject]);
  expect((await post({ name: 'person-says', value: 4, subject: { ...subject, example_id: 'three' } })).status).toBe(
    404,
  );
  expect((await service.call('GET', `/scores?evaluation_id=${id}`)).body.data).toEqual([score.body]);
  const [seq] = (await service.call('GET', `/evaluations/${id}/results?example_id=two`)).body.data;
  const result = await service.call('GET', `/evaluations/${id}/results/${seq.seq}`);
  expect(result.body.stored_scores).toEqual([score.body]);
  const csv: string = (await service.call('GET', `/evaluations/${id}/results?format=csv`)).body;
  const [head = '', ...rows] = csv.trim().split('\n');
  expect(head).toMatch(/,stored\.person-says$/);
  expect(rows.map((row) => row.split(',').at(-1))).toEqual(['', '4']);
  expect((await service.call('GET', '/scores/summary?name=person-says&group_by=prompt')).body.data).toEqual([
    expect.objectContaining({ prompt_name: 'support/answer', n: 1, mean: 4 }),
  ]);
  expect((await service.call('DELETE', `/evaluations/${id}`)).status).toBe(200);
  expect((await service.call('GET', `/scores?evaluation_id=${id}`)).body.data).toEqual([]);
  expect((await service.call('GET', '/scores/summary?name=person-says')).body.data).toEqual([]);
});

test('a score is replaced only by its author, or by an admin, which the audit log keeps', async () => {
  const [reviewer, program] = [await createKey(service, 'score'), await createKey(service, 'score', 'write')];
  const body = scoreOf('kind', true, { id: `score_${newId()}`, comment: 'by a person', source: 'person' });
  const { body: created } = await post(body, { key: reviewer.key });
  const mine = { ...body, value: false, comment: null, source: 'api' };
  const refused = await post(mine, { key: program.key });
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [{ path: 'id', message: 'belongs to a score of another author: only its author or an admin can replace it' }],
  ]);
  expect((await service.call('GET', `/scores?execution_id=${execution.id}&name=kind`)).body.data).toEqual([created]);
  expect((await post({ ...body, value: false }, { key: reviewer.key })).body).toMatchObject({ value: false });
  const replaced = await post(mine);
  expect(replaced.status).toBe(201);
  const { body: log } = await service.call('GET', `/audit-log?resource=score:${created.id}`);
  expect(log.data).toMatchObject([
    { action: 'score.deleted', details: { name: 'kind', author: created.author, replaced: true } },
  ]);
});

test('a score of an evaluator is replaced by an evaluator or an admin, and by no person or program', async () => {
  const [evaluating, program] = [await createKey(service, 'score'), await createKey(service, 'score')];
  const evaluator = { rule: 'ours', version: 'abc', model: null };
  const body = scoreOf('judged', 0.2, { id: `score_${newId()}`, evaluator });
  const { status, body: created } = await post(body, { key: evaluating.key });
  expect([status, created.source]).toEqual([201, 'evaluator']);
  for (const source of ['person', 'api']) {
    const refused = await post({ ...body, value: 1, source, evaluator: undefined }, { key: program.key });
    expect([source, refused.status, refused.body.error?.details?.[0]?.path]).toEqual([source, 400, 'id']);
  }
  expect((await post({ ...body, value: 0.3 }, { key: program.key })).body).toMatchObject({ value: 0.3 });
  expect((await post({ ...body, value: 1, source: 'person', evaluator: undefined })).status).toBe(201);
});
