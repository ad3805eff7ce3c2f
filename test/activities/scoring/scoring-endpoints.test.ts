import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { CostTally } from '../../../src/activities/scoring/example-in-progress.ts';
import { RunFailedError } from '../../../src/activities/scoring/run-failed-error.ts';
import { ScoringEndpoints } from '../../../src/activities/scoring/scoring-endpoints.ts';
import { createCipher } from '../../../src/domain/cipher.ts';
import { xSignature } from '../../../src/domain/webhooks/webhook-signature.ts';
import { EvaluatorList } from '../../../src/evaluators/registry.ts';
import { MAX_SCORER_TIMEOUT_MS } from '../../../src/evaluators/types/http.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';
import { openSecrets, sealEvaluators } from '../../../src/services/evaluations/creation/evaluator-secrets.ts';
import type { Slots } from '../../../src/temporal/slots.ts';
import { exampleOf } from '../../evaluators/evaluate.ts';
import { answering, type Receiver, type Respond, startReceiver } from '../../support/receiver.ts';
import { testSlots } from '../../support/slots.ts';
import { waitFor } from '../../support/wait-for.ts';

const HOST_CONCURRENCY = 3;
const cipher = createCipher([randomBytes(32)]);
const EVALUATION = '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11';

let outbound: Outbound;
let slots: Slots;
let receiver: Receiver;
beforeAll(() => {
  outbound = createOutbound({ allowPrivate: 'loopback', timeoutMs: MAX_SCORER_TIMEOUT_MS });
});
afterAll(() => outbound?.close());
beforeEach(async () => {
  slots = testSlots({ hostConcurrency: HOST_CONCURRENCY });
  receiver = await startReceiver(scoring({ score: 0.5, reason: 'so so' }));
});
afterEach(() => receiver?.close());

const scoring =
  (verdict: object): Respond =>
  (_request, response) =>
    void response.writeHead(200).end(JSON.stringify(verdict));

/** Responds with each of these in turn, and then always with the last one. */
function inTurn(...responds: Respond[]): Respond {
  let next = 0;
  return (...request) => {
    const respond = responds[Math.min(next, responds.length - 1)];
    next += 1;
    return respond?.(...request);
  };
}

const destroying: Respond = (_request, response) => void response.destroy();

/** The endpoints of a run. @param options of each `http` evaluator in addition to the receiver's URL */
function endpointsOf(options: object[] = [{}], { workspace = 'ws_a', evaluationId = EVALUATION } = {}) {
  const given = EvaluatorList.parse(options.map((each) => ({ type: 'http', url: receiver.url, ...each })));
  const sealed = sealEvaluators({ cipher, allowPrivate: 'true' }, given, 'evaluators');
  const run = { workspace, evaluationId, evaluators: sealed.evaluators, evaluatorSecrets: sealed.secrets };
  return {
    endpoints: new ScoringEndpoints({ outbound, slots, cipher, firstWaitMs: 1 }, run),
    secrets: openSecrets(cipher, sealed.secrets),
  };
}

/** An example in its run. */
function progressOf(seq = 0, stops: { giveUp?: AbortSignal; stopWaiting?: AbortSignal } = {}) {
  const never = new AbortController().signal;
  return { seq, bill: new CostTally(0), stops: { giveUp: never, stopWaiting: never, ...stops } };
}

const EXAMPLE = exampleOf('Paris', { expected: 'Paris', variables: { country: 'France' } });

test('an example is posted, signed like webhooks, and the score is read', async () => {
  const { endpoints, secrets } = endpointsOf([{ name: 'style' }]);
  const progress = progressOf(7);
  expect(await endpoints.score(progress, EXAMPLE)).toEqual({
    scores: new Map([['style', { score: 0.5, reason: 'so so', problem: null }]]),
  });
  expect(progress.bill.total).toBeUndefined();
  const [request] = receiver.received;
  expect(request?.body).toEqual({
    input: 'the prompt',
    output: 'Paris',
    expected: 'Paris',
    variables: { country: 'France' },
  });
  const id = `eval_${EVALUATION}/7/style`;
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': id,
    'x-scoring-id': id,
    'x-evaluation-id': `eval_${EVALUATION}`,
  });
  const secret = secrets.get('style') ?? '';
  expect(secret).toMatch(/^whsec_/);
  const raw = request?.raw ?? Buffer.of();
  expect(request?.headers['x-signature']).toBe(xSignature(raw, secret));
  const headers = Object.fromEntries(
    Object.entries(request?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  );
  expect(new Webhook(secret).verify(raw, headers)).toEqual(request?.body);
});

test('each evaluator has its own request, secret and id', async () => {
  receiver.respond = (request, response) =>
    scoring({ score: String(request.headers['x-scoring-id']).endsWith('/a') ? 1 : 0 })(request, response, response.req);
  const { endpoints, secrets } = endpointsOf([{ name: 'a' }, { name: 'b', secret: 'of-my-own-choice-0123456789' }]);
  const { scores } = await endpoints.score(progressOf(), EXAMPLE);
  expect([...scores].map(([name, { score }]) => [name, score])).toEqual([
    ['a', 1],
    ['b', 0],
  ]);
  expect(secrets.get('b')).toBe('of-my-own-choice-0123456789');
  for (const { headers, raw } of receiver.received) {
    const name = String(headers['x-scoring-id']).split('/').at(-1) ?? '';
    expect(headers['x-signature']).toBe(xSignature(raw, secrets.get(name) ?? ''));
  }
});

test('the id differs by run and by example, and is otherwise stable', async () => {
  const other = { evaluationId: '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12' };
  for (const { endpoints } of [endpointsOf(), endpointsOf(), endpointsOf([{}], other)])
    for (const seq of [0, 1]) await endpoints.score(progressOf(seq), EXAMPLE);
  const ids = receiver.received.map(({ headers }) => headers['x-scoring-id']);
  expect(ids).toHaveLength(6);
  expect(ids.slice(0, 2)).toEqual(ids.slice(2, 4));
  expect(new Set(ids).size).toBe(4);
});

describe('a scorer that fails', () => {
  test.each<[string, Respond]>([
    ['status 500', answering(500)],
    ['status 503', answering(503)],
    ['status 429', answering(429)],
    ['status 408', answering(408)],
    ['a connection that breaks', destroying],
  ])('by %s is retried, with the same id and body', async (_name, respond) => {
    receiver.respond = inTurn(respond, respond, scoring({ score: 1 }));
    const { endpoints } = endpointsOf();
    const { scores, error } = await endpoints.score(progressOf(), EXAMPLE);
    expect([scores.get('http')?.score, error]).toEqual([1, undefined]);
    expect(receiver.received).toHaveLength(3);
    expect(
      new Set(receiver.received.map(({ headers, raw }) => `${String(headers['webhook-id'])} ${raw.toString()}`)).size,
    ).toBe(1);
    expect(endpoints.troubles).toEqual([]);
  });

  test('six times fails the example', async () => {
    receiver.respond = answering(503);
    const { endpoints } = endpointsOf([{ name: 'style' }]);
    const { error } = await endpoints.score(progressOf(), EXAMPLE);
    expect(error).toEqual({ code: 'scorer_failed', message: 'The scorer "style": HTTP 503' });
    expect(receiver.received).toHaveLength(6);
    expect(endpoints.troubles).toEqual(['the scorer "style" failed: HTTP 503']);
  });

  test('by taking too long uses the full time limit', async () => {
    const hang = Promise.withResolvers<void>();
    receiver.respond = () => hang.promise;
    const { endpoints } = endpointsOf([{ timeout_ms: 100 }]);
    const { error } = await endpoints.score(progressOf(), EXAMPLE);
    expect(error?.message).toBe('The scorer "http": timed out after 0.1 s');
    expect(receiver.received).toHaveLength(6);
    hang.resolve();
  });

  test.each([
    [400, 'HTTP 400'],
    [401, 'HTTP 401'],
    [404, 'HTTP 404'],
    [422, 'HTTP 422'],
    [307, 'HTTP 307 (redirects are not followed)'],
  ])('by status %i is not retried', async (status, reason) => {
    receiver.respond = (_request, response) =>
      void response.writeHead(status, { Location: 'http://169.254.169.254/' }).end('{"score": 1}');
    const { error } = await endpointsOf().endpoints.score(progressOf(), EXAMPLE);
    expect(error).toEqual({ code: 'scorer_failed', message: `The scorer "http": ${reason}` });
    expect(receiver.received).toHaveLength(1);
  });

  test.each<[string, Respond, string]>([
    ['no JSON', (_request, response) => void response.end('fine'), 'it is not JSON'],
    ['nothing', answering(204), 'it is empty'],
    ['another scale', scoring({ score: 4 }), 'its score 4 is not between 0 and 1'],
    ['64 KiB', (_request, response) => void response.end(`{"score": 1, "x": "${'é'.repeat(40_000)}"}`), 'longer than'],
  ])('by a response with %s scores 0 and is not retried', async (_name, respond, reason) => {
    receiver.respond = respond;
    const { scores, error } = await endpointsOf().endpoints.score(progressOf(), EXAMPLE);
    expect(error).toBeUndefined();
    expect(scores.get('http')).toMatchObject({ score: 0, problem: 'unusable_response' });
    expect(scores.get('http')?.reason).toContain(reason);
    expect(receiver.received).toHaveLength(1);
  });

  test('because of a forbidden address ends the run: no other request could succeed', async () => {
    for (const url of ['https://10.0.0.1/', 'http://10.0.0.1/', 'https://[::ffff:10.0.0.1]/']) {
      const failed = endpointsOf([{ url }])
        .endpoints.score(progressOf(), EXAMPLE)
        .catch((error: unknown) => error);
      expect(await failed).toBeInstanceOf(RunFailedError);
      expect(await failed).toMatchObject({ code: 'scorer_refused' });
    }
    expect(receiver.received).toEqual([]);
  });

  test('leaves later examples alone', async () => {
    receiver.respond = answering(400);
    const { scores, error } = await endpointsOf([{ name: 'a' }, { name: 'b' }]).endpoints.score(progressOf(), EXAMPLE);
    expect([scores.size, error?.code]).toEqual([0, 'scorer_failed']);
    expect(receiver.received).toHaveLength(1);
  });
});

test('an example that cannot be sent scores 0', async () => {
  const expected = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000));
  const { scores } = await endpointsOf().endpoints.score(progressOf(), exampleOf('x', { expected }));
  expect(scores.get('http')).toMatchObject({ score: 0, problem: 'too_large' });
  expect(receiver.received).toEqual([]);
});

test('secrets that no key opens end the run', () => {
  const evaluators = EvaluatorList.parse([{ type: 'http', url: receiver.url }]);
  const run = { workspace: 'ws_a', evaluationId: EVALUATION, evaluators, evaluatorSecrets: Buffer.from('lost') };
  const deps = { outbound, slots, cipher };
  expect(() => new ScoringEndpoints(deps, run)).toThrow(RunFailedError);
  expect(() => new ScoringEndpoints(deps, { ...run, evaluators: [], evaluatorSecrets: null })).not.toThrow();
});

describe('requests in flight', () => {
  /** A receiver that holds every request of the workspace until released. */
  function hold() {
    const released = Promise.withResolvers<void>();
    receiver.respond = async (...request) => {
      await released.promise;
      return scoring({ score: 1 })(...request);
    };
    return () => released.resolve();
  }
  const heldAt = (count: number) =>
    waitFor(`${count} requests in flight`, async () => receiver.received.length >= count);

  test('of one workspace to one host are limited, and others find their slots', async () => {
    const release = hold();
    const ofOne = endpointsOf([{ timeout_ms: 60_000 }]).endpoints;
    const held = Array.from({ length: 3 * HOST_CONCURRENCY }, (_, seq) => ofOne.score(progressOf(seq), EXAMPLE));
    await heldAt(HOST_CONCURRENCY);
    const ofOther = endpointsOf([{ timeout_ms: 60_000 }], { workspace: 'ws_b' }).endpoints;
    const other = ofOther.score(progressOf(100), EXAMPLE);
    await heldAt(HOST_CONCURRENCY + 1);
    expect(receiver.received.at(-1)?.headers['x-scoring-id']).toContain('/100/');
    expect(receiver.received).toHaveLength(HOST_CONCURRENCY + 1);
    release();
    for (const { scores } of await Promise.all([...held, other])) expect(scores.get('http')?.score).toBe(1);
    expect(receiver.received).toHaveLength(3 * HOST_CONCURRENCY + 1);
  });

  test('finish when the batch stops; requests waiting for a slot or a retry do not', async () => {
    const release = hold();
    const stop = new AbortController();
    const { endpoints } = endpointsOf();
    const scores = Array.from({ length: HOST_CONCURRENCY + 1 }, (_, seq) =>
      endpoints.score(progressOf(seq, { stopWaiting: stop.signal }), EXAMPLE).catch((error: unknown) => error),
    );
    await heldAt(HOST_CONCURRENCY);
    stop.abort(new Error('stopping'));
    expect(await scores.at(-1)).toMatchObject({ message: 'stopping' });
    release();
    for (const ended of scores.slice(0, -1)) expect(await ended).toMatchObject({ scores: expect.any(Map) });
    receiver.respond = answering(503);
    await expect(endpoints.score(progressOf(9, { stopWaiting: stop.signal }), EXAMPLE)).rejects.toThrow('stopping');
  });

  test('are given up with their example', async () => {
    hold();
    const giveUp = new AbortController();
    const given = endpointsOf().endpoints.score(progressOf(0, { giveUp: giveUp.signal }), EXAMPLE);
    await heldAt(1);
    giveUp.abort(new Error('canceled'));
    await expect(given).rejects.toThrow('canceled');
  });
});
