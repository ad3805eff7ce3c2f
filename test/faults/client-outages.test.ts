import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Pms } from '../../clients/typescript/src/index.ts';
import { pythonWith } from '../../scripts/python.ts';
import { type Cli, startCli } from '../cli/support.ts';
import { createTestDatabase } from '../support/database.ts';
import { callsOf, KEY, type Stage, setStage, untilCalled } from '../support/fault-stage.ts';
import { type Started, startProcess } from '../support/processes.ts';
import { makePrompt } from '../support/processes-service.ts';

/** Long enough that a client with a fixed number of attempts has given up. */
const OUTAGE_MS = 9_000;
/** The model answers while the API is away. */
const LATENCY_MS = 4_000;

const PYTHON = `
import asyncio, sys
from pms_client import AsyncPms, Pms

async def run():
    async with AsyncPms() as pms:
        return await pms.execute("greet", {"name": "python-async"})

if sys.argv[1] == "async":
    print(asyncio.run(run()).output)
else:
    print(Pms().execute("greet", {"name": "python-sync"}).output)
`;

let database: { url: string; drop(): Promise<void> };
let stage: Stage;
let cli: Cli;
let api: Started;
let python: string;
beforeAll(async () => {
  const client = fileURLToPath(new URL('../../clients/python', import.meta.url));
  python = await pythonWith(`${client}/requirements-dev.txt`);
  database = await createTestDatabase();
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: LATENCY_MS });
  api = await stage.startApi();
  await stage.startWorker();
  cli = await startCli({ origin: stage.origin, key: KEY });
  await makePrompt(stage.call, 'greet', 'openai/gpt-4o-mini');
  const raw = 'name,expected\ncli,x\n';
  await stage.call('PUT', '/datasets/names', { raw, headers: { 'Content-Type': 'text/csv' } });
});
afterAll(async () => {
  await cli?.remove();
  await stage?.end();
  await database?.drop();
});

function startPython(how: 'sync' | 'async'): Started {
  const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' };
  return startProcess([python, '-c', PYTHON, how], { env: { ...env, PMS_BASE_URL: stage.origin, PMS_API_KEY: KEY } });
}

test('a caller that waits when the API dies gets the result later, of one run that is paid once', async () => {
  const pms = new Pms({ baseUrl: stage.origin, apiKey: KEY });
  const run = pms.execute({ prompt_name: 'greet', variables: { name: 'typescript' } });
  let streamed = '';
  const stream = (async () => {
    for await (const event of pms.stream({ prompt_name: 'greet', variables: { name: 'stream' } }))
      if (event.type === 'output_text.delta') streamed += event.delta;
      else if (event.type === 'execution.restarted') streamed = '';
  })();
  const programs = [startPython('sync'), startPython('async')];
  const evaluation = cli.start(
    'eval run --prompt greet --dataset names --evaluator exact_match --wait --baseline none --threshold 0'.split(' '),
  );
  const names = ['typescript', 'stream', 'python-sync', 'python-async', 'cli'];
  const prompts = names.map((name) => `Greet ${name}.`);
  await untilCalled(stage.model, prompts, prompts.length);

  api.kill('SIGKILL');
  await api.ended;
  await delay(OUTAGE_MS);
  api = await stage.startApi();

  expect(await run).toMatchObject({ status: 'completed', output: expect.stringContaining('Greet typescript.') });
  await stream;
  expect(streamed).toContain('Greet stream.');
  const outputs = await Promise.all(programs.map(({ ended }) => ended));
  expect(outputs).toEqual([
    { code: 0, signal: null, output: expect.stringContaining('Greet python-sync.') },
    { code: 0, signal: null, output: expect.stringContaining('Greet python-async.') },
  ]);
  expect(await evaluation.ended).toMatchObject({ code: 0, output: expect.stringContaining('does not respond') });
  expect(await callsOf(stage.model, prompts)).toEqual(prompts.map(() => 1));
});
