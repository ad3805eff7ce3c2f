import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { memberOf, type TestMember } from '../support/members.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage, type Visitor } from './stage.ts';

let stage: Stage;
let admin: TestMember;
let viewer: TestMember;
beforeAll(async () => {
  stage = await startStage();
  admin = await memberOf(stage.service, 'admin', { name: 'Grace Hopper', email: 'grace@example.com' });
  viewer = await memberOf(stage.service, 'viewer', { name: 'Ada Lovelace', email: 'ada@example.com' });
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

/** A window in which a member is signed in. */
async function visitAs({ session }: TestMember): Promise<Visitor> {
  const visitor = await stage.visit();
  const [name = '', value = ''] = (session['Cookie'] ?? '').split('=', 2);
  await visitor.context.addCookies([{ name, value, url: stage.service.origin }]);
  return visitor;
}

test('an admin finds members, sets a role, suspends, reinstates and removes, each after a question', async () => {
  const emmy = await memberOf(stage.service, 'viewer', { name: 'Emmy Noether', email: 'emmy@example.com' });
  const { context, page, complaints } = await visitAs(admin);
  await page.goto(stage.at('/settings?tab=members'));
  const row = page.getByRole('row', { name: 'Emmy Noether' });
  await row.getByRole('cell', { name: 'viewer' }).waitFor();
  await page.getByLabel('Name or e-mail').fill('grace@');
  await row.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: 'grace@example.com' }).waitFor();
  await page.getByLabel('Name or e-mail').fill('');

  await page.getByRole('button', { name: 'Role… Emmy Noether' }).click();
  const role = page.getByRole('dialog', { name: 'Role of Emmy Noether' });
  await role.getByLabel('Role').selectOption('publisher');
  await role.getByRole('button', { name: 'Change' }).click();
  await role.waitFor({ state: 'detached' });
  await row.getByText('set here').waitFor();
  expect((await call('GET', '/me', { key: emmy.key })).body.role).toBe('publisher');
  await page.getByRole('button', { name: 'Role… Emmy Noether' }).click();
  await role.getByLabel('Role').selectOption('What the identity provider gives');
  await role.getByRole('button', { name: 'Change' }).click();
  await role.waitFor({ state: 'detached' });
  await row.getByText('set here').waitFor({ state: 'detached' });
  expect((await call('GET', '/me', { key: emmy.key })).body.role).toBe('viewer');

  await page.getByRole('button', { name: 'Suspend… Emmy Noether' }).click();
  const question = page.getByRole('dialog', { name: 'Suspend Emmy Noether?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect((await call('GET', '/me', { key: emmy.key })).status).toBe(200);
  await page.getByRole('button', { name: 'Suspend… Emmy Noether' }).click();
  await question.getByRole('button', { name: 'Suspend' }).click();
  await row.getByText('suspended').waitFor();
  expect((await call('GET', '/me', { key: emmy.key })).status).toBe(401);
  await page.getByRole('button', { name: 'Reinstate… Emmy Noether' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reinstate' }).click();
  await row.getByText('active').waitFor();
  expect((await call('GET', '/me', { key: emmy.key })).status).toBe(200);

  const leaver = await memberOf(stage.service, 'editor', { name: 'Charles Babbage' });
  await page.reload();
  await page.getByRole('button', { name: 'Remove… Charles Babbage' }).click();
  await page.getByRole('dialog', { name: 'Remove Charles Babbage?' }).getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('row', { name: 'Charles Babbage' }).getByText('removed').waitFor();
  expect((await call('GET', '/me', { key: leaver.key })).status).toBe(401);

  expect(await violationsInThemes(page)).toEqual([]);
  await page.getByRole('link', { name: 'Log of Emmy Noether' }).click();
  await page.getByRole('heading', { name: 'No entries match these filters' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('other members see members, and change none', async () => {
  const { context, page, complaints } = await visitAs(viewer);
  await page.goto(stage.at('/settings?tab=members'));
  await page.getByRole('row', { name: 'Grace Hopper' }).getByRole('cell', { name: 'admin' }).waitFor();
  expect(await page.getByRole('button', { name: /Role…|Suspend…|Remove…/ }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a member makes a personal key within the role, and revokes it', async () => {
  const { context, page, complaints } = await visitAs(viewer);
  await page.goto(stage.at('/settings?tab=my-keys'));
  await page.getByRole('cell', { name: "Ada Lovelace's", exact: true }).waitFor();
  await page.getByRole('button', { name: 'New key…' }).click();
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name').fill('my laptop');
  await form.getByRole('checkbox', { name: /^read/ }).waitFor();
  expect(await form.getByRole('checkbox').count()).toBe(1);
  expect(await violationsInThemes(page)).toEqual([]);
  await form.getByRole('button', { name: 'Create' }).click();
  const shown = page.getByRole('dialog', { name: 'The new key' });
  const key = (await shown.locator('pre').textContent()) ?? '';
  await shown.getByRole('button', { name: 'I have saved it' }).click();
  expect((await call('GET', '/me', { key })).body).toMatchObject({
    member: { id: viewer.id },
    key: { name: 'my laptop' },
  });
  await page.getByRole('button', { name: 'Revoke… my laptop' }).click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('cell', { name: 'revoked' }).waitFor();
  expect((await call('GET', '/me', { key })).status).toBe(401);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a person with a workspace key has no personal keys, and is shown so', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/settings?tab=my-keys'));
  await page.getByRole('heading', { name: 'Only for members' }).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('actions of members have their names: in the audit log, in releases and in scores', async () => {
  const body = { name: 'by/grace', template: 'It.', model: 'sandbox/echo' };
  await call('POST', '/prompts', { key: admin.key, body });
  await call('POST', '/prompts', { key: admin.key, body: { ...body, template: 'Other.' } });
  const { context, page, complaints } = await visitAs(admin);
  await page.goto(stage.at('/settings?tab=audit&resource=prompt:by/grace'));
  await page.getByRole('cell', { name: "Grace Hopper by the key Grace Hopper's" }).first().waitFor();
  await page
    .getByRole('row', { name: / created / })
    .first()
    .getByRole('button')
    .click();
  await page.getByRole('button', { name: 'Only by this member' }).click();
  await page.waitForURL((url) => url.searchParams.get('actor') === admin.id);
  expect(await violationsInThemes(page)).toEqual([]);

  await call('PUT', '/prompts/by/grace/labels/live', { body: { version: 1 } });
  const release = await call('POST', '/releases', {
    key: admin.key,
    body: { prompt_name: 'by/grace', label: 'live', version: 2, steps: [{ type: 'wait', for: '1h' }] },
  });
  await page.goto(stage.at(`/releases/${release.body.id}`));
  await page
    .getByRole('region', { name: 'History of the release' })
    .getByRole('cell', { name: 'Grace Hopper' })
    .waitFor();

  const execution = await call('POST', '/executions', { body: { prompt_name: 'by/grace' } });
  const scored = await call('POST', '/scores', {
    key: admin.key,
    body: { name: 'helpful', value: 1, subject: { execution_id: execution.body.id } },
  });
  expect(scored.status).toBe(201);
  await page.goto(stage.at(`/executions/${execution.body.id}`));
  await page.getByText('Grace Hopper').last().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('the pages are accessible in both themes, and fit a phone', async () => {
  const problems = await problemsOf(stage, [
    { at: '/settings?tab=members', shows: 'Settings' },
    { at: '/settings?tab=my-keys', shows: 'Only for members' },
    { at: '/settings?tab=audit', shows: 'Settings' },
  ]);
  expect(problems).toEqual([]);
});
