// Sets the project's version everywhere: npm run prepare-release -- 1.2.3 [--date YYYY-MM-DD]
// Writes it to every file that contains it, dates the section of CHANGELOG.md, regenerates openapi.json and keeps it as the document
// of the last release (npm run breaking compares with it). Running it again changes nothing. Commit the changes: docs/releasing.md.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { run } from './python.ts';
import { dateVersion } from './release/changelog.ts';
import { setVersion } from './release/versions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { date: { type: 'string', default: new Date().toISOString().slice(0, 10) } },
});
const [version = ''] = positionals;
if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/.test(version) || !/^\d{4}-\d{2}-\d{2}$/.test(options.date)) {
  console.error('usage: npm run prepare-release -- 1.2.3 [--date YYYY-MM-DD]');
  process.exit(2);
}

const changelog = path.join(root, 'CHANGELOG.md');
writeFileSync(changelog, dateVersion(readFileSync(changelog, 'utf8'), version, options.date));
setVersion(root, version);
const [document, released] = ['openapi.json', 'openapi.released.json'].map((file) => path.join(root, file));
const made = await run(process.execPath, ['scripts/openapi.ts', 'openapi.json'], { cwd: root });
if (made.code !== 0) throw new Error(`openapi.json can't be made: ${made.output}`);
copyFileSync(document ?? '', released ?? '');
console.log(`The version is ${version}. Read what git diff shows, and commit it.`);
