// node scripts/migration.ts create [name] | check
// Creates a migration from the difference between the entities and the snapshot, or checks that there is none, using a
// temporary PostgreSQL.
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openOrm } from '../src/db/orm.ts';
import { startPostgres } from '../src/embedded/postgres/postgres.ts';

/** A statement that waits for a lock blocks all later ones: a migration that does not get it in time lets them pass, and is retried. */
function addLockTimeout(fileName: string): void {
  const file = new URL(`../src/db/migrations/${fileName}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/( up\(\).*\{\n)/, `$1    this.addSql(\`set local lock_timeout = '5s';\`);\n`));
}

const [command = 'check', name] = process.argv.slice(2);
const folder = await mkdtemp(path.join(tmpdir(), 'pms-migration-'));
const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), ephemeral: true, log: () => {} });
const orm = await openOrm(postgres.url('pms'));
try {
  await orm.schema.ensureDatabase();
  if (command === 'create') {
    const result = await orm.migrator.create(undefined, false, false, name);
    if (result.fileName) addLockTimeout(result.fileName);
    console.log(result.fileName || 'The entities match the snapshot: nothing to migrate.');
  } else {
    await orm.migrator.up();
    const drift = await orm.schema.getUpdateSchemaMigrationSQL({ wrap: false });
    const unmigrated = await orm.migrator.checkSchema();
    if (drift.up.trim()) console.log(`The migrated database differs from the entities:\n${drift.up}`);
    if (unmigrated) console.log('The entities differ from the snapshot: run `npm run migration create NAME`.');
    if (drift.up.trim() || unmigrated) process.exitCode = 1;
    else console.log('Entities, snapshot and migrated database agree.');
  }
} finally {
  await orm.close(true);
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
