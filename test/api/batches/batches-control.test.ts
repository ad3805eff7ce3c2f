import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { examplesOf } from '../evaluations/evaluations-support.ts';
import { type BatchStage, idOf, startBatchStage } from './batches-support.ts';

let stage: BatchStage;
beforeAll(async () => {
  stage = await startBatchStage();
});
afterEach(() => stage.behave());
afterAll(() => stage.stop());

const evaluators = [{ type: 'exact_match' }];
const body = (name: string, count = 20) => ({ examples: examplesOf(name, count), evaluators });
const inProgress = (id: string) => stage.untilBatches(id, 'in progress', ({ status }) => status === 'in_progress');
const created = () => stage.openai.batches.inspect().created;

test('a paused run submits nothing, stores what was submitted, and continues when it is resumed', async () => {
  stage.behave({ completeMs: null });
  const id = await stage.beginBatch(body('paused'));
  await inProgress(id);
  await stage.control(id, 'pause');
  await stage.openai.batches.endAll();
  await stage.untilBatches(id, 'completed', ({ status }) => status === 'completed');
  const { query } = stage.service.dependencies.db.system;
  const stored = await query<{ status: string; count: number }>(
    { text: `select status, count(*)::int as count from evaluation_results where evaluation_id = $1 group by status` },
    [idOf(id)],
  );
  expect(stored).toEqual([{ status: 'answered', count: 20 }]);
  expect(await stage.read(id)).toMatchObject({ status: 'paused' });
  await stage.control(id, 'resume');
  expect(await stage.until(id, 'completed')).toMatchObject({ examples_evaluated: 20, examples_failed: 0 });
  expect(stage.openai.callCount).toBe(0);
  await stage.expectNothingLeft();
});

test('a canceled run cancels at the provider, keeps and counts finished results, and only then can be deleted; a retry calls the rest', async () => {
  const before = created();
  stage.behave({ completeMs: null });
  const id = await stage.beginBatch(body('canceled'));
  await inProgress(id);
  // For an ended run with an unfinished batch.
  const { query } = stage.service.dependencies.db.system;
  expect((await stage.control(id, 'cancel')).status).toBe(200);
  const refused = await stage.service.call('DELETE', `/evaluations/${id}`);
  if ((await stage.rows(id)).some(({ status }) => status === 'in_progress'))
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_state' } } });
  const [batch] = await stage.untilBatches(id, 'canceled', ({ status }) => status === 'canceled');
  expect(batch).toMatchObject({ provider_status: 'cancelled' });
  const [kept] = await query<{ count: number; cost: string }>(
    {
      text: `select count(*)::int as count, sum(cost_amount)::text as cost from evaluation_results where evaluation_id = $1`,
    },
    [idOf(id)],
  );
  expect(kept?.count).toBe(10);
  const canceled = await stage.read(id);
  expect(canceled).toMatchObject({ status: 'canceled' });
  expect(Number(canceled.cost.amount)).toBeCloseTo(Number(kept?.cost), 12);
  await stage.expectNothingLeft();

  stage.behave();
  await stage.control(id, 'retry');
  expect(await stage.until(id, 'completed')).toMatchObject({ examples_evaluated: 20, examples_failed: 0 });
  expect((await stage.rows(id)).map(({ items }) => items)).toEqual([20, 10]);
  expect(created() - before).toBe(2);
  expect(stage.openai.callCount).toBe(0);
  await stage.expectNothingLeft();
  expect((await stage.service.call('DELETE', `/evaluations/${id}`)).status).toBeLessThan(300);
  await stage.expectNothingLeft();
});

test('a batch that exceeds the wait of the run is canceled: the rest is called singly, or fails', async () => {
  stage.behave({ completeMs: null });
  const called = stage.openai.callCount;
  const interactive = await stage.runBatch(body('long'), { maxWait: 2 });
  expect(interactive).toMatchObject({ status: 'completed', examples_evaluated: 20, examples_failed: 0 });
  expect(stage.openai.callCount - called).toBe(10);

  const fails = await stage.runBatch(body('long'), { maxWait: 2, leftovers: 'fail' });
  expect(fails).toMatchObject({ status: 'completed', examples_evaluated: 20, examples_failed: 10 });
  const failed = (await stage.results(fails.id)).filter(({ status }: { status: string }) => status === 'failed');
  expect(new Set(failed.map(({ error }: { error: { code: string } }) => error.code))).toEqual(
    new Set(['batch_unfinished']),
  );
  expect(stage.openai.callCount - called).toBe(10);
  await stage.expectNothingLeft();
});

test('a terminated workflow is restarted, and continues with the results of the provider', async () => {
  const before = created();
  stage.behave({ completeMs: null });
  const id = await stage.beginBatch(body('terminated'));
  const [batch] = await inProgress(id);
  const { client, db } = stage.service.dependencies;
  const handle = client.workflow.getHandle(`provider-batch/batch_${batch?.id}`);
  await handle.terminate('by an operator');
  await db.system.query({ text: `update provider_batches set check_at = now() where id = $1` }, [batch?.id]);
  await waitFor('the workflow to be started again', async () => (await handle.describe()).status.name === 'RUNNING');
  await stage.openai.batches.endAll();
  expect(await stage.until(id, 'completed')).toMatchObject({ examples_failed: 0 });
  expect(created() - before).toBe(1);
  await stage.expectNothingLeft();
});

test('a workflow that an operator cancels cancels the batch', async () => {
  stage.behave({ completeMs: null });
  const id = await stage.beginBatch(body('operator'));
  const [batch] = await inProgress(id);
  await stage.service.dependencies.client.workflow.getHandle(`provider-batch/batch_${batch?.id}`).cancel();
  await stage.untilBatches(id, 'canceled', ({ status }) => status === 'canceled');
  expect(await stage.until(id, 'completed')).toMatchObject({ examples_evaluated: 20, examples_failed: 0 });
  await stage.expectNothingLeft();
});
