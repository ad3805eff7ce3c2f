import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { installedTools } from '../../scripts/installed-tools.ts';
import { type Ended, pythonWith, run } from '../../scripts/python.ts';
import { startApi } from '../../src/api/server.ts';
import type { RunningServer } from '../../src/http/http-server.ts';
import { claimsOf } from '../docs/claims.ts';
import { blocksOf, ownBlocks } from '../support/guides.ts';
import { startTestService, type TestService } from '../support/service.ts';

const client = fileURLToPath(new URL('../../clients/python', import.meta.url));

let folder: string;
let python: string;
let service: TestService;
let limited: RunningServer;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'python-client-'));
  [python, service] = await Promise.all([pythonWith(path.join(client, 'requirements-dev.txt')), startTestService()]);
  const settings = { ...service.dependencies.settings, rateLimitPerMinute: 10 };
  limited = await startApi({ ...service.dependencies, settings, registry: new Registry() }, { eager: false });
});
afterAll(async () => {
  await limited?.close(0);
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a Python module in the client's folder, whose sources it can import. It writes nothing there. */
function runModule(args: string[], env: NodeJS.ProcessEnv = {}) {
  const own = { PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1', RUFF_NO_CACHE: 'true', ...env };
  return run(python, ['-m', ...args], { cwd: client, env: own });
}

/** The output of a program. @throws Error with it if the program failed */
async function success(ended: Promise<Ended>): Promise<string> {
  const { code, output } = await ended;
  if (code !== 0) throw new Error(`The program ended with ${code}:\n${output}`);
  return output;
}

/** A line written by tests/conftest.py. */
interface Line {
  test: string;
  outcome: 'passed' | 'failed' | 'skipped';
  text: string;
}

test('the client passes its tests against the service', async () => {
  const report = path.join(folder, 'report.jsonl');
  const { code, output } = await runModule(['pytest', '-q', '-p', 'no:cacheprovider'], {
    PMS_BASE_URL: service.origin,
    PMS_LIMITED_BASE_URL: `http://127.0.0.1:${limited.port}`,
    PMS_API_KEY: service.key,
    PMS_TEST_REPORT: report,
  });
  const lines = existsSync(report) ? readFileSync(report, 'utf8').trim().split('\n') : [];
  const tests: Line[] = lines.map((line) => JSON.parse(line));
  for (const { test: name, text } of tests.filter(({ outcome }) => outcome === 'failed')) console.error(name, text);
  expect(tests.filter(({ outcome }) => outcome !== 'passed').map(({ test: name }) => name)).toEqual([]);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(tests.length).toBeGreaterThan(250);
});

const own = ownBlocks(claimsOf('test/clients/python.test.ts'));
/** The Python blocks of a page. */
const snippets = (page: string) =>
  blocksOf(page).flatMap(({ language, code }) => (language === 'python' ? [code] : []));

test('the examples of its page run one after the other', async () => {
  const blocks = own.take({ page: 'docs/clients/python.md' }).map(({ code }) => code);
  expect(blocks.length).toBeGreaterThan(8);
  const script = path.join(folder, 'page.py');
  writeFileSync(script, blocks.join('\n'));
  const env = { PYTHONPATH: path.join(client, 'src'), PMS_BASE_URL: service.origin, PMS_API_KEY: service.key };
  const output = await success(run(python, [script], { cwd: folder, env }));
  for (const printed of ['Greet Ada in one sentence.', 'completed', 'not_found', 'docs/greeting'])
    expect(output).toContain(printed);
});

test('generated code is up to date', async () => {
  expect(await success(run(python, ['scripts/generate.py', '--check'], { cwd: client }))).not.toContain('wrote');
});

test('types are checked, also for users', async () => {
  const output = await success(runModule(['mypy', '--cache-dir', '../../.cache/mypy'], { MYPYPATH: 'src' }));
  expect(output).toContain('no issues found');
});

test('the samples of the documents pass mypy and pyright', async () => {
  const samples = path.join(folder, 'samples');
  mkdirSync(samples);
  for (const [index, file] of [
    'docs/clients/python.md',
    'docs/clients/evaluate.md',
    'README.md',
    'clients/python/README.md',
  ].entries())
    writeFileSync(path.join(samples, `sample_${index}.py`), snippets(file).join('\n'));
  const source = path.join(client, 'src');
  const cache = ['--cache-dir', '../../.cache/mypy-samples'];
  expect(await success(runModule(['mypy', '--strict', ...cache, samples], { MYPYPATH: source }))).toContain(
    'no issues found in 4 source files',
  );
  writeFileSync(path.join(samples, 'pyrightconfig.json'), JSON.stringify({ extraPaths: [source] }));
  const pyright = path.join(await installedTools('package-checks'), 'pyright/index.js');
  const args = [pyright, '--pythonpath', python, '--warnings', '--project', samples];
  expect(await success(run(process.execPath, args))).toContain('0 errors, 0 warnings');
});

test('it is formatted and has no lint', async () => {
  expect(await success(runModule(['ruff', 'check']))).toContain('All checks passed');
  expect(await success(runModule(['ruff', 'format', '--check']))).toContain('already formatted');
});

test('its package has the sources and says that it is typed', async () => {
  await success(runModule(['hatchling', 'build', '-t', 'wheel', '-d', folder]));
  const [wheel = ''] = globSync('*.whl', { cwd: folder });
  const files = await success(runModule(['zipfile', '-l', path.join(folder, wheel)]));
  for (const file of ['__init__.py', 'py.typed', 'models.py', '_sync/client.py', '_async/client.py'])
    expect(files).toContain(`pms_client/${file}`);
  expect(files).toContain('dist-info/licenses/LICENSE');
  expect(files).not.toContain('tests/');
});
