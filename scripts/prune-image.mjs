// Reduces a production node_modules to what a running service needs: node scripts/prune-image.mjs FOLDER [ARCHITECTURE]
// Temporal's SDK includes native binaries for five platforms, and a bundler that is not needed once the workflows are bundled.
// ARCHITECTURE is Docker's TARGETARCH (amd64 or arm64), by default the one of this process.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const [given = '', architecture = process.arch] = process.argv.slice(2);
const folder = path.resolve(given);
const target = { amd64: 'x86_64', x64: 'x86_64', arm64: 'aarch64' }[architecture];
const releases = path.join(folder, 'node_modules/@temporalio/core-bridge/releases');
const kept = `${target}-unknown-linux-gnu`;
if (!target || !existsSync(path.join(releases, kept, 'index.node'))) {
  console.error(`Temporal has no native part for Linux on "${architecture}" in ${releases}.`);
  process.exit(1);
}

/** Packages that bundle workflows. @temporalio/worker loads these three when it starts, so they must exist. */
const STUBBED = ['webpack', 'memfs', 'unionfs'];
const BUNDLER = [...STUBBED, '@swc/core', 'source-map-loader', 'swc-loader'];

const readPackage = (at) => JSON.parse(readFileSync(path.join(at, 'package.json'), 'utf8'));

/** Resolves `name` from the package at `from`, like Node.js. */
function locate(name, from) {
  for (let at = from; at.startsWith(folder); at = path.dirname(at)) {
    const candidate = path.join(at, 'node_modules', name);
    if (existsSync(path.join(candidate, 'package.json'))) return candidate;
  }
  return undefined;
}

const needed = new Set();
const open = [folder];
for (let at = open.pop(); at !== undefined; at = open.pop()) {
  const { name, dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = readPackage(at);
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    if (name === '@temporalio/worker' && BUNDLER.includes(dependency)) continue;
    const found = locate(dependency, at);
    if (found === undefined || needed.has(found)) continue;
    needed.add(found);
    open.push(found);
  }
}

/** Every package below a node_modules folder, including nested ones. */
function* packagesIn(modules) {
  for (const entry of readdirSync(modules, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const at = path.join(modules, entry.name);
    if (entry.name.startsWith('@')) {
      yield* packagesIn(at);
      continue;
    }
    const nested = path.join(at, 'node_modules');
    if (existsSync(nested)) yield* packagesIn(nested);
    yield at;
  }
}

let removed = 0;
for (const at of packagesIn(path.join(folder, 'node_modules'))) {
  if (needed.has(at) || [...needed].some((other) => other.startsWith(`${at}/`))) continue;
  rmSync(at, { recursive: true });
  removed += 1;
}
for (const name of STUBBED) {
  const at = path.join(folder, 'node_modules', name);
  if (needed.has(at)) continue;
  mkdirSync(at, { recursive: true });
  writeFileSync(path.join(at, 'package.json'), JSON.stringify({ name, version: '0.0.0', main: 'index.js' }));
  writeFileSync(
    path.join(at, 'index.js'),
    '// Left out of this image: its workflows were bundled when it was built.\n',
  );
}
for (const release of readdirSync(releases)) {
  if (release !== kept) rmSync(path.join(releases, release), { recursive: true });
}
for (const sources of ['sdk-core', 'src', 'ts', 'bridge-macros']) {
  rmSync(path.join(releases, '..', sources), { recursive: true, force: true });
}
// Types and source maps are for development; no process reads them.
for (const file of readdirSync(path.join(folder, 'node_modules'), { recursive: true })) {
  if (/\.(map|d\.[cm]?ts)$/.test(file)) rmSync(path.join(folder, 'node_modules', file), { force: true });
}

/** The start of an ELF header, and the offset of its machine type. */
const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const MACHINES = new Map([
  [0x3e, 'x86_64'],
  [0xb7, 'aarch64'],
]);

/** Programs and libraries below a folder, with their machine types. */
function* nativeFilesIn(at) {
  const header = Buffer.alloc(20);
  for (const entry of readdirSync(at, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const open = openSync(file, 'r');
    const length = readSync(open, header);
    closeSync(open);
    if (length < header.length || !header.subarray(0, 4).equals(ELF)) continue;
    yield { file: path.relative(folder, file), machine: MACHINES.get(header.readUInt16LE(18)) ?? 'another machine' };
  }
}

const native = [...nativeFilesIn(path.join(folder, 'node_modules'))];
const foreign = native.filter(({ machine }) => machine !== target);
if (foreign.length > 0 || native.length === 0) {
  for (const { file, machine } of foreign) console.error(`${file} is for ${machine}, and the image for ${target}.`);
  if (native.length === 0) console.error(`There is no native part for ${target}.`);
  process.exit(1);
}
console.log(`${removed} packages removed. Native parts for ${target}: ${native.map(({ file }) => file).join(', ')}.`);
