import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGoogleServer } from '../../support/providers/google.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let openai: StandIn;
let google: StandIn;
beforeAll(async () => {
  const shared = await sharedProviders();
  openai = await startOpenAiServer({ on: shared.openai });
  google = await startGoogleServer({ on: shared.google });
  service = await startTestService({}, { providers: true });
  for (const [name, model] of [
    ['openai', 'openai/gpt-4o-mini'],
    ['google', 'google/gemini-2.0-flash'],
  ])
    await service.call('POST', '/prompts', { body: { name, template: 'hi', model } });
});
afterAll(async () => {
  await service?.stop();
  await openai?.close();
  await google?.close();
});

const digits = (count: number) => '9'.repeat(count);
const runOf = async (prompt: string) =>
  (await service.call('POST', '/executions', { body: { prompt_name: prompt }, headers: { Prefer: 'wait=120' } })).body;

/** The workers of this process received it: the next run shows that they are alive. */
async function expectToWork(): Promise<void> {
  openai.behave();
  google.behave();
  expect(await runOf('openai')).toMatchObject({ status: 'completed', output: 'Answer to: hi' });
}

describe('however long a provider asks to wait, no process ends', () => {
  const headers: [string, Record<string, string>][] = [
    ['309 digits of seconds', { 'retry-after': digits(309) }],
    ['400 digits of milliseconds', { 'retry-after-ms': digits(400) }],
    ['400 digits after the point', { 'retry-after': `${digits(400)}.${digits(400)}` }],
    ['the end of time', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }],
    ['the longest date there is', { 'retry-after': '+275760-09-13T00:00:00.000Z' }],
  ];

  test.each(headers)('%s', async (_name, sent) => {
    for (const status of [429, 503]) {
      openai.behave({ mode: 'fail', status, headers: sent });
      const code = status === 429 ? 'model_rate_limited' : 'model_unavailable';
      expect(await runOf('openai')).toMatchObject({ status: 'failed', error: { code }, attempts: 1 });
    }
    await expectToWork();
  });

  test('as a number with an exponent, which is invalid: it is retried as without a wait', async () => {
    openai.behave({
      mode: 'fail',
      status: 503,
      headers: { 'retry-after': '1e400', 'retry-after-ms': '-1e400' },
      times: 1,
    });
    expect(await runOf('openai')).toMatchObject({ status: 'completed', attempts: 2 });
  });

  test("Google's duration", async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${digits(400)}s` }];
    const body = { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED', details } };
    google.behave({ mode: 'fail', status: 429, body });
    expect(await runOf('google')).toMatchObject({
      status: 'failed',
      error: { code: 'model_rate_limited' },
      attempts: 1,
    });
    await expectToWork();
  });
});

test('a message of megabytes, with forbidden characters, becomes a short one', async () => {
  for (const text of ['x'.repeat(4_000_000), `\u0000\ud800${'\ud83d'.repeat(100_000)}`]) {
    openai.behave({ mode: 'fail', status: 400, body: { error: { message: text, type: text, code: text } } });
    const run = await runOf('openai');
    expect(run).toMatchObject({ status: 'failed', error: { code: 'model_invalid_request' } });
    expect(run.error.message.length).toBeLessThanOrEqual(500);
    expect(run.error.message.isWellFormed()).toBe(true);
  }
  await expectToWork();
});
