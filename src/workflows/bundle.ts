import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BundleOptions, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { Logger } from 'pino';
import { ENCODED_FAILURES } from '../temporal/data-converter.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
const workflowsPath = path.join(here, 'index.ts');
const root = path.resolve(here, '..', '..');
const cacheFolder = path.join(root, '.cache');

/**
 * Bundles the workflows into one script. Built once per state of the sources and of the SDK, then cached.
 * @param failureConverterPath converts failures. Default: the converter of the SDK
 */
export async function workflowBundle(
  log?: Logger,
  { failureConverterPath }: Pick<BundleOptions, 'failureConverterPath'> = {},
): Promise<{ code: string }> {
  const version: unknown = createRequire(import.meta.url)('@temporalio/worker/package.json').version;
  const hash = createHash('sha256').update(String(version));
  // Workflows may use pure code of `domain`; everything else is imported as types only.
  for (const folder of ['.', '../domain'])
    for (const file of globSync('**/*.ts', { cwd: path.join(here, folder) }).sort())
      hash.update(file).update(readFileSync(path.join(here, folder, file)));
  if (failureConverterPath !== undefined) hash.update(readFileSync(failureConverterPath));
  const file = path.join(cacheFolder, `workflows-${hash.digest('hex').slice(0, 16)}.js`);
  if (existsSync(file)) return { code: readFileSync(file, 'utf8') };
  log?.info('bundling the workflows');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    ...(failureConverterPath !== undefined && { failureConverterPath }),
    // They are evaluated once instead of for each workflow: see docs/decisions/0028-what-workflows-share.md.
    preloadModules: [workflowsPath],
    // Modules are named relative to this root, independent of the working directory.
    webpackConfigHook: (config) => ({ ...config, context: root }),
    logger: new DefaultLogger('ERROR'),
  });
  try {
    mkdirSync(cacheFolder, { recursive: true });
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, code);
    renameSync(unfinished, file);
  } catch (error) {
    log?.debug({ err: error }, 'the workflow bundle is not cached: its folder is not writable');
  }
  return { code };
}

/** Builds both bundles, for environments that cannot bundle later. */
async function main(): Promise<void> {
  await workflowBundle();
  await workflowBundle(undefined, { failureConverterPath: ENCODED_FAILURES });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void main();
