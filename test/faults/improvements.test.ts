import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEFAULTS } from '../api/improvements/improvements-support.ts';
import { AT_FULL_SIZE } from '../support/fault-runs.ts';
import { type OwnServers, startOwnServers } from '../support/fault-servers.ts';
import { chooseProcesses, type Processes } from '../support/fault-stage.ts';
import { examplesOf, hiddenRules, taskPrompt } from '../support/hidden-rules.ts';
import { killOrphans, type Started } from '../support/processes.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { StandIn } from '../support/providers/stand-in.ts';
import { until } from '../support/wait-for.ts';

const KILLS = AT_FULL_SIZE ? 30 : 4;
const SEARCHES = AT_FULL_SIZE ? 100 : 3;
const EXAMPLES = 160;
const RULES = 4;
const CONCURRENCY = 4;
/** Proposals of a round, each with one run at a time. */
const PARALLEL = 4;

let servers: OwnServers;
let openai: StandIn;
let processes: Processes;
let api: Started;
let worker: Started;
const cleanUps: (() => Promise<void>)[] = [];

beforeAll(async () => {
  openai = await startOpenAiServer({ answer: hiddenRules(), latencyMs: 20 });
  servers = await startOwnServers();
  cleanUps.push(
    () => openai.close(),
    () => servers.remove(),
    killOrphans,
  );
  processes = await chooseProcesses({
    ...servers,
    env: { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: openai.baseUrl },
  });
  [api, worker] = await Promise.all([processes.startApi(), processes.startWorker()]);
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function store(name: string): Promise<void> {
  await processes.call('POST', '/prompts', { body: taskPrompt(name) });
  await processes.call('PUT', `/datasets/${name}`, {
    raw: examplesOf(EXAMPLES, RULES)
      .map((example) => JSON.stringify(example))
      .join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
}

async function begin(name: string): Promise<string> {
  await store(name);
  const settings = { max_proposals: 20, parallel: PARALLEL, concurrency: CONCURRENCY, seed: 'same' };
  const { status, body } = await processes.call('POST', '/improvements', {
    body: { prompt_name: name, dataset: name, ...DEFAULTS, ...settings },
  });
  expect([status, body.error]).toEqual([201, null]);
  return body.id;
}

const read = (id: string) =>
  until(`improvement ${id}`, async () => {
    const { status, body } = await processes
      .call('GET', `/improvements/${id}`)
      .catch(() => ({ status: 0, body: null }));
    return status === 200 && body;
  });

const untilEnded = (id: string) =>
  until(`the end of ${id}`, async () => {
    const row = await read(id);
    return row.status !== 'running' && row;
  });

/** What a search has found, without ids and costs. */
async function found(id: string) {
  const { body } = await processes.call('GET', `/improvements/${id}/candidates?limit=1000`);
  const { verdict, stop_reason, best } = await read(id);
  const { evaluation_id: _id, base_evaluation_id: _baseId, cost_per_call: _cost, ...said } = verdict;
  return {
    stop_reason,
    best,
    said,
    candidates: body.data.map(
      ({ cost: _cost, execution_ids, evaluation_ids, ...candidate }: Record<string, object>) => ({
        ...candidate,
        runs: Object.keys(evaluation_ids ?? {}),
        reflections: Object.keys(execution_ids ?? []).length,
      }),
    ),
  };
}

/** What is killed in turn, and comes back. */
const KILLED = [
  async () => {
    await worker.killTree();
    worker = await processes.startWorker();
  },
  async () => {
    await api.killTree();
    api = await processes.startApi();
  },
  async () => {
    await servers.postgres.kill();
    await servers.postgres.start();
  },
  async () => {
    await servers.temporal.kill();
    await servers.temporal.start();
  },
];

test('a search through kills of workers, the API, PostgreSQL and Temporal has the same candidates and verdict, and pays only for calls in flight again', async () => {
  const disturbed = await begin('faults/disturbed');
  let seen = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const isOver = await until('calls since the last kill', async () => {
      const { status } = await read(disturbed);
      return (openai.callCount > seen + 40 || status !== 'running') && { status };
    });
    if (isOver.status !== 'running') break;
    seen = openai.callCount;
    await KILLED[kill % KILLED.length]?.();
  }
  const ended = await untilEnded(disturbed);
  expect(ended).toMatchObject({ status: 'completed', verdict: { result: 'improvement' } });
  const { calls, reflections } = ended.spent;
  expect(openai.callCount - calls - reflections).toBeLessThanOrEqual(KILLS * CONCURRENCY * PARALLEL);

  const undisturbed = await begin('faults/undisturbed');
  await untilEnded(undisturbed);
  expect(await found(undisturbed)).toEqual(await found(disturbed));
});

test('searches of random shapes spend at most their max_cost, and end with a verdict', async () => {
  const between = (low: number, high: number) => low + Math.floor(Math.random() * (high - low + 1));
  for (let run = 0; run < SEARCHES; run += 1) {
    const name = `faults/budget-${run}`;
    const shape = {
      max_proposals: between(1, 12),
      parallel: between(1, 6),
      concurrency: between(1, 8),
      minibatch: between(4, 12),
      seed: `${Math.random()}`,
      // Otherwise earlier searches have paid for most calls.
      reuse: { max_age: 1 },
    };
    await store(name);
    const request = { prompt_name: name, dataset: name, ...DEFAULTS, ...shape };
    const { body: estimate } = await processes.call('POST', '/improvements/estimate', { body: request });
    const { expected } = estimate.cost ?? { expected: estimate.error };
    expect({ shape, expected }).toMatchObject({ expected: expect.any(String) });
    // Too little for a base, a round and a verdict is refused; the message says how much is needed.
    let max_cost = Number((Number(expected) * (0.2 + Math.random())).toFixed(6));
    let { status, body } = await processes.call('POST', '/improvements', { body: { ...request, max_cost } });
    if (status === 400) {
      max_cost = Number(/\d+\.\d+/.exec(JSON.stringify(body.error.details))?.[0]);
      ({ status, body } = await processes.call('POST', '/improvements', { body: { ...request, max_cost } }));
    }
    expect({ shape, max_cost, status, error: body.error }).toMatchObject({ status: 201, error: null });
    const ended = await untilEnded(body.id);
    expect({ shape, max_cost, status: ended.status }).toMatchObject({ status: 'completed' });
    expect({ shape, spent: ended.spent.cost <= max_cost }).toMatchObject({ spent: true });
  }
});
