import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { policyOf, setPolicy as setLabelPolicy } from '../../../src/services/prompts/label-policies.ts';
import { type Call, createCall, startTestService, type TestService } from '../../support/service.ts';
import { createKey } from '../workspace.ts';
import { labelOf, seedPrompt, startRelease, untilStatus } from './releases-support.ts';

// A label that moves only by releases: no control bypasses its steps.
let service: TestService;
let call: Call;
let people: Record<'editor' | 'publisher' | 'second' | 'admin', Call>;
beforeAll(async () => {
  service = await startTestService();
  ({ call } = service);
  const keyWith = async (...scopes: Parameters<typeof createKey>[1][]) =>
    createCall(service.origin, (await createKey(service, ...scopes)).key);
  people = {
    editor: await keyWith('read', 'write'),
    publisher: await keyWith('read', 'write', 'publish'),
    second: await keyWith('read', 'write', 'publish'),
    admin: call,
  };
  await setPolicy();
});
afterAll(() => service?.stop());

const setPolicy = async (steps: object[] = [{ type: 'approve', count: 2 }, { type: 'promote' }]) => {
  const release = steps.length === 0 ? null : { steps, required: true };
  expect((await call('PUT', '/labels/production', { body: { release } })).status).toBe(200);
};

/** The first version gets the label by override: nothing else may move it. */
async function seed(name: string): Promise<void> {
  await seedPrompt(
    (method, path, options) =>
      call(method, path, method === 'PUT' ? { body: { version: 1, override: true, reason: 'the first' } } : options),
    name,
  );
}

describe('promoting a release with unfinished steps', () => {
  test('is refused without the override of an admin, which is audited', async () => {
    await seed('required/promote');
    const { id } = await startRelease(people.publisher, 'required/promote', undefined);
    await untilStatus(call, id, 'awaiting_approval');
    const promote = (as: Call, body: object = {}) => as('POST', `/releases/${id}/promote`, { body });
    const refused = await promote(people.publisher);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_state']);
    expect(refused.body.error.message).toContain('these are not done: approve');
    const override = { override: true, reason: 'an outage' };
    expect((await promote(people.publisher, override)).body.error.code).toBe('insufficient_scope');
    expect((await promote(people.admin)).body.error.code).toBe('invalid_state');
    expect((await promote(people.admin, { override: true })).body.error.details).toEqual([
      { path: 'reason', message: expect.any(String) },
    ]);
  });

  test('moves the label if an admin overrides', async () => {
    await seed('required/override');
    const { id } = await startRelease(people.publisher, 'required/override', undefined);
    await untilStatus(call, id, 'awaiting_approval');
    const promoted = await call('POST', `/releases/${id}/promote`, { body: { override: true, reason: 'an outage' } });
    expect([promoted.status, promoted.body.status]).toEqual([200, 'succeeded']);
    expect(await labelOf(call, 'required/override')).toBe(2);
    const { body } = await call('GET', `/audit-log?resource=release:${id}`);
    expect(body.data[0]).toMatchObject({ action: 'release.promoted', details: { override: 'an outage' } });
  });

  test('never moves the label with fewer approvals than its policy needs, in any order of controls', async () => {
    const actions = ['approve', 'pause', 'resume', 'promote', 'rollback', 'cancel', 'reject', 'supersede', 'move'];
    let state = 7;
    const draw = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return Math.floor((state / 0x80000000) * below);
    };
    const callers = Object.entries(people);
    for (let round = 0; round < 12; round += 1) {
      const name = `required/random-${round}`;
      await seed(name);
      let { id } = await startRelease(people.publisher, name, undefined);
      for (let step = 0; step < 25; step += 1) {
        const action = actions[draw(actions.length)] ?? 'promote';
        const [who, as] = callers[draw(callers.length)] ?? ['admin', call];
        const before = (await call('GET', `/releases/${id}`)).body;
        const version = await labelOf(call, name);
        if (action === 'supersede') {
          const body = { prompt_name: name, label: 'production', version: 2, supersede: true };
          const answer = await as('POST', '/releases', { body });
          if (answer.status === 201) id = answer.body.id;
        } else if (action === 'move') await as('PUT', `/prompts/${name}/labels/production`, { body: { version: 2 } });
        else await as('POST', `/releases/${id}/${action}`, { body: {} });
        const now = await labelOf(call, name);
        const { approvals } = (await call('GET', `/releases/${before.id}`)).body;
        if (version === 1 && now === 2)
          expect([round, step, who, action, approvals.length]).toEqual([round, step, who, action, 2]);
      }
    }
  });
});

test('a release started before its label got a policy obeys it, too', async () => {
  await setPolicy([]);
  await seedPrompt(call, 'required/earlier');
  await seedPrompt(call, 'required/enough');
  const steps = (count: number) => [{ type: 'approve', count, exclude_author: false }];
  const { id } = await startRelease(people.publisher, 'required/earlier', steps(1));
  const { id: enough } = await startRelease(people.publisher, 'required/enough', [{ type: 'approve', count: 2 }]);
  await setPolicy();
  for (const each of [id, enough]) await untilStatus(call, each, 'awaiting_approval');
  const promoted = await people.publisher('POST', `/releases/${id}/promote`, { body: {} });
  expect([promoted.status, promoted.body.error.code]).toEqual([400, 'invalid_state']);
  expect((await people.second('POST', `/releases/${id}/approve`, { body: {} })).status).toBe(200);
  const failed = await untilStatus(call, id, 'failed', 'succeeded');
  expect([failed.status, failed.status_reason]).toEqual(['failed', expect.stringContaining('not done: approve')]);
  expect(await labelOf(call, 'required/earlier')).toBe(1);
  // A release with at least the required steps continues.
  const third = createCall(service.origin, (await createKey(service, 'read', 'write', 'publish')).key);
  for (const each of [people.second, third])
    expect((await each('POST', `/releases/${enough}/approve`, { body: {} })).status).toBe(200);
  await untilStatus(call, enough, 'succeeded');
});

test('a release started while its label got a policy obeys it, too', async () => {
  await setPolicy([]);
  await seedPrompt(call, 'required/meanwhile');
  const db = service.dependencies.db.workspace(service.workspaceId);
  const id = await db.transaction(async (query) => {
    // The time of the transaction is the time of its first statement.
    await policyOf(query, 'production');
    const steps = [{ type: 'approve', count: 1 }];
    const begun = await startRelease(people.publisher, 'required/meanwhile', steps);
    const approve = { type: 'approve', count: 2, exclude_author: true } as const;
    await setLabelPolicy(query, 'production', { steps: [approve, { type: 'promote' }], required: true });
    return begun.id;
  });
  expect((await people.second('POST', `/releases/${id}/approve`, { body: {} })).status).toBe(200);
  expect((await untilStatus(call, id, 'failed', 'succeeded')).status).toBe('failed');
  expect(await labelOf(call, 'required/meanwhile')).toBe(1);
});

test('the steps of an override at the start are all that a release needs', async () => {
  await setPolicy();
  await seed('required/other-steps');
  const override = { override: true, reason: 'an outage' };
  const { id } = await startRelease(people.admin, 'required/other-steps', [{ type: 'wait', for: '1s' }], override);
  expect((await untilStatus(call, id, 'succeeded', 'failed')).status).toBe('succeeded');
});

test('the audit log names an override only if it overrode something', async () => {
  await setPolicy([]);
  await seedPrompt(call, 'required/nothing');
  const override = { override: true, reason: 'just so' };
  const { id } = await startRelease(people.publisher, 'required/nothing', [{ type: 'wait', for: '1h' }], override);
  expect((await people.publisher('POST', `/releases/${id}/promote`, { body: override })).status).toBe(200);
  const { body } = await call('GET', `/audit-log?resource=release:${id}`);
  expect(body.data.map(({ action }: { action: string }) => action)).toEqual(['release.promoted', 'release.started']);
  for (const { details } of body.data) expect(details).not.toHaveProperty('override');
});
