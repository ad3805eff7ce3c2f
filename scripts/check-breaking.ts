import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { adaptForGenerators } from '../src/http/openapi-generators.ts';

// Fails if openapi.json breaks callers of the last release, whose document is openapi.released.json: a release copies the former
// over the latter (CONTRIBUTING, A release). Before the first release it passes, because there are no callers to break. Uses
// oasdiff, which Go builds from pinned sums, once per machine. tools/oasdiff/allowed.txt lists changes that break nothing: scores of traces
// and conversations are shown only to callers who request them.

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [released, current] = ['openapi.released.json', 'openapi.json'].map((file) => path.join(root, file));

function main(before: string, now: string): number {
  if (!existsSync(before)) {
    console.log(
      'Nothing has been released yet, so nothing can break: there is no openapi.released.json to compare with.',
    );
    return 0;
  }
  // A schema that was only given a name is not a new schema.
  const document: object = JSON.parse(readFileSync(before, 'utf8'));
  adaptForGenerators(document);
  const named = path.join(root, '.cache', path.basename(before));
  mkdirSync(path.dirname(named), { recursive: true });
  writeFileSync(named, JSON.stringify(document));
  const args = [
    '-C',
    'tools/oasdiff',
    'tool',
    'oasdiff',
    'breaking',
    named,
    now,
    '--fail-on',
    'ERR',
    '--err-ignore',
    path.join(root, 'tools/oasdiff/allowed.txt'),
  ];
  const { error, status } = spawnSync('go', args, { cwd: root, stdio: 'inherit' });
  if (error === undefined) return status ?? 1;
  console.error(`The comparison needs Go 1.26 or newer: ${error.message}`);
  return 1;
}

// An argument names another document to compare with, for example from a branch.
process.exitCode = main(path.resolve(process.argv[2] ?? released ?? ''), current ?? '');
