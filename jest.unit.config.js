// What needs no server and no threads, in seconds: npm run test:unit
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import everything from './jest.config.js';

const root = path.dirname(fileURLToPath(import.meta.url));

/** A test that reaches one of these starts a program, a server or threads, or uses the servers of the global set-up. */
const NEEDS_MORE =
  /TEST_(POSTGRES_URL|TEMPORAL_ADDRESS|TIME_SKIPPING_SERVER)|node:(child_process|http|net|tls)'|playwright-core|embedded\/(postgres|temporal)|TestWorkflowEnvironment|workflowBundle|evaluator-pool/;
/** These simulate hundreds of runs. */
const SIMULATIONS = ['test/activities/scoring/budget-shapes.test.ts'];

/** Whether a file of the tests, or one in `test/` that it imports, needs more than the process that it runs in. */
function needsMore(file, seen = new Set()) {
  if (seen.has(file)) return false;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  if (NEEDS_MORE.test(text)) return true;
  return [...text.matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g)].some(([, by, dynamically]) => {
    const imported = path.resolve(path.dirname(file), by ?? dynamically);
    return imported.startsWith(path.join(root, 'test')) && imported.endsWith('.ts') && needsMore(imported, seen);
  });
}

const { globalSetup, globalTeardown, ...shared } = everything;

/** @type {import('jest').Config} */
export default {
  ...shared,
  testMatch: globSync('test/**/*.test.ts', { cwd: root, exclude: SIMULATIONS })
    .map((file) => path.join(root, file))
    .filter((file) => !needsMore(file)),
  testTimeout: 60_000,
};
