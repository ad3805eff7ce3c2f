import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKey } from '../api/workspace.ts';
import { waitFor } from '../support/wait-for.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);
beforeAll(async () => {
  stage = await startStage();
  await call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ word }}', model: 'sandbox/echo' } });
});
afterAll(() => stage?.stop());

async function run(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { body } = await call('POST', '/executions', {
      body: { prompt_name: 'say', variables: { word: `w${index}` } },
    });
    ids.push(body.id);
  }
  return ids;
}

test('a rule is created by form, scores new runs, is changed, disabled, and scores the past', async () => {
  await run(2);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/rules'));
  await page.getByRole('button', { name: 'New rule…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New rule' });
  await dialog.getByLabel('Name of the rule').fill('team/short');
  await dialog.getByLabel('Scores', { exact: true }).selectOption('Executions of one prompt');
  await dialog.getByLabel('Prompt', { exact: true }).fill('say');
  await dialog.getByLabel('Sampling rate, in %').fill('100');
  await dialog.getByLabel('Budget per day, in US dollars').fill('5');
  await dialog.getByLabel('Scores by').selectOption({ value: 'exact_match' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByLabel('Scores by').selectOption({ value: 'json_valid' });
  await dialog.getByLabel('Name', { exact: true }).fill('parses');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'team/short', level: 1 }).waitFor();
  await page.getByText('$0 of $5').waitFor();
  expect((await call('GET', '/rules/team/short')).body).toMatchObject({
    prompt_name: 'say',
    sample_rate: 1,
    max_cost_per_day: '5',
    evaluators: [{ type: 'json_valid', name: 'parses' }],
    enabled: true,
  });

  const [id] = await run(1);
  await waitFor('the score', async () => (await call('GET', `/executions/${id}`)).body.scores?.length === 1);
  await page.goto(stage.at('/rules'));
  await page.getByRole('row', { name: /team\/short enabled say 100 % \$0 of \$5\.00 1 0 0/ }).waitFor();
  await page.getByRole('link', { name: 'team/short' }).click();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('disabled', { exact: true }).waitFor();
  expect((await call('GET', '/rules/team/short')).body).toMatchObject({ enabled: false, scored: 1 });

  await page.getByRole('button', { name: 'Change…' }).click();
  const change = page.getByRole('dialog', { name: 'Change team/short' });
  expect(await change.getByLabel('Prompt', { exact: true }).inputValue()).toBe('say');
  await change.getByLabel('Sampling rate, in %').fill('50');
  await change.getByRole('button', { name: 'Save' }).click();
  await page.getByText('50 % of say').waitFor();
  expect((await call('GET', '/rules/team/short')).body).toMatchObject({ enabled: false, sample_rate: 0.5 });
  await call('PUT', '/rules/team/short', {
    body: { prompt_name: 'say', evaluators: [{ type: 'json_valid', name: 'parses' }], enabled: false },
  });

  await page.getByRole('button', { name: 'Score past executions…' }).click();
  await page.getByRole('dialog').getByLabel('From').fill('2020-01-01');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page
    .getByRole('table', { name: 'Backfills' })
    .getByRole('row', { name: /completed .* 3 of 3 0 \$0/ })
    .waitFor();
  expect(
    await problemsOf(stage, [
      { at: '/rules', shows: 'Rules' },
      { at: '/rules/team/short', shows: 'Backfills' },
      { at: '/rules/none', shows: 'There is no such rule' },
    ]),
  ).toEqual([]);
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'There are no rules yet' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a rule for traces is created by form', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/rules'));
  await page.getByRole('button', { name: 'New rule…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New rule' });
  await dialog.getByLabel('Name of the rule').fill('travel/parses');
  await dialog.getByLabel('Scores', { exact: true }).selectOption('Traces');
  await dialog.getByLabel('With the agent').fill('travel');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByText('100 % of traces, agent travel').waitFor();
  expect((await call('GET', '/rules/travel/parses')).body).toMatchObject({
    trace_filter: { agent: 'travel' },
    prompt_name: null,
    filter: null,
  });
  await page.getByRole('button', { name: 'Change…' }).click();
  const change = page.getByRole('dialog', { name: 'Change travel/parses' });
  expect(await change.getByLabel('With the agent').inputValue()).toBe('travel');
  await change.getByLabel('Sampling rate, in %').fill('50');
  await change.getByRole('button', { name: 'Save' }).click();
  await page.getByText('50 % of traces, agent travel').waitFor();
  await call('DELETE', '/rules/travel/parses');
  expect(complaints).toEqual([]);
  await context.close();
});

test('a backfill is paused, resumed and canceled', async () => {
  await run(1);
  await call('PUT', '/rules/slow', {
    body: {
      prompt_name: 'say',
      evaluators: [{ type: 'llm_judge', name: 'tone', model: 'sandbox/slow-60000', rubric: 'Kind.' }],
      enabled: false,
    },
  });
  await call('POST', '/rules/slow/backfill', { body: { since: '2020-01-01T00:00:00Z' } });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/rules/slow'));
  const table = page.getByRole('table', { name: 'Backfills' });
  await table.getByText('running', { exact: true }).waitFor();
  await table.getByRole('button', { name: 'Pause' }).click();
  await table.getByText('paused', { exact: true }).waitFor();
  await table.getByRole('button', { name: 'Resume…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await table.getByText('running', { exact: true }).waitFor();
  await table.getByRole('button', { name: 'Cancel' }).click();
  await table.getByText('canceled', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a judge is compared with people: its agreement, the verdict, and the differences', async () => {
  const ids = await run(24);
  await call('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean' } });
  const scores = ids.flatMap((id, index) => {
    const subject = { execution_id: id };
    const people = index % 2 === 0;
    const evaluator = { rule: 'helpfulness', version: '7', model: 'openai/judge' };
    return [
      { name: 'helpful', value: people, subject, source: 'person' },
      { name: 'helpful', value: index === 0 ? !people : people, subject, evaluator, comment: `reason ${index}` },
    ];
  });
  expect((await call('POST', '/scores', { body: { scores } })).status).toBeLessThan(300);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/rules'));
  await page.getByRole('link', { name: 'Judges against people' }).click();
  await page.getByRole('heading', { name: 'Choose a score' }).waitFor();
  await page.getByLabel('Score', { exact: true }).selectOption('helpful');
  const version = page.getByRole('region', { name: 'helpfulness, version 7' });
  await version.getByText(/^Better than chance: /).waitFor();
  await version.getByText(/^Cohen’s kappa 0\.92 \(0\.\d\d to 1\.0\d\)$/).waitFor();
  await version.getByText('95.8 %').waitFor();
  const table = page.getByRole('table', { name: 'Disagreements with helpfulness, version 7' });
  await table.getByRole('row', { name: /Execution .* no yes reason 0/ }).waitFor();
  expect(
    await problemsOf(stage, [
      { at: '/agreement?score=helpful', shows: 'helpfulness, version 7' },
      { at: '/agreement?score=none', shows: 'There is no score of this name' },
    ]),
  ).toEqual([]);
  await table.getByRole('link', { name: /^Execution/ }).click();
  await page.getByRole('table', { name: 'Scores' }).getByText('reason 0').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a read key changes no rule', async () => {
  await call('PUT', '/rules/read', { body: { evaluators: [{ type: 'json_valid' }], enabled: false } });
  const { key } = await createKey(stage.service, 'read');
  const { context, page } = await stage.signIn({}, key);
  await page.goto(stage.at('/rules/read'));
  await page.getByRole('heading', { name: 'Backfills' }).waitFor();
  await page.getByText('None yet.').waitFor();
  expect(await page.getByRole('button', { name: /Enable|Change|Delete|Score the past/ }).count()).toBe(0);
  await page.goto(stage.at('/rules'));
  await page.getByRole('link', { name: 'read', exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'New rule…' }).count()).toBe(0);
  await context.close();
});
