// Completes package-lock.json after a change of dependencies: `node scripts/fill-lock.mjs`, and the web console's:
// `node scripts/fill-lock.mjs console`.
//
// npm omits an optional platform package from the lock if the registry it asked does not have that package, and `npm ci` then
// rejects the lock on every machine. This adds the entry with the name and version that the dependent package gives; npm
// requests it only where `os`, `cpu` and `libc` match. The checksum (`integrity`) comes from the registry. If the registry
// lacks that version, nothing is written: use a version of the dependent package that the registry has for all platforms, or
// run this with another registry. It also removes download addresses, so that the lock works with the registry each user has
// configured.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const OPERATING_SYSTEMS = {
  aix: 'aix',
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  win32: 'win32',
  windows: 'win32',
};
const PROCESSORS = {
  arm: 'arm',
  arm64: 'arm64',
  armv6: 'arm',
  armv7: 'arm',
  ia32: 'ia32',
  loong64: 'loong64',
  mips64el: 'mips64el',
  ppc64: 'ppc64',
  ppc64le: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  wasm32: 'wasm32',
  x64: 'x64',
};
const C_LIBRARIES = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' };
// npm skips a package whose `os` is not the machine's; no machine has this name.
const NOWHERE = 'none';

/** The `os`, `cpu` and `libc` limits in a platform package's name. */
function platformOf(name) {
  const words = name.split('/').pop().split(/[-_]/);
  const find = (table) => words.map((word) => table[word]).find((value) => value !== undefined);
  const libc = find(C_LIBRARIES);
  return {
    os: [find(OPERATING_SYSTEMS) ?? NOWHERE],
    cpu: [find(PROCESSORS) ?? NOWHERE],
    ...(libc && words.includes('linux') ? { libc: [libc] } : {}),
  };
}

/** Whether `name` resolves from the package at `from`, walking up like Node.js. */
function isLocked(packages, from, name) {
  for (let at = from; ; ) {
    if (packages[`${at ? `${at}/` : ''}node_modules/${name}`]) return true;
    if (!at) return false;
    const cut = at.lastIndexOf('node_modules/');
    at = cut <= 0 ? '' : at.slice(0, cut - 1);
  }
}

/** The checksum of a package's archive from the registry; undefined if it does not have that version. */
function integrityOf(name, version) {
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], shell: process.platform === 'win32' };
  try {
    return execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], options).trim() || undefined;
  } catch {
    return undefined;
  }
}

const file = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '..',
  process.argv[2] ?? '',
  'package-lock.json',
);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];
const unverified = [];
for (const [at, entry] of Object.entries({ ...lock.packages })) {
  if (entry.resolved && !entry.link) delete lock.packages[at].resolved;
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(lock.packages, at, name)) continue;
    const version = range.replace(/^[\^~=]/, '');
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      throw new Error(`${at} asks for ${name}@${range}: no version to pin`);
    const dev = entry.dev ? { dev: true } : {};
    lock.packages[`node_modules/${name}`] = { version, optional: true, ...dev, ...platformOf(name) };
    added.push(`${name}@${version}`);
  }
}
for (const [at, entry] of Object.entries(lock.packages)) {
  if (entry.link || entry.integrity || !at.includes('node_modules/')) continue;
  const name = at.split('node_modules/').pop();
  const integrity = integrityOf(name, entry.version);
  if (integrity === undefined) unverified.push(`${name}@${entry.version}`);
  else lock.packages[at] = { version: entry.version, integrity, ...entry };
}
if (unverified.length > 0) {
  console.error(`Nothing is written. The registry has no checksum of:\n  ${unverified.join('\n  ')}`);
  process.exit(1);
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(
  added.length === 0 ? 'package-lock.json is complete.' : `Added to package-lock.json:\n  ${added.join('\n  ')}`,
);
