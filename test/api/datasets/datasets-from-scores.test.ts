import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', {
    body: { name: 'scored', template: 'Hello {{ name }}.', model: 'sandbox/echo' },
  });
});
afterAll(() => service?.stop());

const execution = async (name: string) =>
  (await service.call('POST', '/executions', { body: { prompt_name: 'scored', variables: { name } } })).body
    .id as string;
const score = async (name: string, subject: object, value: unknown, source = 'person') => {
  const { status, body } = await service.call('POST', '/scores', { body: { name, value, subject, source } });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.id as string;
};
const create = (dataset: string, body: object) => service.call('POST', `/datasets/${dataset}/from-scores`, { body });
const examplesOf = async (dataset: string) => (await service.call('GET', `/datasets/${dataset}/examples`)).body.data;

test('what people scored becomes examples of a judge', async () => {
  const [right, wrong, byProgram] = [await execution('Ada'), await execution('Bob'), await execution('Cy')];
  await score('kind', { execution_id: right }, true);
  await score('kind', { execution_id: wrong }, false);
  await score('kind', { execution_id: byProgram }, true, 'api');
  const evaluation = await service.call('POST', '/evaluations', {
    body: {
      prompt_name: 'scored',
      examples: [{ id: 'one', variables: { name: 'Di' } }],
      evaluators: [{ type: 'contains', value: 'Di' }],
    },
  });
  const { id } = evaluation.body;
  let status = '';
  while (status !== 'completed') ({ status } = (await service.call('GET', `/evaluations/${id}`)).body);
  await score('kind', { evaluation_id: id, example_id: 'one' }, true);

  const made = await create('judged/kind', { score: 'kind' });
  expect([made.status, made.body]).toEqual([201, expect.objectContaining({ added: 3, version: 1, examples_total: 3 })]);
  const examples = await examplesOf('judged/kind');
  expect(examples).toHaveLength(3);
  expect(examples).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        id: right,
        variables: { input: { name: 'Ada' }, output: 'Hello Ada.' },
        expected: true,
        metadata: expect.objectContaining({ execution_id: right, score: 'kind', reviewers: 1 }),
      }),
      expect.objectContaining({ id: wrong, expected: false }),
      expect.objectContaining({
        id: `${id}:one`,
        variables: { input: { name: 'Di' }, output: 'Hello Di.' },
        expected: true,
      }),
    ]),
  );

  // The same again changes nothing; another opinion does.
  expect((await create('judged/kind', { score: 'kind' })).body).toMatchObject({ added: 0, unchanged: 3, version: 1 });
  await score('kind', { execution_id: byProgram }, false);
  expect((await create('judged/kind', { score: 'kind', limit: 1 })).body).toMatchObject({ added: 1, version: 2 });
  expect(await examplesOf('judged/kind')).toHaveLength(4);
});

test('a text, an unknown score and a score by nobody are refused, as is another workspace', async () => {
  const id = await execution('Ed');
  await service.call('PUT', '/score-definitions/said', { body: { data_type: 'text' } });
  await score('counted', { execution_id: id }, 1, 'api');
  const refused = async (body: object) => {
    const answer = await create('judged/none', body);
    return [answer.status, answer.body.error.code];
  };
  expect(await refused({ score: 'said' })).toEqual([400, 'invalid_request']);
  expect(await refused({ score: 'counted' })).toEqual([400, 'invalid_request']);
  expect(await refused({ score: 'never-given' })).toEqual([404, 'not_found']);
  expect(await refused({ score: 'counted', limit: 1_001 })).toEqual([400, 'invalid_request']);
  await score('counted', { execution_id: id }, 0);
  const other = await createOtherWorkspace(service, 'other judges');
  expect((await other.call('POST', '/datasets/judged/none/from-scores', { body: { score: 'counted' } })).status).toBe(
    404,
  );
  expect((await create('judged/none', { score: 'counted' })).status).toBe(201);
});
