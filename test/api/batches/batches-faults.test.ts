import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { examplesOf } from '../evaluations/evaluations-support.ts';
import { type BatchStage, startBatchStage } from './batches-support.ts';

let stage: BatchStage;
beforeAll(async () => {
  stage = await startBatchStage();
});
afterEach(() => stage.behave());
afterAll(() => stage.stop());

const body = (name: string, count = 20) => ({
  examples: examplesOf(name, count),
  evaluators: [{ type: 'exact_match' }],
});
const created = () => stage.openai.batches.inspect().created;
const calls = () => stage.openai.callCount;

/** A run against a behavior of the stand-in, and its effects there. */
async function runWith(name: string, behaviour: Parameters<BatchStage['behave']>[0]) {
  const before = { created: created(), calls: calls() };
  stage.behave(behaviour);
  const run = await stage.runBatch(body(name));
  const rows = await stage.rows(run.id);
  return { run, rows, created: created() - before.created, calls: calls() - before.calls };
}
const ALL_RIGHT = { status: 'completed', examples_evaluated: 20, examples_failed: 0 };

test('results that arrive twice, reversed, in pieces and cut off are stored once', async () => {
  const reference = await stage.runBatch(body('shuffled'));
  const { run, created, calls } = await runWith('shuffled', { isShuffled: true, pieceBytes: 100, breakDownloads: 1 });
  expect(run).toMatchObject(ALL_RIGHT);
  expect(run.cost).toEqual(reference.cost);
  expect({ created, calls }).toEqual({ created: 1, calls: 0 });
  await stage.expectNothingLeft();
});

test('failed, missing and unreadable results are called singly', async () => {
  const failing = await runWith('failing', { failEvery: 4 });
  expect(failing.run).toMatchObject(ALL_RIGHT);
  expect({ created: failing.created, calls: failing.calls }).toEqual({ created: 1, calls: 5 });
  const missing = await runWith('missing', { missing: 3, garbled: 1 });
  expect(missing.run).toMatchObject(ALL_RIGHT);
  expect({ created: missing.created, calls: missing.calls }).toEqual({ created: 1, calls: 4 });
  await stage.expectNothingLeft();
});

test('finished results of an expired batch are kept', async () => {
  const { run, rows, created, calls } = await runWith('expired', { expireAt: 0.5 });
  expect(run).toMatchObject(ALL_RIGHT);
  expect(rows).toMatchObject([{ status: 'expired' }]);
  expect({ created, calls }).toEqual({ created: 1, calls: 10 });
  await stage.expectNothingLeft();
});

test('a batch that is rejected as a whole says why, and its examples are called singly', async () => {
  const reject = { code: 'invalid_model', message: 'No such model for batches.' };
  const { run, rows, calls } = await runWith('rejected', { reject });
  expect(run).toMatchObject(ALL_RIGHT);
  expect(rows).toMatchObject([{ status: 'failed', error: reject }]);
  expect(calls).toBe(20);
  await stage.expectNothingLeft();
});

test('a full queue is waited for', async () => {
  const { run, rows, created, calls } = await runWith('queued', { queueFull: 2 });
  expect(run).toMatchObject(ALL_RIGHT);
  expect(rows).toMatchObject([{ status: 'completed', submissions: 3, error: null }]);
  expect({ created, calls }).toEqual({ created: 3, calls: 0 });
  await stage.expectNothingLeft();
});

test('failed requests are repeated, and a batch created without a response is found by its tag', async () => {
  const lost = await runWith('lost', { loseAnswers: 1 });
  expect(lost.run).toMatchObject(ALL_RIGHT);
  expect({ created: lost.created, calls: lost.calls }).toEqual({ created: 1, calls: 0 });
  for (const matching of [
    'POST /v1/files',
    'POST /v1/batches',
    'GET /v1/batches/',
    'GET /v1/files/',
    'DELETE /v1/files',
  ]) {
    const failing = { matching, status: 503, times: 2 };
    const { run, created, calls } = await runWith(matching.replaceAll(/\W/g, '-'), { failing });
    expect(run).toMatchObject(ALL_RIGHT);
    expect({ matching, created, calls }).toEqual({ matching, created: 1, calls: 0 });
  }
  await stage.expectNothingLeft();
});

test('a poll that hangs is given up', async () => {
  const { run, created, calls } = await runWith('hung', { hangPolls: 1 });
  expect(run).toMatchObject(ALL_RIGHT);
  expect({ created, calls }).toEqual({ created: 1, calls: 0 });
});

test('a key revoked in the middle is reported, and another key fetches the results', async () => {
  const before = { created: created(), calls: calls() };
  stage.behave({ completeMs: null });
  const id = await stage.beginBatch(body('revoked'));
  await stage.untilBatches(id, 'in progress', ({ status }) => status === 'in_progress');
  stage.behave({ completeMs: null, isRevoked: true });
  await stage.untilBatches(id, 'refused', ({ error }) => error?.code === 'model_authentication');
  stage.behave();
  await stage.openai.batches.endAll();
  expect(await stage.until(id, 'completed')).toMatchObject({ examples_evaluated: 20, examples_failed: 0 });
  expect(created() - before.created).toBe(1);
  expect(calls() - before.calls).toBe(0);
  await stage.expectNothingLeft();
});

test('with a key refused from the start the run fails', async () => {
  const { run, rows, created, calls } = await runWith('no-key', { isRevoked: true });
  expect(run).toMatchObject({ status: 'failed', error: { code: 'model_authentication' } });
  expect(rows).toMatchObject([{ status: 'failed', error: { code: 'model_authentication' } }]);
  expect({ created, calls }).toEqual({ created: 0, calls: 0 });
  stage.behave();
  await waitFor('its file to be gone', async () => stage.openai.batches.inspect().files.length === 0);
});
