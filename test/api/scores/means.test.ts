import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Call, startTestService, type TestService } from '../../support/service.ts';

// Categories and texts have no mean, so a check on them would never be decided. Whichever comes first, the later one is
// rejected.

let service: TestService;
let call: Call;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  call = service.call;
  for (const template of ['a', 'b'])
    await call('POST', '/prompts', { body: { name: 'means', template, model: 'sandbox/echo' } });
  await call('PUT', '/prompts/means/labels/production', { body: { version: 1 } });
});
afterAll(() => service?.stop());

const stepsOver = (metric: string) => [
  { type: 'canary', percent: 10 },
  { type: 'analyze', for: '1h', min_executions: 1, checks: [{ metric, max_decrease: 0.1 }] },
];
/** Users of the mean of a score, and the path of its check. */
const KINDS = {
  monitor: {
    path: 'checks.0.metric',
    called: (name: string) => `the monitor "${name}"`,
    put: (name: string, metric: string) =>
      call('PUT', `/monitors/${name}`, { body: { window: '15m', checks: [{ metric, below: 0.5 }] } }),
  },
  'policy of a label': {
    path: 'release.steps.1.checks.0.metric',
    called: (name: string) => `the policy of the label "${name}"`,
    put: (name: string, metric: string) =>
      call('PUT', `/labels/${name}`, { body: { release: { required: true, steps: stepsOver(metric) } } }),
  },
  'policy that checks after promoting': {
    path: 'release.steps.0.bake.checks.0.metric',
    called: (name: string) => `the policy of the label "${name}"`,
    put: (name: string, metric: string) => {
      const bake = { for: '1h', checks: [{ metric, max_decrease: 0.1 }] };
      return call('PUT', `/labels/${name}`, { body: { release: { steps: [{ type: 'promote', bake }] } } });
    },
  },
  release: {
    path: 'steps.1.checks.0.metric',
    called: () => 'an unfinished release of the label "production"',
    put: (_name: string, metric: string) =>
      call('POST', '/releases', {
        body: { prompt_name: 'means', label: 'production', version: 2, supersede: true, steps: stepsOver(metric) },
      }),
  },
};
const define = (name: string, data_type: string) => call('PUT', `/score-definitions/${name}`, { body: { data_type } });

describe.each(Object.entries(KINDS))('a check of a %s', (kind, { path, called, put }) => {
  const name = kind.replaceAll(' ', '-');

  test.each(['categorical', 'text'])('over %s scores is refused', async (type) => {
    await define(`${name}-${type}`, type);
    const { status, body } = await put(`${name}-${type}`, `score:${name}-${type}`);
    expect([status, body.error?.details]).toEqual([
      400,
      [{ path, message: expect.stringContaining('which have no mean: name a score that is a number or a boolean') }],
    ]);
  });

  test('refuses a definition that it could not compare, and a first score', async () => {
    const score = `${name}-later`;
    expect((await put(`${name}-open`, `score:${score}`)).status).toBeLessThan(300);
    const { status, body } = await define(score, 'categorical');
    expect([status, body.error?.details]).toEqual([
      400,
      [
        {
          path: 'data_type',
          message: expect.stringContaining(`${called(`${name}-open`)} checks the mean of these scores`),
        },
      ],
    ]);
    const time = new Date().toISOString();
    const run = { prompt_name: 'means', prompt_version: 1, model: 'openai/gpt-4o-mini', input: 'a', output: 'a' };
    const records = [{ id: `${name}-run`, ...run, started_at: time, finished_at: time }];
    expect((await call('POST', '/executions/record', { body: { records } })).status).toBe(201);
    const [{ id }] = (await call('GET', '/executions?recorded=true&limit=1')).body.data;
    const first = await call('POST', '/scores', {
      body: { name: score, value: 'good', subject: { execution_id: id } },
    });
    expect([first.status, JSON.stringify(first.body)]).toEqual([400, expect.stringContaining('checks the mean')]);
    expect((await define(score, 'boolean')).status).toBe(200);
    const changed = await define(score, 'text');
    expect(changed.status).toBe(400);
  });
});

test('a definition without checks can change', async () => {
  expect((await KINDS.monitor.put('gone', 'score:gone')).status).toBe(200);
  expect((await define('gone', 'text')).status).toBe(400);
  await call('DELETE', '/monitors/gone');
  expect((await define('gone', 'text')).status).toBe(200);
});
