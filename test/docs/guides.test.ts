import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { parse } from 'yaml';
import { parseSettings } from '../../src/config.ts';
import { createPriceBook } from '../../src/models/prices/price-book.ts';
import { SEARCH_ATTRIBUTES } from '../../src/temporal/names.ts';
import { type Block, blocksOf, fits, PAGES, preamble, type Selection } from '../support/guides.ts';
import { PROJECT } from '../support/processes.ts';
import { waitFor } from '../support/wait-for.ts';
import { CLAIMS } from './claims.ts';
import { type Ran, type Reader, startReaders } from './reader.ts';
import { expectExcerpt } from './samples.ts';

// Every block of every page runs here as printed, unless `claims.ts` names what runs it, or why nothing can.

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');
const claimsFor = (block: Block) => CLAIMS.filter((claim) => fits(block, claim));
const all = PAGES.flatMap(blocksOf);
const at = ({ page, line, language }: Block) => `${page}:${line} ${language}`;

describe('every block is run or claimed', () => {
  test('there are blocks', () => expect(all.length).toBeGreaterThan(300));

  test('none is claimed twice', () => {
    expect(all.filter((block) => claimsFor(block).length > 1).map(at)).toEqual([]);
  });

  test('each claim is for blocks that exist, and names a file or a reason', () => {
    for (const { by, because = '', ...selection } of CLAIMS) {
      expect([selection, all.some((block) => fits(block, selection))]).toEqual([selection, true]);
      if (by === undefined) expect(because.split(' ').length).toBeGreaterThan(4);
      // A test file that claims blocks fails if it leaves one out.
      else if (by.startsWith('test/')) expect(read(by)).toContain(`claimsOf('${by}')`);
      else expect(existsSync(path.join(PROJECT, by))).toBe(true);
    }
  });

  test('the files that reasons name exist', () => {
    const named = CLAIMS.flatMap(({ because = '' }) => because.match(/(?:test|scripts)\/[\w./-]+\w/g) ?? []);
    expect(named.filter((file) => !existsSync(path.join(PROJECT, file)))).toEqual([]);
  });

  test('the scripts that blocks call exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const called = all.flatMap(({ code }) =>
      [...code.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name),
    );
    expect(called.filter((name) => !(name in scripts))).toEqual([]);
  });
});

const prompt = (reader: Reader, name: string, template: string, model = 'sandbox/echo') =>
  reader.call('POST', '/prompts', { body: { name, template, model } });
const label = (reader: Reader, name: string, version = 1) =>
  reader.call('PUT', `/prompts/${name}/labels/production`, { body: { version } });
const dataset = (reader: Reader, name: string, lines: readonly object[]) =>
  reader.call('PUT', `/datasets/${name}`, {
    raw: lines.map((line) => JSON.stringify(line)).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });

async function greeting(reader: Reader): Promise<void> {
  await prompt(reader, 'support/greeting', 'Greet {{ name }}.');
  await label(reader, 'support/greeting');
}
async function answers(reader: Reader): Promise<void> {
  await prompt(reader, 'support/answer', 'Answer: {{ question }}');
  await label(reader, 'support/answer');
  await dataset(reader, 'support/questions', [{ variables: { question: 'Where?' }, expected: 'Answer: Where?' }]);
}
const execution = (reader: Reader) =>
  reader.call('POST', '/executions', { body: { prompt_name: 'support/greeting', variables: { name: 'Ada' } } });
const imported =
  (folder: string, to = 'saved') =>
  (reader: Reader) =>
    cp(path.join(PROJECT, 'test/cli/importers/fixtures', folder), path.join(reader.folder, to), { recursive: true });

const EVALUATION = (name: string, evaluator: string) =>
  `prompt_name: ${name}\ndataset: ${name}\nevaluators:\n  - type: ${evaluator}\nthreshold: 0.8\n`;

/** Definitions that a page assumes, in addition to the variables of all samples. */
const GIVEN: Record<string, (reader: Reader) => Promise<unknown>> = {
  async 'cli/README.md'(reader) {
    await greeting(reader);
    await dataset(reader, 'support/greeting', [{ variables: { name: 'Ada' }, expected: 'Greet Ada.' }]);
    await reader.write('evals/greeting.yaml', EVALUATION('support/greeting', 'exact_match'));
  },
  'clients/typescript/README.md': greeting,
  'docs/api-contract.md': (reader) => prompt(reader, 'support/chat', 'Answer briefly.'),
  'clients/python/README.md': greeting,
  'docs/batches.md': async (reader) => {
    await prompt(reader, 'support/answer', '{{ question }}', 'openai/gpt-4o-mini');
    await dataset(reader, 'support/questions', [{ variables: { question: 'Where?' } }]);
  },
  async 'docs/cli.md'(reader) {
    await reader.call('POST', '/webhooks', { body: { url: `${reader.others}/hooks`, events: ['prompt.created'] } });
    await greeting(reader);
    await prompt(reader, 'support/tone', 'Be kind.');
    await label(reader, 'support/tone');
    for (let version = 1; version <= 7; version++)
      await prompt(reader, 'support/answer', `Answer ${version}: {{ question }}`);
    await label(reader, 'support/answer', 7);
    await reader.call('PUT', '/prompts/support/answer/labels/staging', { body: { version: 7 } });
    await dataset(reader, 'support/answer', [
      { variables: { question: 'a' }, expected: 'Answer 7: a' },
      { variables: { question: 'b' }, expected: 'Answer 7: b' },
      { variables: { question: 'c' }, expected: 'c' },
    ]);
    await dataset(reader, 'support/greeting', [{ variables: { name: 'Ada' }, expected: 'Greet Ada.' }]);
    await reader.call('POST', '/executions', { body: { prompt_name: 'support/answer', variables: { question: 'a' } } });
    await reader.write('evals/support.yaml', EVALUATION('support/answer', 'exact_match'));
    await reader.write('evals/greeting.yaml', EVALUATION('support/greeting', 'exact_match'));
    await reader.call('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean' } });
    await reader.call('PUT', '/queues/support/unhelpful', { body: { score_names: ['helpful'] } });
    await reader.write('execution.json', '{"prompt_name": "support/greeting", "variables": {"name": "Ada"}}');
    await reader.write(
      'src/support/answer.ts',
      `// Answers a question of a customer.


export function answer(question: string, user: User, history: Message[]) {
  return client.chat.completions.create({
    model: 'gpt-4o-mini',
    temperature: 0.2,
    messages: [
      { role: 'system', content: \`You help \${user.name}.\` },
      ...history,
      { role: 'user', content: question },
    ],
  });
}
`,
    );
    for (const name of ['a', 'b']) await reader.write(`src/${name}.ts`, 'export const nothing = 1;\n');
    const [rule] = blocksOf('docs/cli.md').filter(({ code }) => code.includes('sample_rate'));
    await reader.write('rules/tone.yaml', rule?.code ?? '');
    await reader.write(
      'evaluators/tone.yaml',
      'name: tone\nevaluator: { type: llm_judge, name: tone, model: openai/gpt-4o-mini, rubric: Friendly. }\n',
    );
    await reader.write(
      'monitors/errors.yaml',
      'name: support/errors\nprompt_name: support/answer\nwindow: 15m\nchecks:\n  - metric: error_rate\n    above: 0.1\n',
    );
  },
  'docs/clients/evaluate.md': async () => {},
  'docs/importers.md': async (reader) => {
    await imported('langfuse')(reader);
    await imported('promptfoo', 'path/to/folder')(reader);
    await imported('openai-registry', 'evals/registry')(reader);
  },
  'docs/migrating/braintrust.md': async (reader) => mkdir(path.join(reader.folder, 'saved')),
  'docs/migrating/dotprompt.md': imported('dotprompt', 'prompts'),
  'docs/migrating/github-models.md': imported('github', 'path/to/repository'),
  'docs/migrating/humanloop.md': imported('humanloop'),
  'docs/migrating/langsmith.md': async (reader) => mkdir(path.join(reader.folder, 'saved')),
  'docs/migrating/openai.md': async (reader) => mkdir(path.join(reader.folder, 'saved')),
  'docs/migrating/promptfoo.md': imported('promptfoo', 'path/to/folder'),
  'docs/migrating/promptlayer.md': async (reader) => mkdir(path.join(reader.folder, 'saved')),
  'docs/migrating/prompty.md': imported('prompty', 'prompts'),
  'docs/monitors.md': greeting,
  async 'docs/queues.md'(reader) {
    await greeting(reader);
    for (const name of ['helpful', 'quality'])
      await reader.call('PUT', `/score-definitions/${name}`, {
        body: { data_type: name === 'helpful' ? 'boolean' : 'numeric' },
      });
    await execution(reader);
    // Two runs whose outputs can be compared.
    for (const template of ['Greet {{ name }} kindly.', 'Greet {{ name }}, please.']) {
      await prompt(reader, 'support/kind', template);
      const { body } = await reader.call('POST', '/evaluations', {
        body: {
          prompt_name: 'support/kind',
          examples: [{ variables: { name: 'Ada' } }],
          evaluators: [{ type: 'json_valid' }],
        },
      });
      await waitFor(
        'the evaluation',
        async () => (await reader.call('GET', `/evaluations/${body.id}`)).body.status === 'completed',
      );
    }
  },
  'docs/releases.md': async (reader) => {
    await prompt(reader, 'support/answer', 'Answer: {{ question }}');
    await prompt(reader, 'support/answer', 'In one sentence: {{ question }}');
    await label(reader, 'support/answer');
    await reader.write('steps.yaml', 'steps:\n  - type: promote\n');
  },
  'docs/rules.md': greeting,
  async 'docs/runbook.md'(reader) {
    await greeting(reader);
    await reader.call('POST', '/evaluations', {
      body: {
        prompt_name: 'support/greeting',
        examples: [{ variables: { name: 'Ada' } }],
        evaluators: [{ type: 'json_valid' }],
      },
    });
  },
  async 'docs/scores.md'(reader) {
    await greeting(reader);
    await answers(reader);
    const { id } = (await execution(reader)).body;
    const answer = { prompt_name: 'support/answer', variables: { question: 'Where?' } };
    const { id: other } = (await reader.call('POST', '/executions', { body: answer })).body;
    await reader.call('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean' } });
    for (const execution_id of [id, other])
      await reader.call('POST', '/scores', { body: { name: 'helpful', value: false, subject: { execution_id } } });
  },
  async 'docs/webhooks.md'(reader) {
    await reader.call('POST', '/webhooks', { body: { url: `${reader.others}/hooks` } });
  },
};

/** Preparations for a block that earlier blocks of its page must not see. */
const BEFORE: readonly (Selection & { make: (reader: Reader) => Promise<unknown> })[] = [
  {
    page: 'docs/cli.md',
    has: '--draft prompts',
    make: (reader) =>
      reader.write(
        'prompts/support/answer.yaml',
        'name: support/answer\nmodel: sandbox/echo\ntemplate: "{{ question }}"\n',
      ),
  },
  {
    page: 'docs/queues.md',
    has: '/next',
    async make(reader) {
      const { data } = (await reader.call('GET', '/executions')).body;
      const body = { execution_ids: [data[0].id] };
      expect(await reader.call('POST', '/queues/support/unhelpful/items', { body })).toMatchObject({ status: 200 });
    },
  },
];

/** Checks for blocks other than running them in their language. */
const CHECKS: readonly (Selection & { check: (block: Block, reader: Reader) => unknown })[] = [
  { page: 'README.md', language: 'json', check: ({ code }) => expectExcerpt(code, 'Execution') },
  { page: 'docs/evaluations.md', language: 'json', check: ({ code }) => expectExcerpt(code, 'Evaluation') },
  { page: 'docs/evaluators.md', language: 'json', check: ({ code }) => expectExcerpt(code, 'CreateEvaluation') },
  { page: 'docs/api-contract.md', language: 'json', check: ({ code }) => expectExcerpt(code, 'Error') },
  { page: 'docs/api-contract.md', language: '', check: expectEvents },
  { page: 'docs/executions.md', language: '', check: expectEvents },
  { page: 'docs/monitors.md', language: 'json', check: ({ code }) => expectExcerpt(code, 'Monitor') },
  {
    page: 'docs/queues.md',
    language: 'json',
    check: ({ code }) => expectExcerpt(`{"evaluators": [${code}]}`, 'EvaluatorAgreement'),
  },
  {
    page: 'docs/operations.md',
    language: 'json',
    async check({ code }, reader) {
      await reader.write('prices.json', code);
      createPriceBook({ file: path.join(reader.folder, 'prices.json'), warn: () => {} });
    },
  },
  { page: 'docs/operations.md', has: 'search-attribute create', check: ({ code }) => expectAttributes(code) },
  { page: 'docs/operations.md', has: 'tcld namespace', check: ({ code }) => expectAttributes(code) },
  {
    page: 'docs/sign-in.md',
    language: 'json',
    async check({ code }, reader) {
      await reader.write('partners-ca.pem', rootCertificates[0] ?? '');
      const OIDC_PROVIDERS = code.replace('/etc/pms/', `${reader.folder}/`);
      parseSettings({ OIDC_PROVIDERS, PUBLIC_URL: 'http://127.0.0.1:3000' });
    },
  },
  {
    page: 'docs/runbook.md',
    language: 'json',
    async check({ code }, { service }) {
      expect(await (await fetch(`${service.origin}/readyz`)).json()).toEqual(JSON.parse(code));
    },
  },
  {
    page: 'docs/translating.md',
    language: 'json',
    check: ({ code }) => JSON.parse(code.includes('":') ? `{${code}}` : code),
  },
  { page: 'docs/monitoring.md', language: 'yaml', check: ({ code }) => expectMonitoring(parse(code)) },
  {
    page: 'docs/mcp.md',
    language: 'json',
    async check({ code }, reader) {
      const { url, headers } = JSON.parse(reader.own(code)).mcpServers.prompts;
      const client = new Client({ name: 'reader', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      expect((await client.listTools()).tools.length).toBeGreaterThan(10);
      await client.close();
    },
  },
  { page: 'docs/cli.md', has: 'You help customers', language: 'yaml', check: expectPromptFile },
  { page: 'docs/importers.md', section: 'Prompt files', language: 'yaml', check: expectPromptFile },
  {
    page: 'docs/cli.md',
    has: 'sample_rate',
    async check({ code }, reader) {
      await reader.write('rules/tone.yaml', code);
      expect(await reader.sh('pms rules set rules/tone.yaml')).toMatchObject({ status: 0 });
    },
  },
  {
    page: 'docs/cli.md',
    section: 'Prompts out of source code',
    language: '',
    check: async ({ code }, reader) =>
      expect((await reader.sh('pms init src --model openai/gpt-4o-mini')).stdout).toBe(code),
  },
  {
    page: 'docs/cli.md',
    section: 'Evaluations in CI',
    language: '',
    check: async ({ code }, reader) => {
      const { stdout, stderr } = await reader.sh('pms eval run evals --wait');
      expect(`${stdout}${stderr.split('\n').slice(-2).join('\n')}`).toBe(code);
    },
  },
  { page: 'CONTRIBUTING.md', check: expectStatements },
];

/** The search attributes of both commands, for a server of one's own and for Temporal Cloud. */
function expectAttributes(code: string): void {
  const names = [...code.matchAll(/\bPms\w+/g)].map(([name]) => name);
  expect(names).toEqual(Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name));
  expect(code.match(/Keyword/g)).toHaveLength(names.length);
}

/** The alerts expect jobs of this name, and both files are in the folder `deploy`. */
function expectMonitoring({
  scrape_configs: jobs,
  rule_files: rules,
  providers,
}: Record<string, [Record<string, string>]>) {
  if (jobs !== undefined) expect(jobs[0]['job_name']).toMatch(/^pms/);
  else if (rules !== undefined)
    expect(existsSync(path.join(PROJECT, 'deploy/prometheus', rules[0] as unknown as string))).toBe(true);
  else expect(providers?.[0]['name']).toBe('prompt-management-service');
}

async function expectPromptFile({ code }: Block, reader: Reader): Promise<void> {
  const name = `${parse(code).name}.yaml`;
  await reader.write(`files/${name}`, code);
  expect(await reader.sh(`pms prompts validate files/${name}`)).toMatchObject({ status: 0, stderr: '' });
}

/** Definitions for the statements of CONTRIBUTING.md. */
const STATEMENTS_GIVEN = `
import process from 'node:process';
import { type Expression, type SqlBool, sql } from 'kysely';
import { openDatabase } from '../../src/db/database.ts';
import { asJson, prepared, type RowOf } from '../../src/db/statement.ts';
import { notify, now } from '../../src/db/sql.ts';
import { changeState } from '../../src/db/state-change.ts';
import { executionStates } from '../../src/domain/execution-states.ts';
import { selectPrompts } from '../../src/services/prompts/prompts.ts';

const database = await openDatabase(process.env['DATABASE_URL'] ?? '', { poolSize: 2 });
const [workspace] = await database.system.query((db) => db.selectFrom('workspaces').select('id').limit(1));
const { query } = database.workspace(workspace?.id ?? '');
const { name, version, type, after, limit } = { name: 'none', version: 1, type: 'none', after: { createdAt: new Date(), id: workspace?.id ?? '' }, limit: 5 };
const columns = { id: '01a1fcb5-47d9-751c-a117-fc69fab1331f', name, cron: '0 6 * * *', time_zone: 'UTC', paused: true };
const request = {};
`;

/** The statements of CONTRIBUTING.md run on a migrated database. */
async function expectStatements({ code }: Block, reader: Reader): Promise<void> {
  const end = 'console.log(row, rows, claimed);\nawait database.close();\n';
  const { stdout, stderr } = await reader.ts(`${STATEMENTS_GIVEN}${code}${end}`);
  expect([stdout, stderr]).toEqual(['undefined [] []\n', '']);
}

function expectEvents({ code }: Block): void {
  const events = code.trim().split('\n\n');
  for (const event of events) {
    const [, type, data = ''] = /^id: [\d.]+\nevent: ([\w.]+)\ndata: (.*)$/s.exec(event) ?? [];
    const parsed = JSON.parse(data.replaceAll(/,\s*…/g, ''));
    expect(parsed.type).toBe(type);
    if (parsed.execution !== undefined) expectExcerpt(JSON.stringify(parsed.execution), 'Execution');
  }
}

/** Responses in the output: JSON on a line, or the data of events. */
function expectNoErrors(stdout: string): void {
  const lines = stdout.split('\n').map((line) => line.replace(/^data: /, ''));
  for (const line of lines.filter((each) => each.startsWith('{"'))) expect(JSON.parse(line).error ?? null).toBeNull();
}

const here = PAGES.map((page) => ({
  page,
  blocks: all.filter((block) => block.page === page && claimsFor(block).length === 0),
}));

/** Blocks whose command is expected to fail. */
const STATUS: readonly (Selection & { status: number })[] = [
  // One of the evaluations fails.
  { page: 'docs/cli.md', has: 'eval run evals --wait', status: 1 },
  // The test's model does not give the expected responses of the imported examples.
  { page: 'docs/migrating/github-models.md', status: 1 },
  { page: 'docs/migrating/promptfoo.md', status: 1 },
];

async function runBlock(block: Block, reader: Reader): Promise<void> {
  const { code, language } = block;
  await BEFORE.find((each) => fits(block, each))?.make(reader);
  const special = CHECKS.find((check) => fits(block, check));
  if (special !== undefined) return void (await special.check(block, reader));
  if (
    language === 'sh' &&
    code.split('\n').every((line) => /^(?:[A-Z_]+=.*|#.*|)$/.test(line)) &&
    !code.includes('API=')
  )
    return reader.settings(code);
  let ran: Ran;
  if (language === 'sh') ran = await reader.sh(code);
  else if (language === 'ts')
    ran = await reader.ts(code.includes('new Pms(') || code.includes('OpenAI') ? code : `${preamble('ts')}${code}`);
  else if (language === 'python')
    ran = await reader.python(code, block.page.startsWith('docs/migrating/') ? 'migrating' : 'dev');
  else throw new Error(`There is no way to run ${at(block)}: run it, check it, or claim it in test/docs/claims.ts.`);
  const status = STATUS.find((each) => fits(block, each))?.status ?? 0;
  if (ran.status !== status)
    throw new Error(`${at(block)}: ended with ${ran.status}\n${ran.stdout.slice(-2_000)}${ran.stderr.slice(-2_000)}`);
  expectNoErrors(ran.stdout);
}

let readers: Awaited<ReturnType<typeof startReaders>>;
beforeAll(async () => {
  readers = await startReaders();
});
afterAll(() => readers?.stop());

describe('the blocks work in order, as printed, of', () => {
  test.each(here.filter(({ blocks }) => blocks.length > 0))('$page', async ({ page, blocks }) => {
    const reader = await readers.reader();
    await GIVEN[page]?.(reader);
    const failures: string[] = [];
    for (const block of blocks)
      await runBlock(block, reader).catch((error) => failures.push(`${at(block)}: ${error.message}`));
    expect(failures.join('\n\n')).toBe('');
  });
});
