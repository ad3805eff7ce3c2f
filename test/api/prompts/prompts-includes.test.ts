import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const save = (name: string, text: string | object[], call = service.call) =>
  call('POST', '/prompts', {
    body: { name, model: 'sandbox/echo', ...(typeof text === 'string' ? { template: text } : { messages: text }) },
  });
const label = (name: string, at: string, version: number) =>
  service.call('PUT', `/prompts/${name}/labels/${at}`, { body: { version } });
const including = async (query: string, call = service.call) => {
  const { status, body } = await call('GET', `/prompts?includes=${query}`);
  return status === 200 ? body.data.map(({ name }: { name: string }) => name) : [status, body.error.code];
};

test('includers of a prompt are listed: by any reference, in messages too, but not those through another', async () => {
  await save('part', 'Be kind.');
  await label('part', 'live', 1);
  await save('part/longer', 'Be kind.');
  await save('by/name', '{{> part }} {{ x }}');
  await save('by/number', '{{> part@1 }}');
  await save('by/label', [
    { role: 'system', content: '{{> part@live }}' },
    { role: 'user', content: '{{ x }}' },
  ]);
  await save('by/both', '{{> part }} {{> part@live }} {{> part/longer }}');
  await save('by/none', 'part \\{{> part }}');
  await save('through', '{{> by/name }}');
  expect(await including('part')).toEqual(['by/both', 'by/label', 'by/name', 'by/number']);
  expect(await including('part/longer')).toEqual(['by/both']);
  expect(await including('by%2Fname')).toEqual(['through']);
  expect(await including('nothing')).toEqual([]);
  expect(await including('part&group=by&sort=-name&limit=1')).toEqual(['by/number']);
  const other = await createOtherWorkspace(service, 'includes');
  await save('part', 'Be rude.', other.call);
  await save('theirs', '{{> part }}', other.call);
  expect(await including('part', other.call)).toEqual(['theirs']);
  for (const wrong of ['', 'a//b', 'part@live', '%00'])
    expect(await including(wrong)).toEqual([400, 'invalid_request']);
});

test('the latest version counts, and labelled ones', async () => {
  await save('tone', 'Be kind.');
  await save('user', '{{> tone }}');
  await label('user', 'production', 1);
  await save('user', 'Nothing.');
  expect(await including('tone')).toEqual(['user']);
  expect(await including('tone&label=production')).toEqual(['user']);
  await label('user', 'production', 2);
  expect(await including('tone')).toEqual([]);
  await save('user', '{{> tone }} again');
  expect(await including('tone')).toEqual(['user']);
  await service.call('DELETE', '/prompts/user');
  expect(await including('tone')).toEqual([]);
  expect(await including('tone&archived=true')).toEqual(['user']);
});

test('an included label cannot move to a list of messages and cannot be removed', async () => {
  await save('held', 'Be kind.');
  await save('held', 'Be brief.');
  await save('held', [{ role: 'user', content: '{{ x }}' }]);
  await label('held', 'live', 1);
  await save('holder', '{{> held@live }}');
  const move = await label('held', 'live', 3);
  expect([move.status, move.body.error?.message]).toEqual([
    400,
    expect.stringMatching(/version: is a list of messages, and version 1 of "holder" includes "held@live"/),
  ]);
  const remove = () => service.call('DELETE', '/prompts/held/labels/live');
  const removal = await remove();
  expect([removal.status, removal.body.error?.message]).toEqual([
    400,
    expect.stringMatching(/label: can't be removed, and version 1 of "holder" includes "held@live"/),
  ]);
  expect((await service.call('GET', '/prompts/held?label=live')).body.version).toBe(1);
  expect((await label('held', 'live', 2)).status).toBe(200);
  expect((await label('held', 'other', 3)).status).toBe(200);
  // A version counts while it is the latest or has a label.
  await save('holder', 'plain');
  expect((await label('held', 'live', 3)).status).toBe(200);
  expect((await remove()).status).toBe(200);
});
