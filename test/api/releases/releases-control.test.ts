import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publicId } from '../../../src/domain/ids.ts';
import { type Call, createCall, startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { labelOf, runByLabel, seedPrompt, startRelease, untilRelease, untilStatus } from './releases-support.ts';

let service: TestService;
let call: Call;
beforeAll(async () => {
  service = await startTestService();
  ({ call } = service);
});
afterAll(() => service?.stop());

const CANARY = { type: 'canary', percent: 100 };
const HOUR = { type: 'wait', for: '1h' };
const control = (id: string, action: string, body: object = {}, as: Call = call) =>
  as('POST', `/releases/${id}/${action}`, { body });
const keyWith = async (...scopes: Parameters<typeof createKey>[1][]) => {
  const created = await createKey(service, ...scopes);
  return { ...created, call: createCall(service.origin, created.key) };
};

describe('the controls of a release', () => {
  test('pause and resume it, as often as used', async () => {
    await seedPrompt(call, 'control/pause');
    const { id } = await startRelease(call, 'control/pause', [CANARY, HOUR]);
    await untilRelease(call, id, ({ step }) => step === 1);
    for (const _ of [1, 2]) {
      const paused = await control(id, 'pause', { comment: 'lunch' });
      expect([paused.status, paused.body.status]).toEqual([200, 'paused']);
      expect(paused.body.status_reason).toContain('lunch');
    }
    // A rolled back version stays out.
    expect((await runByLabel(call, 'control/pause')).prompt_version).toBe(2);
    for (const _ of [1, 2]) expect((await control(id, 'resume')).body.status).toBe('in_progress');
    const { decisions } = (await call('GET', `/releases/${id}`)).body;
    expect(decisions.map(({ verdict }: { verdict: string }) => verdict)).toEqual(
      ['passed', 'paused', 'resumed'].slice(1),
    );
    const refused = await control(id, 'approve');
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_state']);
    await control(id, 'cancel');
  });

  test('move the label at once, and back', async () => {
    await seedPrompt(call, 'control/promote');
    const { id } = await startRelease(call, 'control/promote', [CANARY, HOUR]);
    for (const _ of [1, 2]) expect((await control(id, 'promote')).body.status).toBe('succeeded');
    expect(await labelOf(call, 'control/promote')).toBe(2);
    const late = await control(id, 'rollback');
    expect([late.status, late.body.error.code]).toEqual([400, 'invalid_state']);
    expect(late.body.error.message).toContain(id);

    await seedPrompt(call, 'control/bake');
    const bake = await startRelease(call, 'control/bake', [{ type: 'promote', bake: { for: '1h' } }]);
    await untilStatus(call, bake.id, 'baking');
    expect(await labelOf(call, 'control/bake')).toBe(2);
    expect((await runByLabel(call, 'control/bake')).release).toMatchObject({ id: bake.id, arm: 'candidate' });
    expect((await control(bake.id, 'cancel')).body.error.message).toContain('roll it back');
    for (const _ of [1, 2]) expect((await control(bake.id, 'rollback')).body.status).toBe('rolled_back');
    expect(await labelOf(call, 'control/bake')).toBe(1);
    expect((await runByLabel(call, 'control/bake')).release).toBeNull();
  });

  test('obey only one of two simultaneous uses', async () => {
    await seedPrompt(call, 'control/race');
    const { id } = await startRelease(call, 'control/race', [CANARY, HOUR]);
    await untilRelease(call, id, ({ step }) => step === 1);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => control(id, n % 2 ? 'promote' : 'rollback')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    const { status, decisions } = (await call('GET', `/releases/${id}`)).body;
    expect(await labelOf(call, 'control/race')).toBe(status === 'succeeded' ? 2 : 1);
    expect(decisions).toHaveLength(1);
  });

  test('end its workflow, which agrees', async () => {
    await seedPrompt(call, 'control/workflow');
    const { id, workflow_id: workflowId } = await startRelease(call, 'control/workflow', [CANARY, HOUR]);
    await control(id, 'cancel');
    await service.dependencies.client.workflow.getHandle(workflowId).result();
    expect((await call('GET', `/releases/${id}`)).body.status).toBe('canceled');
  });

  test('need a key that can move the label', async () => {
    await seedPrompt(call, 'control/scopes', undefined, 'guarded');
    await call('PUT', '/labels/guarded', { body: { protected: true } });
    const body = { prompt_name: 'control/scopes', label: 'guarded', version: 2, steps: [CANARY, HOUR] };
    const [reader, writer, publisher] = [
      await keyWith('read'),
      await keyWith('write'),
      await keyWith('publish', 'read'),
    ];
    for (const as of [reader, writer])
      expect((await as.call('POST', '/releases', { body })).body.error.code).toBe('insufficient_scope');
    const { id } = (await publisher.call('POST', '/releases', { body })).body;
    expect((await control(id, 'pause', {}, writer.call)).body.error.code).toBe('insufficient_scope');
    expect((await control(id, 'rollback', {}, writer.call)).body.error.code).toBe('insufficient_scope');
    expect((await control(id, 'rollback', {}, publisher.call)).body.status).toBe('rolled_back');
    expect((await reader.call('GET', `/releases/${id}`)).status).toBe(200);

    await seedPrompt(call, 'control/open');
    const open = await startRelease(writer.call, 'control/open', [CANARY, HOUR]);
    expect((await control(open.id, 'promote', {}, writer.call)).body.error.code).toBe('insufficient_scope');
    expect((await control(open.id, 'promote', {}, publisher.call)).body.status).toBe('succeeded');
  });

  test('belong to its workspace', async () => {
    await seedPrompt(call, 'control/mine');
    const { id } = await startRelease(call, 'control/mine', [CANARY, HOUR]);
    const other = await createOtherWorkspace(service, 'others-of-releases');
    expect((await other.call('GET', `/releases/${id}`)).status).toBe(404);
    expect((await other.call('GET', `/releases/${id}/numbers`)).status).toBe(404);
    expect((await control(id, 'rollback', {}, other.call)).status).toBe(404);
    expect((await other.call('GET', '/releases')).body.data).toEqual([]);
    expect((await other.call('GET', `/executions?release=${id}`)).body.data).toEqual([]);
    await control(id, 'cancel');
  });
});

describe('an approval', () => {
  test('is requested, and counts neither twice nor from the author', async () => {
    const author = await keyWith('write', 'publish');
    const [a, b] = [await keyWith('publish', 'read'), await keyWith('publish', 'read')];
    await seedPrompt(author.call, 'approve/count');
    const { id } = await startRelease(author.call, 'approve/count', [
      { type: 'approve', count: 2 },
      { type: 'promote' },
    ]);
    const asked = await untilStatus(call, id, 'awaiting_approval');
    expect(asked.steps[0].numbers).toEqual({ candidate_version: 2, evaluation_id: null, results: null });
    const own = await control(id, 'approve', {}, author.call);
    expect([own.status, own.body.error.code]).toEqual([400, 'invalid_state']);
    for (const _ of [1, 2]) {
      const { body } = await control(id, 'approve', { comment: 'fine' }, a.call);
      expect([body.status, body.status_reason, body.approvals.length]).toEqual([
        'awaiting_approval',
        '1 of 2 approvals',
        1,
      ]);
    }
    const { body: done } = await control(id, 'approve', {}, b.call);
    expect(done.approvals.map(({ by }: { by: { key_id: string } }) => by.key_id)).toEqual([a.id, b.id]);
    // Pressed again after it has counted.
    expect((await control(id, 'approve', {}, b.call)).status).toBe(200);
    await untilStatus(call, id, 'succeeded');
    expect(await labelOf(call, 'approve/count')).toBe(2);
  });

  test('is refused, like the release', async () => {
    await seedPrompt(call, 'approve/reject');
    const { id } = await startRelease(call, 'approve/reject', [CANARY, { type: 'approve', exclude_author: false }]);
    await untilStatus(call, id, 'awaiting_approval');
    expect((await runByLabel(call, 'approve/reject')).prompt_version).toBe(2);
    for (const _ of [1, 2]) expect((await control(id, 'reject', { comment: 'no' })).body.status).toBe('rejected');
    expect((await runByLabel(call, 'approve/reject')).prompt_version).toBe(1);
  });
});

describe('a label with a policy', () => {
  const steps = [{ type: 'wait', for: '1h' }];
  test('gives its steps to releases, and moves only by them if it says so', async () => {
    await seedPrompt(call, 'policy/required', undefined, 'live');
    const missing = await call('POST', '/releases', {
      body: { prompt_name: 'policy/required', label: 'live', version: 2 },
    });
    expect(missing.status).toBe(400);
    expect(missing.body.error.message).toContain('"canary"');
    const set = await call('PUT', '/labels/live', { body: { release: { steps, required: true } } });
    expect(set.body).toMatchObject({ label: 'live', protected: false, release: { required: true, steps } });
    expect((await call('GET', '/labels')).body.data).toContainEqual(set.body);

    const writer = await keyWith('write');
    const move = (body: object, as = call) => as('PUT', '/prompts/policy/required/labels/live', { body });
    for (const answer of [
      await move({ version: 2 }),
      await call('DELETE', '/prompts/policy/required/labels/live'),
      await call('POST', '/releases', {
        body: { prompt_name: 'policy/required', label: 'live', version: 2, steps: [{ type: 'promote' }] },
      }),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_state']);
    expect((await move({ version: 2, override: true })).status).toBe(400);
    expect((await move({ version: 2, override: true, reason: 'fire' }, writer.call)).body.error.code).toBe(
      'insufficient_scope',
    );
    const { body: release } = await call('POST', '/releases', {
      body: { prompt_name: 'policy/required', label: 'live', version: 2 },
    });
    expect(release.steps.map(({ type }: { type: string }) => type)).toEqual(['wait', 'promote']);
    // Not even then while a release runs.
    expect((await move({ version: 2, override: true, reason: 'fire' })).body.error.message).toContain(release.id);
    await control(release.id, 'cancel');
    expect((await move({ version: 2, override: true, reason: 'fire' })).status).toBe(200);
    const log = (await call('GET', '/audit-log?action=label.moved')).body.data;
    expect(log[0].details).toMatchObject({ label: 'live', version: 2, override: 'fire' });
    expect((await call('PUT', '/labels/live', { body: { release: null } })).body.release).toBeNull();
    expect((await move({ version: 1 })).status).toBe(200);
  });
});

describe('a second release on a label', () => {
  test('is refused, or replaces the first', async () => {
    await seedPrompt(call, 'second/label', ['sandbox/echo', 'sandbox/echo', 'sandbox/echo']);
    const first = await startRelease(call, 'second/label', [CANARY, HOUR]);
    const body = { prompt_name: 'second/label', label: 'production', version: 3, steps: [CANARY, HOUR] };
    const refused = await call('POST', '/releases', { body });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_state']);
    expect(refused.body.error.message).toContain(first.id);
    const { body: second } = await call('POST', '/releases', { body: { ...body, supersede: true } });
    expect((await untilStatus(call, first.id, 'superseded')).status_reason).toContain(second.id);
    await untilRelease(call, second.id, ({ step }) => step === 1);
    expect((await runByLabel(call, 'second/label')).prompt_version).toBe(3);
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => call('POST', '/releases', { body: { ...body, version: 2, supersede: true } })),
    );
    expect(all.some(({ status }) => status === 201)).toBe(true);
    const live = (await call('GET', '/releases?prompt_name=second/label&status=in_progress')).body.data;
    expect(live).toHaveLength(1);
    await control(live[0].id, 'cancel');
  });
});

describe('a release change', () => {
  test('is in the audit log and in events for those who name them', async () => {
    await seedPrompt(call, 'told/all');
    const release = await startRelease(call, 'told/all', [{ type: 'promote' }]);
    await untilStatus(call, release.id, 'succeeded');
    const log = (await call('GET', `/audit-log?resource=release:${release.id}`)).body.data;
    expect(log.map(({ action }: { action: string }) => action)).toEqual(['release.started']);
    const moved = (await call('GET', '/audit-log?resource=prompt:told/all&action=label.moved')).body.data;
    // On behalf of the person who started it.
    expect(moved[0]).toMatchObject({
      actor: { key_id: release.created_by.key_id },
      details: { label: 'production', version: 2, previous_version: 1, release: release.id },
    });
    const events = await call('GET', '/events?limit=50');
    expect([events.status, events.body.error]).toEqual([200, undefined]);
    const told = events.body.data.filter(
      ({ data }: { data: { release_id?: string } }) => data.release_id === release.id,
    );
    expect(told.map(({ event }: { event: string }) => event).sort()).toEqual([
      'release.finished',
      'release.promoted',
      'release.started',
    ]);
    const webhook = (await call('POST', '/webhooks', { body: { url: 'http://127.0.0.1:3999/hook' } })).body;
    expect(webhook.events.filter((name: string) => name.startsWith('release.'))).toEqual([]);
  });

  test('is undone if its workflow is ended from outside', async () => {
    await seedPrompt(call, 'ended/outside');
    const release = await startRelease(call, 'ended/outside', [CANARY, HOUR]);
    await untilRelease(call, release.id, ({ step }) => step === 1);
    await service.dependencies.client.workflow.getHandle(release.workflow_id).cancel();
    const ended = await untilStatus(call, release.id, 'failed');
    expect(ended.status_reason).toContain('operator');
    expect((await runByLabel(call, 'ended/outside')).prompt_version).toBe(1);
  });

  test('is undone when its deadline passes', async () => {
    await seedPrompt(call, 'ended/late');
    const deadline = new Date(Date.now() + 1_500).toISOString();
    const release = await startRelease(call, 'ended/late', [CANARY, HOUR], { deadline });
    expect((await untilStatus(call, release.id, 'rolled_back')).status_reason).toContain('deadline');
  });

  test('fails if the label can no longer move', async () => {
    await seedPrompt(call, 'ended/archived');
    const release = await startRelease(call, 'ended/archived', [{ type: 'wait', for: '2s' }]);
    await call('DELETE', '/prompts/ended/archived');
    expect((await untilStatus(call, release.id, 'failed')).status_reason).toContain('archived');
  });
});

describe('a request for a release', () => {
  const base = { prompt_name: 'bad/request', label: 'production', version: 2, steps: [CANARY] };
  beforeAll(() => seedPrompt(call, 'bad/request'));

  test.each<[string, object, string]>([
    ['of an unknown version', { version: 9 }, 'not_found'],
    ['of an unknown prompt', { prompt_name: 'no/such' }, 'not_found'],
    ['of a label that the prompt does not have', { label: 'staging' }, 'invalid_request'],
    ['of the version that the label is on', { version: 1 }, 'invalid_request'],
    ['of the latest', { label: 'latest' }, 'invalid_request'],
    ['without steps', { steps: [] }, 'invalid_request'],
    ['with too many steps', { steps: Array.from({ length: 21 }, () => HOUR) }, 'invalid_request'],
    ['with an unknown step', { steps: [{ type: 'hope' }] }, 'invalid_request'],
    ['with an unknown dataset', { steps: [{ type: 'evaluate', dataset: 'no/such' }] }, 'not_found'],
    ['with a share of 0', { steps: [{ type: 'canary', percent: 0 }] }, 'invalid_request'],
    ['with a share of three decimals', { steps: [{ type: 'canary', percent: 1.001 }] }, 'invalid_request'],
    ['with a share that falls', { steps: [CANARY, { type: 'canary', percent: 5 }] }, 'invalid_request'],
    [
      'that analyzes nothing',
      { steps: [{ type: 'analyze', for: '1h', checks: [{ metric: 'error_rate', max_increase: 0 }] }] },
      'invalid_request',
    ],
    [
      'with a check without a limit',
      { steps: [CANARY, { type: 'analyze', for: '1h', checks: [{ metric: 'error_rate' }] }] },
      'invalid_request',
    ],
    ['with a step after the last', { steps: [{ type: 'promote' }, HOUR] }, 'invalid_request'],
    ['with a bad time', { steps: [{ type: 'wait', for: '5 moons' }] }, 'invalid_request'],
    ['with a past deadline', { deadline: '2020-01-01T00:00:00Z' }, 'invalid_request'],
    ['with a typo', { stepz: [] }, 'invalid_request'],
  ])('%s is refused', async (_, change, code) => {
    const { status, body } = await call('POST', '/releases', { body: { ...base, ...change } });
    expect([status, body.error?.code]).toEqual([code === 'not_found' ? 404 : 400, code]);
  });

  test('that repeats its key starts one', async () => {
    await seedPrompt(call, 'once/only');
    const headers = { 'Idempotency-Key': 'release-once' };
    const body = { ...base, prompt_name: 'once/only', steps: [HOUR] };
    const [a, b] = await Promise.all([1, 2].map(() => call('POST', '/releases', { body, headers })));
    expect([a?.status, b?.status]).toEqual([201, 201]);
    expect(a?.body.id).toBe(b?.body.id);
    await control(a?.body.id, 'cancel');
  });

  test('for missing items', async () => {
    const id = publicId('release', '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11');
    expect((await call('GET', `/releases/${id}`)).status).toBe(404);
    expect((await control(id, 'rollback')).status).toBe(404);
    expect((await call('GET', '/releases/nonsense')).status).toBe(404);
  });
});
