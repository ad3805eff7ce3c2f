import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expiredBy } from '../../src/capabilities.ts';
import { bindWorkspace, type Database, openDatabase, type Query } from '../../src/db/database.ts';
import { createQuery } from '../../src/db/query.ts';
import { newId } from '../../src/domain/ids.ts';
import { cleanUp } from '../../src/jobs/clean-up.ts';
import { listAuditLog } from '../../src/services/audit/list-audit-log.ts';
import { listEvaluations } from '../../src/services/evaluations/evaluations.ts';
import { listResults } from '../../src/services/evaluations/results/results.ts';
import { listEvents } from '../../src/services/events/list-events.ts';
import { reuseResponse } from '../../src/services/executions/creation/reuse-response.ts';
import { withdrawUnaccepted } from '../../src/services/executions/creation/withdraw-execution.ts';
import { listExecutions } from '../../src/services/executions/executions.ts';
import { listPrompts } from '../../src/services/prompts/list-prompts.ts';
import { readLatest } from '../../src/services/statistics/list-prompt-statistics.ts';
import { readRuns } from '../../src/services/statistics/prompt-statistics.ts';
import { listDeliveries } from '../../src/services/webhooks/deliveries/deliveries.ts';
import { createTestDatabase } from '../support/database.ts';
import { seedAuditLog, seedDeliveries, seedEvaluation, seedExecutions, seedIncludes } from '../support/seed-rows.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let evaluationId = '';
let webhookId = '';
const workspaceId = newId();

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 2 });
  const { query } = db.system;
  const seed = { workspaceId, count: 20_000, days: 60 };
  await seedExecutions(query, seed);
  await seedExecutions(query, { ...seed, workspaceId: newId() });
  await seedAuditLog(query, seed);
  await seedAuditLog(query, { ...seed, workspaceId: newId() });
  await seedIncludes(query, seed);
  await seedIncludes(query, { ...seed, workspaceId: newId() });
  evaluationId = await seedEvaluation(query, seed);
  webhookId = await seedDeliveries(query, seed);
  await seedDeliveries(query, { ...seed, workspaceId: newId() });
  for (let run = 0; run < 300; run++) await seedEvaluation(query, { ...seed, count: 1, status: 'canceled' });
  await query(
    {
      text: `insert into idempotency_keys (workspace_id, id, key, request_hash, resource_id, created_at)
             select $1, gen_random_uuid(), 'key ' || n, '\\x00', gen_random_uuid()::text, now() - make_interval(secs => n)
             from generate_series(1, 20000) as n`,
    },
    [workspaceId],
  );
  await query({ text: 'analyze' });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** The plans of the statements that `work` would run and that mention `table`. */
async function plansOf(table: string, work: (query: Query) => Promise<unknown>): Promise<string> {
  const plans: string[] = [];
  const explain = createQuery(async ({ text }, values) => {
    if (!text.includes(table)) return [];
    const rows = await db.system.query({ text: `explain ${text}` }, values);
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return [];
  });
  await work(explain);
  expect(plans).not.toEqual([]);
  return plans.join('\n');
}

const asWorkspace = (query: Query) => ({ ...db.workspace(workspaceId), query: bindWorkspace(query, workspaceId) });
const DAY_MS = 86_400_000;
const span = { since: new Date(Date.now() - 40 * DAY_MS), until: new Date(Date.now() - 39 * DAY_MS) };

test('idempotency keys are cleaned up by their time, and withdrawn by what they created', async () => {
  const { system } = db;
  const cleaning = await plansOf('idempotency_keys', (query) =>
    cleanUp({ ...system, query, transaction: async (work) => work(query) }, expiredBy({ events: DAY_MS })),
  );
  expect(cleaning).toContain('idempotency_keys_created_at_index');
  const withdrawing = await plansOf('idempotency_keys', (query) => withdrawUnaccepted(query, newId()));
  expect(withdrawing).toContain('idempotency_keys_resource_id_index');
  for (const plan of [cleaning, withdrawing]) expect(plan).not.toContain('Seq Scan on idempotency_keys');
});

test.each([
  ['executions', 'status_id', { status: 'canceled' }],
  ['executions', 'model_id', { model: 'sandbox/rare' }],
  ['executions', 'prompt_name_id', { promptName: 'rare' }],
  ['executions', 'prompt_name_status_id', { promptName: 'seed/3', status: 'failed' }],
  ['executions', 'prompt_name_model_id', { promptName: 'seed/1', model: 'sandbox/m0' }],
  ['executions', 'trace', { traceId: newId() }],
  ['executions', 'workspace_id_id', span],
  ['evaluations', 'status_id', { status: 'completed' }],
  ['evaluations', 'dataset_name_id', { dataset: 'rare' }],
  ['evaluations', 'schedule_id_id', { scheduleId: newId() }],
  ['events', 'type_id', { event: 'prompt.updated' }],
  ['deliveries', 'status_id', { status: 'failed' }],
  ['deliveries', 'webhook_id_id', span],
] as const)('a list of %s with a rare filter uses an index: %s', async (table, index, filter) => {
  const plan = await plansOf(table, (query) => {
    const own = asWorkspace(query);
    // biome-ignore lint/suspicious/noExplicitAny: each row of the table above fits its list
    const any = filter as any;
    if (table === 'executions') return listExecutions(own, any, 100, undefined);
    if (table === 'evaluations') return listEvaluations(own, any, 100, undefined);
    if (table === 'events') return listEvents(own, any, 100, undefined);
    return listDeliveries(own, webhookId, any, 100, undefined);
  });
  expect(plan).toMatch(new RegExp(`${table}_\\w*${index}_index`));
  expect(plan).not.toContain(`Seq Scan on ${table}`);
});

test('statistics of prompts use the indexes of their runs and evaluations', async () => {
  const until = new Date();
  const since = new Date(until.getTime() - 7 * DAY_MS);
  for (const plan of [
    await plansOf('executions', (query) =>
      readLatest(bindWorkspace(query, workspaceId), ['rare', 'seed/0'], { since, until }),
    ),
    await plansOf('executions', (query) =>
      readRuns(bindWorkspace(query, workspaceId), { name: 'seed/0', since, until }),
    ),
  ]) {
    expect(plan).toMatch(/executions_workspace_id_prompt_name_\w*id_index/);
    expect(plan).not.toMatch(/Seq Scan on (executions|evaluations)/);
  }
});

test('the includers of a rarely included prompt are found by an index', async () => {
  const filter = { includes: 'rare', archived: 'false', sort: 'name' } as const;
  const plan = await plansOf('prompt_includes', (query) => listPrompts(asWorkspace(query), filter, 100, undefined));
  expect(plan).toContain('prompt_includes_included_name_index');
  expect(plan).not.toMatch(/Seq Scan on prompt/);
});

test.each([
  ['action_id', { action: 'label.protected' }],
  ['resource_type_id', { resource: { type: 'label', id: undefined } }],
  ['resource_type_resource_id_id', { resource: { type: 'prompt', id: 'rare' } }],
  ['key_id_id', { actor: 'operator' }],
  ['session_id_id', { actor: { sessionId: '00000000-0000-7000-8000-000000000007' } }],
  ['workspace_id_id', span],
] as const)('the audit log with a rare filter uses an index: %s', async (index, filter) => {
  const plan = await plansOf('audit_log', (query) => listAuditLog(asWorkspace(query), filter, 100, undefined));
  expect(plan).toMatch(new RegExp(`audit_log_\\w*${index}_index`));
  expect(plan).not.toContain('Seq Scan on audit_log');
});

test('a response to reuse is found by the hash of its call', async () => {
  const call = { id: newId(), callHash: Buffer.alloc(32, 1), model: 'sandbox/m0' };
  const plan = await plansOf('executions', (query) => reuseResponse(bindWorkspace(query, workspaceId), call, DAY_MS));
  expect(plan).toContain('executions_call_hash_index');
  expect(plan).not.toContain('Seq Scan on executions');
});

test.each(['failed', 'regression', 'improvement'])(
  'results marked as %s are found by a partial index',
  async (flag) => {
    const plan = await plansOf('evaluation_results', (query) =>
      listResults(bindWorkspace(query, workspaceId), evaluationId, { [flag]: true }, 100, undefined),
    );
    expect(plan).toContain(`evaluation_results_${flag}_index`);
    const scored = await plansOf('evaluation_results', (query) =>
      listResults(bindWorkspace(query, workspaceId), evaluationId, { [flag]: true, maxScore: 0.5 }, 100, undefined),
    );
    expect(scored.match(new RegExp(`evaluation_results_${flag}_index`, 'g'))).toHaveLength(2);
  },
);

test('results are filtered by score along the primary key', async () => {
  const plan = await plansOf('evaluation_results', (query) =>
    listResults(bindWorkspace(query, workspaceId), evaluationId, { maxScore: 0.01 }, 100, undefined),
  );
  expect(plan.match(/evaluation_results_pkey/g)).toHaveLength(2);
});
