import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { agent, DONE, newSpanId, newTraceId, send, settled, span } from '../traces/traces-support.ts';
import { seedPrompt, startRelease, untilStatus } from './releases-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const run = async (key: string, headers = {}) =>
  (
    await service.call('POST', '/executions', {
      body: { prompt_name: 'agents/plan', label: 'production', variables: { q: 'hi' }, rollout_key: key },
      headers,
    })
  ).body;

/** A settled trace with a run for each key. */
async function trace(keys: readonly string[], error?: string) {
  const [traceId, id] = [newTraceId(), newSpanId()];
  for (const key of keys) await run(key, { traceparent: `00-${traceId}-${id}-01` });
  await send(service.call, [
    span({ traceId, id, attributes: agent(0, 0, DONE), ...(error !== undefined && { error }) }),
  ]);
  await settled(service, traceId);
  return traceId;
}

test('arms are compared by whole traces; a trace of both arms counts for neither', async () => {
  const { call } = service;
  await seedPrompt(call, 'agents/plan');
  const check = { metric: 'trace:error_rate', against: 0.1, max_increase: 0.1 };
  const score = { metric: 'trace:score:solved', against: 0, max_increase: 1 };
  const { id } = await startRelease(call, 'agents/plan', [
    { type: 'canary', percent: 50 },
    { type: 'analyze', for: '100s', min_executions: 1, checks: [check, score] },
  ]);
  const release = async () => (await call('GET', `/releases/${id}`)).body;
  await until('the canary to be open', async () => (await release()).percent === 50 || undefined);
  const keys: Record<string, string> = {};
  for (let n = 0; keys['stable'] === undefined || keys['candidate'] === undefined; n += 1) {
    const { release: chosen } = await run(`user ${n}`);
    keys[chosen.arm] ??= `user ${n}`;
  }
  const { stable = '', candidate = '' } = keys;
  await trace([stable, candidate]);
  const good = await trace([stable]);
  const { body: scored } = await call('POST', '/scores', {
    body: { name: 'solved', value: 1, subject: { trace_id: good } },
  });
  const scores = async () => {
    const [row] = await service.dependencies.db.system.query<{ count: number }>(
      {
        text: `select sum(count)::int as count from release_sums where workspace_id = $1 and measure = 'trace:score:solved' and arm = 'stable' and starts_at > to_timestamp(0)`,
      },
      [service.workspaceId],
    );
    return row?.count;
  };
  await until('the score is counted', async () => (await scores()) === 1 || undefined);
  await call('DELETE', `/scores/${scored.id ?? scored.data?.[0].id}`);
  await until('the score is no longer counted', async () => (await scores()) === 0 || undefined);
  await Promise.all(Array.from({ length: 12 }, () => trace([candidate], 'lost')));
  const ended = await untilStatus(call, id, 'rolled_back');
  expect(ended.status_reason).toContain('Error rate of traces: 100.0 % in the candidate');
  expect(ended.arms).toMatchObject({
    stable: { traces: 1, traces_of_both: 1 },
    candidate: { traces_of_both: 1, errors: 0 },
  });
  expect(ended.arms.candidate.traces).toBeGreaterThan(5);
});
