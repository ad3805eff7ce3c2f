import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createOtherWorkspace } from '../api/workspace.ts';
import { claimsOf } from '../docs/claims.ts';
import { ownBlocks } from '../support/guides.ts';
import { type Call, startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

const fixture = (name: string) => fileURLToPath(new URL(`importers/fixtures/${name}`, import.meta.url));

let service: TestService;
let cli: Cli;
let call: Call;
let workspaces = 0;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  const other = await createOtherWorkspace(service, `from-${workspaces++}`);
  call = other.call;
  cli = await startCli({ origin: service.origin, key: other.key });
});
afterEach(() => cli?.remove());

/** The prompts and datasets of a workspace. */
async function contents() {
  const { body: prompts } = await call('GET', '/prompts');
  const { body: datasets } = await call('GET', '/datasets');
  return { prompts: prompts.data, datasets: datasets.data };
}

test.each([
  ['github', 'github'],
  ['openai-evals', 'openai-evals'],
  ['openai-evals', 'openai-registry'],
  ['dotprompt', 'dotprompt'],
  ['prompty', 'prompty'],
  ['langsmith', 'langsmith'],
  ['braintrust', 'braintrust'],
  ['promptlayer', 'promptlayer'],
  ['humanloop', 'humanloop'],
])('%s, %s: a dry run writes nothing, and a second run changes nothing', async (source, location) => {
  const run = async (...more: string[]) => {
    const args = ['import', source, fixture(location), '--model', 'sandbox/echo', '--json', ...more];
    const { status, stdout, stderr } = await cli.pms(args);
    expect([status, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  };
  const dry = await run('--dry-run');
  expect(dry.steps.length).toBeGreaterThan(0);
  expect(await contents()).toEqual({ prompts: [], datasets: [] });

  const first = await run();
  expect(first).toMatchObject({ steps: dry.steps, things: dry.things, done: dry.steps.length, failed: [] });
  const made = await contents();
  expect(made.prompts.length).toBeGreaterThan(0);
  for (const { outcome, notes } of first.things) if (outcome === 'left out') expect(notes).not.toEqual([]);

  expect(await run()).toMatchObject({ steps: [], done: 0 });
  expect(await contents()).toEqual(made);
});

test('a prompt exported to GitHub is imported unchanged', async () => {
  expect(await cli.pms(['import', 'github', fixture('github')])).toMatchObject({ status: 0, stderr: '' });
  await call('POST', '/prompts', {
    body: {
      name: 'other',
      model: 'sandbox/echo',
      template: 'Text {{ x }}',
      fallback_models: ['sandbox/fixed'],
      config: { team: 'a' },
    },
  });
  await call('POST', '/prompts', { body: { name: 'parts', model: 'sandbox/echo', template: '{{> other }}' } });
  const exported = await cli.pms(['export', 'files', '--format', 'github']);
  expect(exported).toMatchObject({ status: 0, stderr: '' });
  const lines = exported.stdout.split('\n');
  expect(lines).toContain('prompt parts: left out: it includes "other", which GitHub can\'t');
  expect(lines.find((line) => line.startsWith('prompt other:'))).toBe(
    'prompt other: taken with a change: fallback_models is left out: GitHub does not support it; ' +
      'config.team is left out: GitHub does not support it; its template becomes a user message',
  );
  expect(lines.at(-2)).toBe('files: 3 prompts with 3 tests');
  expect((await cli.pms(['export', 'files', '--format', 'github'])).status).toBe(2);
  const before = await readFile(path.join(cli.folder, 'evaluations/support/Refund-answer.json'), 'utf8');

  const there = await createOtherWorkspace(service, `back-${workspaces++}`);
  const back = await startCli({ origin: service.origin, key: there.key });
  expect(await back.pms(['import', 'github', path.join(cli.folder, 'files')])).toMatchObject({
    status: 0,
    stderr: '',
  });
  for (const target of ['/prompts/support/Refund-answer', '/prompts/city']) {
    const said = ({ body }: { body: Record<string, unknown> }) =>
      Object.fromEntries(['description', 'model', 'messages', 'parameters', 'config'].map((key) => [key, body[key]]));
    expect(said(await there.call('GET', target))).toEqual(said(await call('GET', target)));
  }
  for (const name of ['support/Refund-answer', 'city']) {
    const examples = async (of: Call) => {
      const { body } = await of('GET', `/datasets/${name}/export?format=csv`);
      expect(body).toContain('\n');
      return body;
    };
    expect(await examples(there.call)).toEqual(await examples(call));
  }
  const after = await readFile(path.join(back.folder, 'evaluations/support/Refund-answer.json'), 'utf8');
  expect(JSON.parse(after)).toEqual(JSON.parse(before));
  // Imported into its original workspace, it adds only what GitHub does not support.
  const again = await cli.pms(['import', 'github', 'files', '--dry-run']);
  expect(again.stdout.split('\n').filter((line) => line.startsWith('would make'))).toEqual([
    'would make prompt other: version 2',
  ]);
  await back.remove();
});

test('an unreadable file is reported with its line', async () => {
  const run = async (source: string, file: string, content: string) => {
    await writeFile(path.join(cli.folder, file), content);
    const { status, stderr } = await cli.pms(['import', source, file]);
    return [status, stderr];
  };
  expect(await run('github', 'a.prompt.yml', 'model: x\nmessages: [')).toEqual([
    2,
    expect.stringContaining('a.prompt.yml:2: is not valid YAML'),
  ]);
  expect(await run('dotprompt', 'a.prompt', '---\nmodel: x\ninput: {\n---\nHello')).toEqual([
    2,
    expect.stringContaining('a.prompt:3: is not valid YAML'),
  ]);
});

const GUIDE = await readFile(new URL('../../docs/importers.md', import.meta.url), 'utf8');
const FILE = /^`([^`\n]+)`:\n\n```\w+\n([\s\S]*?)^```/gm;
const COMMAND = /^```text\n\$ pms (.+)\n([\s\S]*?)^```/gm;

/** The examples of the guide for each source: files, and the result of importing them. */
const SHOWN = GUIDE.split(/(?=^`[^`\n]+`:\n)/m).reduce<{ files: [string, string][]; commands: [string, string][] }[]>(
  (shown, text) => {
    const files = [...text.matchAll(FILE)].map(([, name = '', content = '']): [string, string] => [name, content]);
    const commands = [...text.matchAll(COMMAND)].map(([, line = '', output = '']): [string, string] => [line, output]);
    const open = shown.at(-1);
    if (open !== undefined && open.commands.length === 0) {
      open.files.push(...files);
      open.commands.push(...commands);
    } else if (files.length > 0) shown.push({ files, commands });
    return shown;
  },
  [],
);

const own = ownBlocks(claimsOf('test/cli/import-sources.test.ts')).take({ page: 'docs/importers.md' });

test('each block of these sources is a file or a command of a sample', () => {
  const shown = SHOWN.flatMap(({ files, commands }) => [
    ...files.map(([, content]) => content),
    ...commands.map(([line, output]) => `$ pms ${line}\n${output}`),
  ]);
  expect(own.map(({ code }) => code)).toEqual(expect.arrayContaining(shown));
  expect(own).toHaveLength(shown.length);
});

test('the guide shows a sample of each new source', () => {
  const sources = SHOWN.flatMap(({ commands }) => commands.map(([line]) => line.split(' ')[1]));
  expect(sources).toEqual([
    'github',
    'openai-evals',
    'openai-evals',
    'dotprompt',
    'prompty',
    'langsmith',
    'braintrust',
    'promptlayer',
  ]);
});

test.each(SHOWN)('the guide shows the result: $commands', async ({ files, commands }) => {
  for (const [name, content] of files) await writeFile(path.join(cli.folder, name), content);
  for (const [line, output] of commands) {
    const { stdout, stderr } = await cli.pms(line.split(' '));
    expect([stdout, stderr]).toEqual([output, '']);
  }
});

test('an import of nothing has failed', async () => {
  const file = path.join(cli.folder, 'promptfooconfig.yaml');
  await writeFile(file, 'prompts: ["{{ x }}"]\nproviders: [exec:./model.sh]\n');
  const { status, stdout, stderr } = await cli.pms(['import', 'promptfoo', file]);
  expect([status, stderr]).toEqual([1, `failed: nothing of ${file} can be imported\n`]);
  expect(stdout).toContain('none of its providers can be called here: name a model with --model');
  expect((await cli.pms(['import', 'promptfoo', file, '--model', 'sandbox/echo'])).status).toBe(0);
});

test('configurations of promptfoo with one description are two: each has its prompts, dataset, and evaluations of these versions', async () => {
  const importFrom = async (folder: string, text: string, expected: string) => {
    const at = path.join(cli.folder, folder);
    await mkdir(at, { recursive: true });
    const tests = [{ vars: { x: 'a' }, assert: [{ type: 'equals', value: expected }] }];
    const config = { description: 'Support', prompts: [text], providers: ['echo'], tests };
    await writeFile(path.join(at, 'promptfooconfig.yaml'), JSON.stringify(config));
    const { status, stdout } = await cli.pms(['import', 'promptfoo', folder, '--json']);
    expect(status).toBe(0);
    return JSON.parse(stdout);
  };
  const notesOf = ({ things }: { things: { kind: string; notes: string[] }[] }) =>
    things.filter(({ kind }) => kind === 'configuration').flatMap(({ notes }) => notes);
  const names = async () => {
    const { prompts, datasets } = await contents();
    return [prompts, datasets].map((all) =>
      all.map((one: { name: string; version: number }) => [one.name, one.version]),
    );
  };
  const definition = async (name: string) =>
    JSON.parse(await readFile(path.join(cli.folder, 'evaluations', `${name}.json`), 'utf8'));

  expect(notesOf(await importFrom('a/evals', 'A {{x}}', 'A a'))).toEqual([]);
  expect(notesOf(await importFrom('b/evals', 'B {{x}}', 'B a'))).toEqual([
    '"Support" has the prompts of another configuration: its own are in "Support-b-evals"',
  ]);
  const both = [
    [
      ['Support-b-evals/prompt-1', 1],
      ['Support/prompt-1', 1],
    ],
    [
      ['Support-b-evals/tests', 1],
      ['Support/tests', 1],
    ],
  ];
  const sorted = async () => (await names()).map((all) => all.toSorted());
  expect(await sorted()).toEqual(both);
  expect(await definition('Support/prompt-1-tests')).toMatchObject({
    prompt_name: 'Support/prompt-1',
    version: 1,
    dataset: { name: 'Support/tests', version: 1 },
  });
  expect(await definition('Support-b-evals/prompt-1-tests')).toMatchObject({
    prompt_name: 'Support-b-evals/prompt-1',
    dataset: { name: 'Support-b-evals/tests', version: 1 },
  });
  // Another import of each changes only its own, and nothing if nothing has changed.
  expect(await importFrom('b/evals', 'B {{x}}', 'B a')).toMatchObject({ steps: [] });
  expect(await importFrom('a/evals', 'A {{x}}', 'A a')).toMatchObject({ steps: [] });
  await importFrom('a/evals', 'A new {{x}}', 'A new a');
  expect(await definition('Support/prompt-1-tests')).toMatchObject({ version: 2, dataset: { version: 2 } });
  expect((await sorted())[0]).toEqual([
    ['Support-b-evals/prompt-1', 1],
    ['Support/prompt-1', 2],
  ]);
  // The files written by an import can be run.
  const evaluation = await definition('Support/prompt-1-tests');
  expect((await call('POST', '/evaluations', { body: evaluation })).status).toBe(201);
});
