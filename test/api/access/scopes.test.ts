import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allRoutes } from '../../../src/api/server.ts';
import { scopesOf } from '../../../src/http/route.ts';
import type { Scope } from '../../../src/services/access/api-keys.ts';
import { insertBatch } from '../../support/provider-batch-rows.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { newTraceId, send, span } from '../traces/traces-support.ts';
import { storeDelivery, uuidOf } from '../webhooks/webhooks-support.ts';
import { createKey } from '../workspace.ts';

/** Is in everything that is stored, and in no request of a key under test. */
const STORED = 'confidential';
const METADATA = { note: STORED };
const EVALUATOR = { type: 'contains', value: STORED };
const SCORER = { type: 'http', url: 'http://127.0.0.1:65000/' };

let service: TestService;
let keys: Record<'write' | 'publish' | 'execute' | 'write read' | 'execute read', string>;
let count = 0;
beforeAll(async () => {
  service = await startTestService();
  const keyOf = async (...scopes: Scope[]) => (await createKey(service, ...scopes)).key;
  keys = {
    write: await keyOf('write'),
    publish: await keyOf('publish'),
    execute: await keyOf('execute'),
    'write read': await keyOf('write', 'read'),
    'execute read': await keyOf('execute', 'read'),
  };
  await put('/labels/guarded', { protected: true });
  const upload = await service.call('PUT', `/datasets/stored?description=${STORED}`, {
    raw: JSON.stringify({ variables: {}, expected: STORED }),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  expect(upload.status).toBe(200);
});
afterAll(() => service?.stop());

const post = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const answer = await service.call('POST', path, { ...(body === undefined ? {} : { body }), headers });
  if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const put = (path: string, body: unknown) => service.call('PUT', path, { body });

/** Creates a prompt for one call. @returns its path */
async function prompt({ archived = false } = {}): Promise<string> {
  count += 1;
  const name = `stored/${count}`;
  await post('/prompts', {
    name,
    template: `${STORED} {{ ${STORED} }}`,
    model: 'sandbox/echo',
    parameters: { stop: [STORED] },
    config: METADATA,
    description: STORED,
    commit_message: STORED,
    inputs: { [STORED]: { type: 'string', default: STORED } },
  });
  await put(`/prompts/${name}/labels/guarded`, { version: 1 });
  await put(`/prompts/${name}/labels/open`, { version: 1 });
  if (archived) await service.call('DELETE', `/prompts/${name}`);
  return `/prompts/${name}`;
}
const nameOf = (path: string) => path.replace('/prompts/', '');

async function execution(model: string): Promise<string> {
  const body = { prompt_name: nameOf(await prompt()), variables: { [STORED]: STORED }, metadata: METADATA, model };
  const { id } = await post('/executions', body, { Prefer: model === 'sandbox/stall' ? 'respond-async' : 'wait=60' });
  return `/executions/${id}`;
}

async function evaluation(status: 'paused' | 'completed' | 'running'): Promise<string> {
  const { id } = await post('/evaluations', {
    prompt_name: nameOf(await prompt()),
    examples: [{ variables: {}, expected: STORED }],
    evaluators: [EVALUATOR],
    metadata: METADATA,
    ...(status === 'running' && { start_at: new Date(Date.now() + 3_600_000).toISOString() }),
  });
  const path = `/evaluations/${id}`;
  if (status === 'completed')
    await waitFor('its end', async () => (await service.call('GET', path)).body.status === 'completed');
  if (status === 'paused') await post(`${path}/pause`);
  return path;
}

/** An evaluation of code that has results but is not finished. */
const CODE = { name: 'stored/code', examples: [{ variables: {} }], scores: [{ name: 'own' }] };
async function codeEvaluation(): Promise<string> {
  const { id } = await post('/evaluations/code', { ...CODE, metadata: METADATA });
  await post(`/evaluations/${id}/results`, { results: [{ seq: 0, output: STORED, scores: { own: 1 } }] });
  return `/evaluations/${id}`;
}

async function schedule(): Promise<string> {
  const { id } = await post('/schedules', {
    name: 'yearly',
    cron: '@yearly',
    evaluation: {
      prompt_name: nameOf(await prompt()),
      examples: [{ variables: {}, expected: STORED }],
      metadata: METADATA,
    },
  });
  return `/schedules/${id}`;
}

async function webhook(): Promise<string> {
  const { id } = await post('/webhooks', {
    url: `http://127.0.0.1:65000/${STORED}`,
    description: STORED,
    headers: { [STORED]: 'x' },
  });
  return `/webhooks/${id}`;
}

/** A monitor on executions that exist. */
const MONITOR = (name: string) => ({
  prompt_name: name,
  window: '1h',
  checks: [{ metric: `score:${name}`, above: 0.1 }],
});
/** A separate rule that matches no executions. @returns its path */
async function rule(): Promise<string> {
  count += 1;
  const path = `/rules/stored-${count}`;
  await put(path, { prompt_name: 'other', evaluators: [EVALUATOR] });
  return path;
}

async function backfill({ paused = false } = {}): Promise<string> {
  const path = await rule();
  const { id } = await post(`${path}/backfill`, {
    since: '2026-01-01T00:00:00Z',
    until: '2026-02-01T00:00:00Z',
    max_cost: 1,
  });
  if (paused) await post(`${path}/backfills/${id}/pause`);
  return `${path}/backfills/${id}`;
}

/** Creates a queue for one call. @returns its path */
async function queue(): Promise<string> {
  count += 1;
  const path = `/queues/stored-${count}`;
  await put(path, { description: STORED, score_names: [STORED], filter: { prompt_name: STORED } });
  return path;
}

const RELEASED = 'stored/released';

/** Creates a release for one call. @returns its path */
async function release(steps: object[], label = 'guarded'): Promise<string> {
  const name = nameOf(await prompt());
  await post('/prompts', { name, template: STORED, model: 'sandbox/echo' });
  const { id } = await post('/releases', {
    prompt_name: name,
    label,
    version: 2,
    steps,
    reason: STORED,
    metadata: METADATA,
  });
  return `/releases/${id}`;
}
const WAIT = [{ type: 'wait', for: '1h' }];
const APPROVE = [{ type: 'approve', exclude_author: false }, ...WAIT];

type Key = keyof typeof keys;
type Row = [operationId: string, key: Key, method: string, at: () => Promise<string>, body?: object];
const changes: Row[] = [
  [
    'deleteTrace',
    'write',
    'DELETE',
    async () => {
      const traceId = newTraceId();
      await send(service.call, [
        span({ traceId, name: STORED, attributes: { 'input.value': STORED, 'user.id': STORED } }),
      ]);
      return `/traces/${traceId}`;
    },
  ],
  ['updatePrompt', 'write', 'PUT', prompt, { parameters: {} }],
  [
    'archivePrompt',
    'write',
    'DELETE',
    async () => {
      const path = await prompt();
      await service.call('DELETE', `${path}/labels/guarded`);
      return path;
    },
  ],
  // Archived or not.
  ['restorePrompt', 'write', 'POST', async () => `${await prompt()}/restore`],
  [
    'restorePrompt',
    'write',
    'POST',
    async () => {
      const path = await prompt();
      await service.call('DELETE', `${path}/labels/guarded`);
      await service.call('DELETE', path);
      return `${path}/restore`;
    },
  ],
  ['setPromptLabel', 'publish', 'PUT', async () => `${await prompt()}/labels/guarded`, { version: 1 }],
  ['setPromptLabel', 'write', 'PUT', async () => `${await prompt()}/labels/open`, { version: 1 }],
  ['removePromptLabel', 'publish', 'DELETE', async () => `${await prompt()}/labels/guarded`],
  [
    'createRelease',
    'publish',
    'POST',
    async () => {
      for (const template of ['one', 'two'])
        await post('/prompts', { name: RELEASED, template, model: 'sandbox/echo' });
      await put(`/prompts/${RELEASED}/labels/guarded`, { version: 1 });
      await put('/labels/guarded', {
        release: { steps: [{ type: 'evaluate', dataset: 'stored', evaluators: [EVALUATOR] }] },
      });
      return '/releases';
    },
    { prompt_name: RELEASED, label: 'guarded', version: 2 },
  ],
  ['approveRelease', 'publish', 'POST', async () => `${await release(APPROVE)}/approve`],
  ['rejectRelease', 'publish', 'POST', async () => `${await release(APPROVE)}/reject`],
  ['pauseRelease', 'write', 'POST', async () => `${await release(WAIT, 'open')}/pause`],
  [
    'resumeRelease',
    'publish',
    'POST',
    async () => {
      const path = await release(WAIT);
      await post(`${path}/pause`, { comment: STORED });
      return `${path}/resume`;
    },
  ],
  ['promoteRelease', 'publish', 'POST', async () => `${await release(WAIT)}/promote`],
  ['rollbackRelease', 'write', 'POST', async () => `${await release(WAIT, 'open')}/rollback`],
  ['cancelRelease', 'publish', 'POST', async () => `${await release(WAIT)}/cancel`],
  ['cancelExecution', 'execute', 'POST', async () => `${await execution('sandbox/stall')}/cancel`],
  ['deleteExecution', 'write', 'DELETE', async () => execution('sandbox/echo')],
  ['updateEvaluation', 'execute', 'PATCH', () => evaluation('running'), { name: 'Shorter answers' }],
  ['pauseEvaluation', 'execute', 'POST', async () => `${await evaluation('running')}/pause`],
  ['resumeEvaluation', 'execute', 'POST', async () => `${await evaluation('paused')}/resume`],
  ['cancelEvaluation', 'execute', 'POST', async () => `${await evaluation('running')}/cancel`],
  [
    'resubmitBatch',
    'execute',
    'POST',
    async () => {
      const path = await evaluation('running');
      const error = { code: 'batch_unknown', message: STORED };
      await insertBatch(service, path.replace('/evaluations/', ''), { status: 'unknown', error });
      return `${path}/batches/1/resubmit`;
    },
  ],
  [
    'createCodeEvaluation',
    'execute',
    'POST',
    async () => {
      await codeEvaluation();
      return '/evaluations/code';
    },
    { ...CODE, resume: true },
  ],
  ['finishEvaluation', 'execute', 'POST', async () => `${await codeEvaluation()}/finish`],
  ['rescoreEvaluation', 'execute', 'POST', async () => `${await evaluation('completed')}/rescore`],
  ['deleteEvaluation', 'write', 'DELETE', async () => evaluation('completed')],
  [
    'retryEvaluation',
    'execute',
    'POST',
    async () => {
      const path = await evaluation('running');
      await post(`${path}/cancel`);
      return `${path}/retry`;
    },
  ],
  ['pauseSchedule', 'execute', 'POST', async () => `${await schedule()}/pause`],
  ['resumeSchedule', 'execute', 'POST', async () => `${await schedule()}/resume`],
  ['triggerSchedule', 'execute', 'POST', async () => `${await schedule()}/trigger`],
  ['deleteSchedule', 'execute', 'DELETE', schedule],
  [
    'deleteScore',
    'write',
    'DELETE',
    async () => {
      const subject = { execution_id: (await execution('sandbox/echo')).split('/').at(-1) };
      const score = { name: 'said', value: STORED, data_type: 'text', comment: STORED, subject };
      return `/scores/${(await service.call('POST', '/scores', { body: score })).body.id}`;
    },
  ],
  ['setRule', 'execute', 'PUT', rule, { prompt_name: 'mine', evaluators: [{ type: 'json_valid' }] }],
  ['deleteRule', 'execute', 'DELETE', rule],
  [
    'createBackfill',
    'execute',
    'POST',
    async () => `${await rule()}/backfill`,
    { since: '2026-01-01T00:00:00Z', until: '2026-02-01T00:00:00Z', max_cost: 1 },
  ],
  ['pauseBackfill', 'execute', 'POST', async () => `${await backfill()}/pause`],
  ['cancelBackfill', 'execute', 'POST', async () => `${await backfill()}/cancel`],
  ['resumeBackfill', 'execute', 'POST', async () => `${await backfill({ paused: true })}/resume`],
  [
    'setMonitor',
    'write',
    'PUT',
    async () => {
      await put('/monitors/stored', MONITOR(STORED));
      return '/monitors/stored';
    },
    MONITOR('mine'),
  ],
  [
    'deleteMonitor',
    'write',
    'DELETE',
    async () => {
      await put('/monitors/secret', MONITOR(STORED));
      return '/monitors/secret';
    },
  ],
  [
    'deleteScoreDefinition',
    'write',
    'DELETE',
    async () => {
      const body = { data_type: 'categorical', categories: [{ value: STORED }], description: STORED };
      await service.call('PUT', '/score-definitions/defined', { body });
      return '/score-definitions/defined';
    },
  ],
  [
    'deleteSavedEvaluator',
    'write',
    'DELETE',
    async () => {
      const body = { evaluator: { type: 'contains', values: [STORED] }, description: STORED };
      await service.call('PUT', '/saved-evaluators/defined', { body });
      return '/saved-evaluators/defined';
    },
  ],
  ['disableWebhook', 'write', 'POST', async () => `${await webhook()}/disable`],
  ['enableWebhook', 'write', 'POST', async () => `${await webhook()}/enable`],
  ['rotateWebhookSecret', 'write', 'POST', async () => `${await webhook()}/rotate-secret`],
  [
    'sendDeliveryNow',
    'write',
    'POST',
    async () => {
      const id = await storeDelivery(service, (await webhook()).replace('/webhooks/', ''), { status: 'waiting' });
      await service.dependencies.db.system.query({ text: 'update deliveries set status_reason = $2 where id = $1' }, [
        uuidOf(id),
        STORED,
      ]);
      return `/deliveries/${id}/send-now`;
    },
  ],
  ['testWebhook', 'write', 'POST', async () => `${await webhook()}/test`],
  ['deleteWebhook', 'write', 'DELETE', webhook],
  ['setQueue', 'write', 'PUT', queue, { score_names: ['helpful'] }],
  ['deleteQueue', 'write', 'DELETE', queue],
  [
    'addDatasetExamples',
    'write',
    'POST',
    async () => '/datasets/stored/examples',
    { examples: [{ variables: { name: 'Mine' } }] },
  ],
  [
    'createDatasetFromTraces',
    'write',
    'POST',
    async () => {
      await send(service.call, [span({ traceId: 'a'.repeat(32) })]);
      return '/datasets/stored/from-traces';
    },
    { traces: [{ trace_id: 'a'.repeat(32) }] },
  ],
  [
    'createDatasetFromScores',
    'write',
    'POST',
    async () => {
      const subject = { execution_id: (await execution('sandbox/echo')).split('/').at(-1) };
      await service.call('POST', '/scores', { body: { name: 'judged', value: 1, subject, source: 'person' } });
      return '/datasets/stored/from-scores';
    },
    { score: 'judged' },
  ],
  [
    'createDatasetFromExecutions',
    'write',
    'POST',
    async () => {
      await execution('sandbox/echo');
      return '/datasets/stored/from-executions';
    },
    { limit: 1 },
  ],
  [
    'deleteDataset',
    'write',
    'DELETE',
    async () => {
      count += 1;
      const path = `/datasets/stored-${count}`;
      await service.call('PUT', `${path}?description=${STORED}`, {
        raw: '{"variables":{}}',
        headers: { 'Content-Type': 'application/x-ndjson' },
      });
      return path;
    },
  ],
];

test.each(changes.map((change) => [change[0], change] as const))(
  '%s without read shows no stored data',
  async (_, change) => {
    const [operationId, key, method, at, body] = change;
    const path = await at();
    const { status, body: answer } = await service.call(method, path, { key: keys[key], ...(body && { body }) });
    expect([operationId, status, answer]).toEqual([operationId, expect.any(Number), answer]);
    expect([200, 201]).toContain(status);
    expect(JSON.stringify(answer)).not.toContain(STORED);
  },
);

test('a prompt written without read shows only what was sent', async () => {
  const path = await prompt();
  const body = { name: nameOf(path), template: `Mine. {{> ${nameOf(path)}@1 }}`, model: 'sandbox/echo' };
  const answer = await service.call('POST', '/prompts', { key: keys.write, body });
  expect(answer.body).toMatchObject({ version: 2, template: body.template });
  expect(JSON.stringify(answer.body)).not.toContain(STORED);
});

test('an upload without read does not show the dataset', async () => {
  const answer = await service.call('PUT', '/datasets/stored', {
    key: keys.write,
    raw: '{"variables":{}}',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  expect([answer.status, answer.body.description]).toEqual([200, null]);
});

test('a key with read is shown everything', async () => {
  const path = await prompt();
  await service.call('DELETE', `${path}/labels/guarded`);
  const answer = await service.call('DELETE', path, { key: keys['write read'] });
  expect(answer.body).toMatchObject({ archived: true, description: STORED, template: expect.stringContaining(STORED) });
});

test('restoring a prompt that is not archived leaves no trace', async () => {
  const path = await prompt();
  const before = await service.call('GET', path);
  const answer = await service.call('POST', `${path}/restore`, { key: keys['write read'] });
  expect(answer.body).toEqual(before.body);
  const { body } = await service.call('GET', `/audit-log?action=prompt.restored&resource=prompt:${nameOf(path)}`);
  expect(body.data).toEqual([]);
});

test('every change that shows more than its request is listed', () => {
  const { routes } = allRoutes(service.dependencies, { eager: false });
  const tested = new Set([...changes.map(([operationId]) => operationId), 'createPrompt', 'uploadDataset']);
  const listed = routes.filter(({ withoutRead }) => withoutRead !== undefined).map(({ operationId }) => operationId);
  expect(listed.toSorted()).toEqual([...tested].toSorted());
  // Everything else that needs no `read` shows only what the caller has sent, or where to find it.
  const others = routes.filter(
    (route) =>
      route.withoutRead === undefined &&
      route.alsoScope !== 'read' &&
      scopesOf(route).every((scope) => scope !== 'read' && scope !== 'admin'),
  );
  expect(others.map(({ operationId }) => operationId).toSorted()).toEqual([
    'addQueueItems',
    'completeQueueItem',
    'createChatCompletion',
    'createEvaluation',
    'createExecution',
    'createFeedback',
    'createFeedbackToken',
    'createResponse',
    'createSchedule',
    'createScores',
    'createSubjectFeedbackToken',
    'deleteConversation',
    'deleteTracesOfUser',
    'ingestTraces',
    'leaseQueueItem',
    'recordExecutions',
    'redeliver',
    'replayEvents',
    'returnQueueItem',
    'setSavedEvaluator',
    'setScoreDefinition',
    'skipQueueItem',
    'storeEvaluationResults',
    'tryEvaluators',
  ]);
});

test('a webhook needs a key that can read what it is sent', async () => {
  const path = await webhook();
  for (const [method, at, body] of [
    ['POST', '/webhooks', { url: 'http://127.0.0.1:65000/' }],
    ['PATCH', path, { url: 'http://127.0.0.1:65000/' }],
  ] as const) {
    const refused = await service.call(method, at, { key: keys.write, body });
    expect([refused.status, refused.body.error.code]).toEqual([401, 'insufficient_scope']);
    expect(refused.body.error.message).toContain('"read"');
    expect([200, 201]).toContain((await service.call(method, at, { key: keys['write read'], body })).status);
  }
  expect((await service.call('GET', path)).body.url).toBe('http://127.0.0.1:65000/');
});

test('a scorer is sent a dataset or stored outputs only with read', async () => {
  const prompt_name = nameOf(await prompt());
  const dataset = { name: 'stored', version: 1 };
  const over = { prompt_name, dataset, evaluators: [SCORER] };
  const completed = await evaluation('completed');
  for (const [path, body] of [
    ['/evaluations', over],
    ['/schedules', { name: 'yearly', cron: '@yearly', evaluation: over }],
    [`${completed}/rescore`, { evaluators: [SCORER] }],
  ] as const) {
    const refused = await service.call('POST', path, { key: keys.execute, body });
    expect([path, refused.status, refused.body.error?.code]).toEqual([path, 401, 'insufficient_scope']);
    expect(refused.body.error.message).toContain('"read"');
    expect((await service.call('POST', path, { key: keys['execute read'], body })).status).toBe(201);
  }
  const own = { prompt_name, examples: [{ variables: {}, expected: 'mine' }], evaluators: [SCORER] };
  expect((await service.call('POST', '/evaluations', { key: keys.execute, body: own })).status).toBe(201);
  // Nothing is sent elsewhere.
  const judged = { prompt_name, dataset, evaluators: [EVALUATOR] };
  expect((await service.call('POST', '/evaluations', { key: keys.execute, body: judged })).status).toBe(201);
});
