import { execFile, spawn } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { installedTools } from '../../scripts/installed-tools.ts';
import { pythonWith } from '../../scripts/python.ts';
import { parseSettings } from '../../src/config.ts';
import { generateSigningSecret, signedHeaders } from '../../src/domain/webhooks/webhook-signature.ts';
import { createPriceBook } from '../../src/models/prices/price-book.ts';
import { ownBlocks, preamble } from '../support/guides.ts';
import { freePort } from '../support/identity/free-port.ts';
import { PROJECT } from '../support/processes.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { claimsOf } from './claims.ts';

const run = promisify(execFile);
const own = ownBlocks(claimsOf('test/docs/how-to.test.ts'));
const page = readFileSync(path.join(PROJECT, 'docs/how-to.md'), 'utf8');
const questions = [...page.matchAll(/^### (.*)$/gm)].map(([, section = '']) => ({
  question: section,
  blocks: own.take({ page: 'docs/how-to.md', section }),
}));
/** Resources that the reader of the page creates once. */
const fixtures = own.take({ page: 'docs/how-to.md', section: 'How do I …?' });

let service: TestService;
let receiver: Receiver;
let folder: string;
let python: string;
let env: NodeJS.ProcessEnv;

/** Creates the resources of the page's reader. @returns the ids from earlier responses */
async function makeFixtures(): Promise<Record<string, string>> {
  for (const { code } of fixtures) await RUNS['sh']?.(code);
  const { id } = (
    await service.call('POST', '/executions', {
      body: { prompt_name: 'support/answer', variables: { question: 'Where?' } },
    })
  ).body;
  await service.call('POST', '/scores', { body: { name: 'helpful', value: false, subject: { execution_id: id } } });
  const ids: string[] = [];
  for (const version of [1, 2]) {
    const body = {
      prompt_name: 'support/answer',
      version,
      dataset: 'support/questions',
      evaluators: [{ type: 'contains' }],
    };
    const evaluation = (await service.call('POST', '/evaluations', { body })).body;
    ids.push(evaluation.id);
    await waitFor('the evaluation to end', async () => {
      const { body: now } = await service.call('GET', `/evaluations/${evaluation.id}`);
      return now.status === 'completed';
    });
  }
  const [first = '', second = ''] = ids;
  return { EXECUTION_ID: id, EVALUATION_ID: second, OTHER_EVALUATION_ID: first };
}

beforeAll(async () => {
  [python, service, receiver] = await Promise.all([
    pythonWith(path.join(PROJECT, 'clients/python/requirements-dev.txt')),
    startTestService(),
    startReceiver((_request, response) => {
      response.setHeader('Content-Type', 'application/json').end('{"score": 1}');
    }),
  ]);
  folder = await mkdtemp(path.join(tmpdir(), 'pms-how-to-'));
  await mkdir(path.join(folder, '.data'));
  await writeFile(path.join(folder, '.data/first-api-key'), service.key);
  const bin = path.join(folder, 'bin');
  await mkdir(bin);
  const program = `exec "${process.execPath}" --conditions=pms-source "${path.join(PROJECT, 'cli/src/main.ts')}" "$@"`;
  await writeFile(path.join(bin, 'pms'), `#!/bin/sh\n${program}\n`);
  await chmod(path.join(bin, 'pms'), 0o755);
  cpSync(path.join(PROJECT, 'test/cli/importers/fixtures/langfuse'), path.join(folder, 'saved'), { recursive: true });
  env = {
    PATH: `${bin}:${process.env['PATH']}`,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    PMS_BASE_URL: service.origin,
    PMS_API_KEY: service.key,
    PMS_CONFIG_DIR: path.join(folder, '.config'),
    PYTHONPATH: path.join(PROJECT, 'clients/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  Object.assign(env, await makeFixtures());
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** The sample with the addresses of the test's servers. */
const here = (code: string) =>
  code
    .replaceAll('http://127.0.0.1:3000', service.origin)
    .replaceAll('https://example.com', new URL(receiver.url).origin);

/** Parses `NAME=value` lines. A reader's own values are left open with "…". */
function settingsIn(code: string): Record<string, string> {
  const lines = code.trim().split('\n');
  const pairs = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  const key = Buffer.alloc(32, 1).toString('base64');
  return Object.fromEntries(pairs.map(([name, value]) => [name, value === '…' ? key : value]));
}

async function runTypeScript(code: string): Promise<void> {
  const file = path.join(PROJECT, '.cache', `how-to-${process.pid}.ts`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, here(code));
  try {
    await run(process.execPath, ['--conditions=pms-source', file], { env });
  } finally {
    await rm(file);
  }
}

const RUNS: Record<string, (code: string) => Promise<unknown>> = {
  async sh(code) {
    const script = `${preamble('sh')}${code.replaceAll('curl -s', 'curl -sS --fail-with-body -w "\\n"')}`;
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here(script)], { cwd: folder, env });
    const lines = stdout.split('\n').map((line) => line.replace(/^data: /, ''));
    for (const line of lines.filter((each) => each.startsWith('{'))) expect(JSON.parse(line).error ?? null).toBeNull();
  },
  ts: (code) => runTypeScript(`${preamble('ts')}${code}`),
  async python(code) {
    const { stdout } = await run(python, ['-c', here(`${preamble('python')}${code}`)], { cwd: folder, env });
    return stdout;
  },
  async ini(code) {
    parseSettings(settingsIn(code));
  },
  async json(code) {
    const value = JSON.parse(code);
    if (code.includes('per_million')) {
      const file = path.join(folder, 'prices.json');
      await writeFile(file, code);
      createPriceBook({ file, warn: () => {} });
    } else expect(value.mcpServers.prompts.url).toMatch(/\/mcp$/);
  },
};

test('there are questions, each with a sample', () => {
  expect(questions.length).toBeGreaterThanOrEqual(30);
  for (const { question, blocks } of questions) {
    expect(question).toMatch(/^How do I .*\?$/);
    expect({ question, samples: blocks.length }).not.toEqual({ question, samples: 0 });
  }
});

describe('the sample works of', () => {
  test.each(questions)('$question', async ({ blocks }) => {
    for (const { language, code } of blocks) {
      const of = RUNS[language];
      if (of === undefined) throw new Error(`There is no way to run ${language}.`);
      await of(code);
    }
  });
});

const inPython = async (group: string, code: string) => {
  const program = await pythonWith(path.join(PROJECT, `clients/python/requirements-${group}.txt`), [3, 11]);
  return (await run(program, ['-c', here(code)], { cwd: folder, env: { ...env, ...SAMPLE_ENV } })).stdout;
};

const WEBHOOK_SECRET = generateSigningSecret();
const SAMPLE_ENV = { WEBHOOK_SECRET, LITELLM_LOCAL_MODEL_COST_MAP: 'True' };

/** An event as delivered. */
function signedEvent(): { body: string; headers: Record<string, string> } {
  const timestamp = new Date();
  const data = { evaluation_id: 'eval_1', prompt_name: 'a', score: 1, examples_evaluated: 1, regressions: 0 };
  const body = JSON.stringify({ event: 'evaluation.completed', data, timestamp });
  const ids = { eventId: 'evt_1', deliveryId: 'dlv_1', attempt: 1 };
  return {
    body,
    headers: signedHeaders({ body: Buffer.from(body), sentAt: timestamp, secrets: [WEBHOOK_SECRET], ...ids }),
  };
}

/** Delivers an event to a sample's application, and then the same unsigned. */
async function receivesEvents(code: string): Promise<void> {
  const { body, headers } = signedEvent();
  const deliver = `
import asyncio, httpx

async def deliver() -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://app") as client:
        for headers in (${JSON.stringify(headers)}, {}):
            print((await client.post("/hooks", content=${JSON.stringify(body)}, headers=headers)).status_code)

asyncio.run(deliver())
`;
  expect(await inPython('samples', `${code}${deliver}`)).toMatch(/^evaluation\.completed .*\n200\n401\n$/s);
}

/** The same for a sample that listens itself, with Express and the client installed. */
async function listensForEvents(code: string): Promise<void> {
  const modules = path.join(folder, 'node_modules');
  await mkdir(modules, { recursive: true });
  const express = await installedTools('samples');
  for (const name of await readdir(express)) await symlink(path.join(express, name), path.join(modules, name));
  await symlink(path.join(PROJECT, 'clients/typescript'), path.join(modules, 'pms-client'));
  const file = path.join(folder, 'sample.mjs');
  const port = await freePort();
  await writeFile(file, here(code).replace('8080', String(port)));
  const args = ['--conditions=pms-source', file];
  const child = spawn(process.execPath, args, { env: { ...env, ...SAMPLE_ENV }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += String(piece)));
  try {
    const { body, headers } = signedEvent();
    const deliver = (given: Record<string, string>) =>
      fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', body, headers: given }).then(({ status }) => status);
    await waitFor('the sample to listen', async () => {
      if (child.exitCode !== null) throw new Error(output);
      return (await deliver({}).catch(() => 0)) === 401;
    });
    expect([await deliver(headers), await deliver({})]).toEqual([200, 401]);
    await waitFor('the event', async () => output.includes('evaluation.completed'));
  } finally {
    child.kill();
  }
}

/** Runs a sample's activity in a workflow of the service's Temporal. */
async function runsInTemporal(code: string): Promise<void> {
  const workflow = `
import asyncio, uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker


@workflow.defn(sandboxed=False)
class Answering:
    @workflow.run
    async def run(self, question: str) -> list:
        once = timedelta(minutes=1)
        return [await workflow.execute_activity(answer, question, start_to_close_timeout=once) for _ in range(2)]


async def main() -> None:
    client = await Client.connect("${process.env['TEST_TEMPORAL_ADDRESS']}")
    queue = f"sample-{uuid.uuid4()}"
    with ThreadPoolExecutor(2) as pool:
        async with Worker(
            client,
            task_queue=queue,
            workflows=[Answering],
            activities=[answer],
            activity_executor=pool,
            workflow_runner=UnsandboxedWorkflowRunner(),
        ):
            print(await client.execute_workflow(Answering.run, "Where is my order?", id=queue, task_queue=queue))


asyncio.run(main())
# Threads of the SDK that go on while Python ends crash it now and then.
import os, sys

sys.stdout.flush()
os._exit(0)
`;
  const before = (await service.call('GET', '/executions?limit=100')).body.data.length;
  expect(await inPython('samples', `${code}${workflow}`)).toMatch(/^\['.*order.*', '.*order.*'\]\n$/);
  const { data } = (await service.call('GET', '/executions?limit=100')).body;
  expect(data).toHaveLength(Math.min(100, before + 2));
}

/** How a sample in Python is run, by a package that it imports. */
const PYTHON_SAMPLES: readonly [imported: string, check: (code: string) => Promise<unknown>][] = [
  ['fastapi', receivesEvents],
  ['litellm', (code) => inPython('frameworks', code)],
  ['openai', (code) => inPython('frameworks', code)],
  ['llama_index', async (code) => expect(await inPython('samples', code)).toBe('In one sentence, please.\n')],
  ['temporalio', runsInTemporal],
];

const SAMPLES: Record<string, (code: string) => Promise<unknown>> = {
  ts: runTypeScript,
  async python(code) {
    const found = PYTHON_SAMPLES.find(([imported]) => code.includes(`from ${imported}`));
    if (found === undefined) throw new Error(`There is no way to run ${code}`);
    await found[1](code);
  },
  js: listensForEvents,
};

describe('the samples work of', () => {
  test.each(['docs/frameworks.md', 'docs/migrating/openai.md'])('%s', async (file) => {
    const samples = own.take({ page: file });
    expect(samples.map(({ language }) => language)).toContain('ts');
    for (const { language, code } of samples) {
      const check = SAMPLES[language];
      if (check === undefined) throw new Error(`There is no way to run ${language}.`);
      await check(code);
    }
  });
});
