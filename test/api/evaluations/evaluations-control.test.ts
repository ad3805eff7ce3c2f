import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { reconcileEvaluations } from '../../../src/jobs/reconcile-evaluations.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ENDED, type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

/** More than run concurrently: while the model holds its responses, most have not started. */
const MANY = 60;
const countCalls = (name: string, count: number) =>
  examplesOf(name, count).map(({ variables }) => stage.openai.countBy(`Say ${variables.text}`));
const callsMade = (name: string, count: number) => countCalls(name, count).reduce((sum, calls) => sum + calls, 0);
const inADay = () => new Date(Date.now() + 86_400_000).toISOString();
const workflowOf = ({ workflow_id }: { workflow_id: string }) =>
  stage.service.dependencies.client.workflow.getHandle(workflow_id);
const workflowEnd = (run: { workflow_id: string }) =>
  waitFor(`the end of ${run.workflow_id}`, async () => {
    const { status } = await workflowOf(run).describe();
    return status.name !== 'RUNNING' && status.name;
  });

test('a paused run finishes and keeps the calls in flight; a resumed one pays for no example twice', async () => {
  stage.openai.behave({ mode: 'hold', after: 8 });
  const id = await stage.begin({ examples: examplesOf('pause', MANY), concurrency: 4 });
  await waitFor('calls in flight', async () => callsMade('pause', MANY) === 12);
  expect((await stage.control(id, 'pause')).body).toMatchObject({
    status: 'paused',
    status_reason: 'paused by request',
  });
  // Slow, so that most of the run is left when it is notified.
  stage.openai.behave({ latencyMs: 1_000 });
  const settled = await waitFor('the calls in flight to be kept', async () => {
    const body = await stage.read(id);
    return body.examples_evaluated === callsMade('pause', MANY) && body;
  });
  expect(settled).toMatchObject({ status: 'paused', score: null });
  expect(settled.examples_evaluated).toBeLessThan(MANY);
  await waitFor('the list to show it', async () => {
    const { body } = await stage.service.call('GET', '/evaluations?status=paused');
    return body.data[0]?.examples_evaluated === settled.examples_evaluated;
  });
  stage.openai.behave();
  expect((await stage.control(id, 'resume')).body).toMatchObject({ status: 'running', status_reason: null });
  expect(await stage.until(id, 'completed')).toMatchObject({ score: 0.75, examples_evaluated: MANY });
  expect(countCalls('pause', MANY)).toEqual(Array.from({ length: MANY }, () => 1));
});

test('twenty simultaneous pauses and resumes leave a run that ends', async () => {
  stage.openai.behave({ latencyMs: 50 });
  const id = await stage.begin({ examples: examplesOf('storm', 40), concurrency: 5 });
  const actions = Array.from({ length: 20 }, (_, index) => (index % 2 ? 'resume' : 'pause'));
  const answers = await Promise.all(actions.map((action) => stage.control(id, action)));
  for (const { status, body } of answers)
    expect(status === 200 || (status === 400 && body.error.code === 'invalid_state')).toBe(true);
  await stage.control(id, 'resume');
  expect(await stage.until(id, 'completed')).toMatchObject({ score: 0.75 });
  expect(callsMade('storm', 40)).toBe(40);
});

test('a canceled run gives up the calls in flight, and its results stay', async () => {
  stage.openai.behave({ mode: 'stall' });
  const id = await stage.begin({ examples: examplesOf('cancel', 10), concurrency: 3 });
  await waitFor('calls in flight', async () => callsMade('cancel', 10) === 3);
  const canceled = await stage.control(id, 'cancel');
  expect(canceled.body).toMatchObject({ status: 'canceled', score: null, passed: null });
  expect(await workflowEnd(canceled.body)).toBe('COMPLETED');
  expect(await stage.read(id)).toMatchObject({ status: 'canceled', examples_evaluated: 0 });
  expect(callsMade('cancel', 10)).toBe(3);
});

test('canceled and retried at once, a run stays in one workflow and ends', async () => {
  stage.openai.behave({ mode: 'stall', after: 5 });
  const id = await stage.begin({ examples: examplesOf('again', 20), concurrency: 5 });
  await waitFor('some results', async () => (await stage.read(id)).examples_evaluated >= 5);
  await stage.control(id, 'cancel');
  stage.openai.behave();
  const retried = await stage.control(id, 'retry');
  expect(retried.body).toMatchObject({ status: 'running', retries: 1 });
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed', score: 0.75, examples_evaluated: 20 });
  expect(await workflowEnd({ workflow_id: retried.body.workflow_id.replace('/retry-1', '') })).toBe('COMPLETED');
  // Only calls aborted in flight are repeated.
  expect(callsMade('again', 20)).toBeLessThanOrEqual(25);
});

test('a scheduled run can be paused, resumed and canceled before it is due', async () => {
  const id = await stage.begin({ examples: examplesOf('later', 2), start_at: inADay() });
  expect(await stage.read(id)).toMatchObject({ status: 'scheduled', started_at: null });
  expect((await stage.control(id, 'pause')).body).toMatchObject({ status: 'paused' });
  expect((await stage.control(id, 'resume')).body).toMatchObject({ status: 'scheduled' });
  const canceled = await stage.control(id, 'cancel');
  expect(canceled.body).toMatchObject({ status: 'canceled' });
  await workflowEnd(canceled.body);
  expect(callsMade('later', 2)).toBe(0);
  expect((await stage.control(id, 'retry')).body).toMatchObject({ status: 'scheduled', retries: 1 });
  await stage.control(id, 'cancel');
});

test('a run begins when it is due, even if it was paused and resumed before', async () => {
  const startAt = new Date(Date.now() + 1_500).toISOString();
  const id = await stage.begin({ examples: examplesOf('due', 2), start_at: startAt });
  await stage.control(id, 'pause');
  await stage.control(id, 'resume');
  const run = await stage.until(id, 'completed');
  expect(run.started_at >= startAt).toBe(true);
});

test('a request in a wrong state is refused with the valid ones', async () => {
  const run = await stage.run({ examples: examplesOf('states', 1) });
  const refusals = await Promise.all(
    ['pause', 'resume', 'cancel', 'retry'].map((action) => stage.control(run.id, action)),
  );
  expect(refusals.map(({ status, body }) => [status, body.error.code, body.error.message])).toEqual([
    [400, 'invalid_state', 'This evaluation is completed: it can only be paused while scheduled or running.'],
    [400, 'invalid_state', 'This evaluation is completed: it can only be resumed while paused.'],
    [
      400,
      'invalid_state',
      'This evaluation is completed: it can only be canceled while scheduled or running or paused.',
    ],
    [400, 'invalid_state', 'No example of this evaluation has failed: there is nothing to retry.'],
  ]);
  expect((await stage.control('eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', 'pause')).status).toBe(404);
});

test('wrong credentials fail the run after the first calls; after a fix, a retry pays only for the rest', async () => {
  const before = stage.openai.callCount;
  stage.openai.behave({ mode: 'fail', status: 401 });
  const id = await stage.begin({ examples: examplesOf('key', 200), concurrency: 10 });
  const failed = await stage.until(id, ...ENDED);
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'model_authentication' }, score: null });
  expect(stage.openai.callCount - before).toBeLessThanOrEqual(10);
  stage.openai.behave();
  const twice = await Promise.all([stage.control(id, 'retry'), stage.control(id, 'retry')]);
  expect(twice.map(({ status }) => String(status)).toSorted()).toEqual(['200', '400']);
  expect(await stage.until(id, 'completed')).toMatchObject({ score: 0.75, error: null, retries: 1 });
});

test('a retry runs only the failed examples, adds up the costs, and reports its end again', async () => {
  stage.openai.behave({ mode: 'fail', status: 400, times: 3 });
  const id = await stage.begin({ examples: examplesOf('failed', 12), concurrency: 1 });
  const first = await stage.until(id, 'completed');
  expect(first).toMatchObject({ examples_evaluated: 12, examples_failed: 3, score: 0.5, regressions: 6 });
  expect(await stage.results(id, '?failed=true')).toMatchObject([
    { example_id: 'failed-0', status: 'failed', score: 0, attempts: 1, error: { code: 'model_invalid_request' } },
    { example_id: 'failed-1' },
    { example_id: 'failed-2' },
  ]);
  await stage.control(id, 'retry');
  const second = await stage.until(id, 'completed');
  expect(second).toMatchObject({ examples_failed: 0, score: 0.75, retries: 1, regressions: 3 });
  const marks = (await stage.results(id)).map((row: { regression: boolean | null }) => row.regression);
  expect(marks).toEqual(Array.from({ length: 12 }, (_, index) => index % 4 === 3));
  expect(second.tokens.total).toBeGreaterThan(first.tokens.total);
  expect(countCalls('failed', 12)).toEqual([2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  const told = (await stage.events()).filter(({ data }) => data['evaluation_id'] === id);
  expect(told.map(({ type }) => type)).toEqual([
    'evaluation.completed',
    'evaluation.regression',
    'evaluation.completed',
    'evaluation.regression',
  ]);
});

test('an operator cancels the workflow: the evaluation ends in order, and can be retried', async () => {
  stage.openai.behave({ mode: 'hold', after: 6 });
  const id = await stage.begin({ examples: examplesOf('operator', MANY), concurrency: 3 });
  await waitFor('calls in flight', async () => callsMade('operator', MANY) === 9);
  const run = await stage.read(id);
  await workflowOf(run).cancel();
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'failed', error: { code: 'ended_by_operator' } });
  expect(await workflowEnd(run)).toBe('CANCELLED');
  stage.openai.behave();
  await stage.control(id, 'retry');
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed', score: 0.75 });
});

test('an evaluation with a terminated workflow is ended by the next poll, with its results', async () => {
  stage.openai.behave({ mode: 'hold', after: 6 });
  const { db, client, taskQueues, log } = stage.service.dependencies;
  const id = await stage.begin({ examples: examplesOf('terminated', MANY), concurrency: 3 });
  await waitFor('some results', async () => (await stage.read(id)).examples_evaluated >= 3);
  await workflowOf(await stage.read(id)).terminate();
  await db.system.query({
    text: `update evaluations set check_at = now() - interval '1 second' where status = 'running'`,
  });
  await reconcileEvaluations({ db, starter: { client, taskQueues, eager: false }, log });
  const ended = await stage.read(id);
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'ended_by_operator' } });
  const { body } = await stage.service.call('GET', '/evaluations?status=failed&limit=1');
  expect(body.data[0].examples_evaluated).toBeGreaterThanOrEqual(3);
});

test('a waiting run is notified of changes only, so its history does not grow', async () => {
  const { db, client, taskQueues, log } = stage.service.dependencies;
  const id = await stage.begin({ examples: examplesOf('waiting', 1), start_at: inADay() });
  const run = await stage.read(id);
  const look = async () => {
    await db.system.query({
      text: `update evaluations set check_at = now() - interval '1 second'`,
    });
    await reconcileEvaluations({ db, starter: { client, taskQueues, eager: false }, log });
  };
  const length = async () => (await workflowOf(run).describe()).historyLength;
  const before = await waitFor('the workflow to wait', async () => {
    const [seen, again] = [await length(), await length()];
    return seen > 5 && seen === again && seen;
  });
  for (let time = 0; time < 5; time++) await look();
  expect(await length()).toBe(before);
  await stage.control(id, 'cancel');
});
