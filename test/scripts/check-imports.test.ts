import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const script = fileURLToPath(new URL('../../scripts/check-imports.ts', import.meta.url));
let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'pms-imports-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Checks a project of these files. */
function check(files: Record<string, string>): { code: number | null; faults: string[] } {
  for (const [file, source] of Object.entries(files)) {
    const target = path.join(root, 'src', file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, source);
  }
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' });
  return { code: status, faults: stderr.split('\n').filter((line) => line !== '') };
}

test('this project respects its layers', () => {
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test.each([
  ['domain/a.ts', `import { query } from '../db/database.ts';`, 'domain may import rules, not db'],
  ['domain/prompt-rules/a.ts', `import { z } from 'zod';`, 'rules may import no package'],
  ['domain/prompt-rules/a.ts', `import type { B } from '../b.ts';`, 'nothing else of src, not domain'],
  ['db/a.ts', `import {\n  one,\n  two,\n} from '../services/a.ts';`, 'db may import domain, lib, not services'],
  ['db/a.ts', `export { one } from '../api/a.ts';`, 'db may import domain, lib, not api'],
  ['db/a.ts', `import '../api/a.ts';`, 'db may import domain, lib, not api'],
  ['db/a.ts', `const a = await import('../api/a.ts');`, 'db may import domain, lib, not api'],
  ['services/a.ts', `import { b } from '../api/b.ts';`, 'not api'],
  ['services/a.ts', `import { b } from '../workflows/b.ts';`, 'types of workflows only: write "import type"'],
  // It still loads the file.
  ['services/a.ts', `import { type B } from '../workflows/b.ts';`, 'types of workflows only'],
  ['workflows/a.ts', `import { b } from '../activities/b.ts';`, 'types of activities only'],
  ['workflows/a.ts', `import { b } from '../db/b.ts';`, 'workflows may import domain, types of activities, not db'],
  ['workflows/a.ts', `import { readFile } from 'node:fs';`, 'nothing else works in their sandbox'],
  ['api/a.ts', `import { startWorkers } from '../worker.ts';`, 'not composition'],
  ['api/a.ts', `import { startApi } from './server.ts';`, 'not composition'],
  ['main.ts', `import { a } from '../test/a.ts';`, 'nothing outside of it may be imported'],
  ['stray/a.ts', `export const a = 1;`, 'it is in no layer'],
  ['services/prompts/a.ts', `import { b } from '../monitors/b.ts';`, 'prompts comes before monitors'],
  ['api/sessions/a.ts', `import { b } from '../../services/scim/b.ts';`, 'access comes before members'],
  ['services/a.ts', `const url = process.env.DATABASE_URL;`, 'settings are read in src/config.ts'],
  ['services/a.ts', `import { env } from 'node:process';`, 'settings are read in src/config.ts'],
])('%s cannot hold: %s', (file, source, fault) => {
  const { code, faults } = check({ [file]: source });
  expect(code).toBe(1);
  expect(faults).toEqual([expect.stringContaining(fault)]);
  expect(faults[0]).toMatch(new RegExp(`^src/${file}: `));
});

test.each([
  ['services/a.ts', `import type { b } from '../workflows/b.ts';\nimport { c } from '../db/c.ts';`],
  ['workflows/a.ts', `import type { b } from '../activities/b.ts';\nimport { c } from '../domain/c.ts';`],
  ['workflows/a.ts', `import { sleep } from '@temporalio/workflow';\nimport type { z } from 'zod';`],
  ['domain/a.ts', `// import { b } from '../db/b.ts';\n/** Not process.env. */\nexport const a = "from '../db/b.ts'";`],
  ['embedded/a.ts', 'const home = process.env.HOME;'],
  ['main.ts', `import { a } from './api/server.ts';`],
])('%s can hold: %s', (file, source) => {
  expect(check({ [file]: source })).toEqual({ code: 0, faults: [] });
});

test('import cycles are refused, even of types', () => {
  const { code, faults } = check({
    'domain/a.ts': `import type { B } from './b.ts';\nimport { d } from './d.ts';`,
    'domain/b.ts': `export { c } from './c.ts';`,
    'domain/c.ts': `import { a } from './a.ts';\nimport { d } from './d.ts';`,
    'domain/d.ts': `export const d = 1;`,
  });
  expect(code).toBe(1);
  expect(faults).toEqual([
    'src/domain/a.ts: is in an import cycle, domain/a.ts → domain/b.ts → domain/c.ts → domain/a.ts: move what is shared to a file of its own',
  ]);
});

test('each import cycle is reported, even in one file', () => {
  const { faults } = check({
    'domain/a.ts': `import './a.ts';`,
    'lib/b.ts': `import { c } from './c.ts';`,
    'lib/c.ts': `import { b } from './b.ts';`,
  });
  expect(faults).toHaveLength(2);
});
