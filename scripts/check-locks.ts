// node scripts/check-locks.ts [FILE…]
// Checks that npm verifies everything it downloads: each package in each package-lock.json has the SHA-512 checksum of its archive
// (`integrity`) and no download address. Without a checksum npm accepts whatever the registry sends. Default: every lock file of
// the project. See scripts/fill-lock.mjs.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { z } from 'zod';

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ link: z.boolean().optional(), integrity: z.string().optional(), resolved: z.string().optional() }),
  ),
});

/** The problems of a lock file, one line per package. */
function problemsOf(file: string): string[] {
  const { packages } = Lock.parse(JSON.parse(readFileSync(file, 'utf8')));
  return Object.entries(packages).flatMap(([at, { link, integrity, resolved }]) => {
    // The project itself, and its own packages.
    if (link === true || !at.includes('node_modules/')) return [];
    if (integrity === undefined) return [`${file}: ${at} has no integrity`];
    if (!/(^|\s)sha512-/.test(integrity)) return [`${file}: ${at} has an integrity that is not of SHA-512`];
    return resolved === undefined ? [] : [`${file}: ${at} names an address (resolved)`];
  });
}

function lockFiles(): string[] {
  const files = execFileSync('git', ['ls-files', '-z', '--', 'package-lock.json', '**/package-lock.json'], {
    encoding: 'utf8',
  });
  return files.split('\0').filter((file) => file !== '');
}

const given = process.argv.slice(2);
const files = given.length > 0 ? given : lockFiles();
const problems = files.flatMap(problemsOf);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error('Run node scripts/fill-lock.mjs: it asks the registry, and says which versions it does not hold.');
  process.exitCode = 1;
}
