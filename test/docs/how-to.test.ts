import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pythonWith } from '../../scripts/python.ts';
import { parseSettings } from '../../src/config.ts';
import { generateSigningSecret, signedHeaders } from '../../src/domain/webhooks/webhook-signature.ts';
import { createPriceBook } from '../../src/models/prices/price-book.ts';
import { PROJECT } from '../support/processes.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
const page = readFileSync(path.join(PROJECT, 'docs/how-to.md'), 'utf8');

interface Block {
  language: string;
  code: string;
}
const blocksOf = (text: string): Block[] =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({ language, code }));

const [beginning = '', ...sections] = page.split(/^### /m);
const questions = sections.map((section) => ({
  question: section.split('\n')[0] ?? '',
  blocks: blocksOf(section.split(/^## /m)[0] ?? ''),
}));
const [preamble = [], fixtures = []] = beginning.split('once:').map(blocksOf);
const start = Object.fromEntries(preamble.map(({ language, code }) => [language, code]));

let service: TestService;
let receiver: Receiver;
let folder: string;
let python: string;
let env: NodeJS.ProcessEnv;

/** What the page has its reader make, and the ids that earlier responses had. */
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

/** The sample, with the servers of the test in place of those that its reader has. */
const here = (code: string) =>
  code
    .replaceAll('http://127.0.0.1:3000', service.origin)
    .replaceAll('https://example.com', new URL(receiver.url).origin);

/** What `NAME=value` lines set. A reader's own values are left open by "…". */
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
    const script = `${start['sh']}${code.replaceAll('curl -s', 'curl -sS --fail-with-body -w "\\n"')}`;
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here(script)], { cwd: folder, env });
    const lines = stdout.split('\n').map((line) => line.replace(/^data: /, ''));
    for (const line of lines.filter((each) => each.startsWith('{'))) expect(JSON.parse(line).error ?? null).toBeNull();
  },
  ts: (code) => runTypeScript(`${start['ts']}${code}`),
  async python(code) {
    const { stdout } = await run(python, ['-c', here(`${start['python']}${code}`)], { cwd: folder, env });
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

/** Delivers an event to a sample's application, and then the same unsigned. */
async function receivesEvents(code: string): Promise<void> {
  const timestamp = new Date();
  const data = { evaluation_id: 'eval_1', prompt_name: 'a', score: 1, examples_evaluated: 1, regressions: 0 };
  const body = JSON.stringify({ event: 'evaluation.completed', data, timestamp });
  const ids = { eventId: 'evt_1', deliveryId: 'dlv_1', attempt: 1 };
  const headers = signedHeaders({ body: Buffer.from(body), sentAt: timestamp, secrets: [WEBHOOK_SECRET], ...ids });
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

/** How a sample in Python is run, by a package that it imports. */
const PYTHON_SAMPLES: readonly [imported: string, check: (code: string) => Promise<unknown>][] = [
  ['fastapi', receivesEvents],
  ['litellm', (code) => inPython('frameworks', code)],
];

/** Read, and not run: LlamaIndex's package for other servers, Temporal's SDK for Python and Express are not installed here. */
const IS_READ: Record<string, (code: string) => Promise<unknown>> = {
  async python(code) {
    await run(python, ['-c', 'import ast, sys; ast.parse(sys.argv[1])', code]);
    await PYTHON_SAMPLES.find(([imported]) => code.includes(`from ${imported}`))?.[1](code);
  },
  async js(code) {
    const file = path.join(folder, 'sample.mjs');
    await writeFile(file, code);
    await run(process.execPath, ['--check', file]);
  },
};

describe('the samples work of', () => {
  test.each(['docs/frameworks.md', 'docs/migrating/openai.md'])('%s', async (file) => {
    const samples = blocksOf(readFileSync(path.join(PROJECT, file), 'utf8')).filter(
      ({ language }) => language !== 'sh',
    );
    expect(samples.map(({ language }) => language)).toContain('ts');
    for (const { language, code } of samples) {
      const check = language === 'ts' ? runTypeScript : IS_READ[language];
      if (check === undefined) throw new Error(`There is no way to check ${language}.`);
      await check(code);
    }
  });
});
