import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/wait-for.ts';
import { violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ OPENAI_API_KEY: 'sk-nobody-is-asked' });
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

test('an unlisted model is confirmed first, and unsupported parts are shown at the field', async () => {
  await call('POST', '/prompts', {
    body: { name: 'sure', template: 'Hi', model: 'sandbox/echo', parameters: { temperature: 0.2 } },
  });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts/sure'));
  const model = page.getByRole('combobox', { name: 'Model' });
  await model.fill('openai/o3');
  const temperature = page.getByLabel('Temperature');
  await page.getByText(/^openai\/o3 does not accept temperature/).waitFor();
  expect(await temperature.getAttribute('aria-describedby')).toMatch(/-warning$/);
  await temperature.fill('');
  await page.getByText(/^openai\/o3 does not accept temperature/).waitFor({ state: 'detached' });
  const confirmation = page.getByLabel('This model is not in the list: use it anyway');
  expect(await confirmation.count()).toBe(0);

  await model.fill('openai/o33');
  await confirmation.waitFor();
  // Nor do stored drafts confirm it.
  await page.getByRole('link', { name: 'Executions', exact: true }).click();
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  await page.goBack();
  await page.getByText(/^Your unsaved changes from .* were restored\.$/).waitFor();
  await confirmation.waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  expect(await confirmation.evaluate((box) => box.matches(':invalid'))).toBe(true);
  expect((await call('GET', '/prompts/sure')).body.version).toBe(1);
  await confirmation.check();
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await page.getByText('Saved as version 2.').first().waitFor();
  expect((await call('GET', '/prompts/sure')).body.model).toBe('openai/o33');
  expect(complaints).toEqual([]);
  await context.close();
});

test('in the playground, an unlisted model is confirmed before it runs', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground'));
  const ran = async () => (await call('GET', '/executions')).body.data.length;
  const pane = (number: number) => page.getByRole('region', { name: `Pane ${number}` });
  const confirmation = (number: number) => pane(number).getByLabel('This model is not in the list: use it anyway');
  const isAsked = (number: number) =>
    waitFor('the question', () => confirmation(number).evaluate((box) => box === box.ownerDocument.activeElement));
  await page.getByRole('textbox', { name: 'Text of pane 1' }).click();
  await page.keyboard.insertText('Say hi');
  await page.getByRole('combobox', { name: 'Model' }).fill('sandbox/slow-7');
  await confirmation(1).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await isAsked(1);
  await page.getByRole('textbox', { name: 'Text of pane 1' }).click();
  await page.keyboard.press('Control+Enter');
  await isAsked(1);

  // Nor do stored drafts or another pane confirm it.
  await page.reload();
  await page.getByText(/^Your unsaved changes from .* were restored\.$/).waitFor();
  await page.getByRole('button', { name: 'Add a pane' }).click();
  await pane(1).getByRole('combobox', { name: 'Model' }).fill('sandbox/echo');
  await confirmation(2).waitFor();
  const runs = ['Run all', 'Run pane 2'].map((name) => page.getByRole('button', { name, exact: true }));
  // In its head and in its cell.
  for (const button of [runs[0], runs[1]?.first(), runs[1]?.last()]) {
    await button?.click();
    await isAsked(2);
    await page.getByRole('textbox', { name: 'Text of pane 1' }).click();
  }
  expect(await ran()).toBe(0);
  // Only the pane next to it runs.
  await page.getByRole('button', { name: 'Run pane 1', exact: true }).first().click();
  await waitFor('its execution', async () => (await ran()) === 1);
  await confirmation(2).check();
  await page.getByRole('button', { name: 'Run pane 2', exact: true }).first().click();
  await page.getByRole('article', { name: 'Cell pane 2' }).getByText('completed').waitFor();
  expect(await ran()).toBe(2);

  // Models that have run need no confirmation.
  await page.reload();
  await page.getByText(/^Your unsaved changes from .* were restored\.$/).waitFor();
  await page.getByRole('button', { name: 'Run all' }).click();
  await waitFor('the executions', async () => (await ran()) === 4);
  expect(complaints).toEqual([]);
  await context.close();
});
