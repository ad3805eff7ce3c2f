import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signIn } from '../../support/members.ts';
import { type Answer, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: TestService;
let call: TestService['call'];
beforeAll(async () => {
  service = await startTestService();
  ({ call } = service);
  for (const template of ['Say {{ text }}', 'Do say {{ text }}', 'Please say {{ text }}'])
    await post('/prompts', { name: 'say', template, model: 'sandbox/echo' });
});
afterAll(() => service?.stop());

async function ok(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answer;
  if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body));
  return body;
}
const post = (path: string, body: object) => ok(call('POST', path, { body }));
const put = (path: string, body: object) => ok(call('PUT', path, { body }));

async function changes(): Promise<string[]> {
  const rows = await service.dependencies.db.system.query<{ action: string }>(
    { text: 'select action from audit_log where workspace_id = $1 order by id' },
    [service.workspaceId],
  );
  return rows.map(({ action }) => action);
}

/** The actions that the work adds to the audit log. */
async function addedBy(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await changes()).length;
  await work();
  return (await changes()).slice(before);
}

const TEXT = { variables: { text: 'x' } };
const execution = async () => (await post('/executions', { prompt_name: 'say', ...TEXT })).id;
const EVALUATION = { prompt_name: 'say', examples: [TEXT] };
const CHECKS = { window: '1h', checks: [{ metric: 'error_rate', above: 0.5 }] };

async function evaluation(): Promise<string> {
  const { id } = await post('/evaluations', EVALUATION);
  await waitFor('its end', async () => (await call('GET', `/evaluations/${id}`)).body.status === 'completed');
  return id;
}

async function dataset(): Promise<string> {
  const headers = { 'Content-Type': 'application/x-ndjson' };
  await ok(call('PUT', '/datasets/gone', { raw: `${JSON.stringify(TEXT)}\n`, headers }));
  return '/datasets/gone';
}

/** @returns its id */
async function trace(): Promise<string> {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const started = BigInt(Date.now()) * 1_000_000n;
  const times = { startTimeUnixNano: String(started), endTimeUnixNano: String(started + 1_000_000n) };
  const attributes = ['gen_ai.conversation.id', 'user.id'].map((key) => ({ key, value: { stringValue: 'gone' } }));
  await post('/traces', {
    resourceSpans: [{ scopeSpans: [{ spans: [{ traceId, spanId, name: 'step', attributes, ...times }] }] }],
  });
  return traceId;
}

/** @returns its path */
async function made(path: string, body: object): Promise<string> {
  await put(path, body);
  return path;
}

/** Creates what is deleted. `again`: the response to the other requests; default: 404. */
const DELETIONS: Record<string, { make: () => Promise<string>; again?: 200 }> = {
  'DELETE /prompts/{name}/versions/{version}': { make: async () => '/prompts/say/versions/1' },
  'DELETE /prompts/{name}/labels/{label}': { make: () => made('/prompts/say/labels/gone', { version: 2 }) },
  'DELETE /prompts/{name}': {
    async make() {
      await post('/prompts', { name: 'archived', template: 'It.', model: 'sandbox/echo' });
      return '/prompts/archived';
    },
    again: 200,
  },
  'DELETE /executions/{id}': { make: async () => `/executions/${await execution()}` },
  'DELETE /traces/{id}': { make: async () => `/traces/${await trace()}` },
  'DELETE /conversations/{name}': {
    async make() {
      await trace();
      return '/conversations/gone';
    },
  },
  'DELETE /traces': {
    async make() {
      await trace();
      return '/traces?user_id=gone';
    },
  },
  'DELETE /evaluations/{id}': { make: async () => `/evaluations/${await evaluation()}` },
  'DELETE /improvements/{id}': {
    async make() {
      const raw = Array.from({ length: 160 }, (_, at) => `{"variables":{"text":"${at}"},"expected":"x"}`).join('\n');
      const headers = { 'Content-Type': 'application/x-ndjson' };
      await ok(call('PUT', '/datasets/many', { raw, headers }));
      const settings = { reflection: { model: 'sandbox/echo' }, max_cost: null };
      const { id } = await post('/improvements', { prompt_name: 'say', dataset: 'many', ...settings });
      await post(`/improvements/${id}/cancel`, {});
      return `/improvements/${id}`;
    },
  },
  'DELETE /datasets/{name}': { make: dataset },
  'DELETE /scores/{id}': {
    async make() {
      const score = { subject: { execution_id: await execution() }, name: 'helpful', value: 1 };
      return `/scores/${(await post('/scores', score)).id}`;
    },
  },
  'DELETE /score-definitions/{name}': { make: () => made('/score-definitions/gone', { data_type: 'boolean' }) },
  'DELETE /saved-evaluators/{name}': {
    make: () => made('/saved-evaluators/gone', { evaluator: { type: 'json_valid' } }),
  },
  'DELETE /queues/{name}': { make: () => made('/queues/gone', { score_names: ['helpful'] }) },
  'DELETE /rules/{name}': {
    make: () => made('/rules/gone', { prompt_name: 'say', evaluators: [{ type: 'json_valid' }] }),
  },
  'DELETE /schedules/{id}': {
    async make() {
      await dataset();
      const nightly = { prompt_name: 'say', dataset: 'gone' };
      return `/schedules/${(await post('/schedules', { name: 'gone', cron: '0 3 * * *', evaluation: nightly })).id}`;
    },
  },
  'DELETE /monitors/{name}': { make: () => made('/monitors/gone', CHECKS) },
  'DELETE /webhooks/{id}': {
    async make() {
      const webhook = { url: 'http://127.0.0.1:65000/', events: ['prompt.created'] };
      return `/webhooks/${(await post('/webhooks', webhook)).id}`;
    },
  },
  'DELETE /api-keys/{id}': {
    make: async () => `/api-keys/${(await post('/api-keys', { name: 'gone', scopes: ['read'] })).id}`,
    again: 200,
  },
  'DELETE /members/{id}': {
    async make() {
      await signIn(service, [{ workspace: 'default', role: 'viewer' }]);
      return `/members/${(await ok(call('GET', '/members'))).data[0].id}`;
    },
    again: 200,
  },
};

/** Why a deletion is not among them. */
const NOT_DELETED: Record<string, string> = {
  'DELETE /views/{name}': 'views are not in the audit log',
  'DELETE /api-keys/current': 'by the key itself, which is refused from then on',
  'DELETE /session': 'by the session itself, which is refused from then on',
  'DELETE /sessions/{id}': 'one statement deletes it and finds it: test/api/access/sessions.test.ts',
  'DELETE /me/api-keys/{id}': 'as DELETE /api-keys/{id}',
};

/** Resources that are put several times. */
const PUTS: Record<string, [path: string, body: object]> = {
  'PUT /prompts/{name}/labels/{label}': ['/prompts/say/labels/live', { version: 2 }],
  'PUT /labels/{label}': ['/labels/kept', { protected: true, release: { steps: [{ type: 'wait', for: '1h' }] } }],
  'PUT /score-definitions/{name}': [
    '/score-definitions/tone',
    { data_type: 'numeric', min: 0, max: 1, description: 'How it sounds' },
  ],
  'PUT /saved-evaluators/{name}': [
    '/saved-evaluators/tone',
    { evaluator: { type: 'contains', values: ['please'] }, description: 'How it sounds' },
  ],
  'PUT /queues/{name}': [
    '/queues/people',
    { score_names: ['helpful'], filter: { prompt_name: 'say' }, sample_rate: 0.5, description: 'For people' },
  ],
  'PUT /rules/{name}': [
    '/rules/judged',
    {
      prompt_name: 'say',
      evaluators: [
        { type: 'llm_judge', model: 'sandbox/echo', rubric: 'Friendly.' },
        { type: 'http', url: 'http://127.0.0.1:65000/' },
      ],
      sample_rate: 0.1,
      enabled: false,
    },
  ],
  'PUT /trace-policy': ['/trace-policy', { mask: ['secret', { pattern: 'CUST-\\d+' }], sample_rate: 0.5 }],
  'PUT /monitors/{name}': ['/monitors/errors', { ...CHECKS, prompt_name: 'say', notify: { email: false } }],
};

/** Why a PUT is not among them. */
const NOT_PUT: Record<string, string> = {
  'PUT /prompts/{name}': 'makes a version each time',
  'PUT /datasets/{name}': 'makes a version each time',
  'PUT /views/{name}': 'views are not in the audit log',
};

test('every operation that deletes or puts is listed', () => {
  const { paths }: { paths: Record<string, object> } = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const by = (method: string) => operations.filter((name) => name.startsWith(`${method} `)).sort();
  expect([...Object.keys(DELETIONS), ...Object.keys(NOT_DELETED)].sort()).toEqual(by('DELETE'));
  expect([...Object.keys(PUTS), ...Object.keys(NOT_PUT)].sort()).toEqual(by('PUT'));
});

describe('only one of eight deletions at once is logged, and the others find nothing', () => {
  test.each(Object.entries(DELETIONS))('%s', async (_name, { make, again = 404 }) => {
    const path = await make();
    let answers: Answer[] = [];
    const added = await addedBy(async () => {
      answers = await Promise.all(Array.from({ length: 8 }, () => call('DELETE', path)));
    });
    expect(added).toHaveLength(1);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => again),
    ]);
  });
});

describe('an equal body changes nothing', () => {
  test.each(Object.entries(PUTS))('%s', async (_name, [path, body]) => {
    expect((await addedBy(() => put(path, body))).length).toBeGreaterThan(0);
    expect(await addedBy(() => put(path, body))).toEqual([]);
    expect(await addedBy(() => Promise.all([put(path, body), put(path, body)]))).toEqual([]);
  });
});
