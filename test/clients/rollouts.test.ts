import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Pms } from '../../clients/typescript/src/index.ts';
import { runByLabel, seedPrompt, startRelease, untilRelease } from '../api/releases/releases-support.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

test('a prompt from the cache is the version that an execution with the same key gets', async () => {
  const { call } = service;
  await seedPrompt(call, 'client/split');
  let requests = 0;
  const pms = new Pms({
    baseUrl: service.origin,
    apiKey: service.key,
    fetch: (url, init) => {
      requests += 1;
      return fetch(url, init);
    },
  });
  const { id } = await startRelease(call, 'client/split', [
    { type: 'canary', percent: 50 },
    { type: 'wait', for: '1h' },
  ]);
  await untilRelease(call, id, ({ step }) => step === 1);
  const arms = new Set<string>();
  for (let n = 0; n < 12; n++) {
    const rolloutKey = `user-${n}`;
    const prompt = await pms.prompts.get('client/split', { label: 'production', rolloutKey });
    const run = await runByLabel(call, 'client/split', rolloutKey);
    expect([prompt.version, prompt.release]).toEqual([run.prompt_version, run.release]);
    expect(prompt.compile({ q: 'hi' })).toBe(run.input);
    arms.add(prompt.release?.arm ?? '');
  }
  expect(arms).toEqual(new Set(['stable', 'candidate']));
  // Both versions, once each.
  expect(requests).toBe(2);
  expect((await pms.prompts.get('client/split', { label: 'production' })).release).toMatchObject({ id, keyed: false });
  await pms.call('rollbackRelease', { path: { id }, body: {} });
  // An unchanged prompt is requested again, and its release is over.
  const after = await pms.prompts.get('client/split', { label: 'production', rolloutKey: 'user-1', ttlMs: 0 });
  expect([after.version, after.release]).toEqual([1, undefined]);
});
