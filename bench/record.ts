import { startHelper } from './child.ts';
import { executionLoad, type Load, LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import { neighbourKey } from './second-workspace.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';

const ROUNDS = 3;
const SECONDS = 8;
/** Records per request, and concurrent requests: the load of three busy applications. */
const RECORDS = 500;
const RECORDERS = 3;
/** The documented number of records per second on two cores. */
const PROMISED = 1_000;

/** Runs of about 1.2 kB each. */
function bodyOf(records: number): string {
  const startedAt = Date.now() - 60_000;
  const text = 'The quick brown fox jumps over the lazy dog, and all. '.repeat(8);
  return JSON.stringify({
    records: Array.from({ length: records }, (_, index) => ({
      prompt_name: 'bench',
      prompt_version: 1,
      model: 'openai/gpt-4o-mini',
      variables: { name: 'Ada' },
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: text },
      ],
      output: text,
      tokens: { input: 120, output: 80 },
      started_at: new Date(startedAt + index).toISOString(),
      finished_at: new Date(startedAt + index + 900).toISOString(),
      metadata: { customer: `customer-${index % 10}` },
    })),
  });
}

const percentile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

/** Recording runs made elsewhere, and the duration of another workspace's run at the same time. */
export async function measureRecord(servers: Servers, { profileFolder, rounds = ROUNDS }: Means): Promise<Outcome> {
  const service = await startService(servers, {}, profileFolder);
  const [recorder, neighbour] = [await startHelper('http-load.ts'), await startHelper('http-load.ts')];
  try {
    const key = await neighbourKey(servers.databaseUrl);
    const prompt = { name: 'bench', template: 'Greet {{ name }}.', model: 'sandbox/echo' };
    await service.call('POST', '/prompts', prompt);
    const made = await fetch(`${service.origin}/v1/prompts`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(prompt),
    });
    if (!made.ok) throw new Error(`The neighbour's prompt was not made: ${await made.text()}`);
    const recording: Load = {
      url: `${service.origin}/v1/executions/record`,
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: bodyOf(RECORDS),
      callers: RECORDERS,
      expect: '"ids"',
    };
    const running: Load = { ...executionLoad({ origin: service.origin, key }), callers: 1 };
    await Promise.all([
      recorder.ask({ ...recording, seconds: 3 }, LoadResult),
      neighbour.ask({ ...running, seconds: 3 }, LoadResult),
    ]);
    const perSecond: number[] = [];
    const alone = { p50: [] as number[], p95: [] as number[] };
    const beside = { p50: [] as number[], p95: [] as number[] };
    const note = (into: typeof alone, latencies: readonly number[]) => {
      into.p50.push(percentile(latencies, 0.5));
      into.p95.push(percentile(latencies, 0.95));
    };
    for (let round = 0; round < rounds; round += 1) {
      note(alone, (await neighbour.ask({ ...running, seconds: SECONDS }, LoadResult)).latenciesMs);
      const [recorded, run] = await Promise.all([
        recorder.ask({ ...recording, seconds: SECONDS }, LoadResult),
        neighbour.ask({ ...running, seconds: SECONDS }, LoadResult),
      ]);
      perSecond.push((recorded.requests * RECORDS) / recorded.seconds);
      note(beside, run.latenciesMs);
    }
    return {
      benchmark: 'record',
      rows: [
        row(`records, ${RECORDS} a request from ${RECORDERS} callers`, '1/s', perSecond, { atLeast: PROMISED }),
        row("another workspace's run alone, p50", 'ms', alone.p50),
        row('the same beside the recording, p50', 'ms', beside.p50),
        ratioRow('the same to alone, p50', beside.p50, alone.p50),
        row("another workspace's run alone, p95", 'ms', alone.p95),
        row('the same beside the recording, p95', 'ms', beside.p95, { below: 250 }),
        ratioRow('the same to alone, p95', beside.p95, alone.p95),
      ],
    };
  } finally {
    await recorder.stop();
    await neighbour.stop();
    await service.stop();
  }
}
