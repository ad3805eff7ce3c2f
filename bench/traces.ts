import { randomBytes } from 'node:crypto';
import { openDatabase } from '../src/db/database.ts';
import { createPartitions, dayOf, dropDaysBefore } from '../src/services/traces/partitions.ts';
import { newSpanId, newTraceId, requestOf, span } from '../test/api/traces/traces-support.ts';
import { startHelper } from './child.ts';
import { type Load, LoadResult, SpanResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row } from './report.ts';
import { neighbourKey } from './second-workspace.ts';
import type { Servers } from './servers.ts';
import { type Service, startService } from './service.ts';

const ROUNDS = 3;
const SECONDS = 10;
const SPANS = 512;
const TEXT_BYTES = 600;
/** Reads per second by another workspace. */
const READS = 20;
/** Traces that lists are read from: as many as ten million steps have. */
const TRACES = 1_000_000;
const STEPS_OF_A_DAY = 300_000;
const NONSENSE = 100_000;
const PAGE_STEPS = 10_000;
const BATCH_BYTES = 4 * 1024 * 1024;
const AT_ONCE = 1_000;

const percentile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

/** @returns the duration of each call, in milliseconds */
async function timed(times: number, work: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const before = performance.now();
    await work();
    took.push(performance.now() - before);
  }
  return took;
}

async function post(service: Service, body: string): Promise<number> {
  const response = await fetch(`${service.origin}/v1/traces`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

/** A trace whose steps fill a page. */
async function largeTrace(service: Service): Promise<string> {
  const [traceId, root] = [newTraceId(), newSpanId()];
  const steps = Array.from({ length: PAGE_STEPS }, (_, index) =>
    span({ traceId, ...(index === 0 ? { id: root } : { parent: root }), name: `step ${index}` }),
  );
  for (let from = 0; from < steps.length; from += AT_ONCE)
    if ((await post(service, JSON.stringify(requestOf(steps.slice(from, from + AT_ONCE))))) !== 200)
      throw new Error('The large trace was not taken.');
  return traceId;
}

/** Text that is not OTLP, or spans with errors. */
function nonsense(index: number): string {
  const bad = [
    '',
    '{',
    '[]',
    'null',
    randomBytes(40).toString('latin1'),
    '{"resourceSpans":7}',
    '{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}',
    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${'f'.repeat(32)}","spanId":1}]}]}]}`,
    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${newTraceId()}","spanId":"${newSpanId()}","startTimeUnixNano":"x","attributes":{"a":1}}]}]}]}`,
    `{"resourceSpans":[{"resource":[],"scopeSpans":[{"scope":1,"spans":[{"traceId":"${newTraceId()}","spanId":"${newSpanId()}","startTimeUnixNano":"1","status":[]}]}]}]}`,
  ];
  return bad[index % bad.length] ?? '';
}

/** Measures how traces are stored and read, and how that affects other requests. */
export async function measureTraces(
  servers: Servers,
  { profileFolder, report, rounds = ROUNDS }: Means,
): Promise<Outcome> {
  const service = await startService(servers, {}, profileFolder);
  const [exporter, reader] = [await startHelper('span-load.ts'), await startHelper('http-load.ts')];
  const db = await openDatabase(servers.databaseUrl, { poolSize: 2, statementTimeoutMs: 0 });
  const rows: Row[] = [];
  const note = (...found: Parameters<typeof row>) => {
    const made = row(...found);
    rows.push(made);
    report(`${made.name}: ${made.spread.median.toFixed(1)} ${made.unit}`);
  };
  try {
    const [second, neighbour] = [
      await neighbourKey(servers.databaseUrl, 'second'),
      await neighbourKey(servers.databaseUrl),
    ];
    const load = { origin: service.origin, keys: [service.key, second], size: SPANS, textBytes: TEXT_BYTES };
    const reads: Load = {
      url: `${service.origin}/v1/prompts?limit=20`,
      method: 'GET',
      headers: { authorization: `Bearer ${neighbour}` },
      callers: 8,
      perSecond: READS,
      expect: '"data"',
    };
    await exporter.ask({ ...load, seconds: 3 }, SpanResult);
    const [perSecond, alone, beside]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(percentile((await reader.ask({ ...reads, seconds: SECONDS }, LoadResult)).latenciesMs, 0.99));
      const [taken, read] = await Promise.all([
        exporter.ask({ ...load, seconds: SECONDS }, SpanResult),
        reader.ask({ ...reads, seconds: SECONDS }, LoadResult),
      ]);
      perSecond.push(taken.spans / taken.seconds);
      beside.push(percentile(read.latenciesMs, 0.99));
    }
    note(`steps, ${SPANS} a request from 2 exporters, 2 × ${TEXT_BYTES} B each`, '1/s', perSecond, { atLeast: 2_500 });
    note("another workspace's list of prompts alone, p99", 'ms', alone);
    note('the same beside the ingest, p99', 'ms', beside, { below: 300 });
    const traceId = await largeTrace(service);
    note(
      `a page of ${PAGE_STEPS} steps`,
      'ms',
      await timed(10, () => service.call('GET', `/traces/${traceId}/steps?limit=${PAGE_STEPS}`)),
      {
        below: 500,
      },
    );

    const batch = JSON.stringify(
      requestOf(
        Array.from({ length: Math.floor(BATCH_BYTES / 2_000) }, () =>
          span({ traceId: newTraceId(), attributes: { 'input.value': 'x'.repeat(1_600) } }),
        ),
      ),
    );
    const look: Load = { ...reads, url: `${service.origin}/healthz`, perSecond: 200, expect: '' };
    const [blocked] = await Promise.all([
      reader.ask({ ...look, seconds: 5 }, LoadResult),
      timed(6, () => post(service, batch)),
    ]);

    note('the longest wait of another request beside batches of 4 MiB', 'ms', [Math.max(...blocked.latenciesMs)]);

    const statuses: Record<string, number> = {};
    let sent = 0;
    const sender = async () => {
      while (sent < NONSENSE) {
        sent += 1;
        const status = await post(service, nonsense(sent));
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 16 }, sender));
    const broken = Object.entries(statuses).reduce(
      (sum, [status, count]) => sum + (Number(status) >= 500 && status !== '503' ? count : 0),
      0,
    );

    note(`malformed batches of ${NONSENSE} that got a 500`, '', [broken]);

    await db.system.query(
      {
        text: `insert into traces (workspace_id, id, name, status, started_at, ended_at, steps, tools, user_id, conversation_id, input, first_day, last_day)
          select w.id, gen_random_uuid(), 'run ' || n % 20, case when n % 50 = 0 then 'error' else 'ok' end, now() - make_interval(secs => n * 2), now() - make_interval(secs => n * 2 - 1),
            10, array['tool ' || n % 30], 'user ' || n % 5000, 'chat ' || n / 5, repeat('word ', 30) || n, 0, 0
          from workspaces w, generate_series(1, $1::int) n where w.name = 'default'`,
      },
      [TRACES],
    );
    await db.system.query({ text: 'analyze traces' });
    const lists: Record<string, string> = {
      'newest traces': '/traces',
      'by user': '/traces?user_id=user%2017',
      'by tool and status': '/traces?tool=tool%203&status=error',
      'by words': '/traces?q=word%20999',
      'by steps': '/traces?sort=-steps',
      facets: '/traces/facets',
      conversations: '/conversations',
      'one conversation': '/conversations/chat%2017',
    };
    for (const [name, path] of Object.entries(lists))
      note(`list: ${name}, p95`, 'ms', [percentile(await timed(30, () => service.call('GET', path)), 0.95)]);

    const day = dayOf((Date.now() - 3 * 24 * 60 * 60_000) * 1000);
    await createPartitions(db.system).ensure([day]);
    await db.system.query(
      {
        text: `insert into trace_steps (workspace_id, trace_id, span_id, day, type, name, status, started_us, has_input, has_output, complete, content, bytes)
          select gen_random_uuid(), gen_random_uuid(), to_hex(n), $1, 'tool', 'step', 'ok', n, true, true, false, jsonb_build_object('input', repeat(md5(n::text), 19), 'output', repeat(md5(n::text), 19)), 1700
          from generate_series(1, $2::int) n`,
      },
      [day, STEPS_OF_A_DAY],
    );
    const dropped = await timed(1, () => dropDaysBefore(db.system, day + 1, new AbortController().signal));
    note(`dropping a day of ${STEPS_OF_A_DAY} steps`, 'ms', dropped, { below: 2_000 });
    return {
      benchmark: 'traces',
      rows,
      notes: [`Statuses of malformed batches: ${JSON.stringify(statuses)}.`, `Lists are read among ${TRACES} traces.`],
    };
  } finally {
    await exporter.stop();
    await reader.stop();
    await db.close();
    await service.stop();
  }
}
