import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';

/** Generators of client code from openapi.json; with `--check`, each compares and fails on differences. */
const GENERATORS = ['tools/openapi-ts/generate.ts', 'scripts/generate-python.ts'];

const root = path.resolve(import.meta.dirname, '..');
const statuses = GENERATORS.map(
  (script) =>
    spawnSync(process.execPath, [path.join(root, script), ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
      .status,
);
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
