import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';

// What clients/typescript is made from: the types of openapi.json (by @hey-api/openapi-ts), and its operations.
//
// `npm run generate` writes them; with --check, it compares them and fails where they differ.

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const from = (file: string) => path.join(root, file);
const TARGET = 'clients/typescript/src/generated';
const HEADER = '// Made by `npm run generate`: do not edit.';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const IDEMPOTENCY_KEY = '#/components/parameters/Idempotency-Key';

interface Operation {
  operationId: string;
  /** Of those that are shared there is only a reference. */
  parameters?: { name?: string; $ref?: string }[];
}

interface OpenApi {
  paths: Record<string, Partial<Record<(typeof METHODS)[number], Operation>>>;
}

async function typesOf(openApi: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'openapi-ts-'));
  try {
    await createClient({
      input: openApi,
      output: { path: folder, header: [HEADER], module: { extension: '.ts' } },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    });
    return await readFile(path.join(folder, 'types.gen.ts'), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A table of all operations, for the program and for the compiler. */
function operationsOf({ paths }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([url, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      if (operation === undefined) return [];
      const isIdempotent = operation.parameters?.some(({ $ref }) => $ref === IDEMPOTENCY_KEY) ?? false;
      return { id: operation.operationId, type: pascalCase(operation.operationId), method, url, isIdempotent };
    }),
  );
  const lines = [
    HEADER,
    `import type * as api from './types.gen.ts';`,
    '',
    '/** What each operation takes, and what it responds with. */',
    'export interface Operations {',
    ...operations.map(({ id, type }) => `  ${id}: { request: api.${type}Data; response: api.${type}Response };`),
    '}',
    '',
    '/** Method and path of each. */',
    'export const OPERATIONS: Readonly<Record<keyof Operations, string>> = {',
    ...operations.map(({ id, method, url }) => `  ${id}: '${method.toUpperCase()} ${url}',`),
    '};',
    '',
    '/** Those that take `Idempotency-Key`. */',
    'export const IDEMPOTENT: ReadonlySet<keyof Operations> = new Set([',
    ...operations.filter(({ isIdempotent }) => isIdempotent).map(({ id }) => `  '${id}' as const,`),
    ']);',
  ];
  return `${lines.join('\n')}\n`;
}

const pascalCase = (id: string) => id.charAt(0).toUpperCase() + id.slice(1);

/** All that is generated, by the file's name. */
async function generate(): Promise<Map<string, string>> {
  const openApi: OpenApi = JSON.parse(await readFile(from('openapi.json'), 'utf8'));
  return new Map([
    ['types.gen.ts', await typesOf(from('openapi.json'))],
    ['operations.gen.ts', operationsOf(openApi)],
  ]);
}

async function main(isCheck: boolean): Promise<void> {
  const files = await generate();
  if (!isCheck) {
    await rm(from(TARGET), { recursive: true, force: true });
    await mkdir(from(TARGET), { recursive: true });
    for (const [file, text] of files) await writeFile(from(`${TARGET}/${file}`), text);
    return;
  }
  const wrong = (await readdir(from(TARGET))).filter((file) => !files.has(file));
  for (const [file, text] of files)
    if ((await readFile(from(`${TARGET}/${file}`), 'utf8').catch(() => undefined)) !== text) wrong.push(file);
  if (wrong.length === 0) return;
  console.error(`Not up to date in ${TARGET}: ${wrong.join(', ')}. Run npm run generate, and commit what it makes.`);
  process.exitCode = 1;
}

await main(process.argv.includes('--check'));
