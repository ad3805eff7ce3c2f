import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { parseExposition, type Series } from '../support/exposition.ts';
import { alertRules, dashboardQueries, namedBy, readProjectFile } from '../support/monitoring-files.ts';
import { freePorts, killOrphans, startNode } from '../support/processes.ts';
import { createTestEnvironment, makePrompt, type Place } from '../support/processes-service.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait-for.ts';

// Compares Prometheus queries with the metrics of the API and a worker, each a separate process, after some work.

let place: Place;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let ofApi: Series[] = [];
let ofWorker: Series[] = [];
let all: Series[] = [];

async function scrape(port: string): Promise<Series[]> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(response.status).toBe(200);
  return parseExposition(await response.text());
}

const readingOf = (series: Series[], name: string, labels: Record<string, string> = {}) =>
  series.find(
    (each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
  )?.value;

beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), startReceiver()]);
  place = await createTestEnvironment({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    TEMPORAL_TASK_QUEUE_PREFIX: `metrics-${randomBytes(4).toString('hex')}`,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE: 'loopback',
  });
  const [port] = await freePorts(1);
  const workerPort = String(port);
  const api = startNode('src/api/server.ts', place.env);
  const worker = startNode('src/worker.ts', { ...place.env, METRICS_PORT: workerPort });
  await Promise.all([api.says(/API listening on/), worker.says(/workers started/)]);
  const { call } = place;
  await makePrompt(call, 'greet', 'sandbox/echo');
  await makePrompt(call, 'fails', 'sandbox/fail-401');
  await makePrompt(call, 'stalls', 'sandbox/stall');
  await call('POST', '/webhooks', { body: { url: receiver.url, events: ['execution.completed'] } });
  for (const name of ['greet', 'fails'])
    await call('POST', '/executions', { body: { prompt_name: name, variables: { name: 'Ada' } } });
  const { body: stalled } = await call('POST', '/executions', {
    body: { prompt_name: 'stalls', variables: { name: 'Ada' } },
    headers: { Prefer: 'respond-async' },
  });
  await call('POST', `/executions/${stalled.id}/cancel`);
  const evaluation = {
    prompt_name: 'greet',
    examples: [{ variables: { name: 'Ada' }, expected: 'Ada' }],
    evaluators: [{ type: 'contains' }],
  };
  const { status, body } = await call('POST', '/evaluations', { body: evaluation });
  expect({ status, body }).toMatchObject({ status: 201 });
  await until('the end of the evaluation', async () => {
    const answer = await call('GET', `/evaluations/${body.id}`);
    return answer.body.status === 'completed';
  });
  await until('what was counted', async () => {
    [ofApi, ofWorker] = await Promise.all([scrape(place.env['METRICS_PORT'] ?? ''), scrape(workerPort)]);
    const isDelivered = readingOf(ofWorker, 'pms_webhook_deliveries_total', { outcome: 'delivered' }) === 1;
    return isDelivered && (readingOf(ofWorker, 'pms_tokens_total', { type: 'input' }) ?? 0) > 0;
  });
  all = [...ofApi, ...ofWorker];
});
afterAll(async () => {
  await killOrphans();
  await receiver?.close();
  await place?.remove();
  await database?.drop();
});

/** Labels that Prometheus adds, and series that it creates. */
const ADDED = new Set(['job', 'instance']);

function problemsOf(expr: string): string[] {
  const { selectors, grouping } = namedBy(expr);
  if (selectors.length === 0) return ['it names no metric'];
  const known = selectors.map(({ metric }) => ({
    metric,
    series: metric === 'up' ? [{ name: 'up', labels: {}, value: 1 }] : all.filter(({ name }) => name === metric),
  }));
  const missing = known.filter(({ series }) => series.length === 0).map(({ metric }) => `there is no ${metric}`);
  const has = (label: string) =>
    ADDED.has(label) || known.some(({ series }) => series.some(({ labels }) => label in labels));
  const unknown = grouping.filter((label) => !has(label)).map((label) => `nothing has the label ${label}`);
  const unmatched = selectors.flatMap(({ metric, matchers }) =>
    matchers.flatMap(({ label, operator, value }) => {
      if (ADDED.has(label)) return [];
      const values = new Set(all.filter(({ name }) => name === metric).map(({ labels }) => labels[label]));
      if (values.has(undefined)) return [`${metric} has no label ${label}`];
      return operator === '=' && !values.has(value) ? [`${metric} has no ${label}="${value}"`] : [];
    }),
  );
  return [...missing, ...unknown, ...unmatched];
}

describe('the queried metrics exist', () => {
  test.each(alertRules().map(({ alert, expr }) => [alert, expr] as const))('the alert %s', (_, expr) => {
    expect(problemsOf(expr)).toEqual([]);
  });

  test('the queries of the dashboard', () => {
    const problems = dashboardQueries().flatMap(({ title, expr }) =>
      problemsOf(expr).map((problem) => `${title}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  test('the comparison finds missing ones', () => {
    expect(problemsOf('sum(rate(pms_no_such_total[5m]))')).toEqual(['there is no pms_no_such_total']);
    expect(problemsOf('max by (workspace) (pms_database_up)')).toEqual(['nothing has the label workspace']);
    expect(problemsOf('pms_executions_total{status="lost"}')).toEqual(['pms_executions_total has no status="lost"']);
    expect(problemsOf('pms_executions_total{prompt="x"}')).toEqual(['pms_executions_total has no label prompt']);
  });
});

test('the page describes every metric of the service, with its labels, and no other', () => {
  const page = readProjectFile('docs/monitoring.md');
  const described = [...page.matchAll(/^\| `(pms_\w+)(?:\{([^}]*)\})?` \|/gm)].map(([, name, labels = '']) => [
    name,
    labels === '' ? [] : labels.split(', '),
  ]);
  const served = new Map<string, Set<string>>();
  for (const { name, labels } of all) {
    if (!name.startsWith('pms_')) continue;
    const isOfHistogram = all.some((each) => each.name === `${name.replace(/_(bucket|sum|count)$/, '')}_bucket`);
    const family = isOfHistogram ? name.replace(/_(bucket|sum|count)$/, '') : name;
    const known = served.get(family) ?? new Set();
    for (const label of Object.keys(labels)) if (label !== 'le') known.add(label);
    served.set(family, known);
  }
  const sorted = (rows: [unknown, string[]][]) =>
    Object.fromEntries(rows.map(([name, labels]) => [name, [...labels].sort()]));
  expect(sorted(described as [unknown, string[]][])).toEqual(
    sorted([...served].map(([name, labels]) => [name, [...labels]])),
  );
});

test('executions are counted once, by the process that ended them', () => {
  const ended = (series: Series[], labels: Record<string, string>) =>
    readingOf(series, 'pms_executions_total', labels) ?? 0;
  expect(ended(ofWorker, { status: 'completed', provider: 'sandbox' })).toBe(1);
  expect(ended(ofWorker, { status: 'failed', error: 'model_authentication', provider: 'sandbox' })).toBe(1);
  expect(ended(ofApi, { status: 'canceled', error: 'canceled' }) + ended(ofWorker, { status: 'canceled' })).toBe(1);
  expect(readingOf(ofWorker, 'pms_execution_seconds_count', { status: 'completed' })).toBe(1);
  expect(ended(ofApi, { status: 'completed', provider: 'sandbox' })).toBe(0);
});

test('a worker has the queue waits of its tasks, and the API the responses of both servers', () => {
  const waits = (queue: string) => readingOf(ofWorker, 'pms_schedule_to_start_seconds_count', { task_queue: queue });
  expect(waits('executions')).toBeGreaterThan(0);
  expect(waits('evaluations')).toBeGreaterThan(0);
  expect(waits('webhooks')).toBe(0);
  for (const series of [ofApi, ofWorker]) {
    expect(readingOf(series, 'pms_database_up')).toBe(1);
    expect(readingOf(series, 'pms_temporal_up')).toBe(1);
    expect(readingOf(series, 'pms_temporal_request_seconds_count')).toBeGreaterThan(0);
  }
});

test('no label has values of callers', () => {
  const names = new Set(all.filter(({ name }) => name.startsWith('pms_')).flatMap(({ labels }) => Object.keys(labels)));
  for (const label of ['workspace', 'prompt', 'prompt_name', 'model', 'host', 'url', 'key'])
    expect(names).not.toContain(label);
  expect(JSON.stringify(all)).not.toContain('greet');
});
