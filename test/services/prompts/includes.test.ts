import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Database, openDatabase, type WorkspaceDatabase } from '../../../src/db/database.ts';
import { newId } from '../../../src/domain/ids.ts';
import { templateContent } from '../../../src/domain/prompts/prompt-content.ts';
import { archivePrompt, restorePrompt } from '../../../src/services/prompts/archive.ts';
import { resolveIncludes } from '../../../src/services/prompts/includes.ts';
import { setLabel } from '../../../src/services/prompts/labels.ts';
import { createVersion } from '../../../src/services/prompts/prompts.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let own: WorkspaceDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 20 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(() => {
  own = db.workspace(newId());
});

const WRITER = { scopes: ['write'] as const };
const write = (name: string, template: string) =>
  own.transaction((query) => createVersion(query, name, { template, model: 'sandbox/echo' }));
const resolve = (template: string) => resolveIncludes(own.query, templateContent(template));

test('each reference is resolved once, at any depth', async () => {
  await write('a', 'one');
  await write('a', 'two');
  await write('group/b', '{{> a }} {{> a@1 }} {{> a@live }}').catch(() => {});
  await setLabel(own, 'a', 'live', 1, WRITER);
  await write('group/b', '{{> a }} {{> a@1 }} {{> a@live }} {{> a@latest }}');
  expect(await resolve('{{> group/b }} {{> a }}')).toEqual({
    'group/b': { name: 'group/b', version: 1, template: '{{> a }} {{> a@1 }} {{> a@live }} {{> a@latest }}' },
    a: { name: 'a', version: 2, template: 'two' },
    'a@1': { name: 'a', version: 1, template: 'one' },
    'a@live': { name: 'a', version: 1, template: 'one' },
    'a@latest': { name: 'a', version: 2, template: 'two' },
  });
  expect(await resolve('nothing')).toEqual({});
});

test('other workspaces are excluded', async () => {
  await write('theirs', 'secret');
  own = db.workspace(newId());
  await expect(resolve('{{> theirs }}')).rejects.toThrow('template: includes "theirs", which does not exist');
});

test('an invalid include is refused', async () => {
  await write('a', 'text');
  for (const ref of ['b', 'a@2', 'a@0', 'a@99999999999', 'a@live', 'a//b'])
    await expect(resolve(`{{> ${ref} }}`)).rejects.toThrow(`template: includes "${ref}", which does not exist`);
  await own.transaction((query) =>
    createVersion(query, 'chat', { messages: [{ role: 'user', content: '{{> a }}' }], model: 'sandbox/echo' }),
  );
  await expect(resolve('{{> chat }}')).rejects.toThrow('is a list of messages');
  await write('b', '{{> a }}');
  await archivePrompt(own, 'a', { scopes: ['admin'] });
  await expect(resolve('{{> b }}')).rejects.toThrow('includes "a", which is archived');
  await restorePrompt(own, 'a', WRITER);
  expect(Object.keys(await resolve('{{> b }}')).toSorted()).toEqual(['a', 'b']);
});

test('includes are nested at most 5 deep', async () => {
  await write('p5', 'end');
  for (let level = 4; level >= 1; level -= 1) await write(`p${level}`, `{{> p${level + 1} }}`);
  expect(Object.keys(await resolve('{{> p1 }}'))).toHaveLength(5);
  await write('p0', '{{> p1 }}');
  await expect(write('top', '{{> p0 }}')).rejects.toThrow('nested deeper than 5 levels');
  await write('p5', '{{> p6 }}').catch(() => {});
  await write('p6', 'end');
  await write('p5', '{{> p6 }}');
  await expect(resolve('{{> p1 }}')).rejects.toThrow('nested deeper than 5 levels');
});

test('a prompt can include its own older version, and not the latest', async () => {
  await write('a', 'one');
  await write('a', '{{> a@1 }} two');
  await expect(write('a', '{{> a }}')).rejects.toThrow('includes are circular: a → a');
  await expect(write('a', '{{> a@3 }}')).rejects.toThrow('includes are circular: a@3 → a@3');
  expect(await resolve('{{> a }}')).toMatchObject({ a: { version: 2 }, 'a@1': { version: 1 } });
});

test('one of two writers who would close a cycle of five at once is refused', async () => {
  for (let round = 0; round < 10; round += 1) {
    own = db.workspace(newId());
    for (const name of ['a', 'b', 'c', 'd', 'e']) await write(name, 'text');
    // a → b → c → d → e → a
    await write('b', '{{> c }}');
    await write('c', '{{> d }}');
    const results = await Promise.allSettled([write('a', '{{> b }}'), write('d', '{{> e }}'), write('e', '{{> a }}')]);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { message: expect.stringContaining('are circular') } }]);
  }
});

test('a set is of one moment, whatever is written and labelled meanwhile', async () => {
  for (const text of ['one', 'two']) await write('a', text);
  await setLabel(own, 'a', 'live', 1, WRITER);
  await write('b', '{{> a@live }} {{> a }} {{> a@latest }}');
  const sets = Array.from({ length: 50 }, () => resolve('{{> b }} {{> a@live }}'));
  const changes = Array.from({ length: 20 }, async (_, n) => {
    await setLabel(own, 'a', 'live', (n % 2) + 1, WRITER);
    await write('a', `text ${n}`);
  });
  for (const set of await Promise.all(sets)) {
    expect(set['a']).toEqual(set['a@latest']);
    expect([1, 2]).toContain(set['a@live']?.version);
  }
  await Promise.all(changes);
});

test('a label that would close a cycle is not moved', async () => {
  await write('a', 'one');
  await setLabel(own, 'a', 'live', 1, WRITER);
  await write('b', '{{> a@live }}');
  await write('a', '{{> b }}');
  await expect(setLabel(own, 'a', 'live', 2, WRITER)).rejects.toThrow('version: includes are circular: b → a@live → b');
  expect(await resolve('{{> b }}')).toMatchObject({ 'a@live': { version: 1 } });
});

test('none of many who move labels and write includes at once closes a cycle', async () => {
  for (let round = 0; round < 5; round += 1) {
    own = db.workspace(newId());
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await write(name, 'text');
    for (const name of names) await setLabel(own, name, 'live', 1, WRITER);
    // Version 2 of each includes the version that the next one's label points to: three of them may be live, not all four.
    for (const [n, name] of names.entries()) await write(name, `{{> ${names[(n + 1) % 4]}@live }}`);
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        n % 5 === 4
          ? write(names[n % 4] ?? '', `{{> ${names[(n + 1) % 4]}@live }} ${n}`)
          : setLabel(own, names[n % 4] ?? '', 'live', 2, WRITER),
      ),
    );
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(reasons.length).toBeGreaterThan(0);
    for (const { message } of reasons) expect(message).toMatch('are circular');
    for (const name of names) await resolve(`{{> ${name}@live }} {{> ${name} }}`);
  }
});

test('there are at most 100 of them, and 1 MiB', async () => {
  for (let n = 0; n < 10; n += 1) await write(`p/${n}`, 'x'.repeat(120_000));
  await expect(resolve(Array.from({ length: 10 }, (_, n) => `{{> p/${n} }}`).join(''))).rejects.toThrow(
    '1048576 bytes',
  );
  const refs = (count: number) => Array.from({ length: count }, (_, n) => `{{> p/${n} }}`).join('');
  await expect(resolve(refs(101))).rejects.toThrow('more than 100 different includes');
  for (let n = 10; n < 101; n += 1) await write(`p/${n}`, 'x');
  for (let n = 0; n < 10; n += 1) await write(`p/${n}`, 'x');
  await write('half', refs(60));
  await expect(resolve(`{{> half }}{{> p/60 }}`)).resolves.toHaveProperty(['p/60']);
  await write('other', Array.from({ length: 41 }, (_, n) => `{{> p/${n + 60} }}`).join(''));
  await expect(resolve('{{> half }}{{> other }}')).rejects.toThrow('more than 100 different includes');
});
