import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { checkNow, putMonitor } from './monitors-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const CHECKS = [{ metric: 'error_rate', above: 0.1 }];
const DEFINITION = { window: '15m', checks: CHECKS };

describe('a definition', () => {
  test('is stored with its defaults, and replaced as a whole', async () => {
    const { call } = service;
    const created = await putMonitor(call, 'team/errors', { ...DEFINITION, prompt_name: 'say', label: 'production' });
    expect(created).toEqual({
      name: 'team/errors',
      prompt_name: 'say',
      label: 'production',
      window: '15m',
      checks: [{ metric: 'error_rate', above: 0.1, recover_at: 0.09, min_executions: 20, for: '2m' }],
      notify: { email: true },
      enabled: true,
      state: 'no_data',
      since: expect.any(String),
      values: [],
      last_checked_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await call('GET', '/monitors/team/errors')).body).toEqual(created);
    const checks = [{ metric: 'cost_total', above: 2, recover_at: 1, for: '1m' }];
    const replaced = await putMonitor(call, 'team/errors', { window: '24h', checks, notify: { email: false } });
    expect(replaced).toMatchObject({
      prompt_name: null,
      label: null,
      checks: [{ ...checks[0], min_executions: 0 }],
      notify: { email: false },
      created_at: created.created_at,
    });
    const { body } = await call('GET', '/audit-log?resource=monitor:team/errors');
    expect(body.data.map(({ action }: { action: string }) => action)).toEqual(['monitor.updated', 'monitor.created']);
  });

  test('over scores without a mean is refused', async () => {
    const { call } = service;
    await call('PUT', '/score-definitions/tone', { body: { data_type: 'categorical' } });
    await call('PUT', '/score-definitions/note', { body: { data_type: 'text' } });
    const check = (name: string) => ({ metric: `score:${name}`, below: 0.5 });
    const put = (checks: object[]) => call('PUT', '/monitors/team/tones', { body: { window: '15m', checks } });
    const { status, body } = await put([...CHECKS, check('tone')]);
    expect(status).toBe(400);
    expect(body.error.details).toEqual([
      {
        path: 'checks.1.metric',
        message: 'scores named "tone" are categories, which have no mean: name a score that is a number or a boolean',
      },
    ]);
    expect((await put([check('note')])).status).toBe(400);
    expect((await put([check('unknown')])).status).toBe(200);
  });

  test.each([
    [{}, 'window'],
    [{ ...DEFINITION, window: '30s' }, 'window'],
    [{ ...DEFINITION, window: '25h' }, 'window'],
    [{ ...DEFINITION, window: 15 }, 'window'],
    [{ ...DEFINITION, checks: [] }, 'checks'],
    [{ ...DEFINITION, checks: Array.from({ length: 11 }, () => CHECKS[0]) }, 'checks'],
    [{ ...DEFINITION, label: 'latest' }, 'label'],
    [{ ...DEFINITION, label: 'live', checks: [{ metric: 'trace:error_rate', above: 0.1 }] }, 'label'],
    [{ ...DEFINITION, checks: [{ metric: 'trace:refusal_rate', above: 0.1 }] }, 'checks.0.metric'],
    [{ ...DEFINITION, prompt_name: '/' }, 'prompt_name'],
    [{ ...DEFINITION, enabled: 'yes' }, 'enabled'],
    [{ ...DEFINITION, notify: { slack: true } }, 'notify'],
    [{ ...DEFINITION, more: 1 }, 'more'],
  ])('that is invalid is refused: %j', async (body, field) => {
    const answer = await service.call('PUT', '/monitors/wrong', { body });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toContain(field);
    expect((await service.call('GET', '/monitors/wrong')).status).toBe(404);
  });

  test.each([
    [{ metric: 'errors', above: 0.1 }, 'refusal_rate, score:NAME, or trace:score:NAME'],
    [{ metric: 'score:', above: 0.1 }, 'score:NAME'],
    [{ metric: 'score:is it good', above: 0.1 }, 'the name of the score may hold letters'],
    [{ metric: 'error_rate' }, 'above: is required, or below'],
    [{ metric: 'error_rate', above: 0.1, below: 0.01 }, 'create two checks'],
    [{ metric: 'error_rate', above: 5 }, '5 % is 0.05'],
    [{ metric: 'error_rate', above: 1 }, 'must be less than 1'],
    [{ metric: 'error_rate', above: 0.1, recover_at: 0.2 }, 'at most "above", which is 0.1'],
    [{ metric: 'score:helpful', below: 3, recover_at: 2 }, 'at least "below", which is 3'],
    [{ metric: 'latency_p95', above: -1 }, 'never less'],
    [{ metric: 'cost_mean', below: 0 }, 'more than 0'],
    [{ metric: 'cost_mean', above: 1, recover_at: -1 }, 'never less'],
    [{ metric: 'error_rate', above: 0.1, for: '10s' }, 'from 1 min to 24 h'],
    [{ metric: 'error_rate', above: 0.1, min_executions: 0.5 }, 'whole number'],
    [{ metric: 'error_rate', above: '0.1' }, 'must be a number'],
    [{ metric: 'error_rate', above: 0.1, severity: 'high' }, 'severity'],
  ])('with an invalid check is refused, with what to change: %j', async (check, words) => {
    const answer = await service.call('PUT', '/monitors/wrong', { body: { window: '15m', checks: [check] } });
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(words)]);
  });

  test.each(['a//b', 'a b', 'x/history', '.'])('cannot have the name %j', async (name) => {
    const answer = await service.call('PUT', `/monitors/${encodeURIComponent(name)}`, { body: DEFINITION });
    expect([400, 404]).toContain(answer.status);
  });
});

test('monitors are listed by name, page by page, and are gone once deleted', async () => {
  const other = await createOtherWorkspace(service, 'lists');
  for (const name of ['c', 'a', 'b/2', 'b/1']) await putMonitor(other.call, name, DEFINITION);
  const names: string[] = [];
  let cursor = '';
  do {
    const { body } = await other.call('GET', `/monitors?limit=3${cursor && `&cursor=${cursor}`}`);
    names.push(...body.data.map(({ name }: { name: string }) => name));
    cursor = body.next_cursor ?? '';
  } while (cursor !== '');
  expect(names).toEqual(['a', 'b/1', 'b/2', 'c']);
  expect((await other.call('DELETE', '/monitors/b/1')).body).toMatchObject({ name: 'b/1', checks: [{ above: 0.1 }] });
  for (const [method, path] of [
    ['GET', '/monitors/b/1'],
    ['GET', '/monitors/b/1/history'],
    ['DELETE', '/monitors/b/1'],
  ] as const)
    expect((await other.call(method, path)).status).toBe(404);
});

test('reading needs read, changing write; without read a change hides all measurements', async () => {
  const { key: reads } = await createKey(service, 'read');
  const { key: writes } = await createKey(service, 'write');
  const { key: executes } = await createKey(service, 'execute');
  await putMonitor(service.call, 'scoped', { ...DEFINITION, checks: [{ ...CHECKS[0], min_executions: 0 }] });
  await checkNow(service.dependencies);
  const put = (key: string) => service.call('PUT', '/monitors/scoped', { key, body: DEFINITION });
  expect((await put(reads)).status).toBe(401);
  expect((await put(executes)).status).toBe(401);
  expect((await service.call('GET', '/monitors/scoped', { key: writes })).status).toBe(401);
  expect((await service.call('GET', '/monitors/scoped', { key: reads })).body.values).toHaveLength(1);
  expect((await put(writes)).body).toMatchObject({ state: 'no_data', values: [], last_checked_at: null });
  expect((await service.call('DELETE', '/monitors/scoped', { key: reads })).status).toBe(401);
  expect((await service.call('DELETE', '/monitors/scoped', { key: writes })).body.checks).toEqual([]);
});

test('a name used in another workspace is independent', async () => {
  const other = await createOtherWorkspace(service, 'apart');
  const mine = await putMonitor(service.call, 'apart', DEFINITION);
  await putMonitor(other.call, 'apart', { ...DEFINITION, window: '1h' });
  expect((await service.call('GET', '/monitors/apart')).body).toEqual(mine);
  expect((await other.call('GET', '/monitors')).body.data).toHaveLength(1);
});

test('ten identical requests at once to create a monitor all succeed, and there is one', async () => {
  const other = await createOtherWorkspace(service, 'at once');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => other.call('PUT', '/monitors/one', { body: DEFINITION })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect((await other.call('GET', '/monitors')).body.data).toHaveLength(1);
});

test('a webhook without named events gets none of monitors; one that names them does', async () => {
  const url = 'http://127.0.0.1:65000/';
  const { body: plain } = await service.call('POST', '/webhooks', { body: { url } });
  expect(plain.events).toHaveLength(6);
  const events = ['monitor.alerted', 'monitor.recovered'];
  const { body: named } = await service.call('POST', '/webhooks', { body: { url, events } });
  expect(named.events).toEqual(events);
});
