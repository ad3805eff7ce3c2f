import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { loadStateMachines, type TableStates } from './state-machines.ts';

// A state changes only through `change()` of its machine (`*-states.ts` of src/domain): no SQL in src sets a state column directly.
// `changeState()` (src/db/state-change.ts) does it for the query builder. Tests check the statements that they run, too:
// test/support/state-triggers.ts.

const COMMENT_LINE = /^[ \t]*(?:\/\/|\/?\*).*$/gm;

/** The rest of a query builder statement, up to the next one. */
const REST = String.raw`(?:(?!\b(?:updateTable|insertInto|deleteFrom)\()[^;])*?`;

/** SQL patterns that set a state directly; the first group of each is shown. */
function patternsOf({ table, machine }: TableStates): RegExp[] {
  const { column, literals } = machine.stored;
  const literal = `(?:${Object.values(literals).join('|')})`;
  const later = machine.states.filter((state) => state !== machine.initial).map((state) => literals[state]);
  return [
    // As an item of an update's list, up to the end of the surrounding text.
    String.raw`\b(?:update|into)\s+(?:only\s+)?(?:${table}|\$\{[^}]*\})(?=\s)[^\`]*?\bset\b(?:(?:(?!\breturning\b)[^\`])*?,)?\s*(${column}\s*=(?![=>])[^\`\n,]*)`,
    // At the start of a text that is inserted into a statement elsewhere.
    String.raw`[\`'"]\s*(${column}\s*=\s*(?:case\b|${literal})[^\`\n,]*)`,
    // As an inserted value other than the first state.
    String.raw`\b(?:into)\s+${table}(?=\s)[^\`]*?,\s*((?:${later.join('|')})(?=\s*[,)]))[^\`]*`,
    // With the query builder: in `set({ … })` of an update or an upsert, and as a value other than the first state.
    String.raw`\bupdateTable\(\s*'${table}\b${REST}\.set\(${REST}[\s,{](${column}\s*[:,}][^\n]*)`,
    String.raw`\bupdateTable\(\s*'${table}\b${REST}\.set\(\s*'(${column}'[^\n]*)`,
    String.raw`\binsertInto\(\s*'${table}\b${REST}\bdoUpdateSet\(${REST}[\s,{](${column}\s*[:,}][^\n]*)`,
    String.raw`\binsertInto\(\s*'${table}\b${REST}\bvalues\(${REST}[\s,{](${column}:\s*(?:${later.join('|')})[^\n]*)`,
  ].map((pattern) => new RegExp(pattern, 'gi'));
}

/** Every violation in a project, as `file:line: text: fault`. */
async function check(root: string): Promise<string[]> {
  const machines = await loadStateMachines(root);
  return globSync('src/**/*.ts', { cwd: root, exclude: ['src/db/migrations/**'] })
    .map((file) => file.replaceAll(path.sep, '/'))
    .sort()
    .flatMap((file) => {
      // Keeps line breaks, so that line numbers are correct.
      const source = readFileSync(path.join(root, file), 'utf8').replace(COMMENT_LINE, '');
      return machines.flatMap((states) =>
        patternsOf(states).flatMap((pattern) =>
          [...source.matchAll(pattern)].map((match) => {
            const shown = match[1] ?? '';
            const line = source.slice(0, match.index + match[0].indexOf(shown)).split('\n').length;
            return `${file}:${line}: ${shown.trim()}: the state of ${states.table} is set by change() of its machine only`;
          }),
        ),
      );
    });
}

const root = process.argv[2] ?? path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const violations = await check(root);
for (const violation of new Set(violations)) console.error(violation);
if (violations.length > 0) process.exitCode = 1;
