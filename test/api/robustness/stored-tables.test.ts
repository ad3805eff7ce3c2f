import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OWNERSHIP } from '../../../src/db/tables.ts';
import { sweep } from '../../../src/jobs/sweep.ts';
import { COUNTS } from '../../../src/services/workspaces/quota-list.ts';
import { type Answer, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { newTraceId, send, span } from '../traces/traces-support.ts';
import { createOtherWorkspace } from '../workspace.ts';

/** A text that a request can carry in most places. */
const TEXT = 'x'.repeat(20_000);

let service: TestService;
let call: TestService['call'];
let workspaceId: string;
beforeAll(async () => {
  service = await startTestService();
  const other = await createOtherWorkspace(service, 'fills tables');
  ({ call } = other);
  const [row] = await service.dependencies.db.system.query<{ id: string }>({
    text: `select id from workspaces where name = 'fills tables'`,
  });
  workspaceId = row?.id ?? '';
  for (const template of ['Say {{ text }}', 'Do say {{ text }}'])
    await ok(call('POST', '/prompts', { body: { name: 'say', template, model: 'sandbox/echo' } }));
});
afterAll(() => service?.stop());

type Counted = 'promptBytes' | 'datasetBytes' | 'executionBytes' | 'auditBytes';

async function ok(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answer;
  if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body));
  return body;
}

async function counted(name: Counted): Promise<number> {
  const [row] = await service.dependencies.db.workspace(workspaceId).query(COUNTS[name], {});
  return row?.count ?? 0;
}

/** With statements, where otherwise only background work adds rows. */
const insert = (text: string) => service.dependencies.db.system.query({ text }, [workspaceId]);

const run = (headers = {}) =>
  ok(call('POST', '/executions', { body: { prompt_name: 'say', variables: { text: TEXT } }, headers }));
/** With texts of maximum length. */
const LARGE = [1, 2, 3].map((n) => ({ type: 'contains', name: `large-${n}`, value: TEXT.slice(0, 10_000) }));
const evaluate = (body: object) => ok(call('POST', '/evaluations', { body: { prompt_name: 'say', ...body } }));
const upload = (name: string) =>
  ok(
    call('PUT', `/datasets/${name}`, {
      raw: `${JSON.stringify({ variables: { text: TEXT } })}\n`,
      headers: { 'Content-Type': 'application/x-ndjson' },
    }),
  );
const putRule = () =>
  ok(call('PUT', '/rules/contains', { body: { prompt_name: 'say', evaluators: LARGE, enabled: false } }));

/** How a workspace fills a table, which sum counts it, and how much of it at least. */
const FILLED: Record<string, [sum: Counted, bytes: number, fill: () => Promise<unknown>]> = {
  prompt_versions: [
    'promptBytes',
    TEXT.length,
    () => ok(call('PUT', '/prompts/say', { body: { template: `{{ text }} ${TEXT}` } })),
  ],
  dataset_examples: ['datasetBytes', TEXT.length, () => upload('words')],
  dataset_versions: ['datasetBytes', TEXT.length, () => evaluate({ examples: [{ variables: { text: TEXT } }] })],
  executions: ['executionBytes', TEXT.length, run],
  traces: [
    'executionBytes',
    TEXT.length,
    () => ok(send(call, [span({ traceId: newTraceId(), attributes: { 'input.value': TEXT } })])),
  ],
  idempotency_keys: ['executionBytes', 5 * TEXT.length, () => run({ 'Idempotency-Key': 'kept' })],
  evaluations: [
    'executionBytes',
    TEXT.length,
    () => evaluate({ examples: [{ variables: { text: 'x' } }], evaluators: LARGE, start_at: '2099-01-01T00:00:00Z' }),
  ],
  evaluation_results: [
    'executionBytes',
    2 * TEXT.length,
    async () => {
      const { id } = await evaluate({ examples: [{ variables: { text: TEXT } }] });
      await waitFor('its end', async () => (await call('GET', `/evaluations/${id}`)).body.status === 'completed');
    },
  ],
  evaluation_judgements: [
    'executionBytes',
    4 * TEXT.length,
    async () => {
      // The sandbox repeats a judge's prompt, including the rubric.
      const judge = { type: 'llm_judge', model: 'sandbox/echo', rubric: TEXT.slice(0, 7_000) };
      const { id } = await evaluate({ examples: [{ variables: { text: TEXT } }], evaluators: [judge] });
      await waitFor('its end', async () => (await call('GET', `/evaluations/${id}`)).body.status === 'completed');
    },
  ],
  rule_judgements: [
    'executionBytes',
    TEXT.length,
    () =>
      insert(`insert into rule_judgements (workspace_id, execution_id, rule, evaluator, version, model, answer, created_at)
              select workspace_id, id, 'a', 'b', 'c', 'sandbox/echo', repeat('x', ${TEXT.length}), now() from executions where workspace_id = $1 limit 1`),
  ],
  trace_judgements: [
    'executionBytes',
    TEXT.length,
    () =>
      insert(`insert into trace_judgements (workspace_id, trace_id, rule, evaluator, version, model, answer, created_at)
              values ($1, gen_random_uuid(), 'a', 'b', 'c', 'sandbox/echo', repeat('x', ${TEXT.length}), now())`),
  ],
  scores: [
    'executionBytes',
    1_000,
    async () => {
      const { id } = await run();
      await ok(
        call('POST', '/scores', {
          body: { subject: { execution_id: id }, name: 'helpful', value: 1, comment: 'x'.repeat(900) },
        }),
      );
    },
  ],
  rule_items: [
    'executionBytes',
    256,
    () =>
      insert(`insert into rule_items (workspace_id, work_id, execution_id, created_at)
              values ($1, gen_random_uuid(), gen_random_uuid(), now())`),
  ],
  rule_backfills: [
    'executionBytes',
    TEXT.length,
    async () => {
      await putRule();
      const span = { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' };
      await ok(call('POST', '/rules/contains/backfill', { body: span }));
    },
  ],
  releases: [
    'executionBytes',
    TEXT.length,
    async () => {
      await ok(call('PUT', '/prompts/say/labels/live', { body: { version: 1 } }));
      await upload('checks');
      const steps = [
        { type: 'approve' },
        { type: 'evaluate', dataset: 'checks', evaluators: LARGE, require: 'threshold', threshold: 0.5 },
      ];
      await ok(call('POST', '/releases', { body: { prompt_name: 'say', label: 'live', version: 2, steps } }));
    },
  ],
  improvements: [
    'executionBytes',
    TEXT.length,
    () =>
      insert(`insert into improvements (id, workspace_id, prompt_name, prompt_version, base, request, evaluators, dataset_name, dataset_version, split, status, state, created_at)
              values (gen_random_uuid(), $1, 'say', 1, jsonb_build_object('template', repeat('x', ${TEXT.length})), '{}', '[]', 'a', 1, '{}', 'canceled', '{}', now())`),
  ],
  improvement_candidates: [
    'executionBytes',
    TEXT.length,
    () =>
      insert(`insert into improvement_candidates (improvement_id, workspace_id, number, round, kind, status, content, run, created_at)
              select id, workspace_id, 1, 1, 'reflect', 'tried', jsonb_build_object('template', repeat('x', ${TEXT.length})), '{}', now()
              from improvements where workspace_id = $1 limit 1`),
  ],
  deliveries: [
    'executionBytes',
    4_096,
    async () => {
      const { id } = await ok(
        call('POST', '/webhooks', { body: { url: 'http://127.0.0.1:65000/', events: ['prompt.created'] } }),
      );
      await ok(call('POST', `/webhooks/${id}/test`));
    },
  ],
  audit_log: ['auditBytes', 1_024, () => ok(call('PUT', '/labels/production', { body: { protected: true } }))],
};

const BY_NUMBER = 'as many as a quota or a fixed limit says, each of at most a body of 1 MiB';
const AUDITED = 'each change is in the audit log, whose bytes have a quota';
const SMALL = 'a row without texts for each of what is counted';
const SUMS = 'sums: their number does not grow with what is done';
const PASSING = 'gone within seconds';

/** Why a table needs no sum. */
const UNCOUNTED: Record<string, string> = {
  workspaces: 'made by operators',
  users: AUDITED,
  trace_policies: 'at most one for each workspace, with a bounded list of patterns',
  trace_steps: 'in the bytes of their trace',
  user_groups: AUDITED,
  user_group_members: AUDITED,
  members: AUDITED,
  api_keys: AUDITED,
  sessions: 'one for each sign-in, gone when it expires',
  device_authorizations: 'few at a time, gone within minutes',
  rate_limits: 'a row for each caller, gone within minutes',
  prompts: BY_NUMBER,
  prompt_labels: AUDITED,
  prompt_includes: 'at most as many as there are includes in the text of a version, which is counted',
  protected_labels: BY_NUMBER,
  label_policies: BY_NUMBER,
  datasets: 'its name and description: making one is in the audit log',
  schedules: BY_NUMBER,
  schedule_occurrences: 'without texts, one for each evaluation, gone after a time',
  monitors: BY_NUMBER,
  monitor_changes: 'a few hundred bytes for each change of a monitor, gone with the events',
  monitored_workspaces: SUMS,
  run_minutes: SUMS,
  rules: BY_NUMBER,
  rule_days: SUMS,
  webhooks: BY_NUMBER,
  delivery_attempts: 'in what a delivery counts',
  events: 'a few hundred bytes for each run and change, gone after EVENT_RETENTION',
  notifications: 'a few hundred bytes for each webhook and monitor that changes its state, gone with the events',
  queues: BY_NUMBER,
  queue_items: SMALL,
  queue_reviews: SMALL,
  queue_candidates: PASSING,
  score_definitions: BY_NUMBER,
  saved_evaluators: BY_NUMBER,
  saved_views: BY_NUMBER,
  search_index: 'one row, for operators',
  search_candidates: PASSING,
  search_words: 'an index that operators switch on, with bounded words for each row that is counted',
  provider_batches: 'a few for each evaluation',
  release_entries: PASSING,
  release_score_entries: PASSING,
  release_sums: SUMS,
  improvement_looks: 'without texts, at most one for each example of a prompt',
  stream_deltas: 'of responses in progress, gone within a minute',
  storage_entries: PASSING,
  storage_sums: SUMS,
  usage_entries: PASSING,
  usage_sums: SUMS,
  prompt_days: SUMS,
  statistics_progress: SUMS,
};

test('every table has a sum, or a reason why it needs none', () => {
  expect([...Object.keys(FILLED), ...Object.keys(UNCOUNTED)].sort()).toEqual([...OWNERSHIP.keys()].sort());
});

describe('data of a workspace is counted', () => {
  test.each(Object.entries(FILLED))('in %s', async (_table, [sum, bytes, fill]) => {
    const before = await counted(sum);
    await fill();
    await waitFor(`${bytes} bytes in ${sum}`, async () => (await counted(sum)) - before >= bytes, 20_000);
  });
});

test('the content of a draft counts with its evaluation', async () => {
  // Rows deleted by earlier tests are swept first.
  await sweep(service.dependencies.db.system, new AbortController().signal);
  const before = await counted('executionBytes');
  const draft = { template: TEXT, model: 'sandbox/echo' };
  const evaluation = {
    prompt_name: 'say',
    draft,
    examples: [{ variables: {} }],
    evaluators: [{ type: 'exact_match' }],
  };
  const { id } = await ok(call('POST', '/evaluations', { body: { ...evaluation, start_at: '2099-01-01T00:00:00Z' } }));
  expect((await counted('executionBytes')) - before).toBeGreaterThan(TEXT.length);
  await ok(call('POST', `/evaluations/${id}/cancel`));
  await ok(call('DELETE', `/evaluations/${id}`));
  await waitFor('the sum of before', async () => (await counted('executionBytes')) <= before);
});

test('a deleted dataset counts until its examples are deleted', async () => {
  const { system } = service.dependencies.db;
  await sweep(system, new AbortController().signal);
  const before = await counted('datasetBytes');
  await upload('deleted');
  await ok(call('DELETE', '/datasets/deleted'));
  expect(await counted('datasetBytes')).toBeGreaterThan(before + TEXT.length);
  await sweep(system, new AbortController().signal);
  expect(await counted('datasetBytes')).toBe(before);
});

test('deleted data is counted no more', async () => {
  const { system } = service.dependencies.db;
  await sweep(system, new AbortController().signal);
  const before = await counted('executionBytes');
  const { id } = await evaluate({ examples: [{ variables: { text: TEXT } }], evaluators: LARGE });
  await waitFor('its end', async () => (await call('GET', `/evaluations/${id}`)).body.status === 'completed');
  await ok(call('DELETE', `/evaluations/${id}`));
  await sweep(system, new AbortController().signal);
  await waitFor('the sum of before', async () => (await counted('executionBytes')) <= before);
});
