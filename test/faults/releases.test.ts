import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDatabase } from '../../src/db/database.ts';
import { armOf } from '../../src/domain/releases/rollout.ts';
import { seedPrompt, startRelease } from '../api/releases/releases-support.ts';
import { AT_FULL_SIZE, tell } from '../support/fault-runs.ts';
import { type OwnServers, startOwnServers } from '../support/fault-servers.ts';
import { chooseProcesses, type Processes } from '../support/fault-stage.ts';
import { killOrphans, type Started } from '../support/processes.ts';
import { until } from '../support/wait-for.ts';

/** Ten steps, each long enough to be killed in. */
const STEPS = [
  { type: 'evaluate', dataset: 'faults/questions', require: 'threshold', threshold: 0 },
  { type: 'approve', exclude_author: false },
  { type: 'canary', percent: 5 },
  { type: 'wait', for: '2s' },
  { type: 'canary', percent: 25 },
  {
    type: 'analyze',
    for: '3s',
    min_executions: 3,
    checks: [{ metric: 'error_rate', against: 0.9, max_increase: 0, on_inconclusive: 'continue' }],
  },
  { type: 'canary', percent: 100 },
  { type: 'wait', for: '2s' },
  { type: 'approve', exclude_author: false },
  { type: 'promote', bake: { for: '3s' } },
];
const VICTIMS = ['worker', 'api', 'postgres', 'temporal'] as const;
type Victim = (typeof VICTIMS)[number];

let servers: OwnServers;
let processes: Processes;
const running: { api?: Started; worker?: Started } = {};

beforeAll(async () => {
  servers = await startOwnServers();
  processes = await chooseProcesses(servers);
  [running.api, running.worker] = await Promise.all([processes.startApi(), processes.startWorker()]);
  await processes.call('PUT', '/datasets/faults/questions', {
    raw: JSON.stringify({ variables: { q: 'a' }, expected: 'x' }),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
afterAll(async () => {
  await killOrphans();
  await servers?.remove();
});

/** `kill -9`, and a start. */
async function killAndRestart(victim: Victim): Promise<void> {
  if (victim === 'postgres' || victim === 'temporal') {
    await servers[victim].kill();
    await servers[victim].start();
    return;
  }
  await running[victim]?.killTree();
  running[victim] = await (victim === 'api' ? processes.startApi() : processes.startWorker());
}

/** A release as seen by its callers, however often everything was killed. */
interface Seen {
  id: string;
  status: string;
  step: number;
  percent: number;
  salt: string;
  steps: { type: string; state: string; started_at: string; finished_at: string }[];
  decisions: { step: number; verdict: string }[];
}

const look = (id: string) =>
  until<Seen>(`release ${id}`, async () => {
    const { status, body } = await processes.call('GET', `/releases/${id}`);
    return status === 200 ? body : false;
  });

const isOver = ({ status }: Seen) => !['in_progress', 'paused', 'awaiting_approval', 'baking'].includes(status);

const execution = (name: string) => ({ prompt_name: name, label: 'production', variables: { q: 'x' } });

/** The received versions match the release's state. */
async function expectAgreement(name: string, seen: Seen): Promise<void> {
  const run = await until('an execution', async () => {
    const { status, body } = await processes.call('POST', '/executions', {
      body: { ...execution(name), rollout_key: 'somebody' },
    });
    return status === 201 && body;
  });
  const now = await look(seen.id);
  if (now.status !== seen.status || now.percent !== seen.percent) return;
  const gets = isOver(seen) ? seen.status === 'succeeded' : armOf(seen, 'somebody') === 'candidate';
  expect([seen.status, seen.percent, run.prompt_version]).toEqual([seen.status, seen.percent, gets ? 2 : 1]);
}

async function killAtEveryStep(name: string, first: number): Promise<{ kills: number }> {
  await seedPrompt(processes.call, name);
  const { id } = await startRelease(processes.call, name, STEPS);
  let kills = 0;
  let killedAt = -1;
  /** Waits for the next step or the end, and does what the step needs. */
  const nextStep = () =>
    until(`what comes after step ${killedAt} of ${id}`, async () => {
      const seen = await look(id);
      if (isOver(seen) || seen.step > killedAt) return seen;
      if (seen.status === 'awaiting_approval')
        // Sent twice, as after a lost response.
        for (const _ of [1, 2]) await processes.call('POST', `/releases/${id}/approve`);
      if (seen.steps[seen.step]?.type === 'analyze')
        await processes.call('POST', '/executions', { body: execution(name) });
      return false;
    });
  let seen = await nextStep();
  for (; !isOver(seen); seen = await nextStep()) {
    killedAt = seen.step;
    const victim = VICTIMS[(first + kills) % VICTIMS.length];
    if (victim !== undefined) await killAndRestart(victim);
    kills += 1;
    await expectAgreement(name, await look(id));
  }
  await expectAgreement(name, seen);
  const ended = await look(id);
  expect([ended.status, ended.steps.map(({ state }) => state)]).toEqual([
    'succeeded',
    STEPS.map(({ type }, index) =>
      type === 'analyze' || index === 9 ? expect.stringMatching(/passed|inconclusive/) : 'passed',
    ),
  ]);
  // One after the other, each started and ended once.
  const times = ended.steps.flatMap(({ started_at, finished_at }) => [started_at, finished_at]);
  expect(times.toSorted()).toEqual(times);
  const passed = ended.decisions.filter(({ verdict }) => verdict === 'approved' || verdict === 'passed');
  expect(passed.filter(({ verdict }) => verdict === 'approved').map(({ step }) => step)).toEqual([1, 8]);
  const evaluations = (await processes.call('GET', `/evaluations?prompt_name=${name}`)).body.data;
  expect(evaluations).toHaveLength(1);
  const label = (await processes.call('GET', `/prompts/${name}?label=production`)).body;
  expect([label.version, label.release]).toEqual([2, undefined]);
  const log = (await processes.call('GET', `/audit-log?resource=prompt:${name}&action=label.moved`)).body.data;
  // Set once, and moved once.
  expect(log).toHaveLength(2);
  return { kills };
}

test('a release that is killed at every step ends like an undisturbed one', async () => {
  let kills = 0;
  const releases = AT_FULL_SIZE ? 6 : 1;
  for (let n = 0; n < releases; n++) ({ kills } = addTo(kills, await killAtEveryStep(`faults/release-${n}`, n)));
  tell(`${kills} kills in ${releases} releases of ${STEPS.length} steps: each agrees with its label`);
  expect(kills).toBeGreaterThanOrEqual(6 * releases);
});

test('a release whose worker is killed as it stores an evaluation continues with the next', async () => {
  const name = 'faults/evaluate';
  await seedPrompt(processes.call, name);
  const db = await openDatabase(servers.databaseUrl, { poolSize: 2 });
  try {
    const locked = Promise.withResolvers<void>();
    const killed = Promise.withResolvers<void>();
    const lock = db.system.transaction(async (query) => {
      await query({ text: 'lock table evaluations in share mode' });
      locked.resolve();
      await killed.promise;
    });
    await locked.promise;
    const { id } = await startRelease(processes.call, name, STEPS.slice(0, 2));
    await until('the worker to store it', async () => {
      const text = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into "evaluations"%'`;
      return (await db.system.query({ text })).length > 0;
    });
    await running.worker?.killTree();
    killed.resolve();
    await lock;
    running.worker = await processes.startWorker();
    await until('the next step', async () => (await look(id)).status === 'awaiting_approval');
    const { body } = await processes.call('GET', `/evaluations?prompt_name=${name}`);
    expect(body.data).toHaveLength(1);
  } finally {
    await db.close();
  }
});

const addTo = (kills: number, more: { kills: number }) => ({ kills: kills + more.kills });

test('a rollback while Temporal is stopped applies at once, and the workflow agrees afterwards', async () => {
  const name = 'faults/rollback';
  await seedPrompt(processes.call, name);
  const { id } = await startRelease(processes.call, name, [
    { type: 'canary', percent: 100 },
    { type: 'wait', for: '1h' },
  ]);
  await until('the canary', async () => (await look(id)).step === 1);
  await servers.temporal.kill();
  // The response waits for Temporal, but the rollback does not.
  const response = processes.call('POST', `/releases/${id}/rollback`);
  await until('the rollback', async () => {
    const { version, release } = (await processes.call('GET', `/prompts/${name}?label=production`)).body;
    return version === 1 && release === undefined;
  });
  // One started now begins when Temporal is back.
  const later = await startRelease(processes.call, name, [{ type: 'promote' }]);
  expect((await response).body.status).toBe('rolled_back');
  await servers.temporal.start();
  await until('the next release', async () => (await look(later.id)).status === 'succeeded');
  expect((await look(id)).status).toBe('rolled_back');
});
