import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { behave } from '../support/fault-stage.ts';
import { killOrphans, processesNaming, type Started, startProcess } from '../support/processes.ts';
import {
  createTestEnvironment,
  endedExecution,
  makePrompt,
  npmStart,
  type Place,
  type ProviderProcess,
  runAsync,
  startedService,
  startProvider,
} from '../support/processes-service.ts';
import { until } from '../support/wait-for.ts';

let place: Place;
let openai: ProviderProcess;
let anthropic: ProviderProcess;
let service: Started;
beforeAll(async () => {
  [openai, anthropic] = await Promise.all([startProvider('openai'), startProvider('anthropic')]);
  place = await createTestEnvironment({
    OPENAI_API_KEY: 'sk-e2e',
    OPENAI_BASE_URL: openai.baseUrl,
    ANTHROPIC_API_KEY: 'sk-ant-e2e',
    ANTHROPIC_BASE_URL: anthropic.baseUrl,
  });
  service = await startedService(place);
  await makePrompt(place.call, 'openai', 'openai/gpt-4o-mini');
  await makePrompt(place.call, 'anthropic', 'anthropic/claude-sonnet-4-5');
  await makePrompt(place.call, 'echo', 'sandbox/echo');
});
afterAll(async () => {
  await killOrphans();
  await place?.remove();
});

/** Starts a call that lasts until its model is released. @returns the execution's id */
async function beginCall(name: string): Promise<string> {
  const before = await openai.calls();
  await behave(openai, { mode: 'hold' });
  const id = await runAsync(place.call, 'openai', name);
  await openai.called(before + 1);
  return id;
}
const answer = () => behave(openai, {});

/** Processes of this service's servers, by its data directory. */
const server = (name: 'postgres' | 'temporal') =>
  processesNaming(place.dataDir).filter(({ command }) =>
    name === 'postgres' ? / -D /.test(command) : / start-dev /.test(command),
  );

test('the printed commands work when pasted', async () => {
  const lines = service.output().match(/^ {2}curl .*$/gm) ?? [];
  expect(lines).toHaveLength(2);
  const shell = startProcess(['bash', '-c', lines.join('\n')]);
  const { output } = await shell.ended;
  const [prompt, execution] = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(prompt).toMatchObject({ name: 'hello', version: 1 });
  expect(execution).toMatchObject({ status: 'completed', output: 'Say hello to Ada.' });
});

test('runs a prompt with the models of two providers', async () => {
  const run = (name: string) =>
    place.call('POST', '/executions', { body: { prompt_name: name, variables: { name: 'Ada' } } });
  const [first, second] = await Promise.all([run('openai'), run('anthropic')]);
  expect(first.body).toMatchObject({ status: 'completed', provider: 'openai', output: 'Answer to: Greet Ada.' });
  expect(second.body).toMatchObject({ status: 'completed', provider: 'anthropic', output: 'Answer to: Greet Ada.' });
  expect(Number(first.body.cost.amount)).toBeGreaterThan(0);
  expect(await openai.calls()).toBe(1);
  expect(await anthropic.calls()).toBe(1);
});

test('a killed PostgreSQL comes back, and an open call loses nothing', async () => {
  const before = await openai.calls();
  const id = await beginCall('PostgreSQL');
  const [postmaster] = server('postgres');
  process.kill(postmaster?.pid ?? 0, 'SIGKILL');
  await until('another PostgreSQL', async () => server('postgres').some(({ pid }) => pid !== postmaster?.pid));
  await answer();
  expect(await endedExecution(place.call, id)).toMatchObject({ status: 'completed', attempts: 1 });
  expect(await openai.calls()).toBe(before + 1);
});

test('a killed Temporal comes back, and an open call loses nothing', async () => {
  const before = await openai.calls();
  const id = await beginCall('Temporal');
  const [killed] = server('temporal');
  process.kill(killed?.pid ?? 0, 'SIGKILL');
  await until('another Temporal', async () => server('temporal').some(({ pid }) => pid !== killed?.pid));
  await answer();
  expect(await endedExecution(place.call, id)).toMatchObject({ status: 'completed' });
  expect(await openai.calls()).toBe(before + 1);
  const { body } = await place.call('POST', '/executions', {
    body: { prompt_name: 'echo', variables: { name: 'you' } },
  });
  expect(body).toMatchObject({ status: 'completed' });
});

test('a second start on the same data directory names its holder', async () => {
  const other = await createTestEnvironment({ DATA_DIR: place.dataDir });
  const { code, output } = await npmStart(other).ended;
  await other.remove();
  expect(code).toBe(1);
  expect(output).toMatch(/DATA_DIR \S+ is in use by another npm start \(pid \d+\)\. Stop it, or set DATA_DIR/);
  expect(output).not.toMatch(/ {4}at /);
});

test('killed in the middle of a call, it completes the execution after the next start', async () => {
  const before = await openai.calls();
  const id = await beginCall('the killed one');
  await service.killTree();
  await answer();
  await until('nothing of it runs', async () => processesNaming(place.dataDir).length === 0);

  service = await startedService(place);
  const ended = await endedExecution(place.call, id);
  expect(ended).toMatchObject({ status: 'completed', output: 'Answer to: Greet the killed one.' });
  // The one window that is left: the answer of the first call was lost with the process.
  expect(await openai.calls()).toBeLessThanOrEqual(before + 2);
});

test('keeps the key, the prompts and the executions when killed', async () => {
  expect((await readFile(path.join(place.dataDir, 'first-api-key'), 'utf8')).trim()).toBe(
    place.env['BOOTSTRAP_API_KEY'],
  );
  const { body } = await place.call('GET', '/executions?prompt_name=openai');
  expect(body.data.map(({ status }: { status: string }) => status)).toEqual(Array(4).fill('completed'));
});

test('Ctrl-C stops everything in order', async () => {
  service.interrupt();
  const { code, output } = await service.ended;
  expect(output).toMatch(/"msg":"stopped"/);
  expect(output).not.toMatch(/could not stop|unhandled|"level":[56]0/);
  expect(code).toBe(0);
  expect(processesNaming(place.dataDir)).toEqual([]);
});

test('SIGTERM to npm stops everything in order', async () => {
  service = await startedService(place);
  service.kill('SIGTERM');
  const { code, output } = await service.ended;
  expect(output).toMatch(/"msg":"stopped"/);
  expect(code).toBe(0);
  await until('nothing of it runs', async () => processesNaming(place.dataDir).length === 0);
});
