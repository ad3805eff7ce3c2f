import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parsePublicId } from '../../../src/domain/ids.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { agent, DONE, modelCall, newSpanId, newTraceId, send, settled, span } from '../traces/traces-support.ts';
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
  const root = span({ traceId, id, attributes: agent(0, 0, DONE), ...(error !== undefined && { error }) });
  // Exporters repeat a 503, which a busy machine may answer to many at once.
  await until('the trace is taken', async () => (await send(service.call, [root])).status === 200);
  await settled(service, traceId);
  return traceId;
}

interface Row extends Record<string, unknown> {
  count: number;
  errors: number;
}

const CHECK = { metric: 'trace:error_rate', against: 0.1, max_increase: 0.1 };

test('arms are compared by whole traces; a trace of both arms counts for neither', async () => {
  const { call } = service;
  await seedPrompt(call, 'agents/plan');
  const score = { metric: 'trace:score:solved', against: 0, max_increase: 1 };
  const { id } = await startRelease(call, 'agents/plan', [
    { type: 'canary', percent: 50 },
    { type: 'analyze', for: '100s', min_executions: 1, checks: [CHECK, score] },
  ]);
  const release = async () => (await call('GET', `/releases/${id}`)).body;
  await until('the canary to be open', async () => (await release()).percent === 50 || undefined);
  const keys: Record<string, string> = {};
  for (let n = 0; keys['stable'] === undefined || keys['candidate'] === undefined; n += 1) {
    const { release: chosen } = await run(`user ${n}`);
    keys[chosen.arm] ??= `user ${n}`;
  }
  const { stable = '', candidate = '' } = keys;
  const both = await trace([stable, candidate]);
  const good = await trace([stable]);
  const found = async (query: string) => {
    const { body } = await call('GET', `/traces?${query}`);
    return body.data.map((each: { id: string }) => each.id).sort();
  };
  expect(await found(`release=${id}`)).toEqual([both, good].sort());
  expect(await found(`release=${id}&arm=candidate`)).toEqual([both]);
  expect(await found(`release=${id}&arm=candidate&status=error&sort=-cost`)).toEqual([]);
  const { body: counts } = await call('GET', `/traces/facets?release=${id}&arm=stable`);
  expect(counts).toMatchObject({ counted: 2, complete: true });
  expect((await call('GET', '/traces?arm=third')).status).toBe(400);
  expect((await call('GET', '/traces?release=unknown')).status).toBe(400);
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

test('a span names the release that chose the version of its call, or stays without one', async () => {
  const { call } = service;
  await seedPrompt(call, 'agents/told');
  await seedPrompt(call, 'agents/other');
  const analyze = { type: 'analyze', for: '100s', min_executions: 1, checks: [CHECK], recorded: true };
  const { id } = await startRelease(call, 'agents/told', [{ type: 'canary', percent: 50 }, analyze]);
  const release = async () => (await call('GET', `/releases/${id}`)).body;
  await until('the canary to be open', async () => (await release()).percent === 50 || undefined);
  const told = async (attributes: Record<string, string>) => {
    const traceId = newTraceId();
    const named = { 'gen_ai.prompt.name': 'agents/told', 'pms.release.id': id, 'pms.release.arm': 'candidate' };
    await send(call, [span({ traceId, attributes: modelCall(5, 2, { ...DONE, ...named, ...attributes }) })]);
    await settled(service, traceId);
    const { body } = await call('GET', `/executions?trace_id=${traceId}`);
    return body.data[0];
  };
  const ofCandidate = { release: { id, arm: 'candidate', keyed: false }, prompt_version: 2 };
  expect(await told({})).toMatchObject(ofCandidate);
  expect(await told({ 'gen_ai.prompt.version': '2' })).toMatchObject(ofCandidate);
  for (const wrong of [
    { 'gen_ai.prompt.version': '1' },
    { 'gen_ai.prompt.name': 'agents/other' },
    { 'pms.release.id': 'rel_01a21edf-aae1-70f0-b729-e27bdb0e3c87' },
    { 'pms.release.id': 'nonsense' },
    { 'pms.release.arm': 'third' },
  ])
    expect([wrong, (await told(wrong)).release]).toEqual([wrong, null]);
  await until('both traces are counted', async () => (await release()).arms.candidate.traces === 2 || undefined);
  expect((await call('GET', `/traces?release=${id}`)).body.data).toHaveLength(2);

  // A trace that settles without its root, which fails later, is counted again.
  const [traceId, root] = [newTraceId(), newSpanId()];
  const named = { 'gen_ai.prompt.name': 'agents/told', 'pms.release.id': id, 'pms.release.arm': 'candidate', ...DONE };
  await send(call, [span({ traceId, parent: root, attributes: modelCall(5, 2, named) })]);
  expect(await settled(service, traceId)).toMatchObject({ status: 'ok', incomplete: ['root_missing'] });
  const errors = async () => {
    const text = `select sum(count)::int as count, sum(total)::int as errors from release_sums
      where workspace_id = $1 and release_id = $2 and measure = 'trace:error' and starts_at = to_timestamp(0)`;
    const uuid = parsePublicId('release', id) ?? '';
    const [row] = await service.dependencies.db.system.query<Row>({ text }, [service.workspaceId, uuid]);
    return row;
  };
  await until('it is counted', async () => (await errors())?.count === 3 || undefined);
  expect(await errors()).toEqual({ count: 3, errors: 0 });
  await send(call, [span({ traceId, id: root, error: 'lost', attributes: agent(0, 0, DONE) })]);
  await until('its failure is counted', async () => (await errors())?.errors === 1 || undefined);
  expect(await errors()).toEqual({ count: 3, errors: 1 });
});
