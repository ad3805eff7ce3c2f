// node scripts/check-migrations.ts [FILE…]
// Checks that migrations don't disturb the release that runs at the same time: they block its statements no longer than necessary, and drop,
// rename or require nothing that it uses. Applies the rules of squawk (https://squawkhq.com/docs/rules) to the SQL of each migration
// since 1.0.0. docs/upgrades.md says what to write instead, and how to make an exception.
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Migration } from '@mikro-orm/migrations';
import { openOrm } from '../src/db/orm.ts';
import { pythonWith, run } from './python.ts';

/** The last migration of 1.0.0. Earlier ones created the schema before any release existed. */
const LAST_EXEMPT = 'Migration20261125054819';
const POSTGRES_VERSION = '18';
const FOLDER = fileURLToPath(new URL('../src/db/migrations/', import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL('../tools/squawk/requirements.txt', import.meta.url));
/** A migration may take as long as it needs if nothing waits for it. */
const LEFT_OUT = ['require-statement-timeout'];
/**
 * Such statements wait for others and block nothing. `if not exists` does not make them repeatable, so leftovers of a failed one are
 * dropped first.
 */
const LEFT_OUT_OUTSIDE_OF_TRANSACTIONS = [...LEFT_OUT, 'require-lock-timeout', 'prefer-robust-stmts'];

const isNew = (file: string) => path.basename(file).slice(0, LAST_EXEMPT.length) > LAST_EXEMPT;
const given = process.argv.slice(2);
const files =
  given.length > 0
    ? given.map((file) => path.resolve(file))
    : globSync('Migration*.ts', { cwd: FOLDER })
        .filter(isNew)
        .sort()
        .map((file) => path.join(FOLDER, file));

const orm = await openOrm('postgresql://nobody@127.0.0.1:1/none');
const scratch = mkdtempSync(path.join(tmpdir(), 'pms-migrations-'));

/** Writes the statements of a migration to an SQL file. */
async function sqlOf(file: string): Promise<{ sql: string; isTransactional: boolean }> {
  const exported: Record<string, unknown> = await import(pathToFileURL(file).href);
  const [Found] = Object.values(exported);
  if (typeof Found !== 'function') throw new Error(`${file} exports no migration.`);
  const migration: unknown = Reflect.construct(Found, [orm.em.getDriver(), orm.config]);
  if (!(migration instanceof Migration)) throw new Error(`${file} exports no migration.`);
  await migration.up();
  const statements = migration.getQueries().map((query) => {
    if (typeof query !== 'string') throw new Error(`${file}: only SQL can be checked.`);
    return /;\s*$/.test(query) ? query : `${query};`;
  });
  const sql = path.join(scratch, `${path.basename(file, '.ts')}.sql`);
  writeFileSync(sql, `${statements.join('\n')}\n`);
  return { sql, isTransactional: migration.isTransactional() };
}

try {
  const squawk = files.length === 0 ? '' : path.join(path.dirname(await pythonWith(REQUIREMENTS)), 'squawk');
  for (const file of files) {
    const { sql, isTransactional } = await sqlOf(file);
    const { code, output } = await run(squawk, [
      '--reporter=gcc',
      `--pg-version=${POSTGRES_VERSION}`,
      `--exclude=${(isTransactional ? LEFT_OUT : LEFT_OUT_OUTSIDE_OF_TRANSACTIONS).join(',')}`,
      ...(isTransactional ? ['--assume-in-transaction'] : []),
      sql,
    ]);
    if (code === 0) continue;
    process.exitCode = 1;
    console.error(`${path.basename(file)}:\n${output.replaceAll(`${scratch}${path.sep}`, '')}`);
  }
  if (process.exitCode === undefined)
    console.log(
      `${files.length} migration${files.length === 1 ? '' : 's'} since 1.0.0: none gets in the way of the release before.`,
    );
  else console.error('docs/upgrades.md says how to write it so that the release before can go on.');
} finally {
  await orm.close(true);
  rmSync(scratch, { recursive: true });
}
