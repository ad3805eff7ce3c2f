import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sweep } from '../../../src/jobs/sweep.ts';
import { QUOTAS } from '../../../src/services/workspaces/quota-list.ts';
import { createQuotas } from '../../../src/services/workspaces/quotas.ts';
import { type Answer, startTestService, type TestService } from '../../support/service.ts';
import { jsonLines, upload } from '../datasets/datasets-support.ts';
import { createOtherWorkspace } from '../workspace.ts';

const LIMIT = 5;
const AT_ONCE = 50;

let service: TestService;
let call: TestService['call'];
beforeAll(async () => {
  // Without workers, started work does not end.
  service = await startTestService(
    {
      QUOTA_API_KEYS: '6',
      QUOTA_PROMPTS: '5',
      QUOTA_DATASETS: '5',
      QUOTA_SCHEDULES: '5',
      QUOTA_MONITORS: '5',
      QUOTA_WEBHOOKS: '5',
      QUOTA_EVALUATIONS: '5',
      QUOTA_EXECUTIONS: '5',
      QUOTA_DELIVERIES: '5',
      QUOTA_DATASET_BYTES: '1MiB',
      DATABASE_POOL_SIZE: '10',
    },
    { workers: false },
  );
  ({ call } = service);
  await call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ text }}', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

const evaluation = { prompt_name: 'say', examples: [{ variables: { text: 'x' } }] };

const CREATIONS: [keyof typeof QUOTAS, (caller: TestService['call'], index: number) => Promise<Answer>][] = [
  ['apiKeys', (caller, n) => caller('POST', '/api-keys', { body: { name: `key ${n}`, scopes: ['read'] } })],
  [
    'prompts',
    (caller, n) => caller('POST', '/prompts', { body: { name: `p/${n}`, template: 'x', model: 'sandbox/echo' } }),
  ],
  ['webhooks', (caller) => caller('POST', '/webhooks', { body: { url: 'http://127.0.0.1:65000/' } })],
  ['schedules', (caller, n) => caller('POST', '/schedules', { body: { name: `${n}`, cron: '0 3 * * *', evaluation } })],
  ['evaluations', (caller) => caller('POST', '/evaluations', { body: evaluation })],
  [
    'executions',
    (caller) =>
      caller('POST', '/executions', {
        body: { prompt_name: 'say', variables: { text: 'x' } },
        headers: { Prefer: 'respond-async' },
      }),
  ],
  [
    'datasets',
    (caller, n) =>
      caller('PUT', `/datasets/d/${n}`, {
        raw: jsonLines([{ variables: { text: 'x' } }]),
        headers: { 'Content-Type': 'application/x-ndjson' },
      }),
  ],
  [
    'monitors',
    (caller, n) =>
      caller('PUT', `/monitors/${n}`, { body: { window: '1h', checks: [{ metric: 'error_rate', above: 0.1 }] } }),
  ],
];

test.each(CREATIONS)('of fifty %s at once at the limit, none too many is made', async (name, create) => {
  const other = await createOtherWorkspace(service, `quota of ${name}`);
  // Its first key counts; and evaluations and executions need a prompt.
  if (name !== 'prompts')
    await other.call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ text }}', model: 'sandbox/echo' } });
  const answers: Answer[] = [await create(other.call, 1_000)];
  answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => create(other.call, index)))));
  const statuses = answers.map(({ status }) => status).filter((status) => status !== 429);
  expect(statuses).toHaveLength(LIMIT);
  expect(statuses.every((status) => status === 200 || status === 201)).toBe(true);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.error).toMatchObject({
    code: 'quota_exceeded',
    message: expect.stringContaining(QUOTAS[name].setting),
  });
  expect(refused?.body.error.message).toMatch(name === 'apiKeys' ? /\b6\b/ : /\b5\b/);
  // Another workspace has its own quota.
  const next = await createOtherWorkspace(service, `beside the quota of ${name}`);
  if (name !== 'prompts')
    await next.call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ text }}', model: 'sandbox/echo' } });
  expect([200, 201]).toContain((await create(next.call, 0)).status);
});

describe('room is made', () => {
  test('by canceling executions', async () => {
    const other = await createOtherWorkspace(service, 'cancels');
    await other.call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ text }}', model: 'sandbox/echo' } });
    const [, create] = CREATIONS[5] ?? [];
    if (create === undefined) throw new Error('No executions.');
    const ids: string[] = [];
    for (let n = 0; n < LIMIT; n++) ids.push((await create(other.call, n)).body.id);
    expect((await create(other.call, 5)).status).toBe(429);
    await other.call('POST', `/executions/${ids[0]}/cancel`);
    // The count that refuses is at most a tenth of a second old.
    let answer = await create(other.call, 6);
    for (let tries = 0; answer.status === 429 && tries < 50; tries++) answer = await create(other.call, 6);
    expect(answer.status).toBe(201);
    expect((await create(other.call, 7)).status).toBe(429);
  });

  test('for bytes by deleting a dataset; an excess leaves nothing behind', async () => {
    const other = await createOtherWorkspace(service, 'bytes');
    const large = jsonLines(
      Array.from({ length: 6 }, (_, n) => ({ variables: { text: `${n} ${'x'.repeat(100_000)}` } })),
    );
    const options = { key: other.key };
    expect((await upload(service, 'one', large, options)).status).toBe(200);
    const refused = await upload(service, 'two', large, options);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded']);
    expect(refused.body.error.message).toContain('QUOTA_DATASET_BYTES');
    expect((await other.call('GET', '/datasets/two')).status).toBe(404);
    // Further versions count, too.
    expect((await upload(service, 'one', large, options)).status).toBe(429);
    expect((await other.call('GET', '/datasets/one')).body.version).toBe(1);
    await other.call('DELETE', '/datasets/one');
    // As it happens within a minute.
    await sweep(service.dependencies.db.system, new AbortController().signal);
    expect((await upload(service, 'two', large, options)).status).toBe(200);
  });
});

test('a repeated request gets the first answer, even with no room left', async () => {
  const other = await createOtherWorkspace(service, 'repeats');
  const options = { body: { url: 'http://127.0.0.1:65000/' }, headers: { 'Idempotency-Key': 'first' } };
  const first = await other.call('POST', '/webhooks', options);
  for (let n = 1; n < LIMIT; n++) await other.call('POST', '/webhooks', { body: options.body });
  expect((await other.call('POST', '/webhooks', { body: options.body })).status).toBe(429);
  expect((await other.call('POST', '/webhooks', options)).body).toEqual(first.body);
});

test('open uploads are counted for each workspace, until they end', async () => {
  const limits = { ...Object.fromEntries(Object.keys(QUOTAS).map((name) => [name, 0])), uploads: 2 };
  const quotas = createQuotas({ ...service.dependencies.settings.quotas, ...limits });
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = [quotas.upload('one', () => promise), quotas.upload('one', () => promise)];
  await expect(quotas.upload('one', () => promise)).rejects.toMatchObject({ code: 'quota_exceeded' });
  await quotas.upload('two', () => Promise.resolve());
  resolve();
  await Promise.all(begun);
  await quotas.upload('one', () => Promise.resolve());
});

test('requested deliveries are refused if too many have not ended', async () => {
  const other = await createOtherWorkspace(service, 'deliveries');
  const { body: webhook } = await other.call('POST', '/webhooks', { body: { url: 'http://127.0.0.1:65000/' } });
  const path = `/webhooks/${webhook.id}/test`;
  const ask = () => other.call('POST', path, { body: {}, headers: { Prefer: 'respond-async' } });
  const answers = await Promise.all(Array.from({ length: 15 }, ask));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(LIMIT);
  expect(answers.find(({ status }) => status === 429)?.body.error.message).toContain('QUOTA_DELIVERIES');
});
