import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// Statements are made by the query builder (CONTRIBUTING.md, "Writing a statement"). Lists the statements that are still SQL text: a
// template or string literal that begins like a statement. A statement that must stay has a comment `raw SQL: why` above it.
//
//   node scripts/check-raw-sql.ts [--max N] [--explained] [root]
//
// --max: fails if there are more than N; --explained: fails if one has no such comment.

const STATEMENT =
  /[`'"]\s*(?:(?:with(?: recursive)?\s+\w+(?:\s*\([^)]*\))?\s+as\s|select\s+\S|insert\s+into\s|delete\s+from\s)|update\s+\S+(?:\s+\w+)?\s+set\s)/g;
const WHY = /raw SQL: \S/;
/** Maximum number of lines between a statement and its comment. */
const LINES_ABOVE = 4;

interface RawStatement {
  file: string;
  line: number;
  text: string;
  isExplained: boolean;
}

/** Every SQL text in `src`, except migrations, which consist of them. */
function rawStatements(root: string): RawStatement[] {
  return globSync('src/**/*.ts', { cwd: root, exclude: ['src/db/migrations/**', 'src/db/entities/**'] })
    .map((file) => file.replaceAll(path.sep, '/'))
    .sort()
    .flatMap((file) => {
      const source = readFileSync(path.join(root, file), 'utf8');
      const lines = source.split('\n');
      return [...source.matchAll(STATEMENT)].flatMap(({ index }) => {
        const line = source.slice(0, index).split('\n').length;
        const text = lines[line - 1]?.trim() ?? '';
        // A comment, or a sentence that starts like a statement.
        if (/^(?:\/\/|\/?\*)/.test(text)) return [];
        const isExplained = lines.slice(Math.max(0, line - 1 - LINES_ABOVE), line).some((each) => WHY.test(each));
        return [{ file, line, text, isExplained }];
      });
    });
}

const { values, positionals } = parseArgs({
  options: { max: { type: 'string' }, explained: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const root = positionals[0] ?? path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const found = rawStatements(root);
const unexplained = found.filter(({ isExplained }) => !isExplained);
const max = values.max === undefined ? Number.POSITIVE_INFINITY : Number(values.max);
for (const { file, line, text, isExplained } of found)
  console.log(`${file}:${line}: ${isExplained ? '(explained) ' : ''}${text.slice(0, 100)}`);
console.log(`${found.length} statements are SQL text, ${unexplained.length} of them without a comment "raw SQL: why".`);
if (found.length > max || (values.explained && unexplained.length > 0)) process.exitCode = 1;
