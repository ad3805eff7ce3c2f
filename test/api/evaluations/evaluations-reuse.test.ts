import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

const USAGE = { input: 1_000, output: 1_000 };
const reuse = { max_age: 3_600 };

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({ answer: ({ prompt }) => ({ text: `Answer to: ${prompt}`, usage: USAGE }) });
});
afterAll(() => stage?.stop());

async function callsOf<T>(work: () => Promise<T>): Promise<{ calls: number; result: T }> {
  const before = stage.openai.callCount;
  const result = await work();
  return { calls: stage.openai.callCount - before, result };
}

test("paid responses of an evaluation are reused, whatever the prompt's name; the rest is called and paid", async () => {
  const first = await stage.run({ examples: examplesOf('paid', 4) });
  await stage.prompt('same');
  const { calls, result: run } = await callsOf(() =>
    stage.run({ prompt_name: 'same', examples: [...examplesOf('paid', 4), ...examplesOf('new', 2)], reuse }),
  );
  expect(calls).toBe(2);
  expect(run).toMatchObject({ status: 'completed', reuse, examples_failed: 0, cost: { amount: '0.0015' } });
  const rows: { reused_from: string | null; attempts: number; cost: { amount: string } }[] = await stage.results(
    run.id,
  );
  expect(rows.map(({ reused_from, attempts, cost }) => [reused_from, attempts, cost.amount])).toEqual([
    ...Array(4).fill([first.id, 0, '0']),
    ...Array(2).fill([null, 1, '0.00075']),
  ]);
  const { body } = await stage.service.call('GET', '/usage?group_by=prompt');
  expect(body.evaluations).toMatchObject([
    { prompt_name: 'same', examples: 2 },
    { prompt_name: 'say', examples: 4 },
  ]);
});

test('so are those of an execution, and the evaluator of costs sees the original cost', async () => {
  const execution = await stage.service.call('POST', '/executions', {
    body: { prompt_name: 'say', variables: { text: 'run before' } },
  });
  const { calls, result: run } = await callsOf(() =>
    stage.run({
      examples: [{ variables: { text: 'run before' } }],
      evaluators: [{ type: 'cost', at_most_usd: 0.0007 }],
      reuse,
    }),
  );
  expect([calls, run.score]).toEqual([0, 0]);
  expect(await stage.results(run.id)).toMatchObject([
    { reused_from: execution.body.id, output: 'Answer to: Say run before', finish_reason: 'stop' },
  ]);
});

test('a reused response is not passed on: the paid execution is named', async () => {
  const paid = await stage.run({ examples: examplesOf('chain', 1) });
  await stage.run({ examples: examplesOf('chain', 1), reuse });
  const third = await stage.run({ examples: examplesOf('chain', 1), reuse });
  expect(await stage.results(third.id)).toMatchObject([{ reused_from: paid.id }]);
});

test('without reuse, with other parameters, too old, or in another workspace, the model is called', async () => {
  const examples = examplesOf('not taken', 1);
  const first = await stage.run({ examples });
  expect((await callsOf(() => stage.run({ examples }))).calls).toBe(1);
  const body = {
    name: 'warmer',
    template: 'Say {{ text }}',
    model: 'openai/gpt-4o-mini',
    parameters: { temperature: 1 },
  };
  await stage.service.call('POST', '/prompts', { body });
  expect((await callsOf(() => stage.run({ prompt_name: 'warmer', examples, reuse }))).calls).toBe(1);
  await stage.service.dependencies.db.system.query(
    {
      text: `update evaluation_results set created_at = now() - interval '2 hours'
             where evaluation_id in (select id from evaluations where workspace_id = $1)`,
    },
    [stage.service.workspaceId],
  );
  expect((await callsOf(() => stage.run({ examples, reuse }))).calls).toBe(1);
  expect((await callsOf(() => stage.run({ examples, reuse }))).calls).toBe(0);
  const other = await createOtherWorkspace(stage.service, 'other');
  await other.call('POST', '/prompts', {
    body: { name: 'say', template: 'Say {{ text }}', model: 'openai/gpt-4o-mini' },
  });
  const { calls } = await callsOf(async () => {
    const theirs = await other.call('POST', '/evaluations', { body: { prompt_name: 'say', examples, reuse } });
    await waitFor('their evaluation', async () => {
      const { body: run } = await other.call('GET', `/evaluations/${theirs.body.id}`);
      return run.status === 'completed';
    });
  });
  expect(calls).toBe(1);
  expect(first.reuse).toBeNull();
});

test('an invalid age is refused', async () => {
  const answer = await stage.create({ examples: examplesOf('age', 1), reuse: { max_age: 0 } });
  expect(answer).toMatchObject({ status: 400, body: { error: { details: [{ path: 'reuse.max_age' }] } } });
});
