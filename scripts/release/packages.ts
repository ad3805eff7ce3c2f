import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Ended, pythonWith, run } from '../python.ts';

/** Runs a program. @returns its output @throws Error with it if the program failed */
export async function succeed(...args: Parameters<typeof run>): Promise<string> {
  const { code, output }: Ended = await run(...args);
  if (code !== 0) throw new Error(`${args[0]} ${args[1].join(' ')} ended with ${code}:\n${output.slice(-4000)}`);
  return output;
}

/** Runs work with a temporary folder. */
export async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pms-release-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Packs the TypeScript client and the command line into a folder. Reproducible: npm sets all files to one date.
 * @returns the files, the client's first
 */
export async function packNpm(root: string, version: string, folder: string): Promise<string[]> {
  // Nothing from an earlier build may be included.
  for (const workspace of ['clients/typescript', 'cli'])
    rmSync(path.join(root, workspace, 'dist'), { recursive: true, force: true });
  const args = ['--workspace', 'clients/typescript', '--workspace', 'cli', '--pack-destination', folder];
  await succeed('npm', ['pack', ...args], { cwd: root });
  return [`pms-client-${version}.tgz`, `pms-cli-${version}.tgz`];
}

/**
 * Builds the Python client into a folder.
 * @param epoch timestamp of all files in seconds since 1970, for reproducible builds
 * @returns the files, the wheel first
 */
export async function buildPython(root: string, version: string, folder: string, epoch: string): Promise<string[]> {
  const home = path.join(root, 'clients/python');
  const python = await pythonWith(path.join(home, 'requirements-dev.txt'));
  const env = { SOURCE_DATE_EPOCH: epoch };
  await succeed(python, ['-m', 'hatchling', 'build', '--directory', folder], { cwd: home, env });
  return [`pms_client-${version}-py3-none-any.whl`, `pms_client-${version}.tar.gz`];
}

/** Installs npm packages into a separate project. @returns its folder */
export async function installNpm(folder: string, files: readonly string[]): Promise<string> {
  const project = path.join(folder, 'project');
  mkdirSync(project);
  writeFileSync(path.join(project, 'package.json'), '{"private": true}');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];
  await succeed('npm', ['install', ...quiet, ...files], { cwd: project });
  return project;
}

/** Installs a Python package into a new virtual environment. @returns its interpreter */
export async function installPython(python: string, folder: string, file: string): Promise<string> {
  await succeed(python, ['-m', 'venv', folder]);
  const interpreter = path.join(folder, 'bin', 'python');
  await succeed(interpreter, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', file]);
  return interpreter;
}
