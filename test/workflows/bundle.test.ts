import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { workflowBundle } from '../../src/workflows/bundle.ts';

/** Mutable top-level state of a module, as formatted here. */
const STATE = /^(export )?((let|var)\b|const \w+[^=]*= (new (Weak)?(Map|Set)\b|\[\];|\{\};)).*/gm;

test('workflows share their modules, so none has a state', async () => {
  const { code } = await workflowBundle();
  const modules = [...new Set([...code.matchAll(/"\.\/(src\/[^"]+\.ts)"/g)].map(([, file]) => file ?? ''))];
  expect(modules).toEqual(expect.arrayContaining(['src/workflows/execute-prompt.ts', 'src/domain/batch-queue.ts']));
  expect(code).toMatch(/preloadModules\(\) \{\s+__webpack_require__\([^)]*workflows\/index\.ts/);
  const found = modules.flatMap((file) => readFileSync(file, 'utf8').match(STATE) ?? []);
  expect(found).toEqual([]);
});

test.each(['let count = 0;', 'export let count = 0;', 'const seen = new Set<string>();', 'const all: string[] = [];'])(
  'is found if there is one: %s',
  (line) => {
    expect(`import x from 'y';\n${line}\n`.match(STATE)).toEqual([line]);
  },
);
