import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.ts';
import { type Call, startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { labelOf, runByLabel, seedPrompt, startRelease, untilStatus } from './releases-support.ts';

let service: TestService;
let call: Call;
beforeAll(async () => {
  service = await startTestService();
  ({ call } = service);
});
afterAll(() => service?.stop());

const CANARY = { type: 'canary', percent: 100 };
const HOUR = { type: 'wait', for: '1h' };
const runs = (name: string, count: number) => Promise.all(Array.from({ length: count }, () => runByLabel(call, name)));
const say = async (score: string, executions: { id: string }[], value: unknown) => {
  const scores = executions.map(({ id }) => ({ name: score, value, subject: { execution_id: id } }));
  const { status, body } = await call('POST', '/scores', { body: { scores } });
  expect(status).toBe(201);
  return body.data;
};

test('a candidate with worse scores than its check allows is rolled back', async () => {
  await call('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean' } });
  await seedPrompt(call, 'scored/worse');
  const { id } = await startRelease(call, 'scored/worse', [
    CANARY,
    {
      type: 'analyze',
      // Checked every ten seconds.
      for: '100s',
      min_executions: 1,
      checks: [{ metric: 'score:helpful', against: 0.8, max_decrease: 0.1 }],
    },
  ]);
  await until(
    'the canary to be open',
    async () => (await call('GET', `/releases/${id}`)).body.percent === 100 || undefined,
  );
  const executions = await runs('scored/worse', 60);
  expect(executions[0].release).toMatchObject({ id, arm: 'candidate' });
  await say('helpful', executions, false);
  const ended = await untilStatus(call, id, 'rolled_back');
  expect(ended.status_reason).toContain('helpful');
  expect(ended.arms.candidate.scores).toEqual({ helpful: 0 });
  expect(await labelOf(call, 'scored/worse')).toBe(1);
  const [summed] = (await call('GET', '/scores/summary?name=helpful&group_by=arm,version,label')).body.data;
  expect(summed).toMatchObject({
    release_id: id,
    arm: 'candidate',
    prompt_version: 2,
    label: 'production',
    n: 60,
    share_true: 0,
  });
});

test('a check over scores without a mean is refused', async () => {
  await call('PUT', '/score-definitions/mood', { body: { data_type: 'categorical' } });
  await seedPrompt(call, 'scored/mood');
  const check = { metric: 'score:mood', max_decrease: 0.1 };
  const steps = [CANARY, { type: 'analyze', for: '1h', min_executions: 1, checks: [check] }];
  const body = { prompt_name: 'scored/mood', label: 'production', version: 2, steps };
  const refused = await call('POST', '/releases', { body });
  expect(refused.status).toBe(400);
  expect(refused.body.error.details).toEqual([
    expect.objectContaining({
      path: 'steps.1.checks.0.metric',
      message: expect.stringContaining('categories, which have no mean'),
    }),
  ]);
});

test('numbers follow replaced and deleted scores, and keep those of deleted executions', async () => {
  await seedPrompt(call, 'scored/changed');
  const { id } = await startRelease(call, 'scored/changed', [CANARY, HOUR]);
  await until(
    'the canary to be open',
    async () => (await call('GET', `/releases/${id}`)).body.percent === 100 || undefined,
  );
  const [first, second] = await runs('scored/changed', 2);
  const mean = async (expected: number | null) =>
    until(`a mean of ${expected}`, async () => {
      const { scores } = (await call('GET', `/releases/${id}`)).body.arms.candidate;
      return scores['tone'] === expected || undefined;
    });
  const own = `score_${newId()}`;
  await say('tone', [second], 4);
  await call('POST', '/scores', { body: { id: own, name: 'tone', value: 2, subject: { execution_id: first.id } } });
  await mean(3);
  await call('POST', '/scores', { body: { id: own, name: 'tone', value: 5, subject: { execution_id: first.id } } });
  await mean(4.5);
  await call('DELETE', `/scores/${own}`);
  await mean(4);
  await call('DELETE', `/executions/${second.id}`);
  await say('tone', [first], 2);
  await mean(3);
  const numbers = (await call('GET', `/releases/${id}/numbers`)).body.data;
  expect(numbers.some(({ scores }: { scores: object }) => 'tone' in scores)).toBe(true);
  await call('POST', `/releases/${id}/cancel`);
});
