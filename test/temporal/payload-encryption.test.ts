import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import { Registry } from 'prom-client';
import { startApi } from '../../src/api/server.ts';
import { startCodecServer } from '../../src/codec-server/main.ts';
import { parseSettings } from '../../src/config.ts';
import { keyIdOf } from '../../src/domain/cipher.ts';
import { ensureTemporal } from '../../src/embedded/temporal/temporal-binary.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { evaluationScheduleId } from '../../src/temporal/names.ts';
import { startWorkers } from '../../src/worker.ts';
import { historyToJson } from '../support/histories.ts';
import { readableText } from '../support/history-events.ts';
import { type Call, createCall, startTestService, type TestService } from '../support/service.ts';
import { TEMPORAL_ADDRESS } from '../support/temporal.ts';
import { waitFor } from '../support/wait-for.ts';

const newKey = () => randomBytes(32).toString('base64');
const idOf = (key: string) => keyIdOf(Buffer.from(key, 'base64')).toString('hex');

/** API and workers as one process with its own TEMPORAL_PAYLOAD_KEYS. */
interface Process {
  client: Client;
  call: Call;
  stop(): Promise<void>;
}

let service: TestService;
const processes: Process[] = [];

beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'starts further services on its database' });
  for (const [name, model] of [
    ['secret-plan', 'sandbox/slow-300'],
    ['secret-failure', 'sandbox/fail'],
  ]) {
    const { status } = await service.call('POST', '/prompts', { body: { name, template: 'Say {{ text }}', model } });
    expect(status).toBe(201);
  }
});
const stopAll = async () => {
  for (const each of processes.splice(0)) await each.stop();
};
afterEach(stopAll);
afterAll(() => service?.stop());

/** @param keys empty: payloads are not encrypted */
async function startProcess(keys: string): Promise<Process> {
  const { settings } = service.dependencies;
  const { payloadKeys } = parseSettings({ TEMPORAL_PAYLOAD_KEYS: keys }).temporal;
  const ours = { ...settings, temporal: { ...settings.temporal, payloadKeys } };
  const { client, connection } = await connectTemporal(TEMPORAL_ADDRESS, ours);
  const dependencies = { ...service.dependencies, settings: ours, client, connection };
  const workers = await startWorkers({ ...dependencies, registry: new Registry() }, { reconcileEveryMs: 1_000 });
  const api = await startApi({ ...dependencies, registry: new Registry() }, { eager: true });
  const started = {
    client,
    call: createCall(`http://127.0.0.1:${api.port}`, service.key),
    async stop() {
      await api.close(1_000);
      await workers.stop();
      await connection.close();
    },
  };
  processes.push(started);
  return started;
}

/** Stops the process, and starts it with these keys. */
async function restart(keys: string): Promise<Process> {
  await stopAll();
  return startProcess(keys);
}

/** The data in Temporal, as seen without a key. */
const handleOf = (workflowId: string) =>
  new Client({ connection: service.dependencies.connection }).workflow.getHandle(workflowId);

/**
 * All readable text in a message of Temporal, with bytes as text, except search attributes and the SDK's own data on local activities:
 * their number, name and time.
 */
const textOf = (message: unknown): string =>
  readableText(
    JSON.stringify(message, (name, value) => {
      if (name === 'searchAttributes' || (name === 'data' && value?.payloads !== undefined)) return undefined;
      const bytes = value?.type === 'Buffer' ? value.data : value;
      return bytes !== value || bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : value;
    }),
  );
const historyOf = async (workflowId: string) =>
  textOf(JSON.parse(historyToJson(await handleOf(workflowId).fetchHistory())));
const keysIn = (text: string) => [...new Set(text.match(/^[0-9a-f]{8}$/gm))].sort();

async function begin({ call }: Process, examples: number): Promise<{ id: string; workflow_id: string }> {
  const { status, body } = await call('POST', '/evaluations', {
    body: {
      prompt_name: 'secret-plan',
      concurrency: 1,
      examples: Array.from({ length: examples }, (_, index) => ({
        variables: { text: `text ${index}` },
        expected: 'x',
      })),
    },
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}
const read = async (id: string) => (await service.call('GET', `/evaluations/${id}`)).body;
const oneIsDone = (id: string) => waitFor(`an example of ${id}`, async () => (await read(id)).examples_evaluated > 0);
const endOf = (id: string) =>
  waitFor(`the end of ${id}`, async () => {
    const body = await read(id);
    return ['completed', 'failed', 'canceled'].includes(body.status) && body;
  });
const COMPLETED = (examples: number) => ({ status: 'completed', examples_evaluated: examples });

test('Temporal stores no plaintext of inputs, results, memos, summaries, details and heartbeats, and a client with the key reads them', async () => {
  const key = newKey();
  const running = await startProcess(key);
  const { id, workflow_id } = await begin(running, 12);
  await oneIsDone(id);
  // Undecoded: the client would decode the memo, for which it has no key.
  const { connection, settings } = service.dependencies;
  const described = textOf(
    await connection.workflowService.describeWorkflowExecution({
      namespace: settings.temporal.namespace,
      execution: { workflowId: workflow_id },
    }),
  );
  expect(described).toContain('binary/encrypted');
  expect(described).not.toContain('secret-plan');
  expect(described).not.toContain('spentUsd');
  expect(await endOf(id)).toMatchObject(COMPLETED(12));
  const history = await historyOf(workflow_id);
  expect(history).not.toContain('secret-plan');
  expect(history).not.toContain('json/plain');
  expect(keysIn(history)).toEqual([idOf(key)]);
  const { memo, staticSummary } = await running.client.workflow.getHandle(workflow_id).describe();
  expect(memo).toMatchObject({ evaluation: id, prompt: 'secret-plan v1' });
  expect(await staticSummary()).toContain('secret-plan v1');
});

test('failures are encrypted, and workflows understand them', async () => {
  const { call } = await startProcess(newKey());
  const run = () => call('POST', '/executions', { body: { prompt_name: 'secret-failure', variables: { text: 'x' } } });
  const { body } = await run();
  expect(body).toMatchObject({ status: 'failed', error: { code: 'model_unavailable' } });
  const history = await waitFor('the end of the workflow', async () => {
    const text = await historyOf(body.workflow_id);
    return text.includes('WORKFLOW_EXECUTION_COMPLETED') && text;
  });
  expect(history).toContain('Encoded failure');
  expect(history).not.toContain(body.error.message);
  expect(history).not.toContain('secret-failure');
});

test('a run survives a new key, a restart, and payloads from before the encryption', async () => {
  const [old, next] = [newKey(), newKey()];
  const { id, workflow_id } = await begin(await startProcess(''), 24);
  await oneIsDone(id);
  expect(await historyOf(workflow_id)).toContain('secret-plan');
  for (const keys of [old, `${next},${old}`]) {
    const before = (await read(id)).examples_evaluated;
    await restart(keys);
    await waitFor('another example', async () => (await read(id)).examples_evaluated > before);
  }
  expect(await endOf(id)).toMatchObject(COMPLETED(24));
  expect(keysIn(await historyOf(workflow_id))).toContain(idOf(next));
});

test('without the key, a run waits and names the missing key; it continues when the key is back', async () => {
  const [lost, other] = [newKey(), newKey()];
  const { id, workflow_id } = await begin(await startProcess(lost), 12);
  await oneIsDone(id);
  const without = await restart(other);
  const failure = await waitFor('the failure', async () => {
    const { events = [] } = await without.client.workflow.getHandle(workflow_id).fetchHistory();
    const failed = events?.find(
      ({ workflowTaskFailedEventAttributes: attributes }) => attributes?.failure?.encodedAttributes,
    );
    const encoded = failed?.workflowTaskFailedEventAttributes?.failure?.encodedAttributes;
    if (!encoded) return undefined;
    const { payloadCodecs } = without.client.options.loadedDataConverter;
    const [decoded] = (await payloadCodecs[0]?.decode([encoded])) ?? [];
    return Buffer.from(decoded?.data ?? []).toString();
  });
  expect(failure).toContain(idOf(lost));
  expect(failure).toContain('TEMPORAL_PAYLOAD_KEYS');
  expect(await read(id)).toMatchObject({ status: 'running' });
  // Work that does not need it continues.
  const fine = await begin(without, 2);
  expect(await endOf(fine.id)).toMatchObject(COMPLETED(2));
  await restart(`${other},${lost}`);
  expect(await endOf(id)).toMatchObject(COMPLETED(12));
});

test('a schedule is encrypted, runs, and is read with the key', async () => {
  const { call, client } = await startProcess(newKey());
  const evaluation = { prompt_name: 'secret-plan', examples: [{ variables: { text: 'x' }, expected: 'x' }] };
  const { status, body } = await call('POST', '/schedules', {
    body: { name: 'nightly', cron: '0 3 * * *', time_zone: 'UTC', evaluation },
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  const [row] = await service.dependencies.db.system.query<{ id: string }>({
    text: `select id from schedules where name = 'nightly'`,
  });
  const scheduleId = evaluationScheduleId(row?.id ?? '');
  const { action } = await client.schedule.getHandle(scheduleId).describe();
  expect(action).toMatchObject({ memo: { name: 'nightly', prompt: 'secret-plan' } });
  const { schedule } = await client.workflowService.describeSchedule({ namespace: 'default', scheduleId });
  const text = textOf(schedule);
  expect(text).toContain('binary/encrypted');
  expect(text).not.toContain('nightly');
  expect(text).not.toContain('secret-plan');
  expect((await call('POST', `/schedules/${body.id}/trigger`)).status).toBe(200);
  const [started] = await waitFor('the evaluation', async () => {
    const { data } = (await call('GET', `/evaluations?schedule_id=${body.id}`)).body;
    return data.length > 0 && data;
  });
  expect(await endOf(started.id)).toMatchObject(COMPLETED(1));
  await call('DELETE', `/schedules/${body.id}`);
});

test("Temporal's CLI shows a history by the codec server, which needs its token", async () => {
  const key = newKey();
  const token = randomBytes(20).toString('hex');
  const { id, workflow_id } = await begin(await startProcess(key), 1);
  await endOf(id);
  const server = await startCodecServer(
    parseSettings({ TEMPORAL_PAYLOAD_KEYS: key, CODEC_SERVER_TOKEN: token, CODEC_SERVER_PORT: '0' }),
  );
  const binary = await ensureTemporal({ report: () => {} });
  const endpoint = `http://127.0.0.1:${server.port}`;
  const show = async (...options: string[]) => {
    const command = ['workflow', 'show', '--workflow-id', workflow_id, '--address', TEMPORAL_ADDRESS, '-o', 'json'];
    return readableText((await promisify(execFile)(binary, [...command, ...options], { maxBuffer: 2 ** 26 })).stdout);
  };
  try {
    expect(await show('--codec-endpoint', endpoint, '--codec-auth', `Bearer ${token}`)).toContain('secret-plan v1');
    expect(await show()).not.toContain('secret-plan v1');
    // It tries again until its time is over.
    await expect(show('--codec-endpoint', endpoint, '--codec-auth', 'Bearer wrong')).rejects.toThrow(
      'failed getting next history event',
    );
  } finally {
    await server.close(1_000);
  }
});
