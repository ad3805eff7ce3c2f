import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CAPABILITIES } from '../../src/capabilities.ts';
import { parsePublicId } from '../../src/domain/ids.ts';
import { removeWorkspaces } from '../../src/jobs/remove-workspaces.ts';
import { sumUpUsage } from '../../src/jobs/sum-up-usage.ts';
import { deleteWorkspace } from '../../src/services/workspaces/delete-workspace.ts';
import { newTraceId, send, span } from '../api/traces/traces-support.ts';
import { createOtherWorkspace } from '../api/workspace.ts';
import { signIn } from '../support/members.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  // Calls of the workspace that stays never end.
  service = await startTestService({ SHUTDOWN_GRACE: '1s' });
});
afterAll(() => service?.stop());

const NEVER = new AbortController().signal;

async function tablesOfWorkspaces(): Promise<string[]> {
  const rows = await service.dependencies.db.system.query<{ table_name: string }>({
    text: `select table_name from information_schema.columns where column_name = 'workspace_id' and table_schema = 'public'`,
  });
  return rows.map(({ table_name }) => table_name).sort();
}

/** Counts of a workspace's rows by table, without zeros. */
async function rowsOf(workspaceId: string): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of await tablesOfWorkspaces()) {
    const [row] = await service.dependencies.db.system.query<{ count: number }>(
      { text: `select count(*)::int as count from ${table} where workspace_id = $1` },
      [workspaceId],
    );
    if (row !== undefined && row.count > 0) rows[table] = row.count;
  }
  return rows;
}

/** One of everything, some of it under way. */
async function fill({ call, key }: { call: TestService['call']; key: string }) {
  const post = async (path: string, body: object, headers = {}) => {
    const answer = await call('POST', path, { body, headers });
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await post('/webhooks', { url: 'http://127.0.0.1:65000/', events: ['prompt.created'] });
  await send(call, [span({ traceId: newTraceId() })]);
  for (const template of ['Say {{ text }}', 'Do say {{ text }}'])
    await post('/prompts', { name: 'say', template, model: 'sandbox/echo' });
  await post('/prompts', { name: 'stall', template: '{{ text }}', model: 'sandbox/stall' });
  await post('/prompts', { name: 'again', template: '{{> say }}', model: 'sandbox/echo' });
  await call('PUT', '/prompts/say/labels/production', { body: { version: 1 } });
  await call('PUT', '/labels/production', { body: { protected: true } });
  await call('PUT', '/labels/live', { body: { release: { steps: [{ type: 'wait', for: '1h' }] } } });
  await call('PUT', '/prompts/stall/labels/live', { body: { version: 1 } });
  await post('/prompts', { name: 'stall', template: '{{ text }}!', model: 'sandbox/stall' });
  await post('/releases', { prompt_name: 'stall', label: 'live', version: 2 });
  await call('PUT', '/datasets/words', {
    raw: '{"variables":{"text":"one"},"expected":"Say one"}\n',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  await post('/executions', { prompt_name: 'say', variables: { text: 'it' } }, { 'Idempotency-Key': 'one' });
  const execution = await post(
    '/executions',
    { prompt_name: 'stall', variables: { text: 'it' } },
    { Prefer: 'respond-async' },
  );
  await call('PUT', '/queues/people', { body: { score_names: ['helpful'], filter: {} } });
  await call('POST', '/queues/people/items', { body: { execution_ids: [execution.id] } });
  await call('POST', '/queues/people/next');
  await post('/evaluations', { prompt_name: 'say', dataset: 'words' });
  await post('/evaluations', { prompt_name: 'say', examples: [{ variables: { text: 'inline' } }] });
  const evaluation = await post('/evaluations', { prompt_name: 'stall', examples: [{ variables: { text: 'x' } }] });
  const schedule = await post('/schedules', {
    name: 'nightly',
    cron: '0 3 * * *',
    evaluation: { prompt_name: 'say', dataset: 'words' },
  });
  await call('PUT', '/datasets/many', {
    raw: Array.from({ length: 160 }, (_, at) => `{"variables":{"text":"${at}"},"expected":"x"}`).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  await post('/improvements', {
    prompt_name: 'stall',
    dataset: 'many',
    evaluators: [{ type: 'contains' }],
    reflection: { model: 'sandbox/echo' },
    max_cost: null,
  });
  await call('PUT', '/monitors/errors', { body: { window: '1h', checks: [{ metric: 'error_rate', above: 0.5 }] } });
  await call('PUT', '/saved-evaluators/valid', { body: { evaluator: { type: 'json_valid' } } });
  await call('PUT', '/views/all', { body: { page: 'executions' } });
  await call('PUT', '/trace-policy', { body: { mask: ['secret', 'email'] } });
  await call('PUT', '/rules/valid', { body: { prompt_name: 'say', evaluators: [{ type: 'json_valid' }] } });
  await post('/rules/valid/backfill', { since: '2026-01-01T00:00:00Z', until: '2026-02-01T00:00:00Z', max_cost: 1 });
  await call('POST', `/schedules/${schedule.id}/trigger`);
  await call('POST', '/session', { body: { key }, key: null });
  const { body: current } = await call('GET', '/api-keys/current');
  await signIn(service, [{ workspace: current.workspace.name, role: 'editor' }]);
  return { execution, evaluation, schedule };
}

/** Workers deal with their rows within seconds. */
const SOON_GONE = ['release_entries', 'release_score_entries', 'queue_candidates', 'rule_items'];

test('a deleted workspace is refused at once, and all of it is removed, even work in progress', async () => {
  const { db, client, taskQueues, log } = service.dependencies;
  const toDelete = await createOtherWorkspace(service, 'toDelete');
  const staying = await createOtherWorkspace(service, 'staying');
  const { execution, evaluation, schedule } = await fill(toDelete);
  await fill(staying);
  const workspaceOf = async (name: string) => {
    const [row] = await db.system.query<{ id: string }>({ text: 'select id from workspaces where name = $1' }, [name]);
    return row?.id ?? '';
  };
  const [deletedId, stayingId] = [await workspaceOf('toDelete'), await workspaceOf('staying')];
  await db.system.query(
    {
      text: `insert into notifications (workspace_id, id, type, message, created_at)
             values ($1, gen_random_uuid(), 'webhook.disabled', 'It failed.', now())`,
    },
    [deletedId],
  );
  await waitFor('deliveries under way', async () => (await rowsOf(deletedId))['deliveries']);
  for (const id of [deletedId, stayingId])
    await waitFor('the schedule to start its evaluation', async () => (await rowsOf(id))['schedule_occurrences']);
  await waitFor('usage in the sums', async () => {
    await sumUpUsage(db.system);
    return (await rowsOf(deletedId))['usage_sums'] && (await rowsOf(stayingId))['usage_sums'];
  });
  await db.system.query(
    {
      text: `insert into stream_deltas (workspace_id, execution_id, attempt, sequence, type, data)
             values ($1, gen_random_uuid(), 1, 2, 'text', 'Hello')`,
    },
    [deletedId],
  );
  for (const id of [deletedId, stayingId])
    await db.system.query(
      {
        text: `with progress as (insert into statistics_progress (workspace_id, days_until) values ($1, now())),
                 sums as (insert into storage_sums (workspace_id, kind, bytes) values ($1, 'runs', 1) on conflict do nothing),
                 entries as (insert into storage_entries (workspace_id, kind, bytes) values ($1, 'runs', 1))
               insert into prompt_days (workspace_id, prompt_name, starts_at, prompt_version, runs, failed, tokens_input, tokens_output,
                 tokens_cached_input, tokens_reasoning, unpriced) values ($1, 'say', now(), 1, 1, 0, 0, 0, 0, 0, 0)`,
      },
      [id],
    );
  for (const id of [deletedId, stayingId])
    await db.system.query(
      {
        text: `insert into release_sums (workspace_id, release_id, stage, arm, starts_at, measure, bucket, count, total, squares)
               values ($1, gen_random_uuid(), 0, 'stable', now(), 'error', 0, 1, 0, 0)`,
      },
      [id],
    );
  for (const id of [deletedId, stayingId])
    await db.system.query(
      {
        text: `with definition as (insert into score_definitions (workspace_id, id, name, data_type, defined, created_at, updated_at)
                 values ($1, gen_random_uuid(), 'helpful', 'numeric', false, now(), now()))
               insert into scores (workspace_id, id, name, data_type, number, evaluation_id, example_id, source, subject_at, created_at, updated_at)
               values ($1, gen_random_uuid(), 'helpful', 'numeric', 1, gen_random_uuid(), 'a', 'api', now(), now(), now())`,
      },
      [id],
    );
  for (const id of [deletedId, stayingId])
    await db.system.query(
      {
        text: `with change as (insert into monitor_changes (workspace_id, id, monitor_id, previous_state, state, reason, progress, created_at)
                 select workspace_id, gen_random_uuid(), id, 'no_data', 'ok', 'there is enough data', '[]', now() from monitors where workspace_id = $1)
               insert into run_minutes (workspace_id, measure, starts_at, prompt_name, label, bucket, count, total, squares)
               values ($1, 'error', now(), 'say', '', 1, 1, 0, 0)`,
      },
      [id],
    );
  for (const id of [deletedId, stayingId])
    await db.system.query(
      {
        text: `with day as (insert into rule_days (workspace_id, work_id, day) select workspace_id, id, '2026-01-01' from rules where workspace_id = $1)
               insert into rule_judgements (workspace_id, execution_id, rule, evaluator, version, model, created_at)
               select workspace_id, id, 'valid', 'tone', 'a', 'openai/gpt-4o-mini', now() from executions where workspace_id = $1 limit 1`,
      },
      [id],
    );
  for (const id of [deletedId, stayingId])
    await db.system.query(
      {
        text: `insert into trace_judgements (workspace_id, trace_id, rule, evaluator, version, model, created_at)
               values ($1, gen_random_uuid(), 'valid', 'tone', 'a', 'openai/gpt-4o-mini', now())`,
      },
      [id],
    );
  for (const id of [deletedId, stayingId])
    await db.system.query(
      {
        text: `insert into provider_batches (id, workspace_id, evaluation_id, number, round, wave, provider, model, seq_from, seq_to, status, created_at, finished_at)
               select gen_random_uuid(), workspace_id, id, 1, 0, 'responses', 'openai', 'openai/gpt-4o-mini', 0, 1, 'completed', now(), now()
               from evaluations where workspace_id = $1 limit 1`,
      },
      [id],
    );
  // As with SEARCH_INDEX.
  for (const id of [deletedId, stayingId])
    await db.system.query(
      {
        text: `with noted as (insert into search_candidates (workspace_id, subject_id, is_trace) values ($1, gen_random_uuid(), false))
               insert into search_words (workspace_id, subject_id, words) values ($1, gen_random_uuid(), 'a')`,
      },
      [id],
    );
  const everything = await waitFor('a row of everything', async () => {
    // Workers soon add it to the sums.
    await db.system.query(
      {
        text: `insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
               values ($1, gen_random_uuid(), 0, 'stable', now(), 'helpful', 1, 1, 1)`,
      },
      [deletedId],
    );
    await db.system.query(
      {
        text: `insert into release_entries (workspace_id, release_id, stage, arm, created_at, failed, fell_back, reused, tokens)
               values ($1, gen_random_uuid(), 0, 'stable', now(), false, false, false, 0)`,
      },
      [deletedId],
    );
    await db.system.query(
      { text: 'insert into queue_candidates (workspace_id, execution_id) values ($1, gen_random_uuid())' },
      [deletedId],
    );
    await db.system.query(
      {
        text: 'insert into rule_items (workspace_id, work_id, execution_id, created_at) values ($1, gen_random_uuid(), gen_random_uuid(), now())',
      },
      [deletedId],
    );
    const tables = Object.keys(await rowsOf(deletedId)).sort();
    return SOON_GONE.every((table) => tables.includes(table)) ? tables : undefined;
  });
  // The removal must know every table with rows of a workspace.
  expect(everything).toEqual(await tablesOfWorkspaces());

  expect(await deleteWorkspace(db.system, 'toDelete')).toMatchObject({ name: 'toDelete', keys: 2 });
  await waitFor('the key to be refused', async () => (await toDelete.call('GET', '/prompts')).status === 401);
  await createOtherWorkspace(service, 'toDelete');

  const starter = { client, taskQueues, eager: false };
  await waitFor(
    'everything to be gone',
    async () => {
      await removeWorkspaces({ db, starter, log, capabilities: CAPABILITIES }, NEVER, 0);
      const [left] = await db.system.query({ text: 'select 1 from workspaces where id = $1' }, [deletedId]);
      return left === undefined;
    },
    120_000,
  );
  expect(await rowsOf(deletedId)).toEqual({});
  await waitFor('what is out of sight to be gone', async () => {
    await removeWorkspaces({ db, starter, log, capabilities: CAPABILITIES }, NEVER, 0);
    const [left] = await db.system.query<{ count: number }>(
      { text: 'select count(*)::int as count from evaluation_results where evaluation_id = $1' },
      [parsePublicId('evaluation', evaluation.id)],
    );
    return left?.count === 0;
  });
  for (const { workflow_id: id } of [execution, evaluation])
    await waitFor(`the end of ${id}`, async () => {
      const { status } = await client.workflow.getHandle(id).describe();
      return status.name !== 'RUNNING';
    });
  await expect(client.schedule.getHandle(`evaluation-schedule/${schedule.id}`).describe()).rejects.toThrow();

  // Rows that workers may add to the sums in the meantime.
  const passing = ['notifications', 'stream_deltas', 'storage_entries', ...SOON_GONE];
  const lasting = (tables: string[]) => tables.filter((table) => !passing.includes(table));
  expect(lasting(Object.keys(await rowsOf(stayingId)).sort())).toEqual(lasting(everything));
  expect((await staying.call('GET', '/prompts/say')).status).toBe(200);
});
