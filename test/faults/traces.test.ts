import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { modelCall, newSpanId, newTraceId, requestOf, type Span, span, stepsOf } from '../api/traces/traces-support.ts';
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
});
afterAll(async () => {
  await stage?.end();
  await database?.drop();
});

/** Batches per exporter: a few traces each, sent one after the other. */
const BATCHES = 60;
const EXPORTERS = 3;
const CALLS = 4;

function runOf(traceId: string): Span[] {
  const root = newSpanId();
  const calls = Array.from({ length: CALLS }, () => span({ traceId, parent: root, attributes: modelCall(10, 1) }));
  return [span({ traceId, id: root, name: 'run' }), ...calls];
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

test('the API is killed three times while traces arrive: accepted spans are stored once, and the usage is exact', async () => {
  const sent: string[] = [];
  let retried = 0;
  const exporter = async () => {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const traces = [newTraceId(), newTraceId()];
      if ((await exportBatch(traces.flatMap(runOf))) > 1) retried += 1;
      sent.push(...traces);
    }
  };
  const exporters = Array.from({ length: EXPORTERS }, exporter);
  for (let kill = 1; kill <= 3; kill += 1) {
    const before = sent.length;
    await until('more traces are taken', async () => sent.length >= before + 40);
    await api.killTree();
    api = await stage.startApi();
  }
  await Promise.all(exporters);
  expect(retried).toBeGreaterThan(0);
  expect(sent).toHaveLength(BATCHES * EXPORTERS * 2);
  const found: Record<string, { steps: number; calls: number }> = {};
  for (let cursor = ''; ; ) {
    const { body } = await stage.call('GET', `/traces?limit=100${cursor}`);
    for (const { id, steps, calls } of body.data) found[id] = { steps, calls };
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(Object.keys(found).sort()).toEqual(sent.toSorted());
  expect(new Set(Object.values(found).map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify({ steps: CALLS + 1, calls: CALLS })]),
  );
  expect(await stepsOf(stage, sent[0] ?? '')).toHaveLength(CALLS + 1);
  const { body: usage } = await stage.call('GET', '/usage?group_by=model');
  expect(usage.data).toMatchObject([
    { executions: sent.length * CALLS, tokens: { input: sent.length * CALLS * 10, output: sent.length * CALLS } },
  ]);
});
