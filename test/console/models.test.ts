import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ OPENAI_API_KEY: 'sk-nobody-is-asked' });
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

test('a model that no list has is confirmed first, and what it does not take is said at the field', async () => {
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
  // Nor is it confirmed by what was typed and kept.
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
