import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { waitFor } from '../support/wait-for.ts';
import { problemsOf } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
const ids: string[] = [];

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

/** Twelve people in two groups: the first version is right about the first group, the second about the other. */
const examples = Array.from({ length: 12 }, (_, index) => ({
  id: `e${index}`,
  variables: { name: `person ${index}` },
  expected: `${index < 8 ? 'Hi' : 'Hello'} person ${index}`,
  metadata: { group: index < 8 ? 'friends' : 'strangers' },
}));

async function run(version: number, more: object = {}): Promise<string> {
  const { body } = await call('POST', '/evaluations', {
    body: {
      prompt_name: 'greeting',
      version,
      dataset: 'people',
      baseline: null,
      evaluators: [
        { type: 'exact_match', name: 'exact' },
        { type: 'contains', name: 'named', values: ['person'] },
      ],
      ...more,
    },
  });
  await waitFor(
    'the evaluation',
    async () => (await call('GET', `/evaluations/${body.id}`)).body.status === 'completed',
  );
  return body.id;
}

beforeAll(async () => {
  stage = await startStage();
  await call('POST', '/prompts', { body: { name: 'greeting', template: 'Hi {{ name }}', model: 'sandbox/echo' } });
  await call('PUT', '/prompts/greeting', { body: { template: 'Hello {{ name }}' } });
  await call('PUT', '/prompts/greeting', { body: { template: 'Good day {{ name }}' } });
  await call('PUT', '/prompts/greeting/labels/production', { body: { version: 2 } });
  const raw = examples.map((each) => JSON.stringify(each)).join('\n');
  await call('PUT', '/datasets/people', { raw, headers: { 'Content-Type': 'application/jsonl' } });
  for (const version of [1, 2, 3]) ids.push(await run(version));
});
afterAll(() => stage?.stop());

const pair = () => `/evaluations/${ids[1]}/compare/${ids[0]}`;

/** The content of a chart's download. */
async function saved(page: Page, button: string): Promise<string> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).first().click();
  return readFile(await (await download).path(), 'latin1');
}

test('a comparison is grouped by metadata, narrowed to a group and an evaluator, and lists worse, better, changed and all', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(pair()));
  await page.getByRole('link', { name: 'Got worse: 8' }).waitFor();
  await page.getByRole('link', { name: 'Got better: 4' }).waitFor();
  await page.getByLabel('Group by').selectOption('group');
  const groups = page.getByRole('region', { name: 'By group: numbers' });
  const friends = groups.getByRole('row', { name: /^friends/ });
  await friends.getByText(/^Worse by .* points: not noise$/).waitFor();
  await groups
    .getByRole('row', { name: /^strangers/ })
    .getByText('Only 4 examples differ: too few to tell')
    .waitFor();

  await groups.getByRole('link', { name: 'strangers' }).click();
  await page.getByRole('link', { name: 'Got worse: 0' }).waitFor();
  await page.getByRole('link', { name: 'All: 4' }).waitFor();
  expect(page.url()).toContain('value=strangers');
  // The groups stay, so that another can be chosen.
  await friends.waitFor();
  await page.getByRole('button', { name: 'Only group: strangers' }).click();

  await page.getByRole('link', { name: 'Changed: 12' }).click();
  const texts = page.getByRole('article');
  await texts.getByText('1 of 12').waitFor();
  await page.keyboard.press('j');
  await texts.getByText('2 of 12').waitFor();
  await texts.getByRole('region', { name: 'output, after' }).locator('ins').first().waitFor();
  await texts.getByRole('heading', { name: 'Expected' }).waitFor();

  await page.getByLabel('Scores of').selectOption('named');
  await page.getByRole('strong').getByText('No difference: every example has the same score').waitFor();
  await page.getByRole('link', { name: 'All: 12' }).click();
  await texts.getByText('1 of 12').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('three chosen runs are side by side, none called best that may be so by chance, their texts in columns', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/evaluations?prompt_name=greeting'));
  const boxes = page.getByRole('checkbox', { name: /^Compare greeting/ });
  for (const index of [0, 1, 2]) await boxes.nth(index).check();
  await page.getByRole('link', { name: 'Compare 3 runs' }).click();
  await page.getByRole('heading', { name: '3 evaluations compared' }).waitFor();
  const exact = page.getByRole('row', { name: /^exact/ });
  await exact.waitFor();
  // Eight of twelve examples against four may be chance, as the page of the two says.
  await exact.getByText('not clearly best').waitFor();
  expect(await exact.getByRole('cell').allTextContents()).toEqual(['66.7 % not clearly best', '33.3 %', '0 %']);
  const outputs = page.getByRole('region', { name: 'Outputs' }).getByRole('listitem');
  await outputs.nth(2).getByRole('region', { name: 'output 3' }).getByText('Good day person 8').waitFor();
  await page.getByLabel('Highlight differences from the first').check();
  await outputs.nth(2).locator('ins').first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Texts of an example' }).click();
  await page.keyboard.press('j');
  await outputs.nth(2).getByRole('region', { name: 'output 3' }).getByText('person 9').waitFor();
  expect(page.url()).toContain('example=9');
  expect(complaints).toEqual([]);
  await context.close();
});

test('results are searched and sorted by their headers, with sums of the shown rows; an example links on by key', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/evaluations/${ids[0]}`));
  const table = page.getByRole('table', { name: 'Results' });
  await page.getByText('8 of 12', { exact: true }).waitFor();
  const header = table.getByRole('columnheader', { name: 'exact' });
  await header.getByRole('button').click();
  await page.waitForURL(/sort_by=score/);
  await waitFor('the order', async () => (await header.getAttribute('aria-sort')) === 'ascending');
  await waitFor('the worst first', async () => (await table.getByRole('link').first().textContent()) === 'e8');
  await header.getByRole('button').click();
  await waitFor('the other order', async () => (await header.getAttribute('aria-sort')) === 'descending');
  await waitFor('the best first', async () => (await table.getByRole('link').first().textContent()) === 'e0');
  await page.getByLabel('Search').fill('PERSON 1');
  // e1, e10 and e11.
  await page.getByText('3 of 12').waitFor();
  await page.getByText('1 of 3', { exact: true }).waitFor();
  await table.getByRole('link', { name: 'e10' }).click();
  const example = page.getByRole('region', { name: /^Example/ });
  await example.getByRole('region', { name: 'Sent to the model' }).getByText('Hi person 10').waitFor();
  await example.getByRole('link', { name: 'Open in the playground' }).waitFor();
  await page.keyboard.press('j');
  await page.getByRole('region', { name: 'Example 12' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a chart is read by arrow keys, and saved as a picture and as numbers', async () => {
  const { context, page, complaints } = await stage.signIn({ acceptDownloads: true });
  await page.goto(stage.at('/prompts/greeting?tab=runs'));
  await page.getByRole('heading', { name: 'Quality against cost and time' }).waitFor();
  await page.getByRole('heading', { name: 'Over people' }).waitFor();
  // The label of version 2 is in the picture.
  const figure = page.getByRole('figure').filter({ has: page.getByRole('heading', { name: 'Over people' }) });
  await figure.locator('svg text', { hasText: 'production' }).waitFor();
  const chart = figure.getByRole('group', { name: /^Over people: Score/ });
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  await chart.getByText('Version 1, Score, with its 95 % interval', { exact: false }).waitFor();
  await page.keyboard.press('End');
  await chart.getByText(/^Version 3, Score/).waitFor();
  await figure.getByText('Numbers').click();
  await figure.getByRole('rowheader', { name: 'Version 2' }).waitFor();
  const csv = await saved(page, 'CSV of Over people');
  expect(csv.split('\r\n')).toHaveLength(5);
  expect(csv).toMatch(/^Version,/);
  expect(await saved(page, 'SVG of Over people')).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  expect((await saved(page, 'PNG of Over people')).slice(1, 4)).toBe('PNG');
  expect(complaints).toEqual([]);
  await context.close();
});

test('all these pages are accessible, in either theme, and fit a phone', async () => {
  expect(
    await problemsOf(stage, [
      { at: `${pair()}?by=group&show=all`, shows: 'By group' },
      { at: `/evaluations/compare?with=${ids.join(',')}`, shows: 'Texts of an example' },
      { at: '/evaluations/compare', shows: 'Choose the evaluations to compare' },
      { at: `/evaluations/${ids[0]}?sort_by=score&q=person`, shows: 'Results' },
      { at: '/prompts/greeting?tab=runs', shows: 'Quality against cost and time' },
    ]),
  ).toEqual([]);
});

test('no part of a comparison has a verdict if that of the whole is withheld', async () => {
  await call('POST', '/prompts', { body: { name: 'broken', template: 'Hi {{ name }}', model: 'sandbox/fail' } });
  const failed = await run(1, { prompt_name: 'broken' });
  const { context, page } = await stage.signIn();
  await page.goto(stage.at(`/evaluations/${failed}/compare/${ids[0]}?by=group`));
  const why = 'No verdict: more than a tenth of the examples failed';
  await page.getByRole('strong').getByText(why).waitFor();
  const groups = page.getByRole('region', { name: 'By group: numbers' });
  for (const group of [/^friends/, /^strangers/])
    await groups.getByRole('row', { name: group }).getByText(why).waitFor();
  await context.close();
});

test('omitted evaluators of a comparison are named, and runs that share none cannot be compared', async () => {
  const exact = { type: 'exact_match', name: 'exact' };
  const changed = await run(2, {
    baseline: ids[0],
    evaluators: [exact, { type: 'contains', name: 'named', values: ['people'] }, { type: 'json_valid', name: 'json' }],
  });
  const other = await run(2, { evaluators: [{ type: 'json_valid', name: 'json' }] });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/evaluations/${changed}/compare/${ids[0]}`));
  const rows = page.getByRole('region', { name: 'By evaluator: numbers' });
  await rows.getByRole('row', { name: /^named left out: changed between the runs/ }).waitFor();
  await rows.getByRole('row', { name: /^json left out: only in the run after/ }).waitFor();
  await rows.getByRole('row', { name: /^exact [^l]/ }).waitFor();
  await page.goto(stage.at(`/evaluations/${changed}`));
  await page
    .getByRole('region', { name: 'Compared with the baseline' })
    .getByText('Evaluators left out: named (changed between the runs), json (only in the run after)')
    .waitFor();
  await page.goto(stage.at(`/evaluations/${other}/compare/${ids[0]}`));
  await page.getByRole('strong').getByText('Cannot be compared: the runs share no unchanged evaluator').waitFor();
  expect(await problemsOf(stage, [{ at: `/evaluations/${changed}/compare/${ids[0]}`, shows: 'By evaluator' }])).toEqual(
    [],
  );
  expect(complaints).toEqual([]);
  await context.close();
});
