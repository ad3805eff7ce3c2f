import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { waitFor } from '../support/wait-for.ts';
import { violationsInThemes } from './accessible.ts';
import { chooseMore, type Stage, startStage, write } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

async function evaluate(prompt_name: string, version: number, expected: string): Promise<void> {
  const { body } = await call('POST', '/evaluations', {
    body: { prompt_name, version, examples: [{ variables: { name: 'Ada' }, expected }] },
  });
  await waitFor(
    'the evaluation',
    async () => (await call('GET', `/evaluations/${body.id}`)).body.status === 'completed',
  );
}

/** Delays requests of a page until the returned function is called. */
async function holdRequests(page: Page, method: string, path: string): Promise<() => void> {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  await page.route(`**/v1${path}`, async (route) => {
    if (route.request().method() === method) await released;
    await route.continue();
  });
  return resolve;
}

test('home, the prompt and its charts show what changed: who moved which label from and to which version', async () => {
  await call('POST', '/prompts', { body: { name: 'changed/hello', template: 'Hello', model: 'sandbox/echo' } });
  await call('PUT', '/prompts/changed/hello', { body: { template: 'Hi', model: 'sandbox/echo' } });
  for (const version of [1, 2]) await call('PUT', '/prompts/changed/hello/labels/production', { body: { version } });
  await call('POST', '/executions', { body: { prompt_name: 'changed/hello' } });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/'));
  const changes = page.getByRole('region', { name: 'What changed' });
  const moved = changes.getByRole('listitem').filter({ hasText: 'changed/hello: production moved from v1 to v2' });
  await moved.getByText(/ago|now/).waitFor();
  await changes.getByRole('listitem').filter({ hasText: 'changed/hello: v2 created' }).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await moved.getByRole('link').click();
  await page.getByRole('heading', { name: 'changed/hello', level: 1 }).waitFor();
  await changes
    .getByRole('listitem')
    .filter({ hasText: /^production moved from v1 to v2/ })
    .waitFor();

  await page.goto(stage.at('/prompts/changed/hello?tab=runs'));
  await page.getByRole('figure', { name: 'Runs per day' }).getByText('production → v2').first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();

  // The changes are in the audit log, which only administrators read.
  const reader = await call('POST', '/api-keys', { body: { name: 'reader', scopes: ['read'] } });
  const other = await stage.signIn({}, reader.body.key);
  await other.page.goto(stage.at('/prompts/changed/hello?tab=versions'));
  await other.page.getByRole('table', { name: 'Versions' }).waitFor();
  expect(await other.page.getByRole('region', { name: 'What changed' }).count()).toBe(0);
  expect(other.complaints).toEqual([]);
  await other.context.close();
});

test('the path of a change: write, try beside the old one, compare, move production', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts'));
  await page.getByRole('button', { name: 'New prompt…' }).click();
  await page.getByLabel('Name').fill('support/greeting');
  await page.getByLabel('Type').selectOption('Text');
  await page.getByRole('textbox', { name: 'Text' }).fill('Hello {{ name }}');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'support/greeting', level: 1 }).waitFor();
  await page.locator('.cm-placeholder-name').waitFor();
  await call('PUT', '/prompts/support/greeting/labels/production', { body: { version: 1 } });

  await write(page, 'Text', 'Hello {{ user.name }}');
  await page.getByText('sends them as text: {{ user.name }}').waitFor();
  await write(page, 'Text', 'Hello {{ name }}, welcome back');
  await page.getByText('sends them as text').waitFor({ state: 'detached' });
  await page.getByLabel('What changes, and why').fill('Warmer');
  const release = await holdRequests(page, 'PUT', '/prompts/support/greeting');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await page.getByLabel('What changes, and why').fill('Typed while it is saved');
  release();
  await page.getByText('Saved as version 2.').first().waitFor();
  expect(await page.getByLabel('What changes, and why').inputValue()).toBe('Typed while it is saved');
  expect((await call('GET', '/prompts/support/greeting')).body.commit_message).toBe('Warmer');
  await Promise.all([
    evaluate('support/greeting', 1, 'Hello'),
    evaluate('support/greeting', 2, 'Hello Ada, welcome back'),
  ]);

  await page.getByRole('link', { name: 'Try in the playground' }).click();
  await page.getByLabel('name', { exact: true }).fill('Ada');
  await page.getByRole('button', { name: 'Add a pane' }).click();
  await page.getByRole('region', { name: 'Pane 2' }).getByLabel('Version').selectOption('1');
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByRole('region', { name: 'output of pane 1' }).getByText('Hello Ada, welcome back').waitFor();
  await page.getByRole('region', { name: 'output of pane 2' }).getByText('Hello Ada', { exact: true }).waitFor();
  await page.getByText('completed').nth(1).waitFor();

  await page.goto(stage.at('/prompts/support/greeting?tab=versions'));
  await page.locator('.cm-changedText').first().waitFor();
  await page.getByRole('button', { name: 'Label… version 2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Label version 2' });
  await dialog.getByRole('region', { name: 'Now at version 1' }).getByText('0 %').waitFor();
  await dialog.getByRole('region', { name: 'Version 2', exact: true }).getByText('100 %').waitFor();
  // What callers of the label will get, with the message of the change.
  const changes = dialog.getByRole('region', { name: 'What changes' });
  await changes.getByText('Version 2: Warmer').first().waitFor();
  await changes.locator('.cm-changedText').first().waitFor();
  const move = async () => {
    await dialog.getByRole('button', { name: 'Move from version 1' }).click();
    await page.getByText('“production” is at version 2 now.').first().waitFor();
    expect((await call('GET', '/prompts/support/greeting?label=production')).body.version).toBe(2);
    await page.getByRole('link', { name: 'production → v2' }).waitFor();
  };
  await move();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').first().waitFor();
  expect((await call('GET', '/prompts/support/greeting?label=production')).body.version).toBe(1);
  await page.getByRole('link', { name: 'production → v1' }).waitFor();
  await page.getByRole('button', { name: 'Label… version 2' }).click();
  await move();

  await page.goto(stage.at('/prompts'));
  await page.getByRole('link', { name: 'support/ 1' }).click();
  await page.getByRole('cell', { name: 'support/greeting' }).waitFor();
  await page.getByRole('cell', { name: 'production', exact: true }).waitFor();
  await call('PUT', '/prompts/support/greeting', { body: { template: 'Hi {{ name }}' } });
  await page.reload();
  await page.getByRole('cell', { name: 'production → v2' }).waitFor();
  expect(page.url()).toContain('group=support');
  expect(complaints).toEqual([]);
  await context.close();
});

test('a new prompt begins with messages', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts?dialog=new'));
  const dialog = page.getByRole('dialog', { name: 'New prompt' });
  await dialog.getByLabel('Name').fill('chat');
  await dialog.getByLabel('System message').fill('You are brief.');
  await dialog.getByLabel('User message').fill('{{ question }}');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'chat', level: 1 }).waitFor();
  expect((await call('GET', '/prompts/chat')).body.messages).toEqual([
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: '{{ question }}' },
  ]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('prompts are sorted by the head of a column, across pages; a click beside the link opens a row', async () => {
  await Promise.all(
    Array.from({ length: 130 }, (_, index) =>
      call('POST', '/prompts', {
        body: { name: `sorted/p${String(index).padStart(3, '0')}`, template: 'x', model: 'sandbox/echo' },
      }),
    ),
  );
  await call('POST', '/executions', { body: { prompt_name: 'sorted/p125', variables: {} } });
  await waitFor(
    'the numbers of its run',
    async () => (await call('GET', '/statistics/prompts?group=sorted')).body.data.length > 0,
  );
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts?group=sorted'));
  const first = page.getByRole('row').nth(1);
  const head = (name: string) => page.getByRole('columnheader', { name });
  await first.getByText('sorted/p000').waitFor();
  expect(await head('Name').getAttribute('aria-sort')).toBe('ascending');
  await head('Name').getByRole('button').click();
  await first.getByText('sorted/p129').waitFor();
  expect(await head('Name').getAttribute('aria-sort')).toBe('descending');
  await head('Runs, 7 days').getByRole('button').click();
  await first.getByText('sorted/p125').waitFor();
  expect(new URL(page.url()).searchParams.get('sort')).toBe('-runs');
  await first.getByText('sandbox/echo').click();
  await page.getByRole('heading', { name: 'sorted/p125', level: 1 }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a protected label is moved only with publish', async () => {
  await call('POST', '/prompts', { body: { name: 'protected', template: 'One', model: 'sandbox/echo' } });
  await call('PUT', '/labels/live', { body: { protected: true } });
  const { body: key } = await call('POST', '/api-keys', { body: { name: 'writer', scopes: ['read', 'write'] } });
  const { context, page, complaints } = await stage.signIn({}, key.key);
  await page.goto(stage.at('/prompts/protected?tab=versions'));
  await page.getByRole('button', { name: 'Label… version 1' }).click();
  await page.getByLabel('Label', { exact: true }).fill('live');
  await page.getByText('lacks the scope “publish”').waitFor();
  expect(await page.getByRole('button', { name: 'Set the label' }).isDisabled()).toBe(true);
  await page.getByLabel('Label', { exact: true }).fill('staging');
  await page.getByRole('button', { name: 'Set the label' }).click();
  await page.getByText('“staging” is at version 1 now.').first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('an attempt can be saved: as a version with messages, and as an example', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground'));
  await write(page, 'Text of pane 1', 'Say {{ word }}');
  await page.getByLabel('word').fill('hi');
  // The latest input runs, too, and no line is added.
  await write(page, 'Text of pane 1', 'Say {{ word }}!');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('region', { name: 'output of pane 1' }).getByText('Say hi!', { exact: true }).waitFor();
  await chooseMore(page, 'Save as an example…', 'pane 1');
  await page.getByLabel('Dataset').fill('words');
  await page.getByLabel('Expected output').fill('hi');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The example is in words, version 1, which has 1 example.').first().waitFor();
  const { body: examples } = await call('GET', '/datasets/words/examples');
  expect(examples.data).toMatchObject([{ variables: { word: 'hi' }, expected: 'hi' }]);

  await page.getByRole('button', { name: 'Write messages' }).click();
  await page.getByRole('button', { name: 'Save as a version…' }).click();
  await page.getByRole('dialog').getByLabel('Prompt').fill('words/say');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved as words/say, version 1.').first().waitFor();
  // Its playground is open, with the output and the variables.
  await page.getByRole('region', { name: 'Pane 1' }).getByLabel('Version').waitFor();
  await page.getByRole('region', { name: 'output of pane 1' }).getByText('Say hi!', { exact: true }).waitFor();
  expect(await page.getByLabel('word', { exact: true }).inputValue()).toBe('hi');
  const { body: prompt } = await call('GET', '/prompts/words/say');
  expect(prompt).toMatchObject({
    version: 1,
    model: 'sandbox/echo',
    messages: [{ role: 'user', content: 'Say {{ word }}!' }],
  });
  expect(complaints).toEqual([]);
  await context.close();
});

test('if two people edit one prompt, the second sees the newer version before saving', async () => {
  await call('POST', '/prompts', { body: { name: 'shared', template: 'Begin', model: 'sandbox/echo' } });
  const [one, other] = await Promise.all([stage.signIn(), stage.signIn()]);
  for (const { page } of [one, other]) {
    await page.goto(stage.at('/prompts/shared'));
    await page.getByRole('textbox', { name: 'Text', exact: true }).waitFor();
  }
  await write(other.page, 'Text', 'Second');
  await write(one.page, 'Text', 'First');
  await one.page.getByLabel('What changes, and why').fill('I was here');
  await one.page.getByRole('button', { name: 'Save as version 2' }).click();
  await one.page.getByText('Saved as version 2.').first().waitFor();

  await other.page.getByRole('button', { name: /^Save as version/ }).click();
  const dialog = other.page.getByRole('dialog', { name: 'There is a newer version: 2' });
  await dialog.getByText('I was here').waitFor();
  await dialog.locator('.cm-changedText').first().waitFor();
  expect((await call('GET', '/prompts/shared')).body).toMatchObject({ version: 2, template: 'First' });
  await dialog.getByRole('button', { name: 'Save mine as version 3' }).click();
  await other.page.getByText('Saved as version 3.').first().waitFor();
  expect((await call('GET', '/prompts/shared')).body).toMatchObject({ version: 3, template: 'Second' });
  await Promise.all([one.context.close(), other.context.close()]);
});

/** Holds these requests of both pages until both have sent one, so that they reach the service together. */
async function saveAtOnce(pages: Page[], path: string): Promise<void> {
  let waiting = 0;
  const { promise: all, resolve } = Promise.withResolvers<void>();
  for (const page of pages)
    await page.route(`**/v1${path}`, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue();
      if (++waiting === pages.length) resolve();
      await all;
      await route.continue();
    });
}

test('of two people that save at the same time, one makes the version and one is told', async () => {
  await call('POST', '/prompts', { body: { name: 'instant', template: 'Begin', model: 'sandbox/echo' } });
  const visitors = await Promise.all([stage.signIn(), stage.signIn()]);
  const pages = visitors.map(({ page }) => page);
  for (const [index, page] of pages.entries()) {
    await page.goto(stage.at('/prompts/instant'));
    await page.getByRole('textbox', { name: 'Text', exact: true }).waitFor();
    await write(page, 'Text', `By ${index}`);
  }
  await saveAtOnce(pages, '/prompts/instant');
  await Promise.all(pages.map((page) => page.getByRole('button', { name: 'Save as version 2' }).click()));
  const isNotified = await Promise.all(
    pages.map(async (page) => {
      const dialog = page.getByRole('dialog', { name: 'There is a newer version: 2' });
      await dialog.or(page.getByText('Saved as version 2.')).first().waitFor();
      return dialog.isVisible();
    }),
  );
  expect(isNotified.filter(Boolean)).toHaveLength(1);
  expect((await call('GET', '/prompts/instant')).body).toMatchObject({
    version: 2,
    template: `By ${isNotified.indexOf(false)}`,
  });
  await Promise.all(visitors.map(({ context }) => context.close()));
});

test('saving from the playground does not skip a newer version unseen, nor another prompt', async () => {
  for (const name of ['tried', 'taken'])
    await call('POST', '/prompts', { body: { name, template: 'Begin', model: 'sandbox/echo' } });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground?prompt=tried'));
  await write(page, 'Text of pane 1', 'Mine');
  await call('PUT', '/prompts/tried', { body: { template: 'Theirs', commit_message: 'I was here' } });

  await page.getByRole('button', { name: 'Save as a version…' }).click();
  const form = page.getByRole('dialog', { name: 'Save as a version' });
  await form.getByLabel('Prompt').fill('taken');
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await form.getByText('There is a prompt “taken” already').waitFor();
  await form.getByLabel('Prompt').fill('tried');
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'There is a newer version: 2' });
  await dialog.getByText('I was here').waitFor();
  await dialog.locator('.cm-changedText').first().waitFor();
  expect((await call('GET', '/prompts/tried')).body).toMatchObject({ version: 2, template: 'Theirs' });
  await dialog.getByRole('button', { name: 'Save mine as version 3' }).click();
  await page.getByText('Saved as tried, version 3.').first().waitFor();
  expect((await call('GET', '/prompts/tried')).body).toMatchObject({ version: 3, template: 'Mine' });
  expect((await call('GET', '/prompts/taken')).body.version).toBe(1);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a prompt lists what includes it, also before archiving', async () => {
  await call('POST', '/prompts', { body: { name: 'parts/tone', template: 'Be kind.', model: 'sandbox/echo' } });
  for (let user = 0; user < 11; user += 1)
    await call('POST', '/prompts', {
      body: { name: `users/${user}`, template: '{{> parts/tone }}', model: 'sandbox/echo' },
    });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts/users/1'));
  await page.getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').first().waitFor();
  expect((await call('GET', '/prompts/users/1')).body.archived).toBe(false);
  await page.goto(stage.at('/prompts/parts/tone'));
  await page.getByText('included by').waitFor();
  await page.getByRole('button', { name: 'Archive…' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'users/0' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'and more' }).click();
  await page.getByText('Prompts that include').waitFor();
  await page.getByRole('cell', { name: 'users/9' }).waitFor();
  await page.getByRole('cell', { name: 'parts/tone' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Show all' }).click();
  await page.getByRole('cell', { name: 'parts/tone' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

const HOSTILE = '<img src=x onerror="window.wasRun = 1"><script>window.wasRun = 1</script><b>bold</b>';

test('an output full of HTML and scripts is text; a huge one is cut until all of it is requested', async () => {
  const template = `${HOSTILE}{{ name }}`;
  await call('POST', '/prompts', {
    body: { name: 'hostile', template, model: 'sandbox/echo', description: HOSTILE, commit_message: HOSTILE },
  });
  const { body: execution } = await call('POST', '/executions', {
    body: { prompt_name: 'hostile', variables: { name: 'x'.repeat(50_000) }, metadata: { note: HOSTILE } },
  });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/executions/${execution.id}`));
  const output = page.getByRole('region', { name: 'output', exact: true });
  await output.getByText('<b>bold</b>').waitFor();
  expect((await output.textContent())?.length).toBeLessThan(10_000);
  await page
    .getByRole('button', { name: /^Show all 50,\d+ characters$/ })
    .first()
    .click();
  await waitFor('all of the output', async () => ((await output.textContent())?.length ?? 0) > 50_000);
  for (const at of [
    '/prompts/hostile',
    '/prompts/hostile?tab=versions',
    `/playground?execution=${execution.id}`,
    '/prompts',
  ]) {
    await page.goto(stage.at(at));
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  await page.getByRole('cell', { name: 'hostile' }).waitFor();
  expect(await page.evaluate('"wasRun" in window')).toBe(false);
  expect(await page.locator('main b, main img').count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a run is stopped, and an execution deleted', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground'));
  await page.getByLabel('Model').fill('sandbox/slow-600000');
  await page.getByLabel('This model is not in the list: use it anyway').check();
  await write(page, 'Text of pane 1', 'one two three');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('Running…').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('canceled').waitFor();
  // A run can be stopped before the service has it.
  const release = await holdRequests(page, 'POST', '/executions');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('Starting…').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  release();
  await page.getByText('canceled').waitFor();
  await chooseMore(page, 'Open the execution', 'pane 1');
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The execution was deleted.').first().waitFor();
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('production is rolled back from the head of its prompt, and a version is compared with the one in production', async () => {
  const name = 'moved/often';
  await call('POST', '/prompts', { body: { name, template: 'one', model: 'sandbox/echo' } });
  for (const template of ['two', 'three', 'four']) await call('PUT', `/prompts/${name}`, { body: { template } });
  for (const version of [1, 3]) await call('PUT', `/prompts/${name}/labels/production`, { body: { version } });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/prompts/${name}?tab=versions`));
  const comparison = page.getByRole('region', { name: 'Comparison' });
  await comparison.getByText('Version 3 (production)').waitFor();
  await comparison.getByText('Version 4', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Roll back production to v1…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Roll back production to version 1' });
  await dialog.getByRole('button', { name: 'Move from version 3' }).waitFor();
  await dialog.getByLabel('Label').focus();
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByText('“production” is at version 1 now.').first().waitFor();
  await waitFor(
    'the roll-back',
    async () => (await call('GET', `/prompts/${name}?label=production`)).body.version === 1,
  );
  // Moving it to version 3 again is not offered.
  await page.getByRole('link', { name: 'production → v1' }).waitFor();
  expect(await page.getByRole('button', { name: /^Roll back/ }).count()).toBe(0);

  await page.goto(stage.at(`/settings?tab=audit&resource=prompt:${name}`));
  await page.getByRole('cell', { name: 'production moved from v3 to v1' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
