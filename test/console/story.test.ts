import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/wait-for.ts';
import { chooseMore, type Stage, startStage, write } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const NAME = 'support/greeting';

test('from the first start to a release and its rollback, with only the console', async () => {
  const { context, page, complaints } = await stage.signIn();
  const first = page.getByRole('region', { name: 'First steps' });
  const home = async (done: number) => {
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await first.getByText(`${done} of 5`).waitFor();
  };

  await page.goto(stage.at('/'));
  await first.getByText('0 of 5').waitFor();
  await first.getByRole('link', { name: 'New prompt…' }).click();
  const creating = page.getByRole('dialog', { name: 'New prompt' });
  await creating.getByLabel('Name').fill(NAME);
  await creating.getByLabel('Type').selectOption('Text');
  await creating.getByRole('textbox', { name: 'Text' }).fill('Hello {{ name }}');
  await creating.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: NAME, level: 1 }).waitFor();

  await home(1);
  await first.getByRole('link', { name: 'Open the playground' }).click();
  await page.getByLabel('name', { exact: true }).fill('Ada');
  await page.getByRole('button', { name: 'Run', exact: true }).first().click();
  await page.getByRole('region', { name: 'output of pane 1' }).getByText('Hello Ada').waitFor();
  await chooseMore(page, 'Save as an example…', 'pane 1');
  const saving = page.getByRole('dialog', { name: 'Save as an example' });
  await saving.getByLabel('Dataset').fill('people');
  await saving.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The example is in people, version 1, which has 1 example.').first().waitFor();

  await home(3);
  await first.getByRole('link', { name: 'New evaluation…' }).click();
  await page.getByRole('region', { name: 'Estimate' }).getByText('1 example, 1 call of the model').waitFor();
  await page.getByRole('button', { name: 'Start the evaluation' }).click();
  await page.getByRole('heading', { name: `Evaluation of ${NAME}` }).waitFor();
  await page.getByText('passed', { exact: true }).first().waitFor();

  await home(4);
  await first.getByRole('link', { name: 'Set a label' }).click();
  await page.getByRole('button', { name: 'Label… version 1' }).click();
  const labelling = page.getByRole('dialog', { name: 'Label version 1' });
  await labelling.getByRole('button', { name: 'Set the label' }).click();
  await page.getByText('“production” is at version 1 now.').first().waitFor();
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await first.waitFor({ state: 'detached' });

  // A change that the approver of its release recognizes as worse.
  await page.goto(stage.at(`/prompts/${NAME}`));
  await write(page, 'Text', 'Hi {{ name }}');
  await page.getByLabel('What changes, and why').fill('Shorter');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await page.getByText('Saved as version 2.').first().waitFor();
  await page.getByRole('link', { name: 'Versions and labels' }).click();
  await page.getByRole('link', { name: 'Release… version 2' }).click();
  const step = (number: number) => page.getByRole('group', { name: `Step ${number}:` });
  await step(1).getByLabel('Dataset', { exact: true }).fill('people');
  await step(1).getByLabel('The candidate must').selectOption('reach a score');
  await step(1).getByLabel('Score, in %').fill('0');
  await step(1).getByLabel('Examples that may get worse').fill('10');
  await step(2).getByLabel('Exclude the author of the version and the person who started the release').uncheck();
  await page.getByRole('button', { name: 'Start the release' }).click();
  await page.getByRole('heading', { name: `${NAME}: 1 → 2 on production` }).waitFor();
  const approval = page.getByRole('region', { name: 'Waits for approval' });
  await approval.waitFor();
  await page.getByRole('region', { name: 'What changes' }).getByText('Hi Ada').first().waitFor();

  // The home page shows it, and links to it.
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page
    .getByRole('region', { name: 'Needs attention' })
    .getByRole('link', { name: /^Release of/ })
    .click();
  await approval.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('5 % get version 2').first().waitFor();
  const { call } = stage.service;
  const versionOf = async (customer: number) => {
    const body = { prompt_name: NAME, label: 'production', variables: { name: 'Ada' }, rollout_key: `c${customer}` };
    return (await call('POST', '/executions', { body })).body.prompt_version;
  };
  const seen = await Promise.all(Array.from({ length: 100 }, (_, customer) => versionOf(customer)));
  expect(new Set(seen)).toEqual(new Set([1, 2]));
  await page.getByRole('button', { name: 'Roll back…' }).click();
  const ending = page.getByRole('dialog').filter({ has: page.getByRole('button', { name: 'Roll back' }) });
  await ending.getByLabel('Comment').fill('People miss the hello');
  await ending.getByRole('button', { name: 'Roll back' }).click();
  await page.getByRole('status').getByText('rolled back', { exact: true }).waitFor();
  await waitFor('version 1 for all', async () => {
    const versions = await Promise.all(Array.from({ length: 20 }, (_, customer) => versionOf(customer)));
    return versions.every((version) => version === 1);
  });
  expect(complaints).toEqual([]);
  await context.close();
});
