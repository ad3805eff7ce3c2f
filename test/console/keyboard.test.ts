import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Stage, startStage, tabTo, type Visitor } from './stage.ts';

const examples = Array.from({ length: 12 }, (_, index) => ({
  id: `e${index}`,
  variables: { name: `person ${index}`, greeting: index === 0 ? 'Hi' : 'Hello' },
  expected: `${index === 0 ? 'Hi' : 'Hello'} person ${index}`,
}));
const lines = examples.map((line) => JSON.stringify(line)).join('\n');

let stage: Stage;
let receiver: Receiver;
let visitor: Visitor;
let page: Page;
beforeAll(async () => {
  receiver = await startReceiver();
  stage = await startStage();
  await call('POST', '/prompts', {
    body: { name: 'greeting', template: '{{ greeting }} {{ name }}', model: 'sandbox/echo' },
  });
  await call('PUT', '/prompts/greeting/labels/production', { body: { version: 1 } });
  await call('PUT', '/datasets/people', { raw: lines, headers: { 'Content-Type': 'application/jsonl' } });
});
afterAll(async () => {
  await stage?.stop();
  await receiver?.close();
});

// These tests use no mouse.
beforeEach(async () => {
  visitor = await stage.signIn();
  page = visitor.page;
  await page.addInitScript(`addEventListener('pointerdown', () => { window.hadMouse = true; }, true)`);
});
afterEach(async () => {
  expect(await page.evaluate('"hadMouse" in window')).toBe(false);
  expect(visitor.complaints).toEqual([]);
  await visitor.context.close();
});

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

/** Goes to an element by Tab and presses Enter. */
async function enter(wanted: Locator): Promise<void> {
  await tabTo(page, wanted);
  await page.keyboard.press('Enter');
}

/** Goes to a field by Tab and puts a text in it. */
async function type(field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Goes to a select by Tab and down to an option. */
async function choose(select: Locator, option: string): Promise<void> {
  await tabTo(page, select);
  await page.keyboard.press('Home');
  for (let presses = 0; presses < 50; presses++) {
    if ((await select.locator('option:checked').textContent()) === option) return;
    await page.keyboard.press('ArrowDown');
  }
  throw new Error(`There is no option ${option}.`);
}

/**
 * Waits until an element has the focus and accepts keys: a pressed button has its new name before it can be pressed again.
 * @throws Error that names the element with the focus
 */
async function untilFocused(wanted: Locator): Promise<void> {
  const focused = page.locator(':focus:not(:disabled)');
  await wanted
    .and(focused)
    .waitFor()
    .catch(async (cause: unknown) => {
      const instead = (await focused.count()) === 0 ? 'nothing' : await focused.evaluate((node) => node.outerHTML);
      throw new Error(`${wanted.toString()} should have the focus, and ${instead.slice(0, 200)} has it.`, { cause });
    });
}

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const link = (name: string) => page.getByRole('link', { name, exact: true });
/** Excludes toasts, which are dialogs to screen readers, too. */
const dialog = (name?: string) =>
  page.getByRole('dialog', name === undefined ? {} : { name }).and(page.locator(':not(.toast)'));
const main = () => page.getByRole('main');

test('a dataset is uploaded, and an example is changed', async () => {
  await page.goto(stage.at('/datasets'));
  const chooser = page.waitForEvent('filechooser');
  await enter(page.getByLabel('Drop a file with examples here, or choose one'));
  await (await chooser).setFiles({ name: 'team.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(lines) });
  await dialog('Upload a dataset').waitFor();
  await enter(button('Upload'));
  await page.getByRole('heading', { name: 'team', level: 1 }).waitFor();
  await dialog().waitFor({ state: 'detached' });
  await untilFocused(main());

  await enter(link('e3'));
  await dialog('e3').waitFor();
  await page.keyboard.press('Escape');
  await untilFocused(link('e3'));
  await page.keyboard.press('Enter');
  await type(page.getByLabel('Expected', { exact: true }), 'Hello there');
  await enter(button('Save'));
  await page.getByText('The example was changed in version 2.').first().waitFor();
  await dialog().waitFor({ state: 'detached' });
  const { body } = await call('GET', '/datasets/team/examples');
  expect(body.data[3].expected).toBe('Hello there');
  await untilFocused(main());
  await enter(link('Versions'));
  await page.getByText('0 added, 0 removed, 1 changed.').waitFor();
  await enter(button('e3'));
  await dialog().locator('.cm-changedText').first().waitFor();
  await page.keyboard.press('Escape');
  await untilFocused(button('e3'));
});

test('an evaluation is started, followed, read for regressions, and compared', async () => {
  const run = { prompt_name: 'greeting', dataset: 'people', evaluators: [{ type: 'exact_match' }] };
  const { body: first } = await call('POST', '/evaluations', { body: run });
  await waitFor(
    'the first run',
    async () => (await call('GET', `/evaluations/${first.id}`)).body.status === 'completed',
  );
  await call('PUT', '/prompts/greeting', { body: { template: 'Hi {{ name }}' } });

  await page.goto(stage.at('/evaluations'));
  await enter(link('New evaluation'));
  await page.getByRole('heading', { name: 'New evaluation', level: 1 }).waitFor();
  await type(page.getByLabel('Prompt', { exact: true }), 'greeting');
  await type(page.getByLabel('Dataset', { exact: true }), 'people');
  await enter(button('Start the evaluation'));
  await page.getByRole('heading', { name: 'Evaluation of greeting' }).waitFor();
  await untilFocused(main());
  const verdict = page.getByRole('region', { name: 'Compared with the baseline' });
  await verdict.getByText(/^Worse by/).waitFor();
  await page.getByRole('status').filter({ hasText: 'The evaluation is completed' }).waitFor({ state: 'attached' });

  await choose(page.getByLabel('Examples', { exact: true }), 'Got worse');
  await page
    .getByRole('status')
    .getByText(/^\d+ of 12$/)
    .waitFor();
  await enter(link('e1'));
  const example = (place: number) => page.getByRole('region', { name: `Example ${place}` });
  await example(2).getByText('was 100 %').waitFor();
  await enter(example(2).getByRole('button', { name: 'Next' }));
  await example(3).waitFor();
  await page.keyboard.press('Escape');
  await example(3).waitFor({ state: 'detached' });
  await untilFocused(link('e2'));

  await enter(button('More actions'));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.type('comp');
  await page.keyboard.press('Enter');
  await dialog('Compare this run').waitFor();
  await page.keyboard.press('Escape');
  await untilFocused(button('More actions'));
  await enter(verdict.getByRole('link', { name: 'Compare' }));
  await page.getByRole('heading', { name: 'Compare evaluations' }).waitFor();
  await untilFocused(main());
  await enter(link('Swap'));
  await page.getByText(/^Better by/).waitFor();
});

test('a run is paused and resumed by one button, which keeps the focus', async () => {
  await call('POST', '/prompts', { body: { name: 'slow', template: '{{ name }}', model: 'sandbox/slow-600000' } });
  const { body: run } = await call('POST', '/evaluations', {
    body: {
      prompt_name: 'slow',
      examples: [{ variables: { name: 'x' }, expected: 'x' }],
      evaluators: [{ type: 'exact_match' }],
    },
  });
  await page.goto(stage.at(`/evaluations/${run.id}`));
  await enter(button('Pause'));
  await untilFocused(button('Resume'));
  await page.keyboard.press('Enter');
  await untilFocused(button('Pause'));
  await enter(button('Cancel'));
  await page.getByRole('status').filter({ hasText: 'The evaluation is canceled' }).waitFor({ state: 'attached' });
  await enter(button('More actions'));
  await page.keyboard.type('del');
  await page.keyboard.press('Enter');
  await enter(dialog().getByRole('button', { name: 'Delete' }));
  await page.getByRole('heading', { name: 'Evaluations', level: 1 }).waitFor();
  await dialog().waitFor({ state: 'detached' });
  await untilFocused(main());
});

test('a schedule is made, triggered, paused and deleted', async () => {
  await page.goto(stage.at('/schedules'));
  await enter(link('New schedule'));
  await type(page.getByLabel('Name', { exact: true }).first(), 'nightly');
  await type(page.getByLabel('Schedule (cron)'), '0 3 * * *');
  await type(page.getByLabel('Prompt', { exact: true }), 'greeting');
  await type(page.getByLabel('Dataset', { exact: true }), 'people');
  await enter(button('Create the schedule'));
  await page.getByRole('heading', { name: 'nightly', level: 1 }).waitFor();
  await untilFocused(main());
  await enter(button('Start one now'));
  await page.getByText('An evaluation is being started.').first().waitFor();
  await untilFocused(button('Start one now'));
  await enter(button('Pause'));
  await untilFocused(button('Resume'));
  await enter(button('Delete…'));
  await page.keyboard.press('Escape');
  await untilFocused(button('Delete…'));
  await page.keyboard.press('Enter');
  await enter(dialog().getByRole('button', { name: 'Delete' }));
  await page.getByRole('heading', { name: 'There are no schedules yet' }).waitFor();
  await untilFocused(main());
});

test('the usage figures are read', async () => {
  await page.goto(stage.at('/usage'));
  const numbers = page.locator('summary').filter({ hasText: 'Numbers' }).first();
  await numbers.waitFor();
  const read = page.waitForResponse((response) => response.url().includes('/v1/usage'));
  await choose(page.getByLabel('Span'), '7 days');
  await read;
  await page.getByText('Loading the usage…').waitFor({ state: 'detached' });
  await enter(numbers);
  await page.keyboard.press('Tab');
  await page
    .getByRole('region', { name: /numbers$/ })
    .and(page.locator(':focus'))
    .waitFor();
});

test('a webhook is made, tested, and an event sent to it again', async () => {
  await page.goto(stage.at('/webhooks'));
  await enter(button('New webhook…'));
  await type(dialog('New webhook').getByLabel('URL'), receiver.url);
  await page.keyboard.press('Enter');
  const secret = dialog('The signing secret');
  await secret.getByText('whsec_').waitFor();
  await enter(secret.getByRole('button', { name: 'I have saved it' }));
  await page.getByRole('heading', { name: receiver.url, level: 1 }).waitFor();
  await dialog().waitFor({ state: 'detached' });
  await untilFocused(main());

  await enter(button('Send a test'));
  await dialog('Delivery').getByRole('heading', { name: 'Attempt 1 200' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  await untilFocused(button('Send a test'));
  await enter(button('Rotate secret…'));
  await enter(button('Rotate'));
  await enter(button('I have saved it'));
  await dialog().waitFor({ state: 'detached' });
  await untilFocused(button('Rotate secret…'));
  await enter(button('Disable'));
  await untilFocused(button('Enable'));
  await page.keyboard.press('Enter');
  await untilFocused(button('Disable'));

  await call('POST', '/prompts', { body: { name: 'new', template: 'x', model: 'sandbox/echo' } });
  await receiver.got(2);
  await choose(page.getByLabel('Event'), 'prompt.created');
  await enter(button('Refresh'));
  const table = page.getByRole('table', { name: 'Deliveries' });
  // The older one is of the test.
  await table.getByRole('link').nth(1).waitFor();
  const created = await table.getByRole('link').first().getAttribute('href');
  const opener = table.locator(`[href="${created}"]`);
  await enter(opener);
  const delivery = dialog('Delivery');
  await enter(delivery.getByRole('button', { name: 'Send again' }));
  await page.getByText('The event is being sent again, as a new delivery.').first().waitFor();
  await receiver.got(3);
  await dialog().waitFor({ state: 'detached' });
  await untilFocused(opener);
});

test('a key is made and revoked, a session ended, a label protected', async () => {
  await page.goto(stage.at('/settings'));
  await enter(button('New key…'));
  await type(dialog('New key').getByLabel('Name'), 'for a while');
  await tabTo(page, page.getByLabel(/^write/));
  await page.keyboard.press('Space');
  await enter(button('Create'));
  const shown = dialog('The new key');
  const key = (await shown.locator('pre').textContent()) ?? '';
  await enter(shown.getByRole('button', { name: 'I have saved it' }));
  await dialog().waitFor({ state: 'detached' });
  await untilFocused(button('New key…'));
  const { body } = await call('GET', '/api-keys');
  expect(body.data.find(({ name }: { name: string }) => name === 'for a while').scopes).toEqual([
    'read',
    'execute',
    'write',
  ]);

  const other = await stage.signIn({}, key);
  await enter(link('Sessions'));
  await enter(page.getByRole('button', { name: 'End the session of for a while' }));
  await page.getByText('The session was ended.').first().waitFor();
  await untilFocused(page.getByRole('table', { name: 'Sessions' }));
  await other.context.close();

  await enter(link('Keys'));
  await enter(page.getByRole('button', { name: 'Revoke… for a while' }));
  await enter(button('Revoke'));
  await page.getByRole('cell', { name: 'revoked' }).waitFor();
  await untilFocused(page.getByRole('table', { name: 'Keys' }));

  await enter(link('Labels'));
  await enter(button('Protect production'));
  await untilFocused(button('Unprotect production'));
});
