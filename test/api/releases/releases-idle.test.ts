import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { labelOf, seedPrompt, startRelease } from './releases-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

test('without a worker releases are stored, and every control works', async () => {
  const { call } = service;
  await seedPrompt(call, 'idle/release');
  const { id } = await startRelease(call, 'idle/release', [
    { type: 'canary', percent: 50 },
    { type: 'wait', for: '1h' },
  ]);
  for (const [action, status] of [
    ['pause', 'paused'],
    ['pause', 'paused'],
    ['resume', 'in_progress'],
    ['promote', 'succeeded'],
    ['promote', 'succeeded'],
  ])
    expect((await call('POST', `/releases/${id}/${action}`)).body.status).toBe(status);
  expect(await labelOf(call, 'idle/release')).toBe(2);
});

test('a first step that is an approval is requested at once', async () => {
  const { call } = service;
  await seedPrompt(call, 'idle/approval');
  const release = await startRelease(call, 'idle/approval', [{ type: 'approve', exclude_author: false }]);
  expect(release).toMatchObject({ status: 'awaiting_approval', steps: [{ numbers: { candidate_version: 2 } }, {}] });
  const approved = (await call('POST', `/releases/${release.id}/approve`)).body;
  expect([approved.status, approved.step]).toEqual(['in_progress', 1]);
  expect((await call('POST', `/releases/${release.id}/cancel`)).body.status).toBe('canceled');
});
