// node console/strings/write.ts [--check]
// Writes all messages of the console to console/strings/en.json. With --check it ends with 1 where that file is not current.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { catalogFile, englishCatalog } from './catalog.ts';

const file = catalogFile('en');
const catalog = `${JSON.stringify(englishCatalog(), undefined, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(file, catalog);
else if (readFileSync(file, 'utf8') !== catalog) {
  console.error('console/strings/en.json is not current: run npm run strings');
  process.exitCode = 1;
}
