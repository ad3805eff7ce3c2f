import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { problemsOf } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  const { call } = stage.service;
  await call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ what }}', model: 'sandbox/echo' } });
  await call('PUT', '/datasets/words', {
    raw: '{"id":"a","variables":{"what":"please"}}\n{"id":"b","variables":{"what":"go"}}\n',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
afterAll(() => stage?.stop());

test('an evaluator is made from a rubric, tried, changed, used by its name, and deleted', async () => {
  const { call } = stage.service;
  const { page, complaints } = await stage.signIn();
  await page.goto(stage.at('/evaluators'));
  await page.getByRole('heading', { name: 'There are no saved evaluators yet' }).waitFor();
  await page.getByRole('button', { name: 'New evaluator…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save an evaluator' });
  await dialog.getByLabel('Start with').selectOption({ label: 'Factuality: agrees with the expected answer' });
  expect(await dialog.getByLabel('Name').inputValue()).toBe('factuality');
  await dialog.getByRole('combobox', { name: 'Model of the judge' }).fill('sandbox/judge');
  await dialog.getByRole('textbox', { name: 'Measured quality' }).fill('Facts only');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();

  await page.getByRole('heading', { name: 'factuality', level: 1 }).waitFor();
  await page.getByRole('textbox', { name: 'Output' }).fill('Paris');
  await page.getByRole('textbox', { name: 'Expected' }).fill('Paris');
  await page.getByRole('button', { name: 'Score', exact: true }).click();
  await page.getByRole('status').getByText('100 %').waitFor();
  expect(
    await problemsOf(stage, [
      { at: '/evaluators', shows: 'Evaluators' },
      { at: '/evaluators/factuality', shows: 'Try it' },
    ]),
  ).toEqual([]);

  await page.getByRole('button', { name: 'New version…' }).click();
  const change = page.getByRole('dialog', { name: 'New version of factuality' });
  await change.getByLabel('Rubric').fill('Is it right?');
  await change.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('v2,').waitFor();
  await page.getByRole('link', { name: 'v1', exact: true }).click();
  await page.getByText('Compare the facts in the output').waitFor();
  expect((await call('GET', '/saved-evaluators/factuality')).body).toMatchObject({
    version: 2,
    evaluator: { type: 'llm_judge', name: 'factuality', rubric: 'Is it right?', include_expected: true },
  });

  await page.goto(stage.at('/evaluations/new?prompt=say&dataset=words'));
  await page.getByRole('combobox', { name: 'Add a saved evaluator' }).selectOption('factuality');
  await page.getByRole('group', { name: 'Evaluator 2' }).getByLabel('Version').selectOption('1');
  await page
    .getByRole('group', { name: 'Evaluator 1' })
    .getByRole('button', { name: /^Remove/ })
    .click();
  await page.getByRole('button', { name: 'Start the evaluation' }).click();
  await page.waitForURL(/evaluations\/eval_/);
  const { body } = await call('GET', `/evaluations/${page.url().replace(/.*\//, '').replace(/\?.*/, '')}`);
  expect(body.evaluators).toMatchObject([{ name: 'factuality', saved_version: 1, include_expected: true }]);

  await page.goto(stage.at('/evaluators/factuality'));
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'There are no saved evaluators yet' }).waitFor();
  expect(complaints).toEqual([]);
});

test('an evaluator of a form is saved under a name', async () => {
  const { page, complaints } = await stage.signIn();
  await page.goto(stage.at('/evaluations/new?prompt=say&dataset=words'));
  const first = page.getByRole('group', { name: 'Evaluator 1' });
  await first.getByRole('button', { name: 'Reuse elsewhere…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save an evaluator' });
  await dialog.getByLabel('Name').fill('mine');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('combobox', { name: 'Add a saved evaluator' }).selectOption('mine');
  await page.getByText('newest (v1)').waitFor({ state: 'attached' });
  expect((await stage.service.call('GET', '/saved-evaluators/mine')).body.version).toBe(1);
  expect(complaints).toEqual([]);
});
