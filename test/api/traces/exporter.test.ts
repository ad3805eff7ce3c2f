import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimsOf } from '../../docs/claims.ts';
import { ownBlocks } from '../../support/guides.ts';
import { startProcess } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey } from '../workspace.ts';
import { stepsOf } from './traces-support.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const own = ownBlocks(claimsOf('test/api/traces/exporter.test.ts'));
const GUIDE = readFileSync(path.join(ROOT, 'docs/traces.md'), 'utf8');

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  folder = mkdtempSync(path.join(tmpdir(), 'pms-traces-'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true });
});

test.each(['http/protobuf', 'http/json'])('the example of the guide sends a trace by %s', async (protocol) => {
  await service.call('POST', '/prompts', { body: { name: 'support/greeting', template: 'Hi', model: 'sandbox/echo' } });
  for (const template of ['Hi!', 'Hi!!'])
    await service.call('PUT', '/prompts/support/greeting', { body: { template } });
  const code = own.take({ page: 'docs/traces.md' })[0]?.code ?? '';
  writeFileSync(path.join(folder, 'travel.mjs'), code);
  const variables = [...GUIDE.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('"', ''),
  ]);
  const { key } = await createKey(service, 'ingest');
  const env = Object.fromEntries(
    variables.map(([name, value = '']) => [
      name,
      value.replace('http://127.0.0.1:3000', service.origin).replace('$PMS_API_KEY', key),
    ]),
  );
  expect(Object.keys(env)).toEqual(['OTEL_SERVICE_NAME', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS']);
  const started = startProcess([process.execPath, path.join(folder, 'travel.mjs')], {
    env: { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: protocol, OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' },
  });
  await started.ended;
  const { body } = await service.call('GET', '/traces?limit=1');
  const [trace] = body.data;
  expect(trace).toMatchObject({
    name: 'invoke_agent travel',
    steps: 2,
    calls: 1,
    service: 'travel-api',
    conversation_id: 'chat-17',
    user_id: 'ada',
    tokens: { input: 52, output: 9 },
  });
  const [, call] = await stepsOf(service, trace.id);
  const { body: execution } = await service.call('GET', `/executions/${call.execution_id}`);
  expect(execution).toMatchObject({
    prompt_name: 'support/greeting',
    prompt_version: 3,
    input: [{ role: 'user', content: 'Hello' }],
    output: 'Hi!',
  });
});
