import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allRoutes } from '../../../src/api/server.ts';
import { AUDIT_ACTION_NAMES } from '../../../src/domain/audit.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { Route } from '../../../src/http/route.ts';
import { memberOf, type TestMember } from '../../support/members.ts';
import { insertBatch } from '../../support/provider-batch-rows.ts';
import { type Call, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { BY_MEMBER, createResources, type Operation, type Resources, readApi } from '../operations.ts';
import { newTraceId, send, span } from '../traces/traces-support.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
let operations: Operation[];
let resources: Resources;
let routes: Map<string, Route>;
let member: TestMember;
beforeAll(async () => {
  service = await startTestService();
  const api = await readApi(service.origin);
  operations = api.operations;
  resources = await createResources(service, api);
  member = await memberOf(service, 'admin');
  const all = allRoutes(service.dependencies, { eager: false }).routes;
  routes = new Map(all.map((route) => [route.operationId, route]));
});
afterAll(() => service?.stop());

interface Entry {
  id: string;
  actor: {
    type: string;
    key_id: string | null;
    key_name: string | null;
    member_id: string | null;
    session_id: string | null;
  };
  action: string;
  resource: { type: string; id: string };
  details: Record<string, unknown>;
  address: string | null;
  request_id: string | null;
  created_at: string;
}

async function entries(query = '', call: Call = service.call): Promise<Entry[]> {
  const { status, body } = await call('GET', `/audit-log?limit=1000${query}`);
  expect([query, status]).toEqual([query, 200]);
  return body.data;
}

/** The entries that a request recorded, oldest first. */
const recordedBy = async (requestId: string | null, call?: Call) =>
  (await entries('', call)).filter((entry) => entry.request_id === requestId).toReversed();

/** Operations that are not recorded. */
const UNRECORDED = [
  'createExecution',
  'createResponse',
  'createChatCompletion',
  'createEvaluation',
  'rescoreEvaluation',
  // The work of a program: its results are those of examples.
  'createCodeEvaluation',
  'storeEvaluationResults',
  'finishEvaluation',
  'resolvePrompts',
  'estimateEvaluation',
  'estimateImprovement',
  // Its call is in the list of executions.
  'suggestPrompt',
  'generateDatasetExamples',
  // The judges that it calls are in the list of executions.
  'tryEvaluators',
  // A score records who stored it; a token is not stored.
  'createFeedback',
  'createFeedbackToken',
  'createSubjectFeedbackToken',
  'leaseQueueItem',
  // How a person looks at a list.
  'setView',
  // A run is in the list of executions, like those executed here.
  'recordExecutions',
  'ingestTraces',
  // Its result is recorded: the created key, attributed to its approver.
  'createDeviceAuthorization',
  'approveDeviceAuthorization',
  'denyDeviceAuthorization',
  // It changes nothing.
  'testProvider',
  'checkParameters',
];

/** Operations that end or create the key of the request: see devices.test.ts. */
const OF_DEVICES = ['createDeviceKey', 'revokeCurrentApiKey'];

describe('every operation that changes something', () => {
  /** Prepares what an operation needs to have an effect. @returns the path, if it is not the one of the common resources */
  async function prepare({ operationId }: Operation): Promise<string | undefined> {
    const { call } = service;
    const idOf = async (path: string, body: object) =>
      (await call('POST', path, { body, headers: { Prefer: 'respond-async' } })).body.id;
    const webhook = { url: 'http://127.0.0.1:65000/', events: ['prompt.created'] };
    const stall = async () => {
      await call('POST', '/prompts', { body: { name: 'stall', template: '{{ text }}', model: 'sandbox/stall' } });
      return { prompt_name: 'stall', examples: [{ variables: { text: 'x' } }] };
    };
    const quick = async () => {
      await call('POST', '/prompts', { body: { name: 'quick', template: 'x', model: 'sandbox/echo' } });
      const { body } = await call('POST', '/evaluations', {
        body: { prompt_name: 'quick', examples: [{ variables: {} }] },
      });
      const path = `/evaluations/${body.id}`;
      await waitFor('its end', async () => (await call('GET', path)).body.status === 'completed');
      return path;
    };
    const release = async () => {
      const name = `released/${operationId}`;
      for (const template of ['old', 'new'])
        await call('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } });
      await call('PUT', `/prompts/${name}/labels/live`, { body: { version: 1 } });
      const isDecision = operationId === 'approveRelease' || operationId === 'rejectRelease';
      const steps = isDecision ? [{ type: 'approve', exclude_author: false }] : [{ type: 'wait', for: '1h' }];
      const path = `/releases/${await idOf('/releases', { prompt_name: name, label: 'live', version: 2, steps })}`;
      if (operationId === 'resumeRelease') await call('POST', `${path}/pause`);
      return `${path}/${operationId.replace('Release', '')}`;
    };
    const queue = async () => {
      const path = `/queues/audited/${operationId}`;
      await call('PUT', path, { body: { score_names: ['helpful'] } });
      await call('POST', '/prompts', { body: { name: 'quick', template: 'x', model: 'sandbox/echo' } });
      const { body } = await call('POST', '/executions', { body: { prompt_name: 'quick' } });
      if (operationId === 'addQueueItems') return `${path}/items`;
      await call('POST', `${path}/items`, { body: { execution_ids: [body.id] } });
      const { item } = (await call('POST', `${path}/next`)).body;
      return `${path}/items/${item.id}/${operationId.replace('QueueItem', '').replace('return', 'back')}`;
    };
    const improvement = async () => {
      // Calls that stall hold the places of others.
      for (const status of ['running', 'paused'])
        for (const { id } of (await call('GET', `/improvements?status=${status}`)).body.data)
          await call('POST', `/improvements/${id}/cancel`);
      const name = `improved/${operationId}`;
      const ends = ['acceptImprovement', 'deleteImprovement'].includes(operationId);
      await call('POST', '/prompts', {
        body: { name, template: 'Say {{ name }}', model: ends ? 'sandbox/echo' : 'sandbox/stall' },
      });
      const sizes = { few_shot: 1, max_proposals: 4, concurrency: ends ? 20 : 1 };
      const settings = { reflection: { model: 'sandbox/echo' }, max_cost: null, ...sizes };
      const id = await idOf('/improvements', { prompt_name: name, dataset: 'support/tickets', ...settings });
      const path = `/improvements/${id}`;
      const until = (status: string) =>
        waitFor(`${status}`, async () => (await call('GET', path)).body.status === status);
      if (ends) await until('completed');
      if (operationId === 'resumeImprovement') await call('POST', `${path}/pause`);
      if (operationId === 'retryImprovement') {
        const [run] = await waitFor('its first run', async () => {
          const { data } = (await call('GET', `/evaluations?improvement_id=${id}`)).body;
          return data.length > 0 && data;
        });
        await call('POST', `/evaluations/${run.id}/cancel`);
        await until('failed');
      }
      return operationId === 'deleteImprovement' ? path : `${path}/${operationId.replace('Improvement', '')}`;
    };
    switch (operationId) {
      case 'pauseImprovement':
      case 'resumeImprovement':
      case 'finishImprovement':
      case 'cancelImprovement':
      case 'retryImprovement':
      case 'acceptImprovement':
      case 'deleteImprovement':
        return improvement();
      case 'addQueueItems':
      case 'completeQueueItem':
      case 'skipQueueItem':
      case 'returnQueueItem':
        return queue();
      case 'deleteView': {
        const { body: made } = await call('POST', '/api-keys', { body: { name: 'leaver', scopes: ['read', 'write'] } });
        const view = { page: 'executions', shared: true };
        await call('PUT', '/views/Theirs', { key: made.key, body: view });
        return `/views/Theirs?owner=${made.id}`;
      }
      case 'deleteTrace':
      case 'deleteConversation':
      case 'deleteTracesOfUser': {
        const traceId = newTraceId();
        await send(call, [span({ traceId, attributes: { 'session.id': 'chat-17', 'user.id': 'ada' } })]);
        if (operationId === 'deleteTrace') return `/traces/${traceId}`;
        return operationId === 'deleteConversation' ? '/conversations/chat-17' : '/traces?user_id=ada';
      }
      case 'createRelease':
        for (const { id } of (await call('GET', '/releases?prompt_name=support/greeting')).body.data)
          await call('POST', `/releases/${id}/cancel`);
        return undefined;
      case 'approveRelease':
      case 'rejectRelease':
      case 'pauseRelease':
      case 'resumeRelease':
      case 'promoteRelease':
      case 'rollbackRelease':
      case 'cancelRelease':
        return release();
      case 'setPromptLabel':
        await call('DELETE', '/prompts/support/greeting/labels/production');
        return undefined;
      case 'removePromptLabel':
        await call('POST', '/prompts/support/greeting/restore');
        await call('PUT', '/prompts/support/greeting/labels/production', { body: { version: 2 } });
        return undefined;
      case 'restorePrompt':
        await call('DELETE', '/prompts/support/greeting');
        return undefined;
      case 'deletePromptVersion':
        for (const template of ['One', 'Two'])
          await call('POST', '/prompts', { body: { name: 'support/deleted', model: 'sandbox/echo', template } });
        return '/prompts/support/deleted/versions/1';
      case 'archivePrompt':
        await call('POST', '/prompts/support/greeting/restore');
        return undefined;
      case 'protectLabel':
        return '/labels/production';
      case 'enableWebhook': {
        const path = `/webhooks/${await idOf('/webhooks', webhook)}`;
        await call('POST', `${path}/disable`);
        return `${path}/enable`;
      }
      case 'disableWebhook':
        return `/webhooks/${await idOf('/webhooks', webhook)}/disable`;
      case 'deleteWebhook':
        return `/webhooks/${await idOf('/webhooks', webhook)}`;
      case 'sendDeliveryNow': {
        // Nothing listens there.
        const id = await idOf('/webhooks', { url: 'http://127.0.0.1:65000/', events: ['prompt.updated'] });
        for (const template of ['old', 'new'])
          await call('POST', '/prompts', {
            body: { name: 'hurried', template: `${template} ${id}`, model: 'sandbox/echo' },
          });
        const waiting = await waitFor('a delivery that waits', async () => {
          const { body } = await call('GET', `/webhooks/${id}/deliveries?status=waiting`);
          return body.data[0];
        });
        return `/deliveries/${waiting.id}/send-now`;
      }
      case 'redeliver': {
        const id = await idOf('/webhooks', { url: 'http://127.0.0.1:65000/', events: ['prompt.updated'] });
        for (const template of ['old', 'new'])
          await call('POST', '/prompts', {
            body: { name: 'sent', template: `${template} ${id}`, model: 'sandbox/echo' },
          });
        const delivery = await waitFor('a delivery', async () => {
          const { body } = await call('GET', `/webhooks/${id}/deliveries`);
          return body.data[0];
        });
        // It ends as abandoned.
        await call('POST', `/webhooks/${id}/disable`);
        await waitFor('its end', async () => {
          const { body } = await call('GET', `/deliveries/${delivery.id}`);
          return ['abandoned', 'failed', 'delivered'].includes(body.status);
        });
        await call('POST', `/webhooks/${id}/enable`);
        return `/deliveries/${delivery.id}/redeliver`;
      }
      case 'createScores': {
        // Only replacing another author's score is recorded.
        const subject = { execution_id: await idOf('/executions', { prompt_name: 'quick', variables: {} }) };
        const body = { name: 'audited', value: 1, subject, id: `score_${newId()}` };
        const { key } = await createKey(service, 'score');
        expect((await call('POST', '/scores', { key, body })).status).toBe(201);
        bodies['createScores'] = body;
        return undefined;
      }
      case 'resumeSchedule': {
        const path = resources.fill({ path: '/schedules/{id}' } as Operation);
        await call('POST', `${path}/pause`);
        return `${path}/resume`;
      }
      case 'pauseEvaluation':
      case 'cancelEvaluation':
      case 'resumeEvaluation': {
        const path = `/evaluations/${await idOf('/evaluations', await stall())}`;
        const action = operationId.replace('Evaluation', '');
        if (action === 'resume') await call('POST', `${path}/pause`);
        return `${path}/${action}`;
      }
      case 'pauseBackfill':
      case 'resumeBackfill':
      case 'cancelBackfill': {
        await quick();
        await call('POST', '/executions', { body: { prompt_name: 'quick' } });
        const judge = { type: 'llm_judge', model: 'sandbox/stall', rubric: 'It never answers.' };
        await call('PUT', '/rules/stall', { body: { prompt_name: 'quick', evaluators: [judge], enabled: false } });
        const id = await idOf('/rules/stall/backfill', { since: '2020-01-01T00:00:00Z' });
        const action = operationId.replace('Backfill', '');
        if (action === 'resume') await call('POST', `/rules/stall/backfills/${id}/pause`);
        return `/rules/stall/backfills/${id}/${action}`;
      }
      // Theirs are there as the examples have them: the same again changes nothing.
      case 'setRule':
        return '/rules/another';
      case 'setMonitor':
        return '/monitors/another';
      case 'setQueue':
        return '/queues/another';
      case 'resubmitBatch': {
        const id = await idOf('/evaluations', await stall());
        await insertBatch(service, id, { status: 'unknown' });
        return `/evaluations/${id}/batches/1/resubmit`;
      }
      case 'retryEvaluation': {
        const path = `/evaluations/${await idOf('/evaluations', await stall())}`;
        await call('POST', `${path}/cancel`);
        return `${path}/retry`;
      }
      case 'deleteEvaluation':
        return quick();
      case 'cancelExecution':
      case 'deleteExecution': {
        await stall();
        const path = `/executions/${await idOf('/executions', { prompt_name: 'stall', variables: { text: 'x' } })}`;
        if (operationId === 'cancelExecution') return `${path}/cancel`;
        await call('POST', `${path}/cancel`);
        return path;
      }
      case 'deleteDataset':
        await call('PUT', '/datasets/passing', {
          raw: '{"variables":{}}\n',
          headers: { 'Content-Type': 'application/x-ndjson' },
        });
        return '/datasets/passing';
      case 'createDatasetFromExecutions': {
        await call('POST', '/prompts', { body: { name: 'quick', template: 'x', model: 'sandbox/echo' } });
        await call('POST', '/executions', { body: { prompt_name: 'quick' } });
        return undefined;
      }
      case 'createDatasetFromScores': {
        await call('POST', '/prompts', { body: { name: 'judged', template: 'x', model: 'sandbox/echo' } });
        const { body } = await call('POST', '/executions', { body: { prompt_name: 'judged' } });
        await call('POST', '/scores', {
          body: { name: 'judged', value: 1, subject: { execution_id: body.id }, source: 'person' },
        });
        return undefined;
      }
      case 'createDatasetFromTraces':
        await send(call, [span({ traceId: 'a'.repeat(32) })]);
        return undefined;
      case 'endSessionById': {
        const { body } = await call('POST', '/session', { key: null, body: { key: service.key } });
        return `/sessions/${body.id}`;
      }
      case 'updateMember':
      case 'removeMember':
        return `/members/${(await memberOf(service, 'viewer')).id}`;
      case 'revokeMyApiKey': {
        const { body } = await call('POST', '/me/api-keys', {
          key: member.key,
          body: { name: 'mine', scopes: ['read'] },
        });
        return `/me/api-keys/${body.id}`;
      }
      case 'revokeApiKey':
        return `/api-keys/${(await createKey(service, 'read')).id}`;
      default:
        return undefined;
    }
  }

  const bodies: Record<string, object> = {
    createDatasetFromExecutions: { prompt_name: 'quick' },
    createDatasetFromScores: { score: 'judged' },
    createDatasetFromTraces: { traces: [{ trace_id: 'a'.repeat(32) }] },
    addQueueItems: { filter: { prompt_name: 'quick' } },
    createImprovement: {
      prompt_name: 'support/greeting',
      dataset: 'support/tickets',
      reflection: { model: 'sandbox/echo' },
      max_cost: null,
    },
    // Shows an example, since the sandbox writes no texts.
    acceptImprovement: { candidate: 3, unproved: true },
    resumeImprovement: {},
    addDatasetExamples: { examples: [{ variables: { name: 'Not in the dataset yet' } }] },
  };

  test('records the actor, action, address and request, or explains why not', async () => {
    const changing = operations
      .filter(({ method }) => method !== 'GET')
      // For people signed in by an identity provider (test/sign-in/sign-in.test.ts).
      .filter(({ operationId }) => operationId !== 'switchWorkspace')
      // Deletions of shared resources come last.
      .toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
    expect(changing.length).toBeGreaterThan(25);
    const own = (await service.call('GET', '/api-keys?limit=1000')).body.data.find(
      ({ name }: { name: string }) => name === 'bootstrap',
    );
    for (const operation of changing) {
      const { operationId, method, requestBody, example } = operation;
      const audit = routes.get(operationId)?.audit;
      if (UNRECORDED.includes(operationId)) {
        expect([operationId, audit]).toEqual([operationId, 'none']);
        continue;
      }
      expect([operationId, audit]).toEqual([operationId, expect.any(Array)]);
      if (OF_DEVICES.includes(operationId)) continue;
      const path = (await prepare(operation)) ?? resources.fill(operation);
      const isStream = requestBody !== undefined && example === undefined;
      const session = operationId === 'endSession' ? await signIn() : undefined;
      const answer = await service.call(method, path, {
        ...(isStream
          ? { raw: '{"variables":{}}\n', headers: { 'Content-Type': 'application/x-ndjson' } }
          : { headers: { Prefer: 'respond-async', ...session?.headers } }),
        ...(!isStream && example !== undefined && { body: bodies[operationId] ?? example }),
        ...(operationId === 'createSession' && { body: { key: service.key } }),
        ...(session && { key: null }),
        ...(BY_MEMBER.test(path) && { key: member.key }),
      });
      expect([operationId, answer.status, answer.body.error?.code]).toEqual([
        operationId,
        Number(operation.status),
        undefined,
      ]);
      const recorded = await recordedBy(answer.headers.get('X-Request-Id'));
      const entry = {
        id: expect.stringMatching(/^aud_/),
        actor: {
          type: session ? 'session' : 'api_key',
          ...(BY_MEMBER.test(path)
            ? { key_id: member.keyId, key_name: "Ada Lovelace's", member_id: member.id }
            : { key_id: own.id, key_name: 'bootstrap', member_id: null }),
          session_id: session?.id ?? null,
        },
        action: expect.any(String),
        resource: { type: expect.any(String), id: expect.any(String) },
        details: expect.any(Object),
        address: '127.0.0.1',
        request_id: answer.headers.get('X-Request-Id'),
        created_at: expect.any(String),
      };
      // A release that is promoted moves its label, and a candidate that is accepted is a version.
      const wanted = ['promoteRelease', 'acceptImprovement'].includes(operationId) ? [entry, entry] : [entry];
      expect([operationId, recorded]).toEqual([operationId, wanted]);
      for (const { action } of recorded) expect(audit).toContain(action);
    }
  });

  test('declares only existing actions, and all of them', () => {
    const declared = new Set([...routes.values()].flatMap(({ audit }) => (Array.isArray(audit) ? audit : [])));
    const byOperators = ['workspace.created', 'workspace.owner_changed'];
    const bySigningIn = ['member.joined'];
    expect(new Set([...declared, ...byOperators, ...bySigningIn])).toEqual(new Set(AUDIT_ACTION_NAMES));
  });
});

async function signIn(key = service.key) {
  const answer = await service.call('POST', '/session', { key: null, body: { key } });
  const cookie = (answer.headers.get('Set-Cookie') ?? '').split(';', 1).join('');
  return { id: answer.body.id, headers: { Cookie: cookie, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' } };
}

describe('an entry', () => {
  test('shows the change', async () => {
    const { call } = await createOtherWorkspace(service, 'details');
    const prompt = { name: 'p', template: 'One.', model: 'sandbox/echo' };
    await call('POST', '/prompts', { body: prompt });
    await call('PUT', '/prompts/p', { body: { template: 'Two.', parameters: { temperature: 1 } } });
    await call('PUT', '/prompts/p/labels/live', { body: { version: 1 } });
    await call('PUT', '/prompts/p/labels/live', { body: { version: 2 } });
    await call('DELETE', '/prompts/p/labels/live');
    await call('PUT', '/labels/live', { body: { protected: true } });
    const { body: webhook } = await call('POST', '/webhooks', {
      body: { url: 'http://127.0.0.1:65000/secret-path', events: ['prompt.created'], headers: { 'X-Token': 'hush' } },
    });
    await call('PATCH', `/webhooks/${webhook.id}`, {
      body: { description: 'Ours', headers: { 'X-Token': 'hush-hush' } },
    });
    const { body: key } = await call('POST', '/api-keys', { body: { name: 'k', scopes: ['read'] } });
    const { id: keyId } = key;
    const all = (await entries('', call)).toReversed();
    expect(all.map(({ action, resource, details }) => [action, `${resource.type}:${resource.id}`, details])).toEqual([
      ['prompt.created', 'prompt:p', { version: 1 }],
      ['prompt.updated', 'prompt:p', { version: 2, changed: ['template', 'parameters'] }],
      ['label.moved', 'prompt:p', { label: 'live', version: 1, previous_version: null }],
      ['label.moved', 'prompt:p', { label: 'live', version: 2, previous_version: 1 }],
      ['label.removed', 'prompt:p', { label: 'live', version: 2 }],
      ['label.protected', 'label:live', {}],
      ['webhook.created', `webhook:${webhook.id}`, { host: '127.0.0.1:65000', events: ['prompt.created'] }],
      ['webhook.updated', `webhook:${webhook.id}`, { changed: ['description', 'headers'] }],
      ['api_key.created', `api_key:${keyId}`, { name: 'k', scopes: ['read'], expires_at: null }],
    ]);
    for (const secret of [key.key, webhook.secret, 'hush', 'secret-path', 'One.'])
      expect(JSON.stringify(all)).not.toContain(secret);
  });

  test('is missing if nothing changed, or the change was refused', async () => {
    const { call } = await createOtherWorkspace(service, 'nothing');
    const prompt = { name: 'p', template: 'One.', model: 'sandbox/echo' };
    await call('POST', '/prompts', { body: prompt, headers: { 'Idempotency-Key': 'once' } });
    const before = await entries('', call);
    expect(before).toHaveLength(1);
    await call('POST', '/prompts', { body: prompt, headers: { 'Idempotency-Key': 'once' } });
    await call('POST', '/prompts/p/restore');
    await call('POST', '/prompts', { body: { ...prompt, template: '{{> p@7 }}' } });
    await call('PUT', '/prompts/p/labels/live', { body: { version: 7 } });
    await call('PUT', '/labels/live', { body: { protected: false } });
    await call('DELETE', '/webhooks/wh_none');
    expect(await entries('', call)).toEqual(before);
  });

  test('names the session, and the key that started it', async () => {
    const { id: keyId, key } = await createKey(service, 'write');
    const session = await signIn(key);
    const answer = await service.call('POST', '/prompts', {
      key: null,
      headers: session.headers,
      body: { name: 'by/session', template: 'Hi.', model: 'sandbox/echo' },
    });
    const [entry] = await recordedBy(answer.headers.get('X-Request-Id'));
    expect(entry?.actor).toEqual({
      type: 'session',
      key_id: keyId,
      key_name: 'write',
      member_id: null,
      session_id: session.id,
    });
    const byKey = await entries(`&actor=${keyId}`);
    expect(byKey.map(({ action }) => action)).toEqual(['prompt.created', 'session.created']);
    expect((await entries(`&actor=${session.id}`)).map(({ action }) => action)).toEqual(['prompt.created']);
  });
});

describe('the list', () => {
  test('is filtered by actor, action, resource and time, and paged', async () => {
    const { call } = await createOtherWorkspace(service, 'filters');
    for (const name of ['a', 'b', 'a'])
      await call('POST', '/prompts', { body: { name, template: 'Hi.', model: 'sandbox/echo' } });
    await call('PUT', '/prompts/a/labels/live', { body: { version: 1 } });
    const all = await entries('', call);
    const shown = (list: Entry[]) => list.map(({ action, resource }) => `${action} ${resource.id}`);
    expect(shown(all)).toEqual(['label.moved a', 'prompt.updated a', 'prompt.created b', 'prompt.created a']);
    const found = async (query: string) => shown(await entries(query, call));
    expect(await found('&action=prompt.created')).toEqual(['prompt.created b', 'prompt.created a']);
    expect(await found('&resource=prompt:a')).toEqual(['label.moved a', 'prompt.updated a', 'prompt.created a']);
    expect(await found('&resource=prompt')).toEqual(shown(all));
    expect(await found('&resource=webhook')).toEqual([]);
    expect(await found('&actor=operator')).toEqual([]);
    expect(await found(`&actor=${all[0]?.actor.key_id}&resource=prompt:a&action=label.moved`)).toEqual([
      'label.moved a',
    ]);
    expect(await found(`&since=${all[1]?.created_at}&until=${all[0]?.created_at}`)).not.toContain('prompt.created a');
    const pages: Entry[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await call('GET', `/audit-log?limit=1${cursor}`);
      pages.push(...body.data);
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(pages).toEqual(all);
  });

  test.each([
    ['actor', 'me'],
    ['actor', 'key_1'],
    ['action', 'prompt.read'],
    ['resource', 'prompts'],
    ['since', 'yesterday'],
    ['who', 'me'],
  ])('refuses %s=%s', async (name, value) => {
    const answer = await service.call('GET', `/audit-log?${name}=${value}`);
    expect([answer.status, answer.body.error.details?.[0].path]).toEqual([400, name]);
  });

  test('is only for admins, and cannot be changed', async () => {
    const { key } = await createKey(service, 'read', 'write', 'execute', 'publish');
    expect((await service.call('GET', '/audit-log', { key })).body.error.code).toBe('insufficient_scope');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect((await service.call(method, '/audit-log', { body: {} })).status).toBe(400);
    const { query } = service.dependencies.db.system;
    for (const text of [`update audit_log set action = 'prompt.read'`, 'delete from audit_log'])
      await expect(query({ text })).rejects.toThrow('only grows');
  });
});
