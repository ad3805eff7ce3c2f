import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Pms } from '../../clients/typescript/src/index.ts';
import { pythonWith } from '../../scripts/python.ts';
import { createTestDatabase } from '../support/database.ts';
import { KEY, type Stage, setStage } from '../support/fault-stage.ts';
import { type Started, startProcess } from '../support/processes.ts';
import { until } from '../support/wait-for.ts';

/** Long enough that a client with a fixed number of attempts has given up. */
const OUTAGE_MS = 9_000;
/** Per client: enough that batches are in flight when the API is killed. */
const RUNS = 3_000;

const PYTHON = `
import asyncio, sys
from datetime import datetime, timezone
from pms_client import AsyncPms, Pms

def run(index):
    now = datetime.now(timezone.utc)
    return dict(model=f"house/python-{sys.argv[1]}", input="x", output=str(index), started_at=now, finished_at=now)

def dropped(runs, error):
    print("dropped", len(runs), error)

async def main():
    async with AsyncPms(on_drop=dropped, flush_after=0.05) as pms:
        for index in range(${RUNS}):
            pms.record(**run(index))
            await asyncio.sleep(0.001)

if sys.argv[1] == "async":
    asyncio.run(main())
else:
    with Pms(on_drop=dropped, flush_after=0.05) as pms:
        import time
        for index in range(${RUNS}):
            pms.record(**run(index))
            time.sleep(0.001)
`;

let database: { url: string; drop(): Promise<void> };
let stage: Stage;
let api: Started;
let python: string;
beforeAll(async () => {
  const client = fileURLToPath(new URL('../../clients/python', import.meta.url));
  python = await pythonWith(`${client}/requirements-dev.txt`);
  database = await createTestDatabase();
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 0 });
  api = await stage.startApi();
});
afterAll(async () => {
  await stage?.end();
  await database?.drop();
});

function startPython(how: 'sync' | 'async'): Started {
  const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' };
  return startProcess([python, '-c', PYTHON, how], { env: { ...env, PMS_BASE_URL: stage.origin, PMS_API_KEY: KEY } });
}

async function counted(model: string) {
  const { body } = await stage.call('GET', `/usage?group_by=model&model=house/${model}`);
  return body.data[0]?.executions ?? 0;
}

async function stored(model: string): Promise<string[]> {
  const outputs: string[] = [];
  let cursor = '';
  do {
    const { body } = await stage.call('GET', `/executions?model=house/${model}&limit=100${cursor}`);
    for (const { output } of body.data) outputs.push(output);
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
  } while (cursor !== '');
  return outputs;
}

test('runs recorded while the API is killed and down are all stored once', async () => {
  const drops: number[] = [];
  const onDrop = (runs: unknown[]) => drops.push(runs.length);
  const pms = new Pms({ baseUrl: stage.origin, apiKey: KEY, record: { onDrop, flushAfterMs: 50 } });
  const programs = [startPython('sync'), startPython('async')];
  let recorded = 0;
  const recording = (async () => {
    for (; recorded < RUNS; recorded += 1) {
      const now = new Date();
      pms.record({
        model: 'house/typescript',
        input: 'x',
        output: String(recorded),
        started_at: now,
        finished_at: now,
      });
      await delay(1);
    }
  })();
  const models = ['typescript', 'python-sync', 'python-async'];
  await until('some runs of each', async () => (await Promise.all(models.map(counted))).every((count) => count > 0));

  api.kill('SIGKILL');
  await api.ended;
  expect(recorded).toBeLessThan(RUNS);
  await delay(OUTAGE_MS);
  api = await stage.startApi();

  await recording;
  await pms.flush();
  expect(drops).toEqual([]);
  const outputs = await Promise.all(programs.map(({ ended }) => ended));
  expect(outputs).toEqual([0, 1].map(() => ({ code: 0, signal: null, output: '' })));
  const wanted = Array.from({ length: RUNS }, (_, index) => String(index)).toSorted();
  for (const model of models) {
    expect(await counted(model)).toBe(RUNS);
    expect((await stored(model)).toSorted()).toEqual(wanted);
  }
});
