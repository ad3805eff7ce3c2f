import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { evaluationWorkflowId } from '../../../src/temporal/names.ts';
import { answering, type Receiver, type Respond, startReceiver } from '../../support/receiver.ts';
import { waitFor } from '../../support/wait-for.ts';
import { dumpDatabase, uuidOf } from '../webhooks/webhooks-support.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

const SECRET = 'the-secret-of-my-own-scorer-42';

let stage: EvaluationStage;
let receiver: Receiver;
beforeAll(async () => {
  stage = await startStage({}, { WEBHOOK_ALLOW_PRIVATE: 'loopback', WEBHOOK_HOST_CONCURRENCY: '3' });
});
afterAll(() => stage?.stop());
beforeEach(async () => {
  receiver = await startReceiver(byOutput);
});
afterEach(() => receiver?.close());

/** 1 if the output is as expected, otherwise 0.25 with a reason. */
const byOutput: Respond = ({ body }, response) => {
  const verdict = body.output === body.expected ? { score: 1 } : { score: 0.25, reason: `not ${body.expected}` };
  response.writeHead(200).end(JSON.stringify(verdict));
};

const scorer = (options: object = {}) => ({ type: 'http', url: receiver.url, ...options });
const withScorer = (name: string, count: number, options: object = {}) => ({
  examples: examplesOf(name, count),
  evaluators: [scorer(options)],
  threshold: 0.5,
});

function textHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Holds every response until released. */
function hold() {
  const released = Promise.withResolvers<void>();
  receiver.respond = async (...request) => {
    await released.promise;
    await byOutput(...request);
  };
  return { release: () => released.resolve() };
}

/** A workflow's history with its payloads as text. */
function textOf(history: object): string {
  return JSON.stringify(history, (_, value) =>
    value instanceof Uint8Array || value?.type === 'Buffer' ? Buffer.from(value.data ?? value).toString() : value,
  );
}

test("the caller's scorer scores each example, by signed requests that cost nothing", async () => {
  const created = await stage.create({
    ...withScorer('scored', 4, { name: 'mine', secret: SECRET }),
    evaluators: [scorer({ name: 'mine', secret: SECRET, weight: 3 }), { type: 'exact_match' }],
  });
  expect(created).toMatchObject({ status: 201, body: { evaluators: [{ name: 'mine', secret: SECRET }, {}] } });
  const run = await stage.until(created.body.id, 'completed');
  expect(run).toMatchObject({
    score: 0.796875,
    scores_by_evaluator: { mine: 0.8125, exact_match: 0.75 },
    examples_failed: 0,
    judge: { cost: { amount: '0' } },
  });
  expect(run.evaluators[0]).toEqual({ type: 'http', name: 'mine', weight: 3, url: receiver.url, timeout_ms: 10_000 });
  const results = await stage.results(run.id);
  expect(results[3].scores.mine).toEqual({ score: 0.25, reason: 'not something else' });
  expect(receiver.received).toHaveLength(4);
  const webhook = new Webhook(SECRET, { format: 'raw' });
  for (const { raw, headers, body } of receiver.received) {
    const seq = Number(textHeaders(headers)['x-scoring-id']?.split('/')[1]);
    expect(webhook.verify(raw, textHeaders(headers))).toEqual({
      input: `Say scored ${seq}`,
      output: `Answer to: Say scored ${seq}`,
      expected: results[seq].expected,
      variables: { text: `scored ${seq}` },
    });
    expect(headers).toMatchObject({ 'x-evaluation-id': run.id, 'webhook-id': `${run.id}/${seq}/mine` });
    expect(body.tool_calls).toBeUndefined();
  }
});

describe('the secret', () => {
  test('is shown only when a run or a schedule is created, and is stored encrypted', async () => {
    const examples = examplesOf('secret', 2);
    const headers = { 'Idempotency-Key': 'with-a-secret' };
    const body = { prompt_name: 'say', examples, evaluators: [scorer({ secret: SECRET })], threshold: 1 };
    const created = await stage.service.call('POST', '/evaluations', { body, headers });
    const { id } = created.body;
    expect(created.body.evaluators[0].secret).toBe(SECRET);
    const replayed = await stage.service.call('POST', '/evaluations', { body, headers });
    expect(replayed.body).toEqual(created.body);
    await stage.until(id, 'completed');
    const generated = await stage.create(withScorer('generated', 1));
    const [{ secret }] = generated.body.evaluators;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await stage.until(generated.body.id, 'completed');
    const schedule = await stage.service.call('POST', '/schedules', {
      body: {
        name: 'nightly',
        cron: '0 3 1 1 *',
        evaluation: { ...body, evaluators: [scorer(), scorer({ name: 'b', secret: SECRET })] },
      },
    });
    expect(schedule).toMatchObject({
      status: 201,
      body: { evaluation: { evaluators: [{}, { name: 'b', secret: SECRET }] } },
    });
    const [{ secret: ofSchedule }] = schedule.body.evaluation.evaluators;
    expect(ofSchedule).toMatch(/^whsec_/);

    const { call, dependencies } = stage.service;
    const later = await Promise.all([
      call('GET', `/evaluations/${id}`),
      call('GET', '/evaluations?limit=1000'),
      call('GET', `/evaluations/${id}/results`),
      call('GET', `/evaluations/${id}/results?format=csv`),
      call('GET', `/evaluations/${id}/compare/${generated.body.id}`),
      call('POST', `/evaluations/${id}/rescore`, { body: {} }),
      call('POST', `/evaluations/${id}/pause`),
      call('GET', `/schedules/${schedule.body.id}`),
      call('GET', '/schedules?limit=1000'),
      call('POST', `/schedules/${schedule.body.id}/pause`),
      call('GET', '/events?limit=1000'),
      stage.create({ ...withScorer('bad', 1, { secret: `${SECRET} with spaces` }) }),
    ]);
    expect(later.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 201, 400, 200, 200, 200, 200, 400]);
    const history = await dependencies.client.workflow.getHandle(evaluationWorkflowId(uuidOf(id), 0)).fetchHistory();
    const dump = await dumpDatabase(stage.service);
    expect(dump).toContain(uuidOf(id));
    const said = [...later.map((answer) => JSON.stringify(answer.body)), textOf(history)].join();
    expect(said).toContain('concurrency');
    for (const text of [SECRET, secret, ofSchedule]) {
      for (const place of [said, dump]) expect(place).not.toContain(text);
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(dump).not.toContain(Buffer.from(text).toString(encoding));
        expect(said).not.toContain(Buffer.from(text).toString(encoding));
      }
    }
    const deleted = await call('DELETE', `/schedules/${schedule.body.id}`);
    expect([deleted.status, JSON.stringify(deleted.body).includes('secret"')]).toEqual([200, false]);
  });

  test('of a schedule signs the requests of its runs', async () => {
    const { call } = stage.service;
    const evaluation = { prompt_name: 'say', ...withScorer('scheduled', 2, { secret: SECRET }) };
    const schedule = await call('POST', '/schedules', { body: { name: 'now', cron: '0 3 1 1 *', evaluation } });
    expect((await call('POST', `/schedules/${schedule.body.id}/trigger`)).status).toBe(200);
    const requests = await receiver.got(2);
    for (const { raw, headers } of requests) new Webhook(SECRET, { format: 'raw' }).verify(raw, textHeaders(headers));
    const run = await waitFor('the run of the schedule', async () => {
      const { body } = await call('GET', `/evaluations?schedule_id=${schedule.body.id}`);
      return body.data.find(({ status }: { status: string }) => status === 'completed');
    });
    expect(JSON.stringify(run)).not.toContain(SECRET);
    expect(run.score).toBe(1);
  });

  test('of a run is kept when it is rescored; other evaluators have others, which are shown', async () => {
    const source = await stage.run(withScorer('rescored', 2, { secret: SECRET }));
    const again = await stage.control(source.id, 'rescore', {});
    expect([again.status, again.body.evaluators[0].secret]).toEqual([201, undefined]);
    const same = await stage.until(again.body.id, 'completed');
    expect(same.score).toBe(source.score);
    const other = await stage.control(source.id, 'rescore', { evaluators: [scorer({ name: 'other' })] });
    const [{ secret }] = other.body.evaluators;
    expect(secret).toMatch(/^whsec_/);
    await stage.until(other.body.id, 'completed');
    const secretOf: Record<string, Webhook> = {
      [source.id]: new Webhook(SECRET, { format: 'raw' }),
      [same.id]: new Webhook(SECRET, { format: 'raw' }),
      [other.body.id]: new Webhook(secret),
    };
    expect(receiver.received).toHaveLength(6);
    for (const { raw, headers } of receiver.received)
      expect(secretOf[textHeaders(headers)['x-evaluation-id'] ?? '']?.verify(raw, textHeaders(headers))).toBeDefined();
  });

  test('makes no difference to a comparison', async () => {
    const before = await stage.run(withScorer('compared', 4));
    const after = await stage.run(withScorer('compared', 4));
    expect(after).toMatchObject({ baseline_id: before.id, regressions: 0, improvements: 0 });
    const { body } = await stage.service.call('GET', `/evaluations/${after.id}/compare/${before.id}`);
    expect(body.by_evaluator).toMatchObject([{ name: 'http', score_a: 0.8125, score_b: 0.8125 }]);
  });
});

describe('a scorer that fails', () => {
  test('for good fails the example, and a retry scores it without calling the model', async () => {
    receiver.respond = (request, response, incoming) =>
      request.body.variables.text === 'failing 1'
        ? answering(422)(request, response, incoming)
        : byOutput(request, response, incoming);
    const run = await stage.run(withScorer('failing', 3, { name: 'mine' }));
    expect(run).toMatchObject({ status: 'completed', examples_failed: 1 });
    const results = await stage.results(run.id, '?failed=true');
    expect(results).toMatchObject([
      {
        seq: 1,
        output: 'Answer to: Say failing 1',
        error: { code: 'scorer_failed', message: 'The scorer "mine": HTTP 422' },
      },
    ]);
    receiver.respond = byOutput;
    const calls = stage.openai.callCount;
    await stage.control(run.id, 'retry');
    expect(await stage.until(run.id, 'completed')).toMatchObject({ retries: 1, examples_failed: 0, score: 1 });
    expect(stage.openai.callCount).toBe(calls);
    const ids = receiver.received.map(({ headers }) => headers['x-scoring-id']);
    expect(ids.filter((id) => id === `${run.id}/1/mine`)).toHaveLength(2);
    expect(ids).toHaveLength(4);
  });

  test('for a moment delays the example', async () => {
    let failures = 0;
    receiver.respond = (...request) => {
      failures += 1;
      return failures === 1 ? answering(503)(...request) : byOutput(...request);
    };
    expect(await stage.run(withScorer('moment', 1))).toMatchObject({ score: 1, examples_failed: 0 });
  });

  test('by its answer gives no score and a reason', async () => {
    receiver.respond = (_request, response) => void response.end('{"score": 7}');
    const run = await stage.run(withScorer('unusable', 1));
    expect(run).toMatchObject({ score: null, examples_failed: 0, examples_unscored: 1 });
    const [result] = await stage.results(run.id);
    expect(result.unscored.http.reason).toBe(
      'the response of the scorer is invalid: its score 7 is not between 0 and 1',
    );
  });

  test('by a redirect is not followed', async () => {
    const trap = await startReceiver(byOutput);
    receiver.respond = (_request, response) => void response.writeHead(307, { Location: trap.url }).end();
    const run = await stage.run(withScorer('redirected', 1));
    expect(run).toMatchObject({ examples_failed: 1 });
    const [result] = await stage.results(run.id);
    expect(result.error.message).toBe('The scorer "http": HTTP 307 (redirects are not followed)');
    expect(trap.received).toEqual([]);
    await trap.close();
  });
});

test('a run paused while its scorer has an example finishes it, and continues when resumed', async () => {
  const { release } = hold();
  const id = await stage.begin({ ...withScorer('paused', 6), concurrency: 2 });
  await receiver.got(2);
  await stage.control(id, 'pause');
  release();
  await stage.control(id, 'resume');
  expect(await stage.until(id, 'completed')).toMatchObject({ examples_evaluated: 6, examples_failed: 0 });
  const ids = receiver.received.map(({ headers }) => headers['x-scoring-id']);
  expect([ids.length, new Set(ids).size]).toEqual([6, 6]);
});

test('a hanging scorer does not delay another workspace at the same host', async () => {
  const other = await createOtherWorkspace(stage.service, 'unhurried');
  const prompt = { name: 'say', template: 'Say {{ text }}', model: 'openai/gpt-4o-mini' };
  expect((await other.call('POST', '/prompts', { body: prompt })).status).toBe(201);
  const held = hold();
  const hanging = await stage.begin({ ...withScorer('hanging', 30, { timeout_ms: 60_000 }), concurrency: 20 });
  await receiver.got(3);
  const waiting = receiver.respond;
  receiver.respond = (request, ...rest) =>
    request.headers['x-evaluation-id'] === hanging ? waiting(request, ...rest) : byOutput(request, ...rest);
  const body = { prompt_name: 'say', ...withScorer('quick', 8) };
  const { id } = (await other.call('POST', '/evaluations', { body })).body;
  const done = await waitFor('the other run', async () => {
    const run = (await other.call('GET', `/evaluations/${id}`)).body;
    return run.status === 'completed' && run;
  });
  expect(done).toMatchObject({ examples_failed: 0, score: 0.8125 });
  expect(await stage.read(hanging)).toMatchObject({ status: 'running', examples_evaluated: 0 });
  held.release();
  await stage.until(hanging, 'completed');
});

describe('a forbidden address', () => {
  test.each([
    ['http://example.com/score', /^the address must begin with https:/],
    ['ftp://example.com/score', /^the address must begin with https:/],
    ['https://user:password@example.com/', /user name or password/],
    ['https://example.com/#part', /fragment/],
    ['https://example.com:25/', /port 25/],
    ['https://10.0.0.1/', /not allowed \(private\)/],
    ['https://169.254.169.254/latest/meta-data', /not allowed \(link-local\)/],
    ['https://[::ffff:10.0.0.1]/', /not allowed/],
    ['https://[::ffff:169.254.169.254]/', /not allowed/],
    ['https://[fd00::1]/', /not allowed/],
    ['https://0x0a000001/', /not allowed \(private\)/],
    ['https://167772161/', /not allowed \(private\)/],
    ['example.com/score', /not a valid URL/],
  ])('the scorer %s is refused', async (url, message) => {
    const evaluators = [{ type: 'exact_match' }, { type: 'http', url }];
    const examples = examplesOf('refused', 1);
    const source = { path: 'evaluators.1.url', message: expect.stringMatching(message) };
    expect(await stage.create({ examples, evaluators })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', details: [source] } },
    });
    const evaluation = { prompt_name: 'say', examples, evaluators };
    const schedule = await stage.service.call('POST', '/schedules', {
      body: { name: 'refused', cron: '@daily', evaluation },
    });
    expect(schedule).toMatchObject({
      status: 400,
      body: { error: { details: [{ ...source, path: 'evaluation.evaluators.1.url' }] } },
    });
  });

  test('is refused for rescoring', async () => {
    const source = await stage.run({ examples: examplesOf('again', 1) });
    const refused = await stage.control(source.id, 'rescore', {
      evaluators: [{ type: 'http', url: 'https://10.0.0.1/' }],
    });
    expect(refused).toMatchObject({ status: 400, body: { error: { details: [{ path: 'evaluators.0.url' }] } } });
  });

  test('an address that became forbidden ends the run, and nothing is sent', async () => {
    receiver.respond = answering(422);
    const { id } = await stage.run(withScorer('forbidden', 1));
    await stage.service.dependencies.db.system.query(
      {
        text: `update evaluations set evaluators = jsonb_set(evaluators, '{0,url}', '"https://10.0.0.1/"') where id = $1`,
      },
      [uuidOf(id)],
    );
    await stage.control(id, 'retry');
    expect(await stage.until(id, 'failed')).toMatchObject({
      error: { code: 'scorer_refused', message: expect.stringContaining('the address 10.0.0.1 is not allowed') },
    });
    expect(receiver.received).toHaveLength(1);
  });
});
