import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { armOf } from '../../../src/domain/releases/rollout.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { labelOf, runByLabel, seedPrompt, startRelease, untilRelease, untilStatus } from './releases-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const CANARY = { type: 'canary', percent: 50 };
const ANALYZE = {
  type: 'analyze',
  for: '1s',
  min_executions: 1,
  checks: [{ metric: 'error_rate', against: 'stable', max_increase: 0.2, on_inconclusive: 'continue' }],
};
const HOUR = { type: 'wait', for: '1h' };

describe('a release', () => {
  test('goes through its steps and moves the label at the end', async () => {
    const { call } = service;
    await seedPrompt(call, 'steps/all');
    const release = await startRelease(call, 'steps/all', [CANARY, { type: 'wait', for: '1s' }, { type: 'promote' }], {
      reason: 'Shorter',
      metadata: { ticket: '12' },
    });
    expect(release).toMatchObject({
      prompt_name: 'steps/all',
      label: 'production',
      stable_version: 1,
      candidate_version: 2,
      status: 'in_progress',
      step: 0,
      percent: 0,
      reason: 'Shorter',
      metadata: { ticket: '12' },
      workflow_id: `release/${release.id}`,
    });
    await untilRelease(call, release.id, ({ percent }) => percent === 50);
    expect(await labelOf(call, 'steps/all')).toBe(1);
    const ended = await untilStatus(call, release.id, 'succeeded');
    expect(ended.steps.map(({ state }: { state: string }) => state)).toEqual(['passed', 'passed', 'passed']);
    expect(ended).toMatchObject({ percent: 0, step: 2, status_reason: null });
    expect(ended.finished_at).not.toBeNull();
    const prompt = (await call('GET', '/prompts/steps/all?label=production')).body;
    expect([prompt.version, prompt.release]).toEqual([2, undefined]);
  });

  test('gives the candidate to its share of keys, and counts both apart', async () => {
    const { call } = service;
    await seedPrompt(call, 'split/keys');
    const release = await startRelease(call, 'split/keys', [CANARY, HOUR]);
    await untilRelease(call, release.id, ({ step }) => step === 1);
    const { salt } = (await call('GET', '/prompts/split/keys?label=production')).body.release;
    expect(salt).toBe(release.salt);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      const arm = armOf({ salt, percent: 50 }, key);
      for (let again = 0; again < 2; again++) {
        const run = await runByLabel(call, 'split/keys', key);
        expect([key, run.prompt_version, run.release]).toEqual([
          key,
          arm === 'candidate' ? 2 : 1,
          { id: release.id, arm, keyed: true },
        ]);
        expect(run.input).toBe(`Version ${run.prompt_version}: hi`);
      }
    }
    const random = await runByLabel(call, 'split/keys');
    expect(random.release).toMatchObject({ id: release.id, keyed: false });
    const list = (await call('GET', `/executions?release=${release.id}&arm=candidate`)).body.data;
    expect(new Set(list.map((run: { prompt_version: number }) => run.prompt_version))).toEqual(new Set([2]));
    // Explicit versions are not split.
    const pinned = await call('POST', '/executions', {
      body: { prompt_name: 'split/keys', version: 2, variables: { q: 'x' }, rollout_key: 'a' },
    });
    expect(pinned.body.release).toBeNull();
    expect((await call('POST', `/releases/${release.id}/rollback`)).body.status).toBe('rolled_back');
    for (const key of ['a', 'b', 'c', 'd']) expect((await runByLabel(call, 'split/keys', key)).prompt_version).toBe(1);
  });

  test('rolls back by itself if the candidate fails', async () => {
    const { call } = service;
    await seedPrompt(call, 'bad/candidate', ['sandbox/echo', 'sandbox/fail']);
    const release = await startRelease(call, 'bad/candidate', [
      CANARY,
      { ...ANALYZE, for: '1h', min_executions: 100 },
      { type: 'promote' },
    ]);
    await untilRelease(call, release.id, ({ percent }) => percent === 50);
    await Promise.all(Array.from({ length: 80 }, (_, n) => runByLabel(call, 'bad/candidate', `user-${n}`)));
    await service.dependencies.client.workflow.getHandle(release.workflow_id).signal('controlChanged');
    const ended = await untilStatus(call, release.id, 'rolled_back');
    expect(ended.status_reason).toContain('Error rate');
    expect(ended.arms.candidate.error_rate).toBe(1);
    expect(ended.arms.stable.error_rate).toBe(0);
    expect(ended.decisions.at(-1)).toMatchObject({ verdict: 'failed', by: { key_id: null } });
    expect(await labelOf(call, 'bad/candidate')).toBe(1);
  });

  test('rolls back even while people are asked', async () => {
    const { call } = service;
    await seedPrompt(call, 'bad/asked', ['sandbox/echo', 'sandbox/fail']);
    const release = await startRelease(call, 'bad/asked', [
      CANARY,
      { type: 'approve', exclude_author: false },
      { ...ANALYZE, for: '1h', min_executions: 100 },
      { type: 'promote' },
    ]);
    await untilStatus(call, release.id, 'awaiting_approval');
    await Promise.all(Array.from({ length: 80 }, (_, n) => runByLabel(call, 'bad/asked', `user-${n}`)));
    await service.dependencies.client.workflow.getHandle(release.workflow_id).signal('controlChanged');
    const ended = await untilStatus(call, release.id, 'rolled_back');
    expect(ended.steps[1].numbers).toMatchObject({ candidate_version: 2 });
    expect(ended.status_reason).toContain('Error rate');
  });
});
