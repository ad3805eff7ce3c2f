import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startReceiver } from '../../support/receiver.ts';
import { type RuleStage, startRuleStage } from './rules-support.ts';

const JUDGE = { type: 'llm_judge', name: 'tone', model: 'openai/gpt-4o-mini', rubric: 'Friendly.' };
const CONTAINS = { type: 'contains', value: 'Answer' };
const JUDGE_USD = (1_000 * 0.15 + 100 * 0.6) / 1e6;

let stage: RuleStage;
beforeAll(async () => {
  stage = await startRuleStage({
    answer: ({ prompt }) =>
      prompt.startsWith('You grade')
        ? { text: '{"reason": "Friendly enough.", "score": 4}', usage: { input: 1_000, output: 100 } }
        : { text: `Answer to: ${prompt}`, usage: { input: 10, output: 10 } },
  });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

const control = (rule: string, id: string, action: string, body?: object) =>
  stage.service.call('POST', `/rules/${rule}/backfills/${id}/${action}`, body === undefined ? {} : { body });

describe('a backfill', () => {
  test('scores past executions once each, pays for no judgement twice, and leaves the daily budget alone', async () => {
    await stage.prompt('past');
    const ids = await stage.run('past', 40);
    await stage.put('past', { prompt_name: 'past', evaluators: [JUDGE, CONTAINS], max_cost_per_day: JUDGE_USD });
    const { id, status, progress } = await stage.backfill('past', { max_cost: 1 });
    expect({ status, progress }).toEqual({ status: 'running', progress: 0 });
    const done = await stage.untilBackfill('past', id, 'completed', 'failed', 'paused');
    expect(done).toMatchObject({ status: 'completed', found: 40, scored: 40, failed: 0, progress: 1, error: null });
    expect(Number(done.spent)).toBeCloseTo(40 * JUDGE_USD, 9);
    const scores = await stage.scores('past');
    expect(scores).toHaveLength(80);
    expect(new Set(scores.map(({ execution_id }) => execution_id))).toEqual(new Set(ids));
    expect(await stage.rule('past')).toMatchObject({ scored: 0, spent_today: '0' });
    const again = await stage.backfill('past');
    expect(await stage.untilBackfill('past', again.id, 'completed')).toMatchObject({ scored: 40, spent: '0' });
    expect((await stage.scores('past')).map((score) => score.id)).toEqual(scores.map((score) => score.id));
    const list = await stage.service.call('GET', '/rules/past/backfills');
    expect(list.body.data.map((each: { id: string }) => each.id)).toEqual([again.id, id]);
  });

  test('reads only its period', async () => {
    await stage.prompt('period');
    await stage.run('period', 3);
    const since = new Date().toISOString();
    const ids = await stage.run('period', 2);
    const until = new Date(Date.now() + 1).toISOString();
    await stage.put('period', { prompt_name: 'period', evaluators: [CONTAINS], enabled: false });
    await stage.run('period', 3);
    const { id } = await stage.backfill('period', { since, until });
    await stage.untilBackfill('period', id, 'completed');
    expect(new Set((await stage.scores('period')).map(({ execution_id }) => execution_id))).toEqual(new Set(ids));
  });

  test('pauses when its budget is used up, and resumes with a higher one', async () => {
    await stage.prompt('capped');
    await stage.run('capped', 30);
    await stage.put('capped', { prompt_name: 'capped', evaluators: [JUDGE], enabled: false });
    const { id } = await stage.backfill('capped', { max_cost: 10 * JUDGE_USD });
    const paused = await stage.untilBackfill('capped', id, 'paused', 'completed');
    expect(paused).toMatchObject({ status: 'paused', status_reason: expect.stringContaining('too little is left') });
    expect(Number(paused.spent)).toBeLessThanOrEqual(10 * JUDGE_USD + 1e-9);
    expect(Number(paused.spent)).toBeGreaterThan(8 * JUDGE_USD);
    expect(await control('capped', id, 'resume', { max_cost: paused.spent })).toMatchObject({ status: 400 });
    expect(await control('capped', id, 'resume', { max_cost: 1 })).toMatchObject({
      status: 200,
      body: { max_cost: '1' },
    });
    const done = await stage.untilBackfill('capped', id, 'completed', 'paused');
    expect(done).toMatchObject({ status: 'completed', scored: 30 });
    expect(Number(done.spent)).toBeCloseTo(30 * JUDGE_USD, 9);
  });

  test('is paused, resumed and canceled on request', async () => {
    await stage.prompt('controlled');
    await stage.run('controlled', 30);
    const score = Promise.withResolvers<void>();
    const scorer = await startReceiver(async (_, response) => {
      await score.promise;
      response.end(JSON.stringify({ score: 1 }));
    });
    await stage.put('controlled', {
      prompt_name: 'controlled',
      evaluators: [{ type: 'http', url: scorer.url, timeout_ms: 60_000 }],
      enabled: false,
    });
    const [first, second] = [await stage.backfill('controlled'), await stage.backfill('controlled')];
    const requests = await scorer.got(5);
    expect(requests[0]?.headers).toMatchObject({
      'x-rule': 'controlled',
      'x-execution-id': expect.stringMatching(/^exec_/),
    });
    expect(requests[0]?.headers).not.toHaveProperty('x-evaluation-id');
    expect(await control('controlled', first.id, 'pause')).toMatchObject({ body: { status: 'paused' } });
    expect(await control('controlled', first.id, 'pause')).toMatchObject({ status: 200, body: { status: 'paused' } });
    expect(await control('controlled', second.id, 'cancel')).toMatchObject({ body: { status: 'canceled' } });
    expect(await control('controlled', second.id, 'resume')).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_state' } },
    });
    score.resolve();
    expect(await control('controlled', first.id, 'resume')).toMatchObject({ body: { status: 'running' } });
    expect(await stage.untilBackfill('controlled', first.id, 'completed')).toMatchObject({ found: 30, scored: 30 });
    expect(await stage.scores('controlled')).toHaveLength(30);
    expect(await control('controlled', first.id, 'cancel')).toMatchObject({ status: 400 });
    await scorer.close();
  });

  test('fails if no call of its judge can succeed', async () => {
    await stage.prompt('hopeless');
    await stage.run('hopeless', 5);
    await stage.put('hopeless', { prompt_name: 'hopeless', evaluators: [JUDGE], enabled: false });
    stage.openai.behave({ mode: 'fail', status: 401, matching: 'You grade' });
    const { id } = await stage.backfill('hopeless');
    expect(await stage.untilBackfill('hopeless', id, 'failed', 'completed')).toMatchObject({
      status: 'failed',
      error: { code: 'model_authentication' },
    });
  });

  test('begins while its rule changes', async () => {
    await stage.prompt('changing');
    const change = (rate: number) =>
      stage.put('changing', {
        prompt_name: 'changing',
        sample_rate: rate,
        evaluators: [{ type: 'contains', value: 'x' }],
      });
    await change(1);
    const both = Array.from({ length: 30 }, async (_, n) => [
      (await change(1 / (n + 2))).status,
      (await stage.service.call('POST', '/rules/changing/backfill', { body: { since: '2026-01-01T00:00:00Z' } }))
        .status,
    ]);
    const statuses = new Set((await Promise.all(both)).flat());
    // Ten backfills of a rule may be unfinished.
    expect([...statuses].filter((status) => ![200, 201, 400].includes(status))).toEqual([]);
  });

  test('is created once per Idempotency-Key, and refused without a rule or a period', async () => {
    await stage.put('once', { prompt_name: 'nothing', evaluators: [CONTAINS], enabled: false });
    const request = { body: { since: '2026-01-01T00:00:00Z' }, headers: { 'Idempotency-Key': 'backfill-once' } };
    const [first, again] = [
      await stage.service.call('POST', '/rules/once/backfill', request),
      await stage.service.call('POST', '/rules/once/backfill', request),
    ];
    expect(first.status).toBe(201);
    expect(again.body.id).toBe(first.body.id);
    const since = '2999-01-01T00:00:00Z';
    expect(await stage.service.call('POST', '/rules/once/backfill', { body: { since } })).toMatchObject({
      status: 400,
    });
    expect(await stage.service.call('POST', '/rules/none/backfill', { body: request.body })).toMatchObject({
      status: 404,
    });
    expect(await stage.service.call('GET', `/rules/past/backfills/${first.body.id}`)).toMatchObject({ status: 404 });
  });
});
