import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { claimsOf } from '../docs/claims.ts';
import { ownBlocks } from '../support/guides.ts';
import { PROJECT } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

// What CI systems would do with action.yml and the examples of docs/cli.md, as far as possible without them.

const Step = z.object({
  name: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.string()).optional(),
  run: z.string().optional(),
  shell: z.string().optional(),
  'working-directory': z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  if: z.string().optional(),
});
type Step = z.infer<typeof Step>;
const Action = z.object({
  inputs: z.record(z.string(), z.object({ required: z.boolean().optional(), default: z.string().optional() })),
  runs: z.object({ using: z.literal('composite'), steps: z.array(Step) }),
});
const GitHubExample = z.object({ jobs: z.object({ prompts: z.object({ steps: z.array(Step) }) }) });
const GitLabExample = z.object({
  prompts: z.object({
    image: z.string(),
    script: z.array(z.string()),
    artifacts: z.object({ when: z.literal('always'), reports: z.object({ junit: z.string() }) }),
  }),
});

interface Ran {
  status: number | null;
  output: string;
}

let service: TestService;
let root: string;
/** The project as a CI system gets it: a repository without anything installed. */
let checkout: string;
/** The user's repository. */
let repository: string;
let action: z.infer<typeof Action>;
let isInstalled = false;

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'pms-ci-'));
  checkout = path.join(root, 'action');
  repository = path.join(root, 'repository');
  const left = new Set(['node_modules', '.git', '.cache', '.data']);
  await cp(PROJECT, checkout, { recursive: true, filter: (file) => !left.has(path.basename(file)) });
  await mkdir(path.join(repository, 'evals'), { recursive: true });
  await writeFile(
    path.join(repository, 'evals/support.yaml'),
    'prompt_name: support/answer\nlabel: production\ndataset: support/cases\nevaluators:\n  - type: exact_match\n',
  );
  action = Action.parse(parse(await readFile(path.join(checkout, 'action.yml'), 'utf8')));
  service = await startTestService();
  for (const template of ['{{ x }}', 'no {{ x }}'])
    await service.call('POST', '/prompts', { body: { name: 'support/answer', model: 'sandbox/echo', template } });
  await service.call('PUT', '/datasets/support/cases', {
    raw: '{"id": "one", "variables": {"x": "1"}, "expected": "1"}\n',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  await point(1);
});
afterAll(async () => {
  await service?.stop();
  await rm(root, { recursive: true, force: true });
});

const point = (version: number) =>
  service.call('PUT', '/prompts/support/answer/labels/production', { body: { version } });

/** Runs a script like GitHub and GitLab: it ends with the first failing command. */
async function bash(script: string, cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  const args = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
  const own = {
    // The Node.js version that setup-node and the image provide.
    PATH: `${path.join(root, 'bin')}:${path.dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: process.env['HOME'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    npm_config_prefer_offline: 'true',
  };
  try {
    const { stdout, stderr } = await promisify(execFile)('bash', args, { cwd, env: { ...own, ...env } });
    return { status: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, output: stdout + stderr };
  }
}

/** Replaces `${{ … }}`; an unknown one is an error. */
function expand(text: string, context: Record<string, string>): string {
  return text.replace(/\$\{\{ *(.*?) *\}\}/g, (_, name: string) => {
    const value = context[name];
    if (value === undefined) throw new Error(`There is no ${name}.`);
    return value;
  });
}

function runStep({ run = '', env = {}, ...step }: Step, context: Record<string, string>): Promise<Ran> {
  const cwd = path.resolve(repository, expand(step['working-directory'] ?? '.', context));
  const expanded = Object.entries(env).map(([name, value]): [string, string] => [name, expand(value, context)]);
  const files = { GITHUB_OUTPUT: path.join(root, 'output'), GITHUB_STEP_SUMMARY: path.join(root, 'summary') };
  return bash(expand(run, context), cwd, { ...files, ...Object.fromEntries(expanded) });
}

/** The steps of the action; installations persist for the next one. */
async function runAction(given: Record<string, string>): Promise<Ran> {
  const context: Record<string, string> = { 'github.action_path': checkout };
  for (const [name, { required = false, default: preset = '' }] of Object.entries(action.inputs)) {
    if (required && !(name in given)) throw new Error(`The input ${name} is required.`);
    context[`inputs.${name}`] = given[name] ?? preset;
  }
  for (const name of Object.keys(given)) expect(Object.keys(action.inputs)).toContain(name);
  let last: Ran = { status: null, output: '' };
  for (const step of action.runs.steps) {
    if (step.uses !== undefined) continue;
    expect(step.shell).toBe('bash');
    if (step.name === 'Install' && isInstalled) continue;
    last = await runStep(step, context);
    if (last.status !== 0) return last;
    isInstalled ||= step.name === 'Install';
  }
  return last;
}

const runCommand = (command: string, more: Record<string, string> = {}) =>
  runAction({ command, url: service.origin, 'api-key': service.key, ...more });

const own = ownBlocks(claimsOf('test/cli/ci.test.ts'));
/** The only block of a language in docs/cli.md that has a text in it. */
async function example(text: string): Promise<unknown> {
  const [block] = own.take({ page: 'docs/cli.md', has: text });
  return parse(block?.code ?? '');
}

describe('the GitHub action', () => {
  test('installs the command line from only a checkout, and runs it', async () => {
    expect(await runCommand('whoami')).toEqual({ status: 0, output: expect.stringContaining(service.origin) });
    const setUp = action.runs.steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'));
    expect(setUp?.with?.['node-version']).toBe(process.versions.node.split('.')[0]);
  });

  test('splits the command as a terminal does, and expands nothing in it', async () => {
    const variables = [`a='two  words'`, `b="it's"`, 'c=$HOME', 'd=`id`', `e='$(id)'`, 'f=a\\ b', "g=';'", 'h=*'];
    const template = variables.map(([name]) => `{{ ${name} }}`).join('\n');
    await service.call('POST', '/prompts', { body: { name: 'support/words', model: 'sandbox/echo', template } });
    const command = `run support/words\n  --version 1 ${variables.map((variable) => `--var ${variable}`).join(' ')}`;
    expect(await runCommand(command)).toEqual({
      status: 0,
      output: "two  words\nit's\n$HOME\n`id`\n$(id)\na b\n;\n*\n",
    });
    expect(await runCommand("run 'support/answer")).toMatchObject({ status: 2 });
    expect(await runCommand('')).toMatchObject({ status: 2 });
  });

  test('runs in the given folder, with the status of the command', async () => {
    const folder = { 'working-directory': 'evals' };
    const command = 'eval run support.yaml --wait';
    expect(await runCommand(command, folder)).toEqual({ status: 0, output: expect.stringContaining('passed: ') });
    await point(2);
    expect(await runCommand(command, folder)).toEqual({ status: 1, output: expect.stringContaining('failed: ') });
    await point(1);
    expect(await runCommand(command)).toMatchObject({ status: 2 });
    expect(await runCommand('whoami', { url: 'http://127.0.0.1:9' })).toMatchObject({ status: 3 });
  });

  test('the workflow of the page gates, and always comments on the pull request', async () => {
    const { steps } = GitHubExample.parse(await example('gh pr comment')).jobs.prompts;
    const own = steps.find(({ uses }) => uses?.includes('prompt-management-service@'));
    const comment = steps.find(({ run }) => run !== undefined);
    // The program gh of GitHub's machines.
    await mkdir(path.join(root, 'bin'));
    await writeFile(path.join(root, 'bin/gh'), '#!/bin/sh\necho "$1 $2 $3 $4"\ncat "$5"\n', { mode: 0o755 });
    const context = { 'secrets.PMS_API_KEY': service.key, 'github.event.number': '7', 'github.token': 'token' };
    for (const [version, status, word] of [
      [1, 0, 'passed'],
      [2, 1, 'failed'],
    ] as const) {
      await point(version);
      const given = Object.entries(own?.with ?? {}).map(([name, text]): [string, string] => [
        name,
        expand(text, context),
      ]);
      const ran = await runAction({ ...Object.fromEntries(given), url: service.origin });
      expect(ran).toEqual({ status, output: expect.stringContaining(`${word}: `) });
      expect(comment?.if).toBe('always()');
      const commented = await runStep(comment ?? {}, context);
      expect(commented).toEqual({ status: 0, output: expect.stringMatching(/^pr comment 7 --body-file\n### /) });
      expect(commented.output).toContain(`support/answer version ${version}: ${word}`);
    }
  });
});

test('the GitLab job of the page clones, installs, gates and leaves a report', async () => {
  const { image, script, artifacts } = GitLabExample.parse(await example('gitlab.example.com')).prompts;
  expect(image).toBe(`node:${process.versions.node.split('.')[0]}`);
  const url = /https:\S+\.git/.exec(script.join('\n'))?.[0] ?? '';
  const origin = path.join(root, 'origin');
  await cp(checkout, origin, { recursive: true, filter: (file) => path.basename(file) !== 'node_modules' });
  const git = 'git -c user.name=ci -c user.email=ci@example.com';
  expect(await bash(`git init -q && git add -A && ${git} commit -qm all`, origin)).toMatchObject({ status: 0 });
  const env = {
    PMS_BASE_URL: service.origin,
    PMS_API_KEY: service.key,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.file://${origin}.insteadOf`,
    GIT_CONFIG_VALUE_0: url,
  };
  const clone = path.join(root, 'clone');
  const commands = script.map((line) => line.replaceAll('/tmp/pms', clone));
  await point(1);
  const passed = await bash(commands.join('\n'), repository, env);
  expect(passed).toEqual({ status: 0, output: expect.stringContaining('passed: ') });
  const report = () => readFile(path.join(repository, artifacts.reports.junit), 'utf8');
  expect(await report()).toContain('failures="0"');
  await point(2);
  const failed = await bash(commands.at(-1) ?? '', repository, env);
  expect(failed).toEqual({ status: 1, output: expect.stringContaining('failed: ') });
  expect(await report()).not.toContain('failures="0"');
});
