// node scripts/build-console.ts
// Builds the web console (console/) into .cache/console, from where the API serves it, unless the existing build is of the same
// sources. Installs the packages that only the build needs. Exits with 1 if the build fails. CONSOLE_LOCALE, in the environment
// or .env, selects a language other than English: the build of CONSOLE_LOCALE=de is in .cache/console-de.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { fillOnce } from '../src/embedded/programs/sources.ts';
import { consoleFolder } from '../src/http/console-folder.ts';

const sources = fileURLToPath(new URL('../console/', import.meta.url));
const HASH_FILE = 'hash';

const say = (line: string) => process.stderr.write(`${line}\n`);
const contentOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

const settings = { ...parseEnv(contentOf('.env') ?? ''), ...process.env };

/** Hashes everything that the build is made from. */
function hashOfSources(locale: string): string {
  const hash = createHash('sha256').update(`${locale}\0`);
  const files = globSync('**/*', {
    cwd: sources,
    withFileTypes: true,
    exclude: (entry) => entry.name === 'node_modules',
  })
    .filter((entry) => entry.isFile() && !/\.(md|tsbuildinfo)$/.test(entry.name))
    .map((entry) => path.relative(sources, path.join(entry.parentPath, entry.name)));
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(sources, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Runs a program in `console/`. @returns its standard error. @throws Error with its complete output, if it fails */
function run(what: string, command: string, args: string[], env: NodeJS.ProcessEnv = process.env): string {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: sources, encoding: 'utf8', env });
  if (status === 0) return stderr.trim();
  throw new Error(`${what} failed. ${error?.message ?? `${stdout}${stderr}`.trim().slice(-4_000)}`);
}

/** The environment without the options of a surrounding npm command or test, which must not change what is installed or built. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const options =
    /^npm_(config_(ignore_scripts|omit|include|only|production|prefix|global|dry_run|workspace)|command|lifecycle|package)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !options.test(name) && name !== 'NODE_ENV'));
}

/** Installs the packages of `console/` from its lock. */
function installPackages(): void {
  const lock = createHash('sha256')
    .update(readFileSync(path.join(sources, 'package-lock.json')))
    .digest('hex');
  const stamp = path.join(sources, 'node_modules', '.installed');
  if (contentOf(stamp) === lock) return;
  say('Installing the packages of the console (npm ci)…');
  run('npm ci', 'npm', ['ci', '--no-audit', '--no-fund'], ownEnvironment());
  writeFileSync(stamp, lock);
}

/**
 * Builds the console if necessary. Several processes can call it concurrently.
 * @param locale its language, or `pseudo`
 * @throws Error with the problem
 */
export async function buildConsole(locale = settings['CONSOLE_LOCALE'] || 'en'): Promise<void> {
  const target = consoleFolder(locale);
  const hash = hashOfSources(locale);
  const isFilled = async () => contentOf(path.join(target, HASH_FILE)) === hash;
  if (await isFilled()) return;
  await fillOnce({
    folder: target,
    isFilled,
    onWait: () => say('Another command is building the console, waiting for it…'),
    fill: async (scratch) => {
      installPackages();
      say('Building the console…');
      const vite = path.join('node_modules', 'vite', 'bin', 'vite.js');
      const build = [vite, 'build', '--outDir', scratch, '--emptyOutDir', '--logLevel', 'warn'];
      say(run('The build', process.execPath, build, { ...ownEnvironment(), CONSOLE_LOCALE: locale }));
      writeFileSync(path.join(scratch, HASH_FILE), hash);
    },
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await buildConsole().catch((error: Error) => {
    say(`The console could not be built: ${error.message}`);
    process.exitCode = 1;
  });
