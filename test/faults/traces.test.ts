import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Big } from 'big.js';
import {
  agent,
  DONE,
  modelCall,
  newSpanId,
  newTraceId,
  requestOf,
  type Span,
  span,
  stepsOf,
} from '../api/traces/traces-support.ts';
import { createTestDatabase } from '../support/database.ts';
import { KEY, type Stage, setStage } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { until } from '../support/wait-for.ts';

let database: { url: string; drop(): Promise<void> };
let stage: Stage;
let api: Started;
beforeAll(async () => {
  database = await createTestDatabase();
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 0 });
  api = await stage.startApi();
  await stage.startWorker();
});
afterAll(async () => {
  await stage?.end();
  await database?.drop();
});

/** Runs per exporter, each in two batches. */
const RUNS = 60;
const EXPORTERS = 3;
const PROMPT = 'agents/plan';
/** The tokens of a call, and what its provider bills: 0.15 US dollars per million of input, 0.6 of output. */
const CALL = { input: 10, output: 1 };
const CALL_COST = new Big(10 * 0.15).plus(0.6).div(1_000_000);
/** The calls of a run. The last one reports its cost itself. */
const CALLS = 4;
const REPORTED_COST = '0.00123';
const RUN_COST = CALL_COST.times(CALLS - 1).plus(REPORTED_COST);

/**
 * An agent with the sum of its calls; two calls, and a step around two others with their sum. The first half ends the run, so that it may settle
 * before the calls of the second half are there.
 */
function runOf(traceId: string): [Span[], Span[]] {
  const [root, outer] = [newSpanId(), newSpanId()];
  const { input, output } = CALL;
  const call = (parent: string, others = {}) =>
    span({
      traceId,
      parent,
      attributes: modelCall(input, output, { 'gen_ai.prompt.name': PROMPT, 'gen_ai.prompt.version': '1', ...others }),
    });
  return [
    [
      span({ traceId, id: root, name: 'run', attributes: agent(CALLS * input, CALLS * output, DONE) }),
      span({ traceId, id: outer, parent: root, attributes: modelCall(2 * input, 2 * output) }),
      call(root),
    ],
    [call(outer), call(outer), call(root, { 'gen_ai.usage.cost': Number(REPORTED_COST) })],
  ];
}

/** Resends a batch until it is stored, as exporters do. @returns the number of attempts */
async function exportBatch(spans: readonly Span[]): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${stage.origin}/v1/traces`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${KEY}` },
      body: JSON.stringify(requestOf(spans)),
    }).catch(() => undefined);
    if (response?.status === 200) return attempt;
    if (response !== undefined && response.status !== 503)
      throw new Error(`${response.status} ${await response.text()}`);
    await delay(100);
  }
}

/** All records of a list. */
async function listed(path: string) {
  const records = [];
  for (let cursor = ''; ; ) {
    const { body } = await stage.call('GET', `${path}?limit=100${cursor}`);
    records.push(...body.data);
    if (body.next_cursor === null) return records;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

test('the API is killed three times while traces arrive: each step is stored once, and usage and costs are exact', async () => {
  await stage.call('POST', '/prompts', { body: { name: PROMPT, template: 'Hi', model: 'openai/gpt-4o-mini' } });
  const sent = new Map<string, Span[]>();
  let retried = 0;
  const exporter = async () => {
    for (let run = 0; run < RUNS; run += 1) {
      const traceId = newTraceId();
      const [first, second] = runOf(traceId);
      for (const batch of run % 2 === 0 ? [first, second] : [second, first])
        if ((await exportBatch(batch)) > 1) retried += 1;
      sent.set(traceId, [...first, ...second]);
    }
  };
  const exporters = Array.from({ length: EXPORTERS }, exporter);
  for (let kill = 1; kill <= 3; kill += 1) {
    const before = sent.size;
    await until('more traces are taken', async () => sent.size >= before + 20);
    await api.killTree();
    api = await stage.startApi();
  }
  await Promise.all(exporters);
  expect(retried).toBeGreaterThan(0);
  expect(sent.size).toBe(RUNS * EXPORTERS);

  const traces = await until('all traces are settled', async () => {
    const found = await listed('/traces');
    return found.every(({ settled }) => settled) && found;
  });
  expect(traces).toHaveLength(sent.size);
  expect(new Set(traces.map(({ id }) => id))).toEqual(new Set(sent.keys()));
  const [cost, tokens] = [RUN_COST.toFixed(), { input: CALLS * CALL.input, output: CALLS * CALL.output }];
  for (const trace of traces)
    expect(trace).toMatchObject({ steps: 6, calls: CALLS, tokens, cost: { amount: cost, unpriced_calls: 0 } });
  const executionOf = new Map<string, string>();
  for (const [traceId, spans] of sent) {
    const steps = await stepsOf(stage, traceId);
    expect(steps).toHaveLength(spans.length);
    expect(new Set(steps.map(({ id }) => id))).toEqual(new Set(spans.map(({ spanId }) => spanId)));
    for (const { id, execution_id: execution } of steps) if (execution !== null) executionOf.set(id, execution);
  }
  const executions = await listed('/executions');
  expect(executions).toHaveLength(executionOf.size);
  expect(new Set(executions.map(({ id }) => id))).toEqual(new Set(executionOf.values()));
  expect(new Set(executionOf.values()).size).toBe(sent.size * CALLS);

  const all = {
    executions: sent.size * CALLS,
    completed: sent.size * CALLS,
    tokens: { input: sent.size * tokens.input, output: sent.size * tokens.output },
    cost: { amount: RUN_COST.times(sent.size).toFixed() },
  };
  for (const [group, name] of Object.entries({
    '': {},
    model: { model: 'openai/gpt-4o-mini' },
    prompt: { prompt_name: PROMPT },
  })) {
    const { body: usage } = await stage.call('GET', `/usage?group_by=${group}`);
    expect(usage.data).toHaveLength(1);
    expect(usage.data).toMatchObject([{ ...name, ...all }]);
  }
});
