import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pythonWith, run } from '../../scripts/python.ts';
import { ownBlocks, preamble } from '../support/guides.ts';
import { type AllStandIns, startAllStandIns } from '../support/providers/all.ts';
import { TEST_KEY } from '../support/providers/models.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { claimsOf } from './claims.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const client = path.join(root, 'clients/python');

let service: TestService;
let standIns: AllStandIns;
let folder: string;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  [service, standIns] = await Promise.all([startTestService(), startAllStandIns()]);
  // Inside the project, whose packages the samples import.
  await mkdir(path.join(root, '.cache'), { recursive: true });
  folder = await mkdtemp(path.join(root, '.cache/requests-'));
  const [openai, anthropic] = [standIns.of('openai/m').baseUrl, standIns.of('anthropic/m').baseUrl];
  env = {
    PMS_API_KEY: service.key,
    PMS_BASE_URL: service.origin,
    PYTHONPATH: path.join(client, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: openai,
    OPENAI_API_BASE: openai,
    ANTHROPIC_API_KEY: TEST_KEY,
    // Anthropic's package adds the version itself.
    ANTHROPIC_BASE_URL: anthropic.replace(/\/v1$/, ''),
  };
  const prompts = [
    { name: 'support/greeting', template: 'Greet {{ name }}.', model: 'openai/gpt-4o' },
    // Without max_tokens, as in a reader's prompt.
    { name: 'support/summary', template: 'Sum up: {{ text }}', model: 'anthropic/claude-haiku-4-5' },
  ];
  for (const body of prompts) await service.call('POST', '/prompts', { body });
  await service.call('PUT', '/prompts/support/greeting/labels/production', { body: { version: 1 } });
});
afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true });
  await standIns?.close();
  await service?.stop();
});

const own = ownBlocks(claimsOf('test/docs/requests.test.ts'));

/** The samples of a language by heading, and their common beginning. */
function samples(language: 'ts' | 'python'): { first: string; bySection: Map<string, string> } {
  const blocks = own.take({ page: 'docs/clients/requests.md', language });
  return { first: preamble(language), bySection: new Map(blocks.map(({ section, code }) => [section, code])) };
}

const MODELS: Record<string, string> = { Anthropic: 'anthropic/claude-haiku-4-5' };

/** The run that a sample has recorded. */
async function expectRun(section: string, before: number): Promise<void> {
  const { body } = await service.call('GET', '/executions?limit=100');
  expect(body.data.length).toBe(before + 1);
  expect(body.data[0]).toMatchObject({
    model: MODELS[section] ?? 'openai/gpt-4o',
    prompt_name: section === 'Anthropic' ? 'support/summary' : 'support/greeting',
    prompt_version: 1,
    input: section === 'Anthropic' ? 'Sum up: It rains.' : 'Greet Ada.',
    output: `sent by ${section}`,
    recorded: true,
    status: 'completed',
  });
}

const count = async () => (await service.call('GET', '/executions?limit=100')).body.data.length;
async function success(ended: ReturnType<typeof run>): Promise<string> {
  const { code, output } = await ended;
  if (code !== 0) throw new Error(`The program ended with ${code}:\n${output}`);
  return output;
}

test('each sample in TypeScript runs, with the official packages, and is recorded', async () => {
  const { first, bySection } = samples('ts');
  expect([...bySection.keys()]).toEqual(['OpenAI', 'Anthropic', 'AI SDK', 'LangChain']);
  const files: string[] = [];
  for (const [section, code] of bySection) {
    const file = path.join(folder, `${section.replaceAll(' ', '-')}.ts`);
    files.push(file);
    const source = `${first}\n${code}\nawait pms.close();\n`;
    await writeFile(file, source.replaceAll('http://127.0.0.1:3000', service.origin));
    const before = await count();
    standIns.answer({ text: `sent by ${section}` });
    await success(run(process.execPath, ['--conditions=pms-source', file], { cwd: folder, env }));
    await expectRun(section, before);
  }
  const options = {
    extends: '../../tsconfig.json',
    compilerOptions: {
      noEmit: true,
      customConditions: ['pms-source'],
      skipLibCheck: true,
      noPropertyAccessFromIndexSignature: false,
    },
    files,
    include: [],
  };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(options));
  await success(run('npx', ['tsc', '--project', folder], { cwd: root }));
});

/** The Python environment of a sample: LlamaIndex needs an older OpenAI package. */
const pythonOf = (section: string) => {
  const group = section === 'LlamaIndex' ? 'llama-index' : 'frameworks';
  return pythonWith(path.join(client, `requirements-${group}.txt`), [3, 11]);
};
/** LiteLLM and LlamaIndex are too large to type-check each time. */
const MYPY = `[mypy]
strict = True
follow_imports = silent
[mypy-litellm.*,llama_index.*]
follow_imports = skip
`;

test('each sample in Python runs, with the official packages, and is recorded; its types are right', async () => {
  const { first, bySection } = samples('python');
  expect([...bySection.keys()]).toEqual(['OpenAI', 'Anthropic', 'LangChain', 'LlamaIndex', 'LiteLLM']);
  const files = new Map<string, string[]>();
  for (const [section, code] of bySection) {
    const python = await pythonOf(section);
    const file = path.join(folder, `sample_${section.toLowerCase()}.py`);
    files.set(python, [...(files.get(python) ?? []), file]);
    await writeFile(file, `${first}\n${code}\npms.close()\n`);
    const before = await count();
    standIns.answer({ text: `sent by ${section}` });
    await success(run(python, [file], { cwd: folder, env }));
    await expectRun(section, before);
  }
  const config = path.join(folder, 'mypy.ini');
  await writeFile(config, MYPY);
  for (const [python, all] of files) {
    const args = [
      '-m',
      'mypy',
      '--config-file',
      config,
      '--cache-dir',
      path.join(root, '.cache/mypy-requests'),
      ...all,
    ];
    const output = await success(run(python, args, { cwd: folder, env: { MYPYPATH: path.join(client, 'src') } }));
    expect(output).toContain('no issues found');
  }
}, 480_000);
