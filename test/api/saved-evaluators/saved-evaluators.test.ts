import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { createKey } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', {
    body: { name: 'say', template: 'Say {{ what }}', model: 'sandbox/echo' },
  });
  await service.call('PUT', '/datasets/words', {
    raw: '{"id":"a","variables":{"what":"please"}}\n{"id":"b","variables":{"what":"go"}}\n',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
afterAll(() => service?.stop());

const call: TestService['call'] = (...args) => service.call(...args);
const save = (name: string, evaluator: object, more: object = {}) =>
  call('PUT', `/saved-evaluators/${name}`, { body: { evaluator, ...more } });
const polite = (value: string) => ({ type: 'contains', value });
const savedAs = (name: string, more: object = {}) => ({ type: 'saved', name, ...more });

async function run(evaluators: object[]) {
  const { status, body } = await call('POST', '/evaluations', {
    body: { prompt_name: 'say', dataset: 'words', evaluators },
  });
  if (status !== 201) return { status, body };
  return {
    status,
    body: await until('the evaluation ends', async () => {
      const { body: now } = await call('GET', `/evaluations/${body.id}`);
      return ['completed', 'failed', 'canceled'].includes(now.status) && now;
    }),
  };
}

test('other options make a version, the same ones none; old versions can be read', async () => {
  const first = await save('polite', polite('please'), { description: 'Asks nicely' });
  expect([first.status, first.body]).toEqual([
    200,
    {
      name: 'polite',
      version: 1,
      versions: 1,
      evaluator: expect.objectContaining({ type: 'contains', name: 'polite', value: 'please', weight: 1 }),
      description: 'Asks nicely',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
  expect((await save('polite', { ...polite('please'), name: 'another' }, { description: 'Asks nicely' })).body).toEqual(
    first.body,
  );
  expect((await save('polite', polite('thanks'))).body).toMatchObject({ version: 2, versions: 2, description: null });
  const old = await call('GET', '/saved-evaluators/polite?version=1');
  expect(old.body).toMatchObject({ version: 1, versions: 2, evaluator: { value: 'please' } });
  expect((await call('GET', '/saved-evaluators')).body.data).toMatchObject([{ name: 'polite', version: 2 }]);
  expect((await call('GET', '/saved-evaluators/polite?version=3')).body.error).toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('Version 3 of the saved evaluator "polite"'),
  });
});

test('an evaluation takes it by name, keeps its options, and is compared by them', async () => {
  await save('kind', polite('please'));
  const { body: before } = await run([savedAs('kind')]);
  expect(before).toMatchObject({
    score: 0.5,
    evaluators: [{ type: 'contains', name: 'kind', value: 'please', weight: 1, saved_version: 1 }],
  });
  await save('kind', polite('go'));
  const { body: after } = await run([savedAs('kind', { weight: 3 })]);
  expect(after.evaluators).toMatchObject([{ value: 'go', weight: 3, saved_version: 2 }]);
  const { body: pinned } = await run([savedAs('kind', { version: 1 })]);
  expect(pinned.evaluators).toMatchObject([{ value: 'please', saved_version: 1 }]);
  expect((await call('GET', `/evaluations/${before.id}`)).body.evaluators).toEqual(before.evaluators);

  const compare = async (a: string, b: string) => (await call('GET', `/evaluations/${b}/compare/${a}`)).body;
  expect((await compare(before.id, after.id)).left_out_evaluators).toEqual([{ name: 'kind', reason: 'changed' }]);
  // What was saved and what was sent are the same if their options are.
  const { body: sent } = await run([{ ...polite('please'), name: 'kind' }]);
  expect(await compare(before.id, sent.id)).toMatchObject({ comparable: true, left_out_evaluators: [] });
  // As a caller repeats a run: with its own evaluators.
  expect((await run(before.evaluators)).body.evaluators).toEqual(before.evaluators);
});

test('rules, schedules, releases, policies, estimates, rescoring and trials take it, too', async () => {
  await save('short', { type: 'length', at_most: 200 });
  const evaluators = [savedAs('short')];
  const stored = [expect.objectContaining({ type: 'length', name: 'short', saved_version: 1 })];
  const evaluation = { prompt_name: 'say', dataset: 'words', evaluators };
  expect((await call('PUT', '/rules/short', { body: { prompt_name: 'say', evaluators } })).body.evaluators).toEqual(
    stored,
  );
  const schedule = await call('POST', '/schedules', { body: { name: 'daily', cron: '0 6 * * *', evaluation } });
  expect(schedule.body.evaluation.evaluators).toEqual(stored);
  expect((await call('POST', '/evaluations/estimate', { body: evaluation })).status).toBe(200);
  const tried = await call('POST', '/evaluators/try', { body: { evaluators, output: 'Hello' } });
  expect(tried.body).toMatchObject({ score: 1, scores: [{ name: 'short', type: 'length' }] });
  const steps = [
    { type: 'evaluate', dataset: 'words', evaluators, require: 'threshold', threshold: 0.1 },
    { type: 'promote' },
  ];
  const policy = await call('PUT', '/labels/checked', { body: { release: { steps } } });
  expect(policy.body.release.steps[0].evaluators).toEqual(stored);
  await call('PUT', '/prompts/say/labels/live', { body: { version: 1 } });
  await call('PUT', '/prompts/say', {
    body: { template: 'Say it: {{ what }}', model: 'sandbox/echo' },
  });
  const release = await call('POST', '/releases', { body: { prompt_name: 'say', label: 'live', version: 2, steps } });
  expect([release.status, release.body.steps[0].evaluators]).toEqual([201, stored]);
  const { body: source } = await run([{ type: 'json_valid' }]);
  const rescored = await call('POST', `/evaluations/${source.id}/rescore`, { body: { evaluators } });
  expect([rescored.status, rescored.body.evaluators]).toEqual([201, stored]);
});

test('a repeated request gets its first response after what it named was deleted, but not for a key that cannot read', async () => {
  await save('brief', { type: 'length', at_most: 200 });
  const evaluators = [savedAs('brief')];
  const evaluation = { prompt_name: 'say', dataset: 'words', evaluators };
  const steps = [{ type: 'evaluate', dataset: 'words', evaluators, require: 'threshold', threshold: 0.1 }];
  await call('PUT', '/prompts/say/labels/brief', { body: { version: 1 } });
  const { body: source } = await run([{ type: 'json_valid' }]);
  const { key: blind } = await createKey(service, 'execute', 'write', 'publish');
  const requests: [string, object][] = [
    ['/evaluations', evaluation],
    [`/evaluations/${source.id}/rescore`, { evaluators }],
    ['/schedules', { name: 'brief', cron: '0 6 * * *', evaluation }],
    ['/releases', { prompt_name: 'say', label: 'brief', version: 2, steps: [...steps, { type: 'promote' }] }],
  ];
  const send = ([path, body]: [string, object], key: string = service.key) =>
    call('POST', path, { body, headers: { 'Idempotency-Key': `of ${path}`.replace(' ', '-') }, key });
  const first = [];
  for (const request of requests) first.push(await send(request));
  expect(first.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  await call('DELETE', '/saved-evaluators/brief');
  for (const [index, request] of requests.entries()) {
    const again = await send(request);
    expect([again.status, again.headers.get('Idempotent-Replayed'), again.body]).toEqual([
      201,
      'true',
      first[index]?.body,
    ]);
    expect((await send(request, blind)).body.error).toMatchObject({ code: 'insufficient_scope' });
  }
});

test('what is wrong is said, and a key that cannot read gets nothing that is saved', async () => {
  await save('mine', polite('secret words'));
  const faults = async (evaluators: object[]) => (await run(evaluators)).body.error?.details;
  expect(await faults([savedAs('nobody')])).toEqual([
    { path: 'evaluators.0.name', message: 'is not a saved evaluator of this workspace' },
  ]);
  expect(await faults([savedAs('mine', { version: 2 })])).toEqual([
    { path: 'evaluators.0.version', message: 'must be at most 1, the newest version of "mine"' },
  ]);
  expect(await faults([savedAs('mine'), { ...polite('x'), name: 'mine' }])).toMatchObject([
    { path: 'evaluators.1.name' },
  ]);
  expect(await faults([savedAs('mine', { value: 'other' })])).toHaveLength(1);
  for (const [evaluator, path] of [
    [{ type: 'http', url: 'https://example.com/score' }, 'evaluator.type'],
    [
      {
        type: 'pairwise',
        model: 'sandbox/judge',
        rubric: 'Which is better?',
        against: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
      },
      'evaluator.against',
    ],
    [{ type: 'llm_judge', model: 'no-such/model', rubric: 'Good?' }, 'evaluator.model'],
    [savedAs('mine'), 'evaluator.type'],
    [{ type: 'regex', pattern: '(' }, 'evaluator.pattern'],
  ] as const)
    expect([path, (await save('bad', evaluator)).body.error]).toMatchObject([path, { details: [{ path }] }]);
  const { body: key } = await call('POST', '/api-keys', { body: { name: 'runner', scopes: ['execute'] } });
  const refused = await call('POST', '/evaluations', {
    key: key.key,
    body: { prompt_name: 'say', dataset: 'words', evaluators: [savedAs('mine')] },
  });
  expect([refused.body.error.code, JSON.stringify(refused.body)]).toEqual([
    'insufficient_scope',
    expect.not.stringContaining('secret words'),
  ]);
});

test('one has a hundred versions at most, and a workspace 200', async () => {
  for (let at = 1; at <= 100; at++) await save('many', polite(`v${at}`));
  const refused = await save('many', polite('v101'));
  expect(refused.body.error).toMatchObject({
    code: 'quota_exceeded',
    message: expect.stringContaining('another name'),
  });
  expect((await call('GET', '/saved-evaluators/many')).body).toMatchObject({
    version: 100,
    evaluator: { value: 'v100' },
  });
  const there = (await call('GET', '/saved-evaluators?limit=100')).body.data.length;
  for (let at = there; at < 195; at++) expect((await save(`n${at}`, { type: 'json_valid' })).status).toBe(200);
  // There is room for five more, even if ten requests arrive together.
  const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => save(`last${at}`, { type: 'json_valid' })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  expect((await call('DELETE', '/saved-evaluators/many')).body).toMatchObject({ name: 'many', version: 100 });
  expect((await call('GET', '/saved-evaluators/many')).status).toBe(404);
});
