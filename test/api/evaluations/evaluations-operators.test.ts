import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { BatchHeartbeat } from '../../../src/activities/scoring/batch-watch.ts';
import { historyToJson } from '../../support/histories.ts';
import { eventsOf, readableText } from '../../support/history-events.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

let stage: EvaluationStage;
beforeAll(async () => {
  // 0.00075 USD a call
  const usage = { input: 1_000, output: 1_000 };
  stage = await startStage({ answer: ({ prompt }) => ({ text: `Answer to: ${prompt}`, usage }) });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

const handleOf = ({ workflow_id }: { workflow_id: string }) =>
  stage.service.dependencies.client.workflow.getHandle(workflow_id);

/** The heartbeat of the first running batch, as the Temporal UI shows it, once it is as expected. */
function firstHeartbeat(run: { workflow_id: string }, isExpected: (heartbeat: BatchHeartbeat) => boolean) {
  return waitFor('the heartbeat', async () => {
    const { raw } = await handleOf(run).describe();
    const [payload] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
    const heartbeat = payload ? defaultPayloadConverter.fromPayload<BatchHeartbeat>(payload as Payload) : undefined;
    return heartbeat !== undefined && isExpected(heartbeat) ? heartbeat : undefined;
  });
}

test('the list shows the prompt, model and dataset of each run, and the memo has the public ids', async () => {
  const raw = examplesOf('row', 2).map((row) => JSON.stringify(row));
  const headers = { 'Content-Type': 'application/jsonl' };
  await stage.service.call('PUT', '/datasets/tickets', { raw: raw.join('\n'), headers });
  const run = await stage.run({ dataset: 'tickets' });
  const description = await handleOf(run).describe();
  expect(await description.staticSummary?.()).toBe('say v1 on openai/gpt-4o-mini: 2 examples of tickets v1');
  expect(description.memo).toEqual({
    evaluation: run.id,
    workspace: expect.stringMatching(/^ws_/),
    prompt: 'say v1',
    model: 'openai/gpt-4o-mini',
    examples: 2,
    dataset: 'tickets v1',
  });

  const inline = await stage.run({ examples: examplesOf('inline', 1) });
  expect(await (await handleOf(inline).describe()).staticSummary?.()).toBe('say v1 on openai/gpt-4o-mini: 1 example');
});

test('the first page of a run shows what it runs, and when paused for its budget its progress, cost and reason', async () => {
  const id = await stage.begin({ examples: examplesOf('page', 40), concurrency: 1, max_cost: '0.02' });
  const run = await stage.until(id, 'paused');
  const spent = run.cost.amount;
  const timer = await waitFor('the timer of the pause', async () => {
    const history = historyToJson(await handleOf(run).fetchHistory());
    expect(readableText(history)).toContain('"what":"say v1 on openai/gpt-4o-mini: 40 examples"');
    return eventsOf(history, 'TIMER_STARTED').find(({ summary }) => summary?.startsWith('paused'));
  });
  const done = run.examples_evaluated;
  const reached = `${done} of 40 examples (${Math.floor((done / 40) * 100)} %), 0 failed`;
  const soFar = `${reached}, cost ${spent} of 0.02 USD`;
  expect(timer.summary).toBe(`paused at ${soFar}: ${run.status_reason}; checks again in 6 h`);
  await stage.control(id, 'cancel');
});

test('heartbeats of a batch report progress, failures and cost', async () => {
  stage.openai.behave({ mode: 'hold', matching: 'far 2' });
  const id = await stage.begin({ examples: examplesOf('far', 6), concurrency: 1 });
  const run = await stage.read(id);
  const heartbeat = await firstHeartbeat(run, ({ done }) => done === 2);
  expect(heartbeat).toMatchObject({ of: 6, failed: 0, inFlight: 1 });
  expect(heartbeat.spentUsd).toBeGreaterThan(0);
  stage.openai.behave();
  const { cost } = await stage.until(id, 'completed');
  expect(Number(cost.amount)).toBeGreaterThan(0);
});

test('heartbeats of a batch count the examples that failed', async () => {
  const examples = [{ variables: {} }, ...examplesOf('held', 3)];
  await stage.service.call('PUT', '/datasets/faulty', {
    raw: examples.map((example) => JSON.stringify(example)).join('\n'),
    headers: { 'Content-Type': 'application/jsonl' },
  });
  stage.openai.behave({ mode: 'hold' });
  const run = await stage.read(await stage.begin({ dataset: 'faulty', concurrency: 1 }));
  const heartbeat = await firstHeartbeat(run, ({ done }) => done === 1);
  expect(heartbeat).toEqual({ done: 1, of: 4, failed: 1, inFlight: 1, spentUsd: 0 });
  stage.openai.behave();
  await stage.until(run.id, 'completed');
});

test('heartbeats of a batch whose provider refuses calls show when it resumes', async () => {
  stage.openai.behave({ rateLimitEvery: 1, retryAfter: '60' });
  const run = await stage.read(await stage.begin({ examples: examplesOf('wait', 4), concurrency: 1 }));
  const heartbeat = await firstHeartbeat(run, ({ waits }) => waits !== undefined);
  expect(heartbeat).toMatchObject({ done: 0, of: 4, failed: 0, inFlight: 1, spentUsd: 0 });
  expect(heartbeat.waits).toEqual([
    expect.stringMatching(/^openai\/gpt-4o-mini refused calls: calls again at \d{4}-.*Z$/),
  ]);
  await stage.control(run.id, 'cancel');
});
