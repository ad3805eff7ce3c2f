import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKey } from '../api/workspace.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);
beforeAll(async () => {
  stage = await startStage();
  await call('POST', '/prompts', { body: { name: 'say', template: 'Hi', model: 'sandbox/echo' } });
  await call('PUT', '/score-definitions/quality', { body: { data_type: 'numeric', min: 1, max: 5 } });
  await call('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean', description: 'Thumb up or down.' } });
  await call('PUT', '/score-definitions/topic', {
    body: { data_type: 'categorical', categories: [{ value: 'billing', label: 'Billing' }, { value: 'other' }] },
  });
});
afterAll(() => stage?.stop());

const run = async (): Promise<string> =>
  (await call('POST', '/executions', { body: { prompt_name: 'say' } })).body.id as string;

test('an execution shows its scores and authors; scores are added by definition, and deleted', async () => {
  const id = await run();
  const subject = { execution_id: id };
  await call('POST', '/scores', {
    body: {
      name: 'tone',
      value: 0.25,
      subject,
      comment: '<b>rude</b>',
      evaluator: { rule: 'tone-judge', version: '7', model: 'openai/judge' },
    },
  });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/executions/${id}`));
  const table = page.getByRole('table', { name: 'Scores' });
  await table
    .getByRole('row', { name: /tone 0\.25 evaluator tone-judge version 7, openai\/judge <b>rude<\/b>/ })
    .waitFor();

  const dialog = page.getByRole('dialog', { name: 'Add a score' });
  const add = page.getByRole('button', { name: 'Add a score…' });
  const store = dialog.getByRole('button', { name: 'Store the score' });
  await add.click();
  await dialog.getByLabel('Name').fill('helpful');
  await dialog.getByText('Thumb up or down.').waitFor();
  await dialog.getByLabel('Value').selectOption('No');
  await dialog.getByLabel('Comment').fill('It does not say when.');
  expect(await violationsInThemes(page)).toEqual([]);
  await store.click();
  await table.getByRole('row', { name: /helpful no person .* It does not say when\./ }).waitFor();

  await add.click();
  await dialog.getByLabel('Name').fill('topic');
  await dialog.getByLabel('Value').selectOption('Billing');
  await store.click();
  await table.getByRole('row', { name: /topic billing person/ }).waitFor();

  await add.click();
  await dialog.getByLabel('Name').fill('quality');
  await dialog.getByText('From 1 to 5.').waitFor();
  await dialog.getByLabel('Value').fill('4');
  await store.click();
  await table.getByRole('row', { name: /quality 4 person/ }).waitFor();

  await add.click();
  await dialog.getByLabel('Name').fill('remark');
  await dialog.getByLabel('Type').selectOption('A text');
  await dialog.getByLabel('Value').fill('Too long');
  await store.click();
  await table.getByRole('row', { name: /remark Too long person/ }).waitFor();
  const { body } = await call('GET', `/scores?execution_id=${id}`);
  expect(body.data.map(({ name, value, data_type }: Record<string, unknown>) => [name, value, data_type])).toEqual([
    ['remark', 'Too long', 'text'],
    ['quality', 4, 'numeric'],
    ['topic', 'billing', 'categorical'],
    ['helpful', false, 'boolean'],
    ['tone', 0.25, 'numeric'],
  ]);
  expect(await problemsOf(stage, [{ at: `/executions/${id}`, shows: 'Scores' }])).toEqual([]);

  await page.getByRole('button', { name: 'Delete… quality' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The score was deleted.').first().waitFor();
  await table.getByRole('row', { name: /quality/ }).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('refusals of a definition are shown in the dialog, and typed text stays', async () => {
  const id = await run();
  const { context, page } = await stage.signIn();
  await page.goto(stage.at(`/executions/${id}`));
  await page.getByText('None yet.').waitFor();
  await page.getByRole('button', { name: 'Add a score…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a score' });
  await dialog.getByLabel('Name').fill('no good name!');
  await dialog.getByLabel('Value').fill('3');
  await dialog.getByRole('button', { name: 'Store the score' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await dialog.getByLabel('Value').inputValue()).toBe('3');
  await context.close();
});

test('a read key adds and deletes none', async () => {
  const id = await run();
  await call('POST', '/scores', { body: { name: 'quality', value: 2, subject: { execution_id: id } } });
  const { key } = await createKey(stage.service, 'read');
  const { context, page } = await stage.signIn({}, key);
  await page.goto(stage.at(`/executions/${id}`));
  await page
    .getByRole('table', { name: 'Scores' })
    .getByRole('row', { name: /quality 2 program/ })
    .waitFor();
  expect(await page.getByRole('button', { name: /Add a score|Delete/ }).count()).toBe(0);
  await context.close();
});

test('trends by version are on the prompt’s page, and executions with a bad score become a dataset', async () => {
  await call('POST', '/prompts', { body: { name: 'trend', template: 'Hi', model: 'sandbox/echo' } });
  const scored = async (value: boolean, quality: number) => {
    const { body } = await call('POST', '/executions', { body: { prompt_name: 'trend' } });
    const subject = { execution_id: body.id };
    await call('POST', '/scores', {
      body: {
        scores: [
          { name: 'helpful', value, subject },
          { name: 'quality', value: quality, subject },
        ],
      },
    });
  };
  await scored(true, 5);
  await scored(false, 2);
  await call('PUT', '/prompts/trend', { body: { template: 'Hello' } });
  await scored(true, 4);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts/trend?tab=runs'));
  const helpful = page.getByRole('figure', { name: 'Score helpful: share of yes' });
  await helpful.getByText('Numbers').click();
  await helpful.getByRole('row', { name: /100 % 50 %$/ }).waitFor();
  const quality = page.getByRole('figure', { name: 'Score quality: mean' });
  await quality.getByText('Numbers').click();
  await quality.getByRole('row', { name: /4 3\.5$/ }).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);

  await page.goto(stage.at('/executions?prompt_name=trend'));
  await page.getByRole('combobox', { name: 'Search and filters' }).fill('score:helpful=false');
  await page.keyboard.press('Enter');
  await page.waitForURL(/score=/);
  await page.getByRole('table', { name: 'Executions' }).getByRole('row').nth(2).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Add to a dataset…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add to a dataset' });
  await dialog.getByLabel('Dataset').fill('trend/unhelpful');
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByText('trend/unhelpful: version 1 has 1 example.').first().waitFor();
  await page.getByRole('heading', { name: 'trend/unhelpful', level: 1 }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
