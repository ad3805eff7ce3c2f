import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

const FILES: Record<string, string[]> = {
  all: ['export_spans.py'],
  'ai-sdk': ['run-ai-sdk.mjs'],
  langgraph: ['run_langgraph.py'],
  litellm: ['run_litellm.py'],
  'openai-agents': ['run_openai_agents.py'],
  openllmetry: ['run_openllmetry.py'],
  'pydantic-ai': ['run_pydantic_ai.py'],
};
const [, frameworks = ''] = read('docs/traces.md').split('\n## Frameworks\n');
const blocks = [...frameworks.matchAll(/```(?:python|js)\n(?:#|\/\/) (\S+)\n([\s\S]*?)```/g)];

test('each framework has a block', () => {
  expect(new Set(blocks.map(([, name]) => name))).toEqual(new Set(Object.keys(FILES)));
});

test.each(blocks.map(([, name = '', code = '']) => ({ name, code })))(
  'npm run capture-spans runs the guide for $name',
  ({ name, code }) => {
    const run = (FILES[name] ?? [])
      .flatMap((file) => read(`tools/instrumentations/${file}`).split('\n'))
      .map((line) => line.trim());
    for (const line of code.split('\n').map((each) => each.trim())) {
      // Imports from one module can be merged.
      const [, start = line, names = ''] = /^(from \S+ import|import \{) ([\w, ]+)/.exec(line) ?? [];
      expect(run).toContainEqual(expect.stringContaining(start));
      for (const imported of names.split(', ')) expect(run).toContainEqual(expect.stringContaining(imported.trim()));
    }
  },
);
