import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const project = fileURLToPath(new URL('../../', import.meta.url));
const script = path.join(project, 'scripts/check-breaking.ts');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'pms-breaking-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Schema {
  properties: Record<string, object>;
  required: string[];
}
interface Document {
  paths: Record<string, object>;
  components: { schemas: { Prompt: Schema; CreatePrompt: Schema } };
}

/** Compares openapi.json with the same document before a change. */
function check(undoChange: (document: Document) => void): { status: number | null; output: string } {
  const released: Document = JSON.parse(readFileSync(path.join(project, 'openapi.json'), 'utf8'));
  undoChange(released);
  const file = path.join(folder, 'released.json');
  writeFileSync(file, JSON.stringify(released));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, file], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

test.each<[string, (document: Document) => void]>([
  ['an operation', ({ paths }) => operation(paths) && delete paths['/prompts/resolve']],
  ['a field of a response', ({ components }) => removeField(components.schemas.Prompt, 'config')],
  ['an optional field of a request', ({ components }) => removeField(components.schemas.CreatePrompt, 'config')],
])('%s that is new passes', (_, undoChange) => {
  expect(check(undoChange)).toMatchObject({ status: 0 });
});

test.each<[string, (document: Document) => void, string]>([
  [
    'an operation that is gone',
    ({ paths }) => {
      paths['/gone'] = operation(paths);
    },
    '/gone',
  ],
  [
    'a field of a response that is gone',
    ({ components: { schemas } }) => {
      schemas.Prompt.properties['gone'] = { type: 'string' };
      schemas.Prompt.required.push('gone');
    },
    'gone',
  ],
  [
    'a field of a request that is now required',
    ({ components: { schemas } }) => {
      schemas.CreatePrompt.required = schemas.CreatePrompt.required.filter((name) => name !== 'model');
    },
    'model',
  ],
])('%s is refused', (_, undoChange, named) => {
  const { status, output } = check(undoChange);
  expect({ status, output }).toEqual({ status: 1, output: expect.stringContaining(named) });
});

test('the project is compared with its last release, if there is one', () => {
  const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  const isReleased = existsSync(path.join(project, 'openapi.released.json'));
  expect({ status, saysSo: stdout.includes('Nothing has been released yet') }).toEqual({
    status: 0,
    saysSo: !isReleased,
  });
});

function operation(paths: Document['paths']): object {
  const found = paths['/prompts/resolve'];
  if (found === undefined) throw new Error('openapi.json has no such path any more.');
  return found;
}

function removeField({ properties, required }: Schema, name: string): void {
  if (!delete properties[name]) throw new Error(`openapi.json has no field ${name} any more.`);
  if (required.includes(name)) required.splice(required.indexOf(name), 1);
}
