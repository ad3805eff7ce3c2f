import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../support/database.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const script = path.join(project, 'scripts/check-states.ts');
let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'pms-states-'));
  mkdirSync(path.join(root, 'src/services'), { recursive: true });
  mkdirSync(path.join(root, 'src/domain'), { recursive: true });
  for (const file of ['state-machine.ts', 'evaluations/evaluation-states.ts', 'schedule-states.ts'])
    cpSync(path.join(project, 'src/domain', file), path.join(root, 'src/domain', file));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Checks a project with one file in addition to its machines. */
function check(source: string): { status: number | null; faults: string[] } {
  writeFileSync(path.join(root, 'src/services/a.ts'), source);
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' });
  return { status, faults: stderr.split('\n').filter((line) => line !== '') };
}

test('this project changes states only by their machines', () => {
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test.each([
  ['an update', "const A = `update evaluations set status = 'paused' where id = $1`;"],
  ['a parameter', 'const A = `update evaluations e set score = 1, status = $2 where id = $1`;'],
  ['a case', 'const A = `update evaluations\n set error = null,\n status = case when $1 then $2 else $3 end`;'],
  ['after a subselect', "const A = `update evaluations set score = (select 1 from x), status = 'failed'`;"],
  ['a table that is not to be seen', `const A = \`update \${table} set status = $1\`;`],
  ['a part of a statement', "const A = { set: `status = 'paused', status_reason = 'x'` };"],
  [
    'an upsert',
    "const A = `insert into evaluations (id) values ($1) on conflict (id) do update set status = 'failed'`;",
  ],
  ['an insert', "const A = `insert into evaluations (id, status, n) values ($1, 'running', 1)`;"],
  ['the builder', "db.updateTable('evaluations').set({ score: 1, status: 'paused' }).where('id', '=', id);"],
  ['the builder by name', "db.updateTable('evaluations as e').set('status', 'paused').where('id', '=', id);"],
  ['an expression', "db.updateTable('evaluations').set((eb) => ({ status: eb.val('paused') }));"],
  ['several lines', "db.updateTable('evaluations').from('x').set({\nscore: 1,\nstatus,\n});"],
  ['a built insert', "db.insertInto('evaluations').values({ id, status: 'running' });"],
  [
    'a built upsert',
    "db.insertInto('evaluations').values({ id }).onConflict((c) => c.column('id').doUpdateSet({ status: 'failed' }));",
  ],
  ['the builder in another column', "db.updateTable('schedules').set({ name, paused: true });"],
  ['another column', 'const A = `update schedules set name = $2, paused = $3 where id = $1`;'],
])('a state is not set by %s', (_, source) => {
  const { status, faults } = check(source);
  expect(status).toBe(1);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(/^src\/services\/a\.ts:\d: .*: the state of \w+ is set by change\(\) of its machine only$/);
});

test.each([
  ['the result of change()', `const A = \`update evaluations set \${PAUSED.set}, score = 1 where \${PAUSED.where}\`;`],
  [
    'the result of changeState()',
    "db.updateTable('evaluations').set({ ...PAUSED.set, score: 1 }).where(PAUSED.where);",
  ],
  [
    'a built condition',
    "db.updateTable('evaluations').set({ score: 1 }).where('status', '=', 'paused').returning('status');",
  ],
  [
    'a statement after it',
    "db.updateTable('evaluations').set({ n: 1 }).with('x', (c) => c.insertInto('events').values({ status: 1 }));",
  ],
  ['a built first state', "db.insertInto('evaluations').values({ id, status: 'scheduled' });"],
  ['other tables', "const A = `update webhooks set status = 'disabled' where id = $1`;"],
  ['a condition', "const A = `select 1 from evaluations where status = 'paused'`;"],
  ['another column', "const A = `update evaluations set status_reason = 'x', to_end = status = 'failed'`;"],
  ['what is returned', "const A = `update evaluations set score = 1 returning id, status = 'failed' as failed`;"],
  ['the first state', "const A = `insert into evaluations (id, status, n) values ($1, 'scheduled', 1)`;"],
  ['its name', `const A = \`insert into evaluations (id, status) values ($1, '\${states.initial}')\`;`],
])('%s can be written', (_, source) => {
  expect(check(source)).toEqual({ status: 0, faults: [] });
});

test('a machine needs a table', () => {
  cpSync(path.join(root, 'src/domain/schedule-states.ts'), path.join(root, 'src/domain/stray-states.ts'));
  expect(check('').faults.join('\n')).toContain(
    'src/domain/stray-states.ts: add its table to scripts/state-machines.ts',
  );
});

test("the tests' databases refuse a change without a machine", async () => {
  const database = await createTestDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    const { rows } = await client.query<{ table: string }>(
      `select distinct event_object_table as table from information_schema.triggers where trigger_name = 'check_state'`,
    );
    expect(rows.map(({ table }) => table)).toEqual(expect.arrayContaining(['evaluations', 'schedules']));
    await client.query(`
      create table runs (status text);
      insert into runs values ('completed')`);
    await client.query(`create trigger check_state before update on runs for each row
      when (old.status is distinct from new.status) execute function check_state_of_evaluations()`);
    await expect(client.query(`update runs set status = 'canceled'`)).rejects.toThrow(
      'There is no change of evaluations from completed to canceled.',
    );
    await client.query(`update runs set status = 'completed'`);
    await client.query(`update runs set status = 'running'`);
  } finally {
    await client.end();
    await database.drop();
  }
});
