import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { Registry } from 'prom-client';
import { startApi } from '../../../src/api/server.ts';
import { createCall } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

let stage: EvaluationStage;
let finishedId: string;
let scheduledId: string;
beforeAll(async () => {
  stage = await startStage();
  await stage.prompt('gone');
  await stage.service.call('DELETE', '/prompts/gone');
  await stage.prompt('keyless', '{{ text }}', 'mistral/mistral-small-latest');
  await stage.service.call('PUT', '/datasets/questions', {
    raw: '{"variables":{"text":"a"}}\n',
    headers: { 'Content-Type': 'application/jsonl' },
  });
  finishedId = (await stage.run({ examples: examplesOf('done', 1) })).id;
  scheduledId = await stage.begin({ examples: examplesOf('due', 1), start_at: '2099-01-01T00:00:00Z' });
});
afterAll(() => stage?.stop());

const examples = [{ variables: { text: 'x' } }];
const judge = { type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Be kind.' };

describe('a body that cannot be run is refused, naming what to change', () => {
  test.each<[string, object, string]>([
    ['neither dataset nor examples', {}, 'dataset'],
    ['both dataset and examples', { examples, dataset: 'questions' }, 'dataset'],
    ['no examples', { examples: [] }, 'examples'],
    ['1,001 examples', { examples: Array.from({ length: 1_001 }, () => examples[0]) }, 'examples'],
    ['a variable that is missing', { examples: [...examples, { variables: {} }] }, 'examples.1.variables.text'],
    ['a variable that is null', { examples: [{ variables: { text: null } }] }, 'examples.0.variables.text'],
    [
      'an id used twice',
      {
        examples: [
          { id: 'a', ...examples[0] },
          { id: 'a', ...examples[0] },
        ],
      },
      'examples.1.id',
    ],
    ['an unknown field', { examples, treshold: 1 }, 'treshold'],
    ['version and label', { examples, version: 1, label: 'production' }, 'label'],
    ['no evaluators', { examples, evaluators: [] }, 'evaluators'],
    [
      'eleven evaluators',
      { examples, evaluators: Array.from({ length: 11 }, (_, n) => ({ type: 'contains', name: `c${n}` })) },
      'evaluators',
    ],
    [
      'an unknown evaluator',
      { examples, evaluators: [{ type: 'exact_match' }, { type: 'vibes' }] },
      'evaluators.1.type',
    ],
    [
      'two evaluators of one name',
      { examples, evaluators: [{ type: 'contains' }, { type: 'contains' }] },
      'evaluators.1.name',
    ],
    ['a weight of nothing', { examples, evaluators: [{ type: 'contains', weight: 0 }] }, 'evaluators.0.weight'],
    ['a broken expression', { examples, evaluators: [{ type: 'regex', pattern: '(' }] }, 'evaluators.0.pattern'],
    [
      'a broken schema',
      { examples, evaluators: [{ type: 'json_schema', schema: { type: 'text' } }] },
      'evaluators.0.schema',
    ],
    [
      'a judge without credentials',
      { examples, evaluators: [{ ...judge, model: 'mistral/mistral-small-latest' }] },
      'evaluators.0.model',
    ],
    ['a judge with an unknown model', { examples, evaluators: [{ ...judge, model: 'who' }] }, 'evaluators.0.model'],
    ['a model without credentials', { prompt_name: 'keyless', examples }, 'model'],
    [
      'a budget for a judge without a price',
      { examples, max_cost: 1, evaluators: [{ ...judge, model: 'openai/of-tomorrow' }] },
      'max_cost',
    ],
    ['a budget of nothing', { examples, max_cost: 0 }, 'max_cost'],
    ['a budget too small to write down', { examples, max_cost: 1e-13 }, 'max_cost'],
    ['a budget in words', { examples, max_cost: 'two dollars' }, 'max_cost'],
    ['a threshold above 1', { examples, threshold: 1.01 }, 'threshold'],
    ['no concurrency', { examples, concurrency: 0 }, 'concurrency'],
    ['too much concurrency', { examples, concurrency: 201 }, 'concurrency'],
    ['half a concurrency', { examples, concurrency: 1.5 }, 'concurrency'],
    ['a start at no time', { examples, start_at: 'tomorrow' }, 'start_at'],
    ['a baseline that is not an id', { examples, baseline: 'last' }, 'baseline'],
    ['a baseline that does not exist', { examples, baseline: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }, 'baseline'],
  ])('%s', async (_what, body, path) => {
    const { status, body: answer } = await stage.create(body);
    expect({ status, code: answer.error?.code, path: answer.error?.details?.[0]?.path }).toEqual({
      status: 400,
      code: 'invalid_request',
      path,
    });
  });
});

test('a baseline that has not completed is refused', async () => {
  const { status, body } = await stage.create({ examples, baseline: scheduledId });
  expect({ status, message: body.error.message }).toEqual({
    status: 400,
    message: 'baseline: must have completed; it is scheduled',
  });
});

test.each([
  ['an archived prompt', { prompt_name: 'gone', examples }, 400, 'prompt_archived'],
  ['an unknown prompt', { prompt_name: 'nobody', examples }, 404, 'not_found'],
  ['an unknown version', { version: 9, examples }, 404, 'not_found'],
  ['an unknown dataset', { dataset: 'nothing' }, 404, 'not_found'],
  ['an unknown version of a dataset', { dataset: { name: 'questions', version: 9 } }, 404, 'not_found'],
])('%s cannot be evaluated', async (_what, body, status, code) => {
  const answer = await stage.create(body);
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
});

test('baselines and datasets of another workspace are not found', async () => {
  const other = await createOtherWorkspace(stage.service, 'other');
  await other.call('POST', '/prompts', { body: { name: 'say', template: '{{ text }}', model: 'sandbox/echo' } });
  const create = (body: object) => other.call('POST', '/evaluations', { body: { prompt_name: 'say', ...body } });
  expect((await create({ examples, baseline: finishedId })).body.error.details[0].path).toBe('baseline');
  expect((await create({ dataset: 'questions' })).status).toBe(404);
});

test('ten requests with one idempotency key make one evaluation and get one answer', async () => {
  const body = { prompt_name: 'say', examples: examplesOf('idempotent', 3) };
  const headers = { 'Idempotency-Key': 'one-of-ten' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => stage.service.call('POST', '/evaluations', { body, headers })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  await stage.until(answers[0]?.body.id, 'completed');
  expect(examplesOf('idempotent', 3).map(({ variables }) => stage.openai.countBy(`Say ${variables.text}`))).toEqual([
    1, 1, 1,
  ]);
  const other = await stage.service.call('POST', '/evaluations', { body: { ...body, threshold: 0.5 }, headers });
  expect([other.status, other.body.error.code]).toEqual([400, 'idempotency_key_reused']);
});

test('while Temporal is unreachable, a refused request leaves nothing', async () => {
  const { dependencies } = stage.service;
  const client = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1', interceptors: [] }) });
  const api = await startApi({ ...dependencies, registry: new Registry(), client }, { eager: false });
  const count = async () => {
    const own = (table: string) => `(select count(*) from ${table} where workspace_id = $1)`;
    const [row] = await dependencies.db.system.query<{ counts: string }>(
      {
        text: `select concat_ws(' ', ${own('evaluations')}, ${own('dataset_versions')},
                 ${own('dataset_examples')}, ${own('idempotency_keys')}) as counts`,
      },
      [stage.service.workspaceId],
    );
    return row?.counts;
  };
  try {
    const before = await count();
    const call = createCall(`http://127.0.0.1:${api.port}`, stage.service.key);
    const body = { prompt_name: 'say', examples: examplesOf('unreachable', 3) };
    const answer = await call('POST', '/evaluations', { body, headers: { 'Idempotency-Key': 'unreachable' } });
    expect([answer.status, answer.body.error.code]).toEqual([500, 'temporarily_unavailable']);
    expect(await count()).toBe(before);
    const again = await stage.service.call('POST', '/evaluations', {
      body,
      headers: { 'Idempotency-Key': 'unreachable' },
    });
    expect(again.status).toBe(201);
  } finally {
    await api.close(0);
  }
});
