import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { importsOf } from './imports.ts';

// Runs the tests that a change can reach: npm run test:changed, with Jest's arguments after "--".
//
//   npm run test:changed                    what differs from the main branch, committed or not
//   npm run test:changed -- --list          only prints the files
//   npm run test:changed -- --since HEAD~3  what differs from another commit
//   npm run test:changed -- --file src/services/rules/rules.ts
//
// These are the tests that import a changed file, directly or indirectly. Tests over HTTP all import the whole service through
// their stage, so only tests are included whose path names the same capability as the path of a changed file.

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Files that assemble the service: their imports do not show what a test is about. */
const STAGE =
  /^(test\/(support\/(service|[a-z-]*stage|processes[a-z-]*|load-service|neighbour[a-z-]*)|console\/stage)|src\/(api\/server|worker|dependencies|main|activities\/index|db\/entities\/index|evaluators\/registry))\.ts$/;
/** The singular names of capabilities in paths: the folders of the API, and the rest of their names. */
const CAPABILITIES = [
  ...new Set(globSync('src/api/*/', { cwd: root }).map((folder) => path.basename(folder).replace(/s$/, ''))),
  'access',
  'batch',
  'evaluator',
  'idempotency',
  'mcp',
  'sign-in',
  'stream',
  'telemetry',
];
/** Tests outside of the service by folder: for the capabilities named by a changed file, or all if it names none. */
const BESIDE: Record<string, RegExp> = {
  'console/': /^test\/console\//,
  'cli/': /^test\/cli\//,
  'clients/': /^test\/clients\//,
  'docs/': /^test\/docs\//,
  'deploy/': /^test\/(deploy|monitoring)\//,
};

/** The project files that each file imports. */
function readGraph(): Map<string, string[]> {
  const files = globSync('{src,test,scripts,bench,cli/src,clients/typescript/src}/**/*.{ts,mjs}', { cwd: root });
  return new Map(
    files.map((file) => {
      const imports = importsOf(readFileSync(path.join(root, file), 'utf8'))
        .filter(({ target }) => target.startsWith('.'))
        .map(({ target }) => path.posix.normalize(path.posix.join(path.posix.dirname(file), target)));
      return [file, imports];
    }),
  );
}

/** Files that import one of these, directly or not; importers of stages are not followed. */
function importersOf(changed: readonly string[], graph: ReadonlyMap<string, readonly string[]>): Set<string> {
  const importers = new Map<string, string[]>();
  for (const [file, imports] of graph)
    for (const imported of imports) importers.set(imported, [...(importers.get(imported) ?? []), file]);
  const reached = new Set<string>();
  const queue = [...changed];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    if (!STAGE.test(file) || changed.includes(file)) queue.push(...(importers.get(file) ?? []));
  }
  return reached;
}

/** The capabilities that a path names. */
function capabilitiesOf(file: string): string[] {
  const words = `/${file.replace(/\.[a-z.]+$/, '')}/`;
  return CAPABILITIES.filter((name) => new RegExp(`[/-]${name}(es|s)?[/-]`).test(words));
}

/** The test files that changes of these files can reach, and the files whose HTTP tests can't be determined by path. */
export function testsOf(changed: readonly string[]): { tests: string[]; everywhere: string[] } {
  const graph = readGraph();
  const reached = importersOf(changed, graph);
  const sources = changed.filter((file) => file.startsWith('src/'));
  const capabilities = new Set(sources.flatMap(capabilitiesOf));
  const isBeside = (test: string, file: string) =>
    Object.entries(BESIDE).some(([folder, tests]) => file.startsWith(folder) && tests.test(test)) &&
    (capabilitiesOf(file).length === 0 || capabilitiesOf(file).some((name) => capabilitiesOf(test).includes(name)));
  const isPicked = (test: string) =>
    reached.has(test) ||
    capabilitiesOf(test).some((name) => capabilities.has(name)) ||
    changed.some((file) => isBeside(test, file));
  return {
    tests: [...graph.keys()].filter((file) => file.endsWith('.test.ts') && isPicked(file)).sort(),
    everywhere: sources.filter((file) => capabilitiesOf(file).length === 0),
  };
}

/** Files that differ from a commit, committed or not. */
function changedSince(commit: string | undefined): string[] {
  const git = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.split('\n').filter((line) => line !== '');
  };
  const branches = git('branch', '--all', '--format=%(refname:short)');
  const main = ['origin/main', 'main'].find((name) => branches.includes(name)) ?? 'HEAD';
  const [base = 'HEAD'] = commit === undefined ? git('merge-base', 'HEAD', main) : [commit];
  return [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')];
}

function main(args: string[]): void {
  const valuesOf = (option: string) => args.flatMap((arg, index) => (args[index - 1] === option ? [arg] : []));
  const files = valuesOf('--file');
  const [since] = valuesOf('--since');
  const changed = files.length > 0 ? files : changedSince(since);
  const { tests, everywhere } = testsOf(changed);
  if (everywhere.length > 0)
    console.error(`Any capability may use these: run npm test before you commit.\n  ${everywhere.join('\n  ')}\n`);
  if (args.includes('--list')) {
    console.log(tests.join('\n'));
    return;
  }
  if (tests.length === 0) {
    console.error(`No test is about what has changed (${changed.length} files).`);
    return;
  }
  console.error(`${tests.length} test files for ${changed.length} changed files.`);
  const others = args.filter(
    (arg, index) => !/^--(file|since)$/.test(arg) && !/^--(file|since)$/.test(args[index - 1] ?? ''),
  );
  const jest = path.join(root, 'node_modules/jest/bin/jest.js');
  const { status } = spawnSync(process.execPath, [jest, '--runTestsByPath', ...tests, ...others], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
