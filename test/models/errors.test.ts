import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClosableModels } from '../../src/models/model.ts';
import { startAnthropicServer } from '../support/providers/anthropic.ts';
import { startGoogleServer } from '../support/providers/google.ts';
import { callOf, modelErrorOf, modelsAt, TEST_KEY } from '../support/providers/models.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { Behaviour, CannedAnswer } from '../support/providers/protocol.ts';
import type { StandIn } from '../support/providers/stand-in.ts';

let canned: CannedAnswer = { text: 'ok' };
let openai: StandIn;
let anthropic: StandIn;
let google: StandIn;
let models: ClosableModels;

beforeAll(async () => {
  const options = { answer: () => canned };
  openai = await startOpenAiServer(options);
  anthropic = await startAnthropicServer(options);
  google = await startGoogleServer(options);
  models = modelsAt({ openai: openai.baseUrl, anthropic: anthropic.baseUrl, google: google.baseUrl });
});

beforeEach(() => {
  canned = { text: 'ok' };
  for (const server of [openai, anthropic, google]) server.behave();
});

afterAll(async () => {
  await models.close();
  await Promise.all([openai.close(), anthropic.close(), google.close()]);
});

const MODEL_AT = {
  openai: 'openai/gpt-4o-mini',
  anthropic: 'anthropic/claude-sonnet-4-5',
  google: 'google/gemini-2.5-flash',
};

function serverOf(provider: keyof typeof MODEL_AT): StandIn {
  return { openai, anthropic, google }[provider];
}

function errorOf(provider: keyof typeof MODEL_AT, behaviour: Behaviour = {}) {
  serverOf(provider).behave(behaviour);
  return modelErrorOf(models.generate(callOf(MODEL_AT[provider])));
}

const PROVIDERS = ['openai', 'anthropic', 'google'] as const;

describe.each(PROVIDERS)('%s', (provider) => {
  test.each([
    [400, 'model_invalid_request', false],
    [401, 'model_authentication', false],
    [402, 'model_rate_limited', false],
    [403, 'model_authentication', false],
    [404, 'model_not_found', false],
    [408, 'model_timeout', true],
    [409, 'model_unavailable', true],
    [413, 'model_invalid_request', false],
    [422, 'model_invalid_request', false],
    [429, 'model_rate_limited', true],
    [500, 'model_unavailable', true],
    [502, 'model_unavailable', true],
    [503, 'model_unavailable', true],
    [529, 'model_unavailable', true],
  ])('status %i is %s', async (status, code, retryable) => {
    const error = await errorOf(provider, { mode: 'fail', status });
    expect(error).toMatchObject({ code, retryable, message: `told to fail with ${status}` });
  });

  test.each([
    ['empty', 'model_unavailable'],
    ['break-halfway', 'model_unavailable'],
    ['hang-up', 'model_unavailable'],
  ] as const)('an answer of mode %s is %s', async (mode, code) => {
    expect(await errorOf(provider, { mode })).toMatchObject({ code, retryable: true });
  });

  test('a page with status 200 is from a gateway: no model was called, and it is retried', async () => {
    const error = await errorOf(provider, { mode: 'page' });
    expect(error).toMatchObject({
      code: 'model_unavailable',
      retryable: true,
      message: expect.stringContaining('an HTML page'),
    });
    expect([error.response, error.spent]).toEqual([undefined, undefined]);
  });

  test('a complete response in a wrong form is not requested again', async () => {
    expect(await errorOf(provider, { mode: 'nonsense' })).toMatchObject({
      code: 'model_unavailable',
      retryable: false,
      message: "The provider's response was not understood, and is not requested again: it is not JSON.",
      response: 'It works!',
      spent: { tokens: null, cost: { amount: null } },
    });
  });

  test.each(['stall', 'stall-halfway'] as const)('mode %s ends at the time limit', async (mode) => {
    serverOf(provider).behave({ mode });
    const error = await modelErrorOf(models.generate(callOf(MODEL_AT[provider], { timeoutMs: 40 })));
    expect(error).toMatchObject({ code: 'model_timeout', retryable: true });
  });

  test('a body without a message gets one, and an HTML page is not passed on', async () => {
    expect((await errorOf(provider, { mode: 'fail', status: 500, body: '' })).message).toContain('500');
    const error = await errorOf(provider, { mode: 'fail', status: 502, body: '<html>nginx at 10.0.0.7</html>' });
    expect(error).toMatchObject({ code: 'model_unavailable', message: expect.not.stringContaining('nginx') });
  });

  test('the caller’s abort comes back intact', async () => {
    const server = serverOf(provider);
    server.behave({ mode: 'stall' });
    const controller = new AbortController();
    const before = server.callCount;
    const call = models.generate(callOf(MODEL_AT[provider], { signal: controller.signal }));
    const reason = new DOMException('enough', 'AbortError');
    while (server.callCount === before) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(models.generate(callOf(MODEL_AT[provider], { signal: controller.signal }))).rejects.toBe(reason);
    expect(server.callCount).toBe(before + 1);
  });
});

describe('a provider error', () => {
  test.each([
    [429, { code: 'insufficient_quota' }, 'model_rate_limited', false],
    [403, { code: 'model_not_found' }, 'model_not_found', false],
    [400, { code: 'invalid_api_key' }, 'model_authentication', false],
    [400, { code: 'content_policy_violation' }, 'content_filtered', false],
    [400, { code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } }, 'content_filtered', false],
    [400, { type: 'invalid_request_error', code: 'context_length_exceeded' }, 'model_invalid_request', false],
    [200, { code: 429 }, 'model_rate_limited', true],
    [200, { code: 502 }, 'model_unavailable', true],
    [200, { type: 'overloaded_error' }, 'model_unavailable', true],
    [200, { type: 'authentication_error' }, 'model_authentication', false],
    [200, { type: 'invalid_request_error' }, 'model_invalid_request', false],
  ])('OpenAI: %i %j is %s', async (status, fault, code, retryable) => {
    const body = { error: { message: 'No.', ...fault } };
    expect(await errorOf('openai', { mode: 'fail', status, body })).toMatchObject({ code, retryable, message: 'No.' });
  });

  test.each([
    [{ error: 'model "x" not found' }, 'model "x" not found'],
    [{ detail: 'Not Found' }, 'Not Found'],
    [{ object: 'error', message: 'The model does not exist.', code: 404 }, 'The model does not exist.'],
    [[{ error: { message: 'in a list' } }], 'in a list'],
  ])('other shapes: %j', async (body, message) => {
    expect(await errorOf('openai', { mode: 'fail', status: 404, body })).toMatchObject({
      code: 'model_not_found',
      message,
    });
  });

  test('Google: a bad key comes as a 400', async () => {
    const body = {
      error: {
        code: 400,
        message: 'API key not valid.',
        status: 'INVALID_ARGUMENT',
        details: [{ reason: 'API_KEY_INVALID' }],
      },
    };
    expect(await errorOf('google', { mode: 'fail', status: 400, body })).toMatchObject({
      code: 'model_authentication',
    });
  });

  test('a redirect is not followed', async () => {
    const headers = { location: openai.baseUrl };
    const error = await errorOf('openai', { mode: 'fail', status: 307, headers });
    expect(error).toMatchObject({ code: 'model_unavailable', retryable: false });
  });
});

describe('how long to wait', () => {
  test.each([
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j is %s ms', async (headers, retryAfterMs) => {
    for (const status of [429, 503]) {
      expect((await errorOf('openai', { mode: 'fail', status, headers })).retryAfterMs).toBe(retryAfterMs);
    }
  });

  test('a date in the future is the time until then', async () => {
    const headers = { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() };
    const { retryAfterMs } = await errorOf('openai', { mode: 'fail', status: 429, headers });
    expect(retryAfterMs).toBeGreaterThan(3_000_000);
    expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
  });

  test('Google says it in the body', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '33.5s' }];
    const body = { error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED', details } };
    expect(await errorOf('google', { mode: 'fail', status: 429, body })).toMatchObject({
      retryable: true,
      retryAfterMs: 33_500,
    });
  });

  test('not at all when a retry fixes nothing', async () => {
    const body = { error: { message: 'You exceeded your quota.', code: 'insufficient_quota' } };
    const error = await errorOf('openai', { mode: 'fail', status: 429, body, headers: { 'retry-after': '3' } });
    expect(error.retryAfterMs).toBeUndefined();
  });
});

describe('withheld answers', () => {
  test.each([
    ['openai', { finishReason: 'content_filter' }],
    ['openai', { refusal: "I can't help with that." }],
    ['anthropic', { finishReason: 'refusal' }],
    ['google', { finishReason: 'SAFETY' }],
    ['google', { finishReason: 'PROHIBITED_CONTENT' }],
    ['google', { extra: { candidates: undefined, promptFeedback: { blockReason: 'SAFETY' } } }],
  ] as const)('%s %j', async (provider, answer) => {
    canned = { text: '', usage: { input: 10, output: 2 }, ...answer };
    const error = await errorOf(provider);
    expect(error).toMatchObject({ code: 'content_filtered', retryable: false, spent: { tokens: { input: 10 } } });
    expect(Number(error.spent?.cost.amount)).toBeGreaterThan(0);
    if ('refusal' in answer) expect(error.message).toBe(answer.refusal);
  });
});

describe('messages', () => {
  test('hold no key, no host of ours, no U+0000, and end after 500 characters', async () => {
    const { host } = new URL(openai.baseUrl);
    const message = `Incorrect key ${TEST_KEY}, sk-proj-ab***yz or AIzaSyD-x_y at http://${host}/v1 or 127.0.0.1\u0000 ${'x'.repeat(900)}`;
    const error = await errorOf('openai', { mode: 'fail', status: 401, body: { error: { message } } });
    expect(error.message).toHaveLength(500);
    expect(error.message).toMatch(
      /^Incorrect key \[key\], \[key\] or \[key\] at http:\/\/\[host\]\/v1 or \[host\]\uFFFD x+$/,
    );
  });

  test('of a failed connection name no address', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const address = gone.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await new Promise((resolve) => gone.close(resolve));
    const lost = modelsAt({ openai: `http://127.0.0.1:${port}/v1` });
    const error = await modelErrorOf(lost.generate(callOf('openai/gpt-4o-mini')));
    expect(error).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(error.message).toBe('The connection to the provider failed (ECONNREFUSED).');
    await lost.close();
  });
});

test('the time limit also ends a call that is still connecting', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const connection = once(silent, 'connection');
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  // It does not complete the TLS handshake. Connecting alone may take 10 s.
  const stuck = modelsAt({ openai: `https://127.0.0.1:${port}/v1` });
  const error = await modelErrorOf(stuck.generate(callOf('openai/gpt-4o-mini', { timeoutMs: 40 })));
  expect(error).toMatchObject({ code: 'model_timeout', retryable: true });
  const [socket] = await connection;
  socket.destroy();
  silent.close();
  await stuck.close();
});

test.each([
  ['http://169.254.169.254/v1', 'link-local'],
  ['http://[fe80::1]/v1', 'link-local'],
  ['http://[::ffff:169.254.169.254]/v1', 'link-local'],
  ['http://2852039166/v1', 'link-local'],
  ['http://[fd00:ec2::254]/v1', 'metadata'],
  ['http://100.100.100.200/v1', 'metadata'],
  ['http://0.0.0.0/v1', 'unspecified'],
])('a provider at %s is not called', async (baseUrl, refusal) => {
  const misled = modelsAt({ openai: baseUrl });
  const error = await modelErrorOf(misled.generate(callOf('openai/gpt-4o-mini')));
  expect(error).toMatchObject({ code: 'model_unavailable', retryable: false });
  expect(error.message).toBe(`The address that is set for the provider is not allowed (${refusal}).`);
  await misled.close();
});

test('a provider on this machine can be called by name', async () => {
  const { port, pathname } = new URL(openai.baseUrl);
  const local = modelsAt({ openai: `http://localhost:${port}${pathname}` });
  expect(await local.generate(callOf('openai/gpt-4o-mini'))).toMatchObject({ output: 'ok' });
  await local.close();
});

test('an answer that is too long is not read, nor requested again', async () => {
  const error = await errorOf('openai', { mode: 'huge' });
  expect(error).toMatchObject({
    code: 'model_unavailable',
    retryable: false,
    message: expect.stringContaining('longer'),
  });
});

test('unresolvable names fail the call, not the process', async () => {
  expect(await modelErrorOf(models.generate(callOf('nobody/x')))).toMatchObject({ code: 'model_invalid_request' });
  const unconfigured = modelErrorOf(models.generate(callOf('openai-compatible/x')));
  expect(await unconfigured).toMatchObject({
    code: 'model_authentication',
    message: expect.stringContaining('OPENAI_COMPATIBLE_BASE_URL'),
  });
});

test('after a failure the same models answer again', async () => {
  openai.behave({ mode: 'break-halfway', times: 1 });
  await modelErrorOf(models.generate(callOf(MODEL_AT.openai)));
  expect(await models.generate(callOf(MODEL_AT.openai))).toMatchObject({ output: 'ok', finishReason: 'stop' });
});
