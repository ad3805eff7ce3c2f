import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Big } from 'big.js';
import { startAnthropicServer } from '../../support/providers/anthropic.ts';
import { startGoogleServer } from '../../support/providers/google.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ENDED, examplesOf } from '../evaluations/evaluations-support.ts';
import { type BatchStage, essence, startBatchStage } from './batches-support.ts';

let stage: BatchStage;
let anthropic: StandIn;
let google: StandIn;
beforeAll(async () => {
  const shared = await sharedProviders();
  anthropic = await startAnthropicServer({ on: shared.anthropic });
  google = await startGoogleServer({ on: shared.google });
  stage = await startBatchStage();
  await stage.prompt('say-claude', 'Say {{ text }}', 'anthropic/claude-haiku-4-5');
  await stage.prompt('say-gemini', 'Say {{ text }}', 'google/gemini-2.5-flash');
});
afterAll(async () => {
  await stage.stop();
  await Promise.all([anthropic.close(), google.close()]);
});

const standIns = { say: () => stage.openai, 'say-claude': () => anthropic, 'say-gemini': () => google };

test.each(['say', 'say-claude', 'say-gemini'] as const)(
  'a thousand examples of "%s": the scores of an interactive run, at half the cost, and nothing left at the provider',
  async (prompt_name) => {
    const examples = examplesOf(prompt_name, 1_000);
    const body = { prompt_name, examples, evaluators: [{ type: 'exact_match' }], concurrency: 20 };
    const interactive = await stage.run(body);
    const standIn = standIns[prompt_name]();
    const called = standIn.callCount;
    const run = await stage.runBatch(body);
    expect(run).toMatchObject({ status: 'completed', examples_evaluated: 1_000, examples_failed: 0 });
    expect(run.score).toBe(interactive.score);
    expect(new Big(run.cost.amount).times(2).eq(interactive.cost.amount)).toBe(true);
    expect(new Big(run.savings.amount).eq(run.cost.amount)).toBe(true);
    const page = '?limit=1000';
    expect(essence(await stage.results(run.id, page))).toEqual(essence(await stage.results(interactive.id, page)));
    expect(standIn.callCount).toBe(called);
    expect(standIn.batches.inspect().created).toBe(1);
    await waitFor('no file to be left', async () => standIn.batches.inspect().files.length === 0);
  },
);

test('if a provider stores no tag, a possibly created batch is not resubmitted automatically: it is found when it has ended', async () => {
  const created = anthropic.batches.inspect().created;
  const calls = anthropic.callCount;
  anthropic.batches.behave({ loseAnswers: 1, completeMs: null });
  const examples = examplesOf('lost', 10);
  const id = await stage.beginBatch({ prompt_name: 'say-claude', examples, evaluators: [{ type: 'exact_match' }] });
  await stage.untilBatches(id, 'unknown', ({ status }) => status === 'unknown');
  await anthropic.batches.endAll();
  const run = await stage.until(id, ...ENDED);
  expect(run).toMatchObject({ status: 'completed', examples_evaluated: 10, examples_failed: 0 });
  expect(anthropic.batches.inspect().created - created).toBe(1);
  expect(anthropic.callCount).toBe(calls);
});

test('an unknown batch is resubmitted by hand', async () => {
  const created = anthropic.batches.inspect().created;
  anthropic.batches.behave({ loseAnswers: 1, completeMs: null });
  const examples = examplesOf('by-hand', 10);
  const id = await stage.beginBatch({ prompt_name: 'say-claude', examples, evaluators: [{ type: 'exact_match' }] });
  await stage.untilBatches(id, 'unknown', ({ status }) => status === 'unknown');
  anthropic.batches.behave();
  const answer = await stage.service.call('POST', `/evaluations/${id}/batches/1/resubmit`);
  expect(answer.status).toBeLessThan(300);
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed', examples_failed: 0 });
  expect(anthropic.batches.inspect().created - created).toBe(2);
  expect((await stage.rows(id)).map(({ status, submissions }) => ({ status, submissions }))).toEqual([
    { status: 'completed', submissions: 2 },
  ]);
  expect(await stage.service.call('POST', `/evaluations/${id}/batches/1/resubmit`)).toMatchObject({
    body: { error: { code: 'invalid_state' } },
  });
});

test('a batch not found while the run waits fails its examples, and calls none again', async () => {
  const calls = anthropic.callCount;
  anthropic.batches.behave({ loseAnswers: 1, completeMs: null });
  const examples = examplesOf('never-found', 10);
  const body = { prompt_name: 'say-claude', examples, evaluators: [{ type: 'exact_match' }] };
  const id = await stage.beginBatch(body, { maxWait: 3 });
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed', examples_failed: 10 });
  const failed = await stage.results(id);
  expect(new Set(failed.map(({ error }: { error: { code: string } }) => error.code))).toEqual(
    new Set(['batch_unknown']),
  );
  expect(anthropic.callCount).toBe(calls);
});
