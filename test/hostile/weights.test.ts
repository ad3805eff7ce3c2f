import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { report } from '../support/hostile-report.ts';
import { AT_FULL_SIZE, type HostileStage, setHostileStage, sized } from '../support/hostile-stage.ts';
import { waitFor } from '../support/wait-for.ts';

const CERTIFICATES = fileURLToPath(new URL('../outbound/certificates', import.meta.url));
const MIB = 1024 * 1024;
/**
 * Each of these acts has ended processes that had eight times as much.
 */
const HEAP_MIB = Number(process.env['HOSTILE_HEAP_MIB'] ?? 512);

let stage: HostileStage;
let files: Server;
beforeAll(async () => {
  stage = await setHostileStage({ heapMiB: HEAP_MIB, env: { NODE_EXTRA_CA_CERTS: `${CERTIFICATES}/ca.pem` } });
  const tls = { cert: readFileSync(`${CERTIFICATES}/good.pem`), key: readFileSync(`${CERTIFICATES}/good.key`) };
  files = createServer(tls, (_, response) => {
    response.setHeader('content-type', 'application/pdf');
    response.end(Buffer.alloc(3 * MIB, 1));
  });
  await once(files.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => report(stage.rows, AT_FULL_SIZE));
afterAll(async () => {
  await stage?.end();
  files?.close();
});

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

async function ok(method: string, path: string, body: object) {
  const answer = await stage.call(method, path, { body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

async function untilEnded(path: string): Promise<{ status: string; error?: { message: string } }> {
  return waitFor(`the end of ${path}`, async () => {
    const { body } = await stage.call('GET', path);
    return ['completed', 'failed', 'canceled'].includes(body.status) ? body : undefined;
  });
}

/** About 1 MiB, which takes far more when parsed. */
const heavy = (n: number) => ({ list: times(95_000, () => ({})), text: `${n} `.padEnd(600_000, 'x') });

test('large examples in many runs at a time', async () => {
  const examples = times(sized(50, 30), (n) => ({ variables: { question: `Say ${n}` }, expected: heavy(n) }));
  const lines = examples.map((example) => JSON.stringify(example)).join('\n');
  const uploaded = await stage.call('PUT', '/datasets/heavy', {
    raw: lines,
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  expect(uploaded).toMatchObject({ status: 200 });
  await ok('POST', '/prompts', { name: 'heavy', template: '{{ question }}', model: 'sandbox/slow-500' });
  const atATime = sized(8, 4);
  await stage.act(`evaluates ${examples.length} examples of 1 MiB in ${atATime} runs at a time`, async () => {
    const request = { prompt_name: 'heavy', dataset: 'heavy', evaluators: [{ type: 'json_match' }], concurrency: 50 };
    const runs = await Promise.all(times(atATime, () => ok('POST', '/evaluations', request)));
    for (const { id } of runs) expect(await untilEnded(`/evaluations/${id}`)).toMatchObject({ status: 'completed' });
  });
});

test('one file in many parts of a message', async () => {
  const { port } = files.address() as AddressInfo;
  const part = { type: 'file', media_type: 'application/pdf', url: `https://localhost:${port}/large.pdf` };
  const messages = (count: number) => [{ role: 'user', content: times(count, () => part) }];
  await stage.act('sends a file of 3 MiB 6 times in each of 12 calls at a time', async () => {
    const runs = await Promise.all(
      times(sized(12, 8), () =>
        stage.call('POST', '/executions', {
          body: { draft: { messages: messages(6), model: 'openai/gpt-4o-mini' } },
          headers: { Prefer: 'respond-async' },
        }),
      ),
    );
    for (const { status, body } of runs) {
      expect({ status, body }).toMatchObject({ status: 201 });
      expect(await untilEnded(`/executions/${body.id}`)).toMatchObject({ status: 'completed' });
    }
  });
  const { id } = await ok('POST', '/executions', { draft: { messages: messages(15), model: 'openai/gpt-4o-mini' } });
  const { error } = await untilEnded(`/executions/${id}`);
  expect(error?.message).toContain('counted once for each part that names them');
});
