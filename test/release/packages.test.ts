import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { run } from '../../scripts/python.ts';
import { buildPython, installPython } from '../../scripts/release/packages.ts';
import { projectVersion } from '../../src/version.ts';
import { PROJECT } from '../support/processes.ts';

// The packages of Python as they are handed out. For npm, see test/clients/shipped-packages.test.ts.

const VERSION = projectVersion();
const EPOCH = '1767225600';
/** Each has a separate folder below. */
const VERSIONS = ['3.10', '3.11', '3.12', '3.13', '3.14'];
const PROGRAM = `
import asyncio, importlib.metadata, sys
import pms_client
from pms_client import AsyncPms, Pms, PmsError

print(importlib.metadata.version("pms-client"), pms_client.__file__.startswith(sys.prefix))
try:
    Pms("http://127.0.0.1:9", api_key="pms_x", retry_for=0).execute(prompt_name="x")
except PmsError as error:
    print(type(error).__name__)
async def main() -> None:
    async with AsyncPms("http://127.0.0.1:9", api_key="pms_x", retry_for=0) as pms:
        try:
            await pms.execute(prompt_name="x")
        except PmsError as error:
            print(type(error).__name__)
asyncio.run(main())
`;

let folder: string;
let wheel: string;
let sdist: string;
const inFolder = (...names: string[]) => path.join(folder, ...names);
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'pms-python-packages-'));
  for (const name of ['first', 'second']) mkdirSync(inFolder(name));
  [wheel = '', sdist = ''] = await buildPython(PROJECT, VERSION, inFolder('first'), EPOCH);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Interpreters of these versions: from `PYTHONS`, separated by colons, or the PATH. */
async function interpreters(versions: readonly string[]): Promise<{ version: string; program: string }[]> {
  const given = process.env['PYTHONS']?.split(path.delimiter);
  const found = new Map<string, string>();
  for (const program of given ?? ['python3', ...versions.map((version) => `python${version}`)]) {
    const { code, output } = await run(program, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']).catch(
      () => ({
        code: 1,
        output: '',
      }),
    );
    if (code === 0 && versions.includes(output.trim()) && !found.has(output.trim())) found.set(output.trim(), program);
  }
  return [...found].map(([version, program]) => ({ version, program }));
}

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

test('the same sources build the same wheel and sdist', async () => {
  await buildPython(PROJECT, VERSION, inFolder('second'), EPOCH);
  for (const file of [wheel, sdist]) expect(hashOf(inFolder('second', file))).toBe(hashOf(inFolder('first', file)));
});

test('the wheel works in an empty environment of each installed Python, the sdist in one', async () => {
  const pythons = await interpreters(VERSIONS);
  expect(pythons.length).toBeGreaterThan(0);
  const installs = [
    ...pythons.map(({ version, program }) => ({ name: version, program, file: wheel })),
    { name: 'sdist', program: pythons[0]?.program ?? '', file: sdist },
  ];
  for (const { name, program, file } of installs) {
    const interpreter = await installPython(program, inFolder(name), inFolder('first', file));
    const { code, output } = await run(interpreter, ['-c', PROGRAM], { cwd: folder });
    expect({ name, code, output }).toEqual({
      name,
      code: 0,
      output: `${VERSION} True\nServiceUnreachableError\nServiceUnreachableError\n`,
    });
    expect(
      existsSync(inFolder(name, 'lib', `python${name}`, 'site-packages/pms_client/py.typed')) || name === 'sdist',
    ).toBe(true);
  }
  console.log(`installed with Python ${pythons.map(({ version }) => version).join(', ')}`);
});

test('pip refuses a Python that is too old, with a message', async () => {
  const [old] = await interpreters(['3.9']);
  const [python] = await interpreters(VERSIONS);
  const read = `import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read("pms_client-${VERSION}.dist-info/METADATA").decode())`;
  const { output } = await run(python?.program ?? '', ['-c', read, inFolder('first', wheel)]);
  expect(output).toContain('Requires-Python: >=3.10');
  for (const field of [
    'Project-URL: Homepage, https://',
    'Keywords: ',
    'Classifier: Programming Language :: Python :: 3.14',
  ])
    expect(output).toContain(field);
  expect(output).toContain('pip install ./pms_client-');
  if (old === undefined) return;
  await expect(installPython(old.program, inFolder('3.9'), inFolder('first', wheel))).rejects.toThrow(
    /requires a different Python: 3\.9/,
  );
});
