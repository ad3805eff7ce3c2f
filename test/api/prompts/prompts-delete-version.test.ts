import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
let call: TestService['call'];
beforeAll(async () => {
  // Without workers, started work does not end.
  service = await startTestService({ QUOTA_PROMPT_BYTES: '32KiB' }, { workers: false });
  ({ call } = service);
});
afterAll(() => service?.stop());

/** Creates versions of a prompt with these texts. */
async function makeVersions(name: string, ...templates: string[]): Promise<void> {
  for (const template of templates) {
    const { status } = await call('POST', '/prompts', { body: { name, model: 'sandbox/echo', template } });
    expect(status).toBe(201);
  }
}

const remove = (name: string, version: number) => call('DELETE', `/prompts/${name}/versions/${version}`);

/** The reason why a version can't be deleted; it still exists. */
async function refusal(name: string, version: number): Promise<string> {
  const { status, body } = await remove(name, version);
  expect([status, body.error?.code]).toEqual([400, 'invalid_request']);
  expect((await call('GET', `/prompts/${name}?version=${version}`)).status).toBe(200);
  return body.error.message;
}

test('an unused version is deleted, and its number is never reused', async () => {
  await makeVersions('gone/a', 'one', 'two', 'three');
  expect(await remove('gone/a', 2)).toMatchObject({ status: 200, body: { version: 2, template: 'two' } });
  expect((await call('GET', '/prompts/gone/a?version=2')).status).toBe(404);
  expect((await remove('gone/a', 2)).status).toBe(404);
  await makeVersions('gone/a', 'four');
  const { body } = await call('GET', '/prompts/gone/a/versions');
  expect(body.data.map(({ version }: { version: number }) => version)).toEqual([4, 3, 1]);
  const run = { prompt_name: 'gone/a', version: 2 };
  expect((await call('POST', '/executions', { body: run })).status).toBe(404);
});

test('a version that this process ran is not run after its deletion', async () => {
  await makeVersions('gone/known', 'one', 'two');
  const body = { prompt_name: 'gone/known', version: 1 };
  const headers = { Prefer: 'respond-async' };
  const begun = await call('POST', '/executions', { body, headers });
  expect(begun.status).toBe(201);
  await call('POST', `/executions/${begun.body.id}/cancel`);
  expect((await remove('gone/known', 1)).status).toBe(200);
  expect((await call('POST', '/executions', { body, headers })).status).toBe(404);
});

test('a needed version cannot be deleted, and the answer says why', async () => {
  await makeVersions('kept/a', 'one', 'two', 'three', 'four', 'five', 'six');
  expect(await refusal('kept/a', 6)).toContain('is the latest');

  await call('PUT', '/prompts/kept/a/labels/live', { body: { version: 1 } });
  expect(await refusal('kept/a', 1)).toContain('has the label "live"');

  await makeVersions('kept/includer', '{{> kept/a@2 }}', 'plain');
  expect(await refusal('kept/a', 2)).toContain('included by version 1 of "kept/includer"');
  expect((await remove('kept/includer', 1)).status).toBe(200);
  expect((await remove('kept/a', 2)).status).toBe(200);

  const headers = { Prefer: 'respond-async' };
  const { body: execution } = await call('POST', '/executions', {
    body: { prompt_name: 'kept/a', version: 3 },
    headers,
  });
  expect(await refusal('kept/a', 3)).toContain(execution.id);
  await call('POST', `/executions/${execution.id}/cancel`);
  expect((await remove('kept/a', 3)).status).toBe(200);

  const evaluation = { prompt_name: 'kept/a', version: 4, examples: [{ variables: {} }] };
  const { body: run } = await call('POST', '/evaluations', { body: evaluation });
  expect(await refusal('kept/a', 4)).toContain(run.id);

  const schedule = { name: 'nightly', cron: '0 3 * * *', evaluation: { ...evaluation, version: 5 } };
  expect((await call('POST', '/schedules', { body: schedule })).status).toBe(201);
  expect(await refusal('kept/a', 5)).toContain('"nightly"');
});

test('a version in an unfinished release cannot be deleted', async () => {
  await makeVersions('kept/released', 'one', 'two', 'three', 'four');
  await call('PUT', '/prompts/kept/released/labels/live', { body: { version: 1 } });
  const steps = [{ type: 'wait', for: '1h' }];
  const release = await call('POST', '/releases', {
    body: { prompt_name: 'kept/released', label: 'live', version: 2, steps },
  });
  expect(release.status).toBe(201);
  expect(await refusal('kept/released', 2)).toContain(release.body.id);
  // A stable version usually keeps its label; a release in its bake step has moved it.
  await service.dependencies.db.system.query((db) =>
    db.updateTable('releases').set({ stable_version: 3 }).where('prompt_name', '=', 'kept/released'),
  );
  expect(await refusal('kept/released', 3)).toContain(release.body.id);
  expect((await call('POST', `/releases/${release.body.id}/cancel`)).status).toBe(200);
  expect((await remove('kept/released', 2)).status).toBe(200);
  expect((await remove('kept/released', 3)).status).toBe(200);
});

test('a comparison without a base uses the newest remaining version', async () => {
  await makeVersions('gone/compared', 'one', 'two', 'three');
  expect((await remove('gone/compared', 2)).status).toBe(200);
  expect(await call('GET', '/prompts/gone/compared/diff')).toMatchObject({ status: 200, body: { from: 1, to: 3 } });
  expect((await remove('gone/compared', 1)).status).toBe(200);
  expect(await call('GET', '/prompts/gone/compared/diff')).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('there is no version before 3') } },
  });
});

test('deletions are audited', async () => {
  await makeVersions('gone/b', 'one', 'two');
  expect((await remove('gone/b', 1)).status).toBe(200);
  const { body } = await call('GET', '/audit-log?action=prompt.version_deleted&limit=1');
  expect(body.data).toMatchObject([{ resource: { type: 'prompt', id: 'gone/b' }, details: { version: 1 } }]);
});

test('the versions of a workspace have a byte quota, and deleting some makes room', async () => {
  const template = 'x'.repeat(9_000);
  await makeVersions('full', ...Array.from({ length: 3 }, (_, n) => `${n} ${template}`));
  for (const [method, path] of [
    ['POST', '/prompts'],
    ['PUT', '/prompts/full'],
  ] as const) {
    const body = { ...(method === 'POST' && { name: 'full', model: 'sandbox/echo' }), template: `4 ${template}` };
    const refused = await call(method, path, { body });
    expect([refused.status, refused.body.error?.code]).toEqual([429, 'quota_exceeded']);
    expect(refused.body.error.message).toMatch(/32768 bytes in prompts.*DELETE .*QUOTA_PROMPT_BYTES/);
  }
  const other = await createOtherWorkspace(service, 'has-room');
  const body = { name: 'full', model: 'sandbox/echo', template };
  expect((await other.call('POST', '/prompts', { body })).status).toBe(201);
  expect((await remove('full', 1)).status).toBe(200);
  await makeVersions('full', `4 ${template}`);
});
