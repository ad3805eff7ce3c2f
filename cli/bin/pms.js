#!/usr/bin/env node
// What every Node.js can read: it says which one is needed before anything else is loaded.
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';

const at = (/** @type {string} */ path) => new URL(`../${path}`, import.meta.url);
// A clone of the repository runs its sources, for which Node.js must be newer.
const isClone = existsSync(at('src/main.ts'));
const { engines } = JSON.parse(readFileSync(at(isClone ? '../package.json' : 'package.json'), 'utf8'));
const needed = engines.node.slice('>='.length);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [leastMajor = 0, leastMinor = 0] = needed.split('.').map(Number);
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  process.stderr.write(`pms needs Node.js ${needed} or newer. This is ${process.versions.node}.\n`);
  process.exitCode = 2;
} else if (isClone) {
  // The sources of the client, too.
  const { registerHooks } = await import('node:module');
  const client = new URL('../../clients/typescript/src/index.ts', import.meta.url).href;
  registerHooks({
    resolve: (name, context, next) => (name === 'pms-client' ? { url: client, shortCircuit: true } : next(name, context)),
  });
  await import(at('src/main.ts').href);
} else await import(at('dist/cli/src/main.js').href);
