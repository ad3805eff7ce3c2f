import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { resolvePrompts } from '../../../src/services/prompts/resolve-prompts.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const model = 'sandbox/echo';
const create = async (name: string, body: object) => {
  const answer = await service.call('POST', '/prompts', { body: { name, model, ...body } });
  expect([name, answer.status]).toEqual([name, 201]);
};
const label = (name: string, text: string, version: number) =>
  service.call('PUT', `/prompts/${name}/labels/${text}`, { body: { version } });
const resolve = (...prompts: object[]) => service.call('POST', '/prompts/resolve', { body: { prompts } });
const resolved = async (...prompts: object[]) => {
  const answer = await resolve(...prompts);
  expect(answer.status).toBe(200);
  return answer.body.data;
};

test('each is selected as by GET, in the order of the request', async () => {
  await create('a/one', { template: 'one' });
  await create('a/one', { template: 'two {{ x }}', description: 'What for.' });
  await label('a/one', 'production', 1);
  const data = await resolved(
    { name: 'a/one' },
    { name: 'a/none' },
    { name: 'a/one', version: 1 },
    { name: 'a/one', label: 'production' },
    { name: 'a/one', label: 'latest' },
    { name: 'a/one', version: 9 },
    { name: 'a/one', label: 'staging' },
    { name: 'a/one' },
  );
  const prompt = async (query: string) => (await service.call('GET', `/prompts/a/one${query}`)).body;
  const [first, latest] = [await prompt('?version=1'), await prompt('')];
  const found = (version: object) => ({ name: 'a/one', prompt: version, includes: {}, includes_hash: null });
  const failed = (name: string, message: string) => ({ name, error: { code: 'not_found', message } });
  expect(data).toEqual([
    found(latest),
    failed('a/none', 'The prompt "a/none" does not exist in this workspace. Did you mean "a/one"?'),
    found(first),
    found(first),
    found(latest),
    failed('a/one', 'Version 9 of the prompt "a/one" does not exist in this workspace.'),
    failed('a/one', 'The label "staging" of the prompt "a/one" does not exist in this workspace.'),
    found(latest),
  ]);
});

test('known prompts are not sent', async () => {
  await create('b', { template: 'one' });
  expect(await resolved({ name: 'b', known_version: 1 }, { name: 'b', label: 'latest', known_version: 1 })).toEqual([
    { name: 'b', unchanged: true },
    { name: 'b', unchanged: true },
  ]);
  await create('b', { template: 'two' });
  const [changed, pinned] = await resolved(
    { name: 'b', known_version: 1 },
    { name: 'b', version: 1, known_version: 1 },
  );
  expect([changed.prompt.version, pinned]).toEqual([2, { name: 'b', unchanged: true }]);
  await label('b', 'production', 2);
  await label('b', 'production', 1);
  const [back] = await resolved({ name: 'b', label: 'production', known_version: 2 });
  expect(back.prompt).toMatchObject({ version: 1, template: 'one', labels: ['production'] });
});

test('a prompt comes with all its includes, and changes with them', async () => {
  await create('c/inner', { template: 'inner {{ x }}' });
  await create('c/tone', { template: 'tone {{> c/inner }}' });
  await label('c/tone', 'production', 1);
  await create('c/main', { messages: [{ role: 'user', content: '{{> c/tone@production }} {{> c/inner@1 }}' }] });
  const [first] = await resolved({ name: 'c/main' });
  expect(first.includes).toEqual({
    'c/tone@production': { name: 'c/tone', version: 1, template: 'tone {{> c/inner }}' },
    'c/inner': { name: 'c/inner', version: 1, template: 'inner {{ x }}' },
    'c/inner@1': { name: 'c/inner', version: 1, template: 'inner {{ x }}' },
  });
  const known = { name: 'c/main', known_version: 1, known_includes: first.includes_hash };
  expect(await resolved(known)).toEqual([{ name: 'c/main', unchanged: true }]);
  // Without the hash, the caller's includes are unknown.
  expect((await resolved({ name: 'c/main', known_version: 1 }))[0].prompt.version).toBe(1);

  await create('c/inner', { template: 'inner, again' });
  const [second] = await resolved(known);
  expect(second.includes['c/inner']).toEqual({ name: 'c/inner', version: 2, template: 'inner, again' });
  expect(second.includes_hash).not.toBe(first.includes_hash);

  await service.call('DELETE', '/prompts/c/tone');
  const [broken, other] = await resolved({ ...known, known_includes: second.includes_hash }, { name: 'c/inner' });
  expect([broken.error.code, broken.error.message]).toEqual([
    'invalid_request',
    expect.stringContaining('messages: includes "c/tone@production", which is archived'),
  ]);
  expect(other.prompt.version).toBe(2);
});

test('an archived prompt can be read', async () => {
  await create('d', { template: 'one' });
  await service.call('DELETE', '/prompts/d');
  expect((await resolved({ name: 'd' }))[0].prompt).toMatchObject({ version: 1, archived: true });
});

test('a response has a byte limit: the rest can be requested again', async () => {
  const names = Array.from({ length: 24 }, (_, index) => `e/large-${index}`);
  for (const name of names) await create(name, { template: 'x'.repeat(250_000) });
  await create('e/small', { template: 'small' });
  const [small] = await resolved({ name: 'e/small' });
  const asked = [...names, 'e/small'];
  const got: string[] = [];
  const rounds: number[] = [];
  for (let left = asked; left.length > 0; ) {
    const answer = await resolve(
      ...left.map((name) => ({ name, ...(name === 'e/small' && { known_version: small.prompt.version }) })),
    );
    expect(JSON.stringify(answer.body).length).toBeLessThan(4.5 * 1024 * 1024);
    const data: { name: string; left_out?: true }[] = answer.body.data;
    expect(data.map(({ name }) => name)).toEqual(left);
    got.push(...data.filter((each) => each.left_out === undefined).map(({ name }) => name));
    left = data.filter((each) => each.left_out === true).map(({ name }) => name);
    rounds.push(left.length);
  }
  expect(got.toSorted()).toEqual(asked.toSorted());
  expect(rounds).toEqual([8, 0]);
});

test('prompts with very many includes are for the next request', async () => {
  const inner = Array.from({ length: 60 }, (_, index) => index);
  const all = Array.from({ length: 20 }, (_, prompt) => ({ name: `f/${prompt}` }));
  await service.dependencies.db.system.query(
    {
      text: `with made as (
               insert into prompts (workspace_id, id, name, latest_version, created_at, updated_at)
               select w.id, gen_random_uuid(), all_of.name || '/part-' || part, 1, now(), now()
               from workspaces w, unnest($1::text[]) as all_of (name), unnest($2::int[]) as part
               where w.name = 'default' returning *
             )
             insert into prompt_versions (workspace_id, id, prompt_id, version, template, model, parameters, variables, created_at)
             select workspace_id, gen_random_uuid(), id, 1, 'part', $3, '{}', '{}', now() from made`,
    },
    [all.map(({ name }) => name), inner, model],
  );
  for (const { name } of all)
    await create(name, { template: inner.map((index) => `{{> ${name}/part-${index} }}`).join('') });
  const data: { includes?: object; left_out?: true }[] = await resolved(...all);
  const found = data.filter((each) => each.includes !== undefined);
  expect(found.map(({ includes }) => Object.keys(includes ?? {}).length)).toEqual(Array(10).fill(60));
  expect(data.slice(10)).toEqual(all.slice(10).map(({ name }) => ({ name, left_out: true })));
});

test('the number of statements does not grow with the prompts', async () => {
  for (let index = 0; index < 5; index++) await create(`g/${index}`, { template: '{{> a/one }} {{ name }}' });
  const own = service.dependencies.db.workspace(service.workspaceId);
  let statements = 0;
  const query = new Proxy(own.query, {
    apply(target, self, given) {
      statements += 1;
      return Reflect.apply(target, self, given);
    },
  });
  const many = Array.from({ length: 200 }, (_, index) => ({ name: `g/${index % 5}` }));
  const found = await resolvePrompts({ ...own, query }, many);
  expect(found.map((each) => typeof each === 'object' && 'prompt' in each && each.prompt.name)).toEqual(
    many.map(({ name }) => name),
  );
  expect(statements).toBe(4);
  await resolvePrompts({ ...own, query }, [{ name: 'b', knownVersion: 2 }]);
  expect(statements).toBe(5);
});

test('bad requests are refused, naming the field', async () => {
  const path = async (...prompts: object[]) => {
    const { status, body } = await resolve(...prompts);
    return [status, body.error.details?.[0]?.path];
  };
  expect(await path()).toEqual([400, 'prompts']);
  expect(await path(...Array.from({ length: 201 }, () => ({ name: 'b' })))).toEqual([400, 'prompts']);
  expect(await path({ name: 'b', version: 1, label: 'x' })).toEqual([400, 'prompts.0.label']);
  expect(await path({ name: 'b' }, { name: '//' })).toEqual([400, 'prompts.1.name']);
  expect(await path({ name: 'b', known_version: '1' })).toEqual([400, 'prompts.0.known_version']);
});

test('a key needs the scope read, and sees its own workspace', async () => {
  const { key } = await createKey(service, 'execute');
  const body = { prompts: [{ name: 'b' }] };
  const refused = await service.call('POST', '/prompts/resolve', { body, key });
  expect([refused.status, refused.body.error.code]).toEqual([401, 'insufficient_scope']);
  const reader = await createKey(service, 'read');
  const read = await service.call('POST', '/prompts/resolve', { body, key: reader.key });
  expect(read.body.data[0].prompt.name).toBe('b');
  const other = await createOtherWorkspace(service, 'other');
  const elsewhere = await other.call('POST', '/prompts/resolve', { body });
  expect(elsewhere.body.data[0].error.code).toBe('not_found');
});
