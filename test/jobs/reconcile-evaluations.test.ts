import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { newId, parsePublicId } from '../../src/domain/ids.ts';
import { reconcileEvaluations } from '../../src/jobs/reconcile-evaluations.ts';
import { cancelEvaluation, pauseEvaluation } from '../../src/services/evaluations/control/control-evaluation.ts';
import { resumeEvaluation } from '../../src/services/evaluations/control/resume-evaluation.ts';
import { createEvaluation } from '../../src/services/evaluations/creation/create-evaluation.ts';
import { finishRun } from '../../src/services/evaluations/run/finish-run.ts';
import { checkAll } from '../../src/services/reconciliation/check-all.ts';
import { evaluationWorkflowId } from '../../src/temporal/names.ts';
import { startWorkers } from '../../src/worker.ts';
import { captureLog } from '../support/captured-log.ts';
import { type OverdueRows, overdueRows } from '../support/overdue-rows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/wait-for.ts';

/** Without workers, so that reconciliation happens only on command. */
let service: TestService;
let workspaceId: string;
let overdue: OverdueRows;
const { log, lines } = captureLog();
beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'its job goes over all workspaces' });
  const { query } = service.dependencies.db.system;
  overdue = overdueRows(query, 'evaluations');
  const [workspace] = await query<{ id: string }>({ text: 'select id from workspaces' });
  workspaceId = workspace?.id ?? '';
  await service.call('POST', '/prompts', { body: { name: 'echo', template: '{{ text }}', model: 'sandbox/echo' } });
});
beforeEach(() => {
  lines.length = 0;
});
afterAll(() => service?.stop());

function reconcile(): Promise<void> {
  const { db, client, taskQueues } = service.dependencies;
  return reconcileEvaluations({ db, starter: { client, taskQueues, eager: false }, log });
}

const handleOf = (id: string) => service.dependencies.client.workflow.getHandle(evaluationWorkflowId(id, 0));
const isKnown = (id: string) =>
  handleOf(id)
    .describe()
    .then(
      () => true,
      () => false,
    );

/** A row as a process leaves it that dies between row and workflow. */
async function leaveBehind({ promptName = 'echo', ageSeconds = 60, accepted = true } = {}): Promise<string> {
  const { db, models } = service.dependencies;
  const id = newId();
  await db.workspace(workspaceId).transaction((query) =>
    createEvaluation(
      query,
      workspaceId,
      { models, quotas: { require: async () => {}, check: async () => {} } },
      {
        id,
        promptName: 'echo',
        examples: [{ variables: { text: 'yes' }, expected: 'yes' }],
        evaluators: [],
        threshold: 0.05,
        baseline: null,
        concurrency: 1,
        metadata: {},
      },
    ),
  );
  await db.system.query(
    {
      text: `update evaluations set prompt_name = $2, accepted_at = case when $4 then now() end,
               created_at = now() - make_interval(secs => $3), check_at = now() - interval '1 second' where id = $1`,
    },
    [id, promptName, ageSeconds, accepted],
  );
  return id;
}

async function read(id: string) {
  const [row] = await service.dependencies.db.system.query(
    { text: 'select status, signal_pending, error from evaluations where id = $1' },
    [id],
  );
  return row;
}

test('a run that Temporal refuses delays no other, and is checked less and less often', async () => {
  // Longer than Temporal accepts as a search attribute.
  const bad = await leaveBehind({ promptName: 'x'.repeat(5_000), ageSeconds: 300 });
  const others = await Promise.all(Array.from({ length: 30 }, () => leaveBehind()));
  await reconcile();
  expect(await isKnown(bad)).toBe(false);
  expect(await Promise.all(others.map(isKnown))).toEqual(others.map(() => true));
  expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ table: 'evaluations', id: bad }]);
  expect(await overdue.secondsToCheck(bad)).toBeGreaterThan(250);
  for (const id of others) expect(await overdue.secondsToCheck(id)).toBeLessThan(250);

  // The others are due again earlier.
  await overdue.makeOverdue(...others);
  lines.length = 0;
  await reconcile();
  expect(lines).toEqual([]);
  await Promise.all(others.map((id) => handleOf(id).terminate()));
  await service.dependencies.db.system.query({ text: 'delete from evaluations' });
});

test('starts accepted runs and withdraws others', async () => {
  const [accepted, unaccepted] = [await leaveBehind(), await leaveBehind({ accepted: false })];
  await reconcile();
  expect(await isKnown(accepted)).toBe(true);
  expect(await isKnown(unaccepted)).toBe(false);
  expect(await read(unaccepted)).toBeUndefined();
  await handleOf(accepted).terminate();
  await overdue.makeOverdue(accepted);
  await reconcile();
  expect(await read(accepted)).toMatchObject({ status: 'failed', error: { code: 'ended_by_operator' } });
});

test('checks a run again soon after each change', async () => {
  const id = await leaveBehind({ ageSeconds: 86_400 });
  await reconcile();
  expect(await overdue.secondsToCheck(id)).toBeGreaterThan(500);
  await service.call('POST', `/evaluations/eval_${id}/pause`);
  expect(await overdue.secondsToCheck(id)).toBeLessThanOrEqual(30);
  await handleOf(id).terminate();
  await service.dependencies.db.system.query({ text: 'delete from evaluations where id = $1' }, [id]);
});

test('a change whose signal was lost is pending until the workflow reads the row', async () => {
  const { db, taskQueues, models } = service.dependencies;
  const away = { withDeadline: () => Promise.reject(new Error('Temporal is away.')) } as unknown as Client;
  const deps = { client: away, taskQueues, eager: false, log, models };
  const start_at = new Date(Date.now() + 86_400_000).toISOString();
  const examples = [{ variables: { text: 'yes' }, expected: 'yes' }];
  const { body } = await service.call('POST', '/evaluations', { body: { prompt_name: 'echo', examples, start_at } });
  const id = parsePublicId('evaluation', body.id) ?? '';
  const signals = async () => {
    const { events } = await handleOf(id).fetchHistory();
    return events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length;
  };
  const look = async () => {
    await overdue.makeOverdue(id);
    await reconcile();
  };
  await look();
  expect([await signals(), await read(id)]).toEqual([0, { status: 'scheduled', signal_pending: false, error: null }]);
  await pauseEvaluation(deps, db.workspace(workspaceId), id);
  expect([await signals(), await read(id)]).toMatchObject([0, { status: 'paused', signal_pending: true }]);
  await look();
  // Signaled, but no worker has read it.
  expect([await signals(), await read(id)]).toMatchObject([1, { signal_pending: true }]);

  const workers = await startWorkers(service.dependencies);
  try {
    const isNotified = () =>
      until('the workflow to read its row', async () => (await read(id))?.['signal_pending'] === false);
    await isNotified();
    const before = await signals();
    await look();
    expect(await signals()).toBe(before);
    await resumeEvaluation(deps, db.workspace(workspaceId), id, undefined);
    expect(await read(id)).toMatchObject({ status: 'scheduled', signal_pending: true });
    await look();
    await isNotified();
    // The end, too: without it the workflow would wait for a day.
    await cancelEvaluation(deps, db.workspace(workspaceId), id);
    expect(await read(id)).toMatchObject({ status: 'canceled', signal_pending: true });
    await look();
    await handleOf(id).result();
    expect(await read(id)).toMatchObject({ status: 'canceled', signal_pending: false });
  } finally {
    await workers.stop();
  }
});

test('a pending end with no one left to notify is forgotten', async () => {
  const id = await leaveBehind();
  await service.call('POST', `/evaluations/eval_${id}/cancel`);
  expect(await read(id)).toMatchObject({ status: 'canceled', signal_pending: true });
  await overdue.makeOverdue(id);
  await reconcile();
  expect(await read(id)).toMatchObject({ status: 'canceled', signal_pending: false });
  expect(await isKnown(id)).toBe(false);
});

test('a run is not summed up while examples lack results, as after the restore of a database with ended batches', async () => {
  const { system } = service.dependencies.db;
  const id = await leaveBehind();
  await system.query({ text: `update evaluations set status = 'running', started_at = now() where id = $1` }, [id]);
  expect(await finishRun(system, { evaluationId: id, round: 0 })).toBe('incomplete');
  const [row] = await system.query<{ status: string }>({ text: 'select status from evaluations where id = $1' }, [id]);
  expect(row).toEqual({ status: 'running' });
});

test('a run summed up again counts as completed before, so nothing counts it twice', async () => {
  const { system } = service.dependencies.db;
  const id = await leaveBehind();
  const ref = { evaluationId: id, round: 0 };
  expect(await finishRun(system, ref)).toBe('left');
  await system.query(
    { text: `update evaluations set status = 'running', started_at = now(), examples_total = 0 where id = $1` },
    [id],
  );
  expect(await finishRun(system, ref)).toBe('completed');
  expect(await finishRun(system, ref)).toBe('completed before');
});

test('all unfinished runs are compared, and told to read their rows, when an operator reports a restore', async () => {
  const { system } = service.dependencies.db;
  const id = await leaveBehind();
  const rowOf = async () => {
    const text = 'select check_at <= now() as "isDue", signal_pending as "isNotified" from evaluations where id = $1';
    const [row] = await system.query<{ isDue: boolean; isNotified: boolean }>({ text }, [id]);
    return row;
  };
  await system.query({ text: `update evaluations set check_at = now() + interval '10 minutes' where id = $1` }, [id]);
  expect(await rowOf()).toEqual({ isDue: false, isNotified: false });
  expect((await checkAll(system)).evaluations).toBeGreaterThan(0);
  expect(await rowOf()).toEqual({ isDue: true, isNotified: true });
});
