import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { startApi } from '../../../src/api/server.ts';
import { CAPABILITIES } from '../../../src/capabilities.ts';
import { armOf } from '../../../src/domain/releases/rollout.ts';
import { removeWorkspaces } from '../../../src/jobs/remove-workspaces.ts';
import { deleteWorkspace } from '../../../src/services/workspaces/delete-workspace.ts';
import { type Call, createCall, startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { labelOf, runByLabel, seedPrompt, startRelease, untilRelease, untilStatus } from './releases-support.ts';

let service: TestService;
let call: Call;
beforeAll(async () => {
  service = await startTestService();
  ({ call } = service);
  await call('PUT', '/datasets/release/questions', {
    raw: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
      .map((q) => JSON.stringify({ variables: { q }, expected: `Version 1: ${q}` }))
      .join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
afterAll(() => service?.stop());

const CANARY = { type: 'canary', percent: 100 };
const HOUR = { type: 'wait', for: '1h' };
const errorRate = (onInconclusive: string) => [
  { metric: 'error_rate', against: 0.05, max_increase: 0, on_inconclusive: onInconclusive },
];

describe('the step', () => {
  test('evaluate continues if the candidate is good enough, and otherwise ends the release', async () => {
    await seedPrompt(call, 'step/evaluate');
    const evaluate = (require: string, more: object = {}) => ({
      type: 'evaluate',
      dataset: 'release/questions',
      require,
      ...more,
    });
    // Version 2 responds differently from version 1, whose responses are expected.
    const worse = await startRelease(call, 'step/evaluate', [evaluate('not_worse'), HOUR]);
    const ended = await untilStatus(call, worse.id, 'rolled_back');
    expect(ended.steps[0].numbers).toMatchObject({
      score: 0,
      baseline_score: 1,
      verdict: 'regression',
      regressions: 10,
    });
    expect(ended.evaluation_id).toBe(ended.steps[0].numbers.evaluation_id);
    expect((await call('GET', `/evaluations/${ended.evaluation_id}`)).body).toMatchObject({
      prompt_version: 2,
      status: 'completed',
      metadata: { release: worse.id },
    });
    const enough = await startRelease(call, 'step/evaluate', [
      evaluate('threshold', { threshold: 0 }),
      { type: 'approve', exclude_author: false },
      HOUR,
    ]);
    const asked = await untilStatus(call, enough.id, 'awaiting_approval');
    expect(asked.steps[1].numbers).toMatchObject({
      candidate_version: 2,
      evaluation_id: asked.evaluation_id,
      results: { score: 0, baseline_evaluation_id: null },
    });
    await call('POST', `/releases/${enough.id}/reject`);
    const many = await startRelease(call, 'step/evaluate', [
      evaluate('threshold', { threshold: 0, max_regressions: 3 }),
      HOUR,
    ]);
    expect((await untilStatus(call, many.id, 'rolled_back')).status_reason).toContain('10 examples');
  });

  test('evaluate ends the release if too many calls fail for a verdict', async () => {
    await seedPrompt(call, 'step/withheld', ['sandbox/fail', 'sandbox/fail']);
    const { id } = await startRelease(call, 'step/withheld', [
      { type: 'evaluate', dataset: 'release/questions', require: 'not_worse' },
      HOUR,
    ]);
    const ended = await untilStatus(call, id, 'rolled_back');
    expect(ended.status_reason).toContain('it cannot be determined whether it is worse: No verdict over 10 examples');
    expect(ended.steps[0].numbers).toMatchObject({ verdict: 'too_few_differences', withheld: 'failures' });
  });

  test('analyze asks people if the numbers are unclear', async () => {
    await seedPrompt(call, 'step/unclear');
    const { id } = await startRelease(call, 'step/unclear', [
      CANARY,
      { type: 'analyze', for: '1s', min_executions: 1, checks: errorRate('pause') },
      HOUR,
    ]);
    const waiting = await untilRelease(call, id, ({ status_reason: reason }) => reason?.startsWith('waits for 1 more'));
    expect(waiting.status).toBe('in_progress');
    await runByLabel(call, 'step/unclear');
    const paused = await untilStatus(call, id, 'paused');
    expect(paused.steps[1]).toMatchObject({
      state: 'inconclusive',
      numbers: { checks: [{ verdict: 'inconclusive' }] },
    });
    const resumed = (await call('POST', `/releases/${id}/resume`)).body;
    expect([resumed.status, resumed.step]).toEqual(['in_progress', 2]);
    await call('POST', `/releases/${id}/cancel`);
  });

  test('promote moves the label back if the bake fails', async () => {
    await seedPrompt(call, 'step/bake', ['sandbox/echo', 'sandbox/fail']);
    const { id } = await startRelease(call, 'step/bake', [
      { type: 'promote', bake: { for: '10s', checks: errorRate('continue') } },
    ]);
    await untilStatus(call, id, 'baking');
    expect(await labelOf(call, 'step/bake')).toBe(2);
    await Promise.all(Array.from({ length: 30 }, () => runByLabel(call, 'step/bake')));
    const ended = await untilStatus(call, id, 'rolled_back');
    expect(ended.status_reason).toContain('Error rate');
    expect(await labelOf(call, 'step/bake')).toBe(1);
    const numbers = (await call('GET', `/releases/${id}/numbers`)).body.data;
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers[0]).toMatchObject({ arm: 'candidate', step: 0, error_rate: 1, latency_p95_ms: null });
  });

  test('promote ends well if the bake does', async () => {
    await seedPrompt(call, 'step/baked');
    const { id } = await startRelease(call, 'step/baked', [{ type: 'promote', bake: { for: '1s' } }]);
    await untilStatus(call, id, 'succeeded');
    expect(await labelOf(call, 'step/baked')).toBe(2);
    expect((await runByLabel(call, 'step/baked')).release).toBeNull();
  });
});

describe('while a canary is out', () => {
  test('it is rolled back if most of its calls fail, whatever is compared', async () => {
    // Both versions fail, so there is no difference between them.
    await seedPrompt(call, 'step/down', ['sandbox/fail', 'sandbox/fail']);
    const compared = [{ metric: 'error_rate', against: 'stable', max_increase: 0.01 }];
    const steps = [
      { type: 'canary', percent: 50 },
      { type: 'analyze', for: '20s', min_executions: 10_000, checks: compared },
    ];
    const { id, steps: stored } = await startRelease(call, 'step/down', steps);
    expect(stored[0]).toMatchObject({ type: 'canary', max_error_rate: 0.5 });
    await untilRelease(call, id, ({ step }) => step === 1);
    await Promise.all(Array.from({ length: 60 }, () => runByLabel(call, 'step/down')));
    const ended = await untilStatus(call, id, 'rolled_back');
    expect(ended.failures).toEqual([
      { code: expect.any(String), message: expect.stringContaining('always fails'), count: expect.any(Number) },
    ]);
    expect(ended.failures[0].count).toBeGreaterThanOrEqual(ended.arms.candidate.errors);
    expect(ended.status_reason).toMatch(/^Error rate: 100\.0 % in the candidate .* against 50\.0 %.*failed\.$/);
  });

  test('it is watched while waiting, unless any error rate will do', async () => {
    await seedPrompt(call, 'step/wait-down', ['sandbox/echo', 'sandbox/fail']);
    const steps = (more: object) => [
      { ...CANARY, ...more },
      { type: 'wait', for: '10s' },
    ];
    const watched = await startRelease(call, 'step/wait-down', steps({}));
    await untilRelease(call, watched.id, ({ step }) => step === 1);
    await Promise.all(Array.from({ length: 20 }, () => runByLabel(call, 'step/wait-down')));
    await untilStatus(call, watched.id, 'rolled_back');
    expect(await labelOf(call, 'step/wait-down')).toBe(1);
    const unwatched = await startRelease(call, 'step/wait-down', steps({ max_error_rate: 1 }));
    await untilRelease(call, unwatched.id, ({ step }) => step === 1);
    await Promise.all(Array.from({ length: 20 }, () => runByLabel(call, 'step/wait-down')));
    await untilStatus(call, unwatched.id, 'succeeded');
  });

  test('includes by label follow the same key', async () => {
    for (const text of ['calm', 'loud'])
      await call('POST', '/prompts', { body: { name: 'inc/tone', template: text, model: 'sandbox/echo' } });
    await call('PUT', '/prompts/inc/tone/labels/production', { body: { version: 1 } });
    await call('POST', '/prompts', {
      body: { name: 'inc/outer', template: 'Be {{> inc/tone@production}}', model: 'sandbox/echo' },
    });
    const { id, salt } = await startRelease(call, 'inc/tone', [{ type: 'canary', percent: 50 }, HOUR]);
    await untilRelease(call, id, ({ step }) => step === 1);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'ü', 'naïve'])
      for (const _ of [1, 2]) {
        const { body } = await call('POST', '/executions', { body: { prompt_name: 'inc/outer', rollout_key: key } });
        expect([key, body.input]).toEqual([
          key,
          `Be ${armOf({ salt, percent: 50 }, key) === 'candidate' ? 'loud' : 'calm'}`,
        ]);
        expect(body.release).toBeNull();
      }
    await call('POST', `/releases/${id}/cancel`);
  });

  test("chat completions read the key from OpenAI's field", async () => {
    await seedPrompt(call, 'chat/split');
    const { id, salt } = await startRelease(call, 'chat/split', [{ type: 'canary', percent: 50 }, HOUR]);
    await untilRelease(call, id, ({ step }) => step === 1);
    const isCandidate = (key: string) => armOf({ salt, percent: 50 }, key) === 'candidate';
    const [stable = '', candidate = ''] = [false, true].map((is) =>
      Array.from({ length: 100 }, (_, n) => `user-${n}`).find((key) => isCandidate(key) === is),
    );
    for (const [key, other] of [
      [stable, candidate],
      [candidate, stable],
    ] as const)
      for (const fields of [
        { rollout_key: key, user: other },
        { metadata: { rollout_key: key }, safety_identifier: other, user: other },
        { safety_identifier: key, user: other },
        { user: key },
      ]) {
        const { body } = await call('POST', '/chat/completions', {
          body: { model: 'chat/split@production', messages: [], variables: { q: 'x' }, ...fields },
        });
        expect([fields, body.model]).toEqual([fields, `chat/split@${isCandidate(key) ? 2 : 1}`]);
        expect((await call('GET', `/executions/${body.id}`)).body.release).toMatchObject({ id, keyed: true });
      }
    await call('POST', `/releases/${id}/cancel`);
  });

  test('a rollback by one API process applies at once in another, without Temporal and workers', async () => {
    await seedPrompt(call, 'two/processes');
    const { id } = await startRelease(call, 'two/processes', [CANARY, HOUR]);
    await untilRelease(call, id, ({ step }) => step === 1);
    const api = await startApi({ ...service.dependencies, registry: new Registry() }, { eager: false });
    const other = createCall(`http://127.0.0.1:${api.port}`, service.key);
    try {
      for (const _ of [1, 2]) expect((await runByLabel(other, 'two/processes')).prompt_version).toBe(2);
      const rolledBackAt = performance.now();
      expect((await call('POST', `/releases/${id}/rollback`)).body.status).toBe('rolled_back');
      expect((await runByLabel(other, 'two/processes')).prompt_version).toBe(1);
      expect(performance.now() - rolledBackAt).toBeLessThan(20_000);
      const resolved = await other('POST', '/prompts/resolve', {
        body: { prompts: [{ name: 'two/processes', label: 'production', known_version: 1 }] },
      });
      expect(resolved.body.data).toEqual([{ name: 'two/processes', unchanged: true }]);
    } finally {
      await api.close(0);
    }
  });

  test('a request that names another model does not count', async () => {
    await seedPrompt(call, 'other/model');
    const { id } = await startRelease(call, 'other/model', [CANARY, HOUR]);
    await untilRelease(call, id, ({ step }) => step === 1);
    const { body } = await call('POST', '/executions', {
      body: { prompt_name: 'other/model', label: 'production', variables: { q: 'x' }, model: 'sandbox/fail' },
    });
    expect(body).toMatchObject({ status: 'failed', prompt_version: 2, release: { id, arm: 'candidate' } });
    await runByLabel(call, 'other/model');
    const counted = await untilRelease(call, id, ({ arms }) => arms.candidate.executions > 0);
    expect(counted.arms.candidate).toMatchObject({ executions: 1, errors: 0 });
    await call('POST', `/releases/${id}/cancel`);
  });
});

test('deleting a workspace deletes its releases', async () => {
  const { db, client, taskQueues, log } = service.dependencies;
  const other = await createOtherWorkspace(service, 'goes-with-releases');
  await seedPrompt(other.call, 'gone/release');
  const { id, workflow_id: workflowId } = await startRelease(other.call, 'gone/release', [CANARY, HOUR]);
  await untilRelease(other.call, id, ({ step }) => step === 1);
  await other.call('PUT', '/labels/production', { body: { release: { steps: [HOUR] } } });
  const { id: workspace } = await deleteWorkspace(db.system, 'goes-with-releases');
  const deps = { db, starter: { client, taskQueues, eager: false }, log, capabilities: CAPABILITIES };
  const left = () =>
    db.system.query<{ count: number }>({
      text: `select (select count(*) from releases where workspace_id = '${workspace}')
               + (select count(*) from label_policies where workspace_id = '${workspace}') as count`,
    });
  for (let runs = 0; runs < 20 && (await left())[0]?.count !== 0; runs++)
    await removeWorkspaces(deps, new AbortController().signal, 0);
  expect((await left())[0]?.count).toBe(0);
  await client.workflow.getHandle(workflowId).result();
});
