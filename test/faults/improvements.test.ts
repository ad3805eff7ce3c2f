import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEFAULTS } from '../api/improvements/improvements-support.ts';
import { createTestDatabase } from '../support/database.ts';
import { AT_FULL_SIZE } from '../support/fault-runs.ts';
import { chooseProcesses, type Processes } from '../support/fault-stage.ts';
import { examplesOf, hiddenRules, taskPrompt } from '../support/hidden-rules.ts';
import { killOrphans, type Started } from '../support/processes.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { StandIn } from '../support/providers/stand-in.ts';
import { until } from '../support/wait-for.ts';

const KILLS = AT_FULL_SIZE ? 20 : 4;
const EXAMPLES = 160;
const RULES = 4;
const CONCURRENCY = 4;
/** Proposals of a round, each with one run at a time. */
const PARALLEL = 4;

let openai: StandIn;
let processes: Processes;
let api: Started;
let worker: Started;
const cleanUps: (() => Promise<void>)[] = [];

beforeAll(async () => {
  openai = await startOpenAiServer({ answer: hiddenRules(), latencyMs: 20 });
  const database = await createTestDatabase();
  cleanUps.push(
    () => openai.close(),
    () => database.drop(),
    killOrphans,
  );
  processes = await chooseProcesses({
    databaseUrl: database.url,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    env: { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: openai.baseUrl },
  });
  [api, worker] = await Promise.all([processes.startApi(), processes.startWorker()]);
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function begin(name: string): Promise<string> {
  await processes.call('POST', '/prompts', { body: taskPrompt(name) });
  await processes.call('PUT', `/datasets/${name}`, {
    raw: examplesOf(EXAMPLES, RULES)
      .map((example) => JSON.stringify(example))
      .join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
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

test('a search through kills of workers and of the API has the same candidates and verdict, and pays only for calls in flight again', async () => {
  const disturbed = await begin('faults/disturbed');
  let seen = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const isOver = await until('calls since the last kill', async () => {
      const { status } = await read(disturbed);
      return (openai.callCount > seen + 40 || status !== 'running') && { status };
    });
    if (isOver.status !== 'running') break;
    seen = openai.callCount;
    if (kill % 2 === 0) {
      await worker.killTree();
      worker = await processes.startWorker();
    } else {
      await api.killTree();
      api = await processes.startApi();
    }
  }
  const ended = await untilEnded(disturbed);
  expect(ended).toMatchObject({ status: 'completed', verdict: { result: 'improvement' } });
  const { calls, reflections } = ended.spent;
  expect(openai.callCount - calls - reflections).toBeLessThanOrEqual(KILLS * CONCURRENCY * PARALLEL);

  const undisturbed = await begin('faults/undisturbed');
  await untilEnded(undisturbed);
  expect(await found(undisturbed)).toEqual(await found(disturbed));
});
