import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { splitEntry } from '../../../src/domain/improvements/split.ts';
import { examplesOf, isReflection, messagesOf, REFLECTOR, type Ways } from '../../support/hidden-rules.ts';
import { type ImprovementStage, startStage } from './improvements-support.ts';

let stage: ImprovementStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const NAME = 'suggest/rules';
const FROM = 60_000;
const only = (way: Ways[number]['way']): Ways => [{ upTo: 1, way }];
const suggest = (body: object, headers: Record<string, string> = {}) =>
  stage.service.call('POST', '/improvements/suggest', {
    body: { prompt_name: NAME, model: REFLECTOR, parameters: { max_tokens: 2_000 }, ...body },
    headers,
  });
const shownText = () =>
  stage.openai.calls
    .filter(isReflection)
    .slice(-1)
    .flatMap((each) => messagesOf(each).map(({ text }) => text))
    .join();

test('a suggestion is written from failing examples of the train side, and is stored nowhere', async () => {
  const { call } = stage.service;
  await stage.seed(NAME, { examples: 140, rules: 4, from: FROM });
  const evaluation = await call('POST', '/evaluations', {
    body: { prompt_name: NAME, dataset: NAME, evaluators: [{ type: 'exact_match' }] },
  });
  const { id } = evaluation.body;
  let { status } = evaluation.body;
  while (status !== 'completed') ({ status } = (await call('GET', `/evaluations/${id}`)).body);

  stage.reflect(only('add'));
  const found = await suggest({ evaluation_id: id }, { 'Idempotency-Key': 'suggest-once' });
  expect([found.status, found.body]).toEqual([
    201,
    expect.objectContaining({ prompt_version: 1, reject: null, status: 'completed', examples: 8, measured: false }),
  ]);
  const { content, execution_id: execution } = found.body;
  expect(content.messages[0].content).toMatch(/Rule [2-4]: /);
  expect(content.messages[1]).toEqual({ role: 'user', content: '{{ q }}' });
  expect((await call('GET', `/executions/${execution}`)).body).toMatchObject({ metadata: { suggestion_for: NAME } });
  const shown = shownText();
  for (const { variables } of examplesOf(140, 4, FROM))
    if (splitEntry(0, { variables }).part !== 'train') expect(shown).not.toContain(variables.q);
  expect((await call('GET', `/prompts/${NAME}`)).body.version).toBe(1);

  // The same request again is the same call.
  const before = stage.openai.calls.length;
  expect((await suggest({ evaluation_id: id }, { 'Idempotency-Key': 'suggest-once' })).body).toEqual(found.body);
  expect(stage.openai.calls).toHaveLength(before);
});

test('executions are shown with their comments; a text that the guard refuses is not returned', async () => {
  const { call } = stage.service;
  const { body: run } = await call('POST', '/executions', {
    body: { prompt_name: NAME, variables: examplesOf(1, 4, FROM + 500)[0]?.variables },
  });
  await call('POST', '/scores', {
    body: { name: 'right', value: false, comment: 'It forgot a rule.', subject: { execution_id: run.id } },
  });
  for (const [way, code] of [
    ['variable', 'variables_changed'],
    ['address', 'adds_address'],
    ['unreadable', 'unreadable'],
  ] as const) {
    stage.reflect(only(way));
    const { body } = await suggest({ execution_ids: [run.id] });
    expect([body.content, body.reject?.code, body.examples]).toEqual([null, code, 1]);
    expect(shownText()).toContain('It forgot a rule.');
  }
  // An input that was shown is never held out later.
  const rows = await stage.service.dependencies.db.system.query<{ seen: boolean }>(
    { text: 'select seen from improvement_looks where prompt_name = $1' },
    [NAME],
  );
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.every(({ seen }) => seen)).toBe(true);
});

test('what cannot be learned from is refused', async () => {
  const refused = async (body: object) => {
    const answer = await suggest(body);
    return [answer.status, answer.body.error.code];
  };
  const missing = '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a13';
  expect(await refused({ evaluation_id: `eval_${missing}` })).toEqual([404, 'not_found']);
  expect(await refused({ execution_ids: [`exec_${missing}`] })).toEqual([400, 'invalid_request']);
  expect(await refused({})).toEqual([400, 'invalid_request']);
  expect(await refused({ execution_ids: [] })).toEqual([400, 'invalid_request']);
  expect(await refused({ prompt_name: 'none', execution_ids: [`exec_${missing}`] })).toEqual([404, 'not_found']);
});
