import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deriveKey } from '../../support/derived-keys.ts';
import { type Call, createCall, startTestService, type TestService } from '../../support/service.ts';
import { labelOf, seedPrompt, startRelease, untilStatus } from '../releases/releases-support.ts';
import { createKey } from '../workspace.ts';

// A key of the workspace and all keys created from it are one holder: one approver, author, reviewer, owner, and one rate limit.
/** Requests a minute of a holder. */
const LIMIT = 300;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
});
afterAll(() => service?.stop());

const callWith = (key: string): Call => createCall(service.origin, key);
const derived = async (key: string): Promise<Call> => callWith((await deriveKey(service, key)).body.key);

test('an approval counts once for all keys that were made from one key, and not for the author', async () => {
  const { key } = await createKey(service, 'read', 'write', 'publish');
  const author = callWith(key);
  const others = [await derived(key), await derived(key)];
  await seedPrompt(author, 'holders/approve');
  const steps = [{ type: 'approve', count: 2 }];
  const { id } = await startRelease(author, 'holders/approve', steps);
  await untilStatus(author, id, 'awaiting_approval');
  for (const call of [author, ...others]) {
    const refused = await call('POST', `/releases/${id}/approve`, { body: {} });
    expect([refused.status, refused.body.error?.code]).toEqual([400, 'invalid_state']);
  }
  // Another person with three keys is one approver.
  const second = await createKey(service, 'read', 'write', 'publish');
  const approvers = [callWith(second.key), await derived(second.key), await derived(second.key)];
  for (const call of approvers)
    expect((await call('POST', `/releases/${id}/approve`, { body: {} })).body).toMatchObject({
      status: 'awaiting_approval',
      approvals: [{}],
    });
  expect(await labelOf(author, 'holders/approve')).toBe(1);
  const third = callWith((await createKey(service, 'read', 'write', 'publish')).key);
  expect((await third('POST', `/releases/${id}/approve`, { body: {} })).status).toBe(200);
  await untilStatus(author, id, 'succeeded');
  expect(await labelOf(author, 'holders/approve')).toBe(2);
});

test('an item that needs several reviewers is reviewed once by all keys made from one key', async () => {
  const { key } = await createKey(service, 'read', 'write', 'execute');
  const reviewer = callWith(key);
  const other = await derived(key);
  const { body: execution } = await reviewer('POST', '/executions', {
    body: { draft: { template: 'Hello', model: 'sandbox/echo' }, variables: {} },
  });
  await reviewer('PUT', '/queues/holders', { body: { score_names: ['good'], reviewers_per_item: 2 } });
  await reviewer('POST', '/queues/holders/items', { body: { execution_ids: [execution.id] } });
  const { body } = await reviewer('POST', '/queues/holders/next');
  const scores = [{ name: 'good', value: true }];
  const completed = await reviewer('POST', `/queues/holders/items/${body.item.id}/complete`, { body: { scores } });
  expect(completed.status).toBe(200);
  expect((await other('POST', '/queues/holders/next')).body.item).toBeNull();
});

test('saved views belong to the key that the others were made from', async () => {
  const { key } = await createKey(service, 'read', 'write');
  const view = { page: 'executions', query: { status: 'failed' }, columns: [], shared: false };
  const saved = await callWith(key)('PUT', '/views/mine', { body: view });
  expect(saved.status).toBe(200);
  const seen = await (await derived(key))('GET', '/views');
  expect(seen.body.data.map(({ name }: { name: string }) => name)).toEqual(['mine']);
});

test('at most 20 keys are made from one key, even at the same time', async () => {
  const { key } = await createKey(service, 'read');
  const answers = await Promise.all(Array.from({ length: 24 }, () => deriveKey(service, key)));
  expect(answers.filter(({ status }) => status === 201 || status === 200)).toHaveLength(20);
  for (const { status, body } of answers.filter(({ body }) => body.error !== undefined))
    expect([status, body.error.code]).toEqual([429, 'quota_exceeded']);
});

test('keys that were made from one key share its rate limit', async () => {
  const { key } = await createKey(service, 'read');
  const other = await derived(key);
  await Promise.all(Array.from({ length: LIMIT }, () => callWith(key)('GET', '/me')));
  expect((await other('GET', '/me')).status).toBe(429);
});
