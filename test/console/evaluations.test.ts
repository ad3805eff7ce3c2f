import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/wait-for.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { chooseMore, type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

const HOSTILE = '<img src=x onerror="window.wasRun = 1"><script>window.wasRun = 1</script><b>bold</b>';

/**
 * The first version of the prompt greets most people with "Hi", the second all people with "Hello"; one person should be greeted
 * with "Hi".
 */
const examples = Array.from({ length: 20 }, (_, index) => {
  const expected = index === 0 ? `Hi ${HOSTILE}` : `Hello person ${index}`;
  const name = index === 0 ? HOSTILE : `person ${index}`;
  return { id: `e${index}`, variables: { name, greeting: index > 0 && index < 4 ? 'Hello' : 'Hi' }, expected };
});
const asJsonLines = (lines: object[]) => lines.map((line) => JSON.stringify(line)).join('\n');

test('upload a dataset, evaluate two versions, read what got worse and why, compare, move production', async () => {
  await call('POST', '/prompts', {
    body: { name: 'greeting', template: '{{ greeting }} {{ name }}', model: 'sandbox/echo' },
  });
  await call('PUT', '/prompts/greeting/labels/production', { body: { version: 1 } });
  const { context, page, complaints } = await stage.signIn();

  await page.goto(stage.at('/datasets'));
  const file = { name: 'people.jsonl', text: asJsonLines(examples) };
  const transfer = await page.evaluateHandle(`(() => {
    const held = new DataTransfer();
    held.items.add(new File([${JSON.stringify(file.text)}], ${JSON.stringify(file.name)}));
    return held;
  })()`);
  await page.getByText('Drop a file with examples here').dispatchEvent('drop', { dataTransfer: transfer });
  await page.getByRole('dialog', { name: 'Upload a dataset' }).getByRole('button', { name: 'Upload' }).click();
  await page.getByText('people: version 1 has 20 examples.').first().waitFor();
  await page.getByRole('heading', { name: 'people', level: 1 }).waitFor();

  await page.getByRole('link', { name: 'Evaluate…' }).click();
  await page.getByLabel('Prompt', { exact: true }).fill('greeting');
  await page.getByRole('region', { name: 'Estimate' }).getByText('20 examples, 20 calls of the model').waitFor();
  await page.getByRole('button', { name: 'Start the evaluation' }).click();
  await page.getByRole('heading', { name: 'Evaluation of greeting' }).waitFor();
  await page.getByText('below 80 %').waitFor();
  await page.getByText('20 %', { exact: true }).first().waitFor();
  const first = new URL(page.url()).pathname;

  await call('PUT', '/prompts/greeting', { body: { template: 'Hello {{ name }}' } });
  await page.getByRole('link', { name: 'Duplicate…' }).click();
  await page.getByRole('button', { name: 'Start the evaluation' }).click();
  await page.waitForURL((url) => url.pathname !== first && /eval_/.test(url.pathname));
  const verdict = page.getByRole('region', { name: 'Compared with the baseline' });
  await verdict.getByText(/^Better by [\d.]+–[\d.]+ points: not noise$/).waitFor();

  await page.getByLabel('Examples', { exact: true }).selectOption('Got worse');
  await page.getByText('1 of 20').waitFor();
  await page.getByLabel('Score from, in %').fill('1');
  await page.getByRole('heading', { name: 'No examples match these filters' }).waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText('20 results').waitFor();
  await page.getByLabel('Score to, in %').fill('0');
  await page.getByText('1 of 20').waitFor();
  await page.getByLabel('Examples', { exact: true }).selectOption('Got worse');
  await page.waitForURL(/only=regression/);
  await page.getByRole('table', { name: 'Results' }).getByRole('link', { name: 'e0' }).click();
  const example = page.getByRole('region', { name: 'Example 1' });
  await example.getByText('was 100 %').waitFor();
  await example.getByText(/^the output is/).waitFor();
  await example.getByRole('region', { name: 'Expected' }).locator('.cm-changedText').first().waitFor();
  await example.getByRole('region', { name: 'Output of the baseline' }).locator('.cm-changedText').first().waitFor();
  expect(await example.getByRole('region', { name: 'output', exact: true }).textContent()).toBe(`Hello ${HOSTILE}`);
  expect(page.url()).toContain('only=regression');
  // It needs neither to be in the list that it is opened from, nor the list to be loaded.
  await page.goto(page.url().replace(/max=[^&]*/, 'min=100'));
  await page.getByText('No examples match these filters').waitFor();
  await example.getByText('was 100 %').waitFor();
  expect(await page.evaluate('"wasRun" in window')).toBe(false);
  expect(await page.locator('img, b').count()).toBe(0);
  await page.keyboard.press('Escape');
  await example.waitFor({ state: 'detached' });

  await verdict.getByRole('link', { name: 'Compare' }).click();
  await page.getByText('Likely a real improvement').waitFor();
  await page.getByRole('link', { name: 'Got better: 16' }).click();
  const texts = page.getByRole('article');
  await texts.getByText('1 of 16').waitFor();
  await texts.getByRole('region', { name: 'output, after' }).locator('ins').first().waitFor();
  await page.keyboard.press('j');
  await texts.getByText('2 of 16').waitFor();
  await page.keyboard.press('k');
  await texts.getByText('1 of 16').waitFor();
  await page.getByRole('link', { name: 'Swap' }).click();
  await page.getByText(/^Worse by .* points: not noise$/).waitFor();
  await page.goBack();

  await page.getByRole('region', { name: 'After' }).getByRole('link', { name: 'After' }).click();
  await chooseMore(page, 'Move a label');
  await page.getByRole('button', { name: 'Label… version 2' }).click();
  await page.getByRole('button', { name: 'Move from version 1' }).click();
  await page.getByText('“production” is at version 2 now.').first().waitFor();

  await page.goto(stage.at('/evaluations?prompt_name=greeting'));
  await page.getByRole('heading', { name: 'Over people' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a run has a name as its title, and the next one is set up as the last one, with the button to start it in sight', async () => {
  await call('POST', '/prompts', { body: { name: 'named', template: 'Hello {{ name }}', model: 'sandbox/echo' } });
  await call('POST', '/evaluations', {
    body: {
      prompt_name: 'named',
      dataset: 'people',
      evaluators: [{ type: 'contains', values: ['Hello'], name: 'greets' }],
      threshold: 0.65,
      max_cost: 2,
    },
  });
  const { context, page, complaints } = await stage.signIn({ viewport: { width: 1280, height: 800 } });
  await page.goto(stage.at('/evaluations/new?prompt=named&dataset=people'));
  await page.getByText('people, greets').waitFor();
  const start = page.getByRole('button', { name: 'Start the evaluation' });
  const unfold = page.getByText('Name, model calls, concurrency and start');
  await page.getByRole('group', { name: 'Evaluator 1' }).waitFor();
  const { y = 0, height = 0 } = (await start.boundingBox()) ?? {};
  expect(y + height).toBeLessThanOrEqual(800);
  // With one evaluator the form needs no scrolling.
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(800);
  await page.getByRole('button', { name: 'Same as last time' }).click();
  expect([
    await page.getByLabel('Dataset', { exact: true }).inputValue(),
    await page.getByLabel('Scores by').inputValue(),
    await page.getByLabel('Pass threshold, in %').inputValue(),
    await page.getByLabel('Maximum cost, in US dollars').inputValue(),
  ]).toEqual(['people', 'contains', '65', '2']);
  await unfold.click();
  await page.getByLabel('Name of this run').fill('Only greetings');
  // An invalid field that is folded away is shown when it keeps the form from being sent.
  const concurrency = page.getByLabel('Concurrency', { exact: true });
  await concurrency.fill('0');
  await unfold.click();
  await concurrency.waitFor({ state: 'hidden' });
  await start.click();
  await concurrency.waitFor();
  await concurrency.fill('20');
  expect(await violationsInThemes(page)).toEqual([]);
  await start.click();
  await page.getByRole('heading', { name: 'Only greetings', level: 1 }).waitFor();

  await page.getByRole('button', { name: 'Name this run' }).click();
  await page.getByLabel('Name of this run').fill('Greetings of everybody');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Greetings of everybody', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Name this run' }).click();
  await page.getByLabel('Name of this run').fill('Not kept');
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Greetings of everybody', level: 1 }).waitFor();
  await page.goto(stage.at('/evaluations?prompt_name=named'));
  await page.getByRole('row').filter({ hasText: 'Greetings of everybody' }).waitFor();
  await page.getByRole('link', { name: 'named@1' }).first().click();
  await page.getByRole('button', { name: 'Name this run' }).click();
  await page.getByLabel('Name of this run').fill('');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'Evaluation of named', level: 1 }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a run of code is listed, shown while its program runs it, compared, and rescored', async () => {
  const own = [{ id: 'ada', variables: { name: 'Ada' }, expected: 'Hello Ada' }];
  const begin = async (correct: number) => {
    const body = { name: 'support/agent', examples: own, scores: [{ name: 'correct' }] };
    const { body: run } = await call('POST', '/evaluations/code', { body });
    const results = [{ seq: 0, output: 'Hello Ada', scores: { correct }, duration_ms: 40 }];
    return { id: run.id, send: () => call('POST', `/evaluations/${run.id}/results`, { body: { results } }) };
  };
  const finish = (id: string) => call('POST', `/evaluations/${id}/finish`);
  const before = await begin(0);
  await before.send();
  await finish(before.id);
  const run = await begin(1);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/evaluations'));
  await page.getByText('support/agent').first().waitFor();
  await page.goto(stage.at(`/evaluations/${run.id}`));
  await page.getByRole('heading', { name: 'Evaluation of support/agent' }).waitFor();
  await page.getByText(/0 of 1 examples; the program that runs it has until/).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).waitFor();
  for (const name of ['Pause', 'Retry failed examples'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  await run.send();
  await finish(run.id);
  await page.getByText('passed', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Results as CSV' }).waitFor();
  for (const name of ['Duplicate…', 'Move a label', 'Release version 0…'])
    expect(await page.getByRole('menuitem', { name }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await page.getByRole('table', { name: 'Results' }).getByRole('link', { name: 'ada' }).click();
  const example = page.getByRole('region', { name: 'Example 1' });
  await example.getByText('was 0 %').waitFor();
  expect(await example.getByText('Sent to the model').count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  await page
    .getByText(/^Got better: /)
    .first()
    .waitFor();
  await page.goto(stage.at(`/evaluations/${run.id}`));
  await chooseMore(page, 'Score again…');
  await page.getByRole('dialog').getByRole('button', { name: 'Score', exact: true }).click();
  await page.waitForURL((url) => /eval_/.test(url.pathname) && !url.pathname.includes(run.id));
  await page.getByText('passed', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a run of a draft says so wherever it is shown, and its prompt need not exist', async () => {
  const evaluators = [{ type: 'exact_match' }];
  const run = async (body: object) => {
    const given = { examples: [{ id: 'ada', variables: { name: 'Ada' }, expected: 'Hi Ada' }], evaluators, ...body };
    const { body: made } = await call('POST', '/evaluations', { body: given });
    await waitFor('its end', async () => (await call('GET', `/evaluations/${made.id}`)).body.status === 'completed');
    return made.id as string;
  };
  await call('POST', '/prompts', { body: { name: 'tried/known', template: 'Hi {{ name }}', model: 'sandbox/echo' } });
  const version = await run({ prompt_name: 'tried/known' });
  const draft = await run({ prompt_name: 'tried/known', draft: { template: 'Hello {{ name }}' } });
  const fresh = { template: 'Hi {{ name }}', model: 'sandbox/echo' };
  const unknown = await run({ prompt_name: 'tried/unknown', draft: fresh });
  const { context, page, complaints } = await stage.signIn();

  await page.goto(stage.at('/evaluations'));
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('tried/unknown').getByText('draft', { exact: true }).waitFor();
  await page.goto(stage.at('/'));
  await page.getByText('Evaluation of tried/known (draft)').first().waitFor();

  await page.goto(stage.at(`/evaluations/${draft}`));
  await page.getByRole('heading', { name: 'Evaluation of tried/known' }).waitFor();
  await page.getByRole('region', { name: 'Compared with the baseline' }).waitFor();
  await page.getByRole('link', { name: 'Duplicate…' }).waitFor();
  // There is no version to which a label could move.
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Compare…' }).waitFor();
  expect(await page.getByRole('menuitem', { name: 'Move a label' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await page.getByRole('table', { name: 'Results' }).getByRole('link', { name: 'ada' }).click();
  const example = page.getByRole('region', { name: 'Example 1' });
  await example.getByRole('region', { name: 'Sent to the model' }).getByText('Hello Ada').waitFor();
  await page.goto(stage.at(`/evaluations/${draft}/compare/${version}`));
  await page
    .getByText(/^Got worse: /)
    .first()
    .waitFor();

  await page.goto(stage.at(`/evaluations/${unknown}`));
  await page.getByRole('table', { name: 'Results' }).getByRole('link', { name: 'ada' }).click();
  await page.getByRole('link', { name: 'Open in the playground' }).click();
  await page.getByText('Hi Ada').first().waitFor();

  // Charts of a prompt's versions leave drafts out.
  await page.goto(stage.at('/prompts/tried/known?tab=runs'));
  await page.getByRole('heading', { name: 'Score by version' }).waitFor();
  expect(await page.getByRole('link', { name: 'draft', exact: true }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a run is paused, given more money, resumed, canceled, retried and rescored', async () => {
  await call('POST', '/prompts', { body: { name: 'slow', template: '{{ name }}', model: 'sandbox/slow-600000' } });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/evaluations/new?prompt=slow'));
  await page.getByLabel('From', { exact: true }).selectOption('inline');
  await page.getByRole('textbox', { name: 'Examples' }).fill('{"variables": {"name": "x"}, "expected": "x"}');
  await page.getByLabel('Scores by').selectOption('Contains');
  await page.getByRole('textbox', { name: 'Texts' }).fill('x');
  await page.getByRole('button', { name: 'Add an evaluator' }).click();
  const second = page.getByRole('group', { name: 'Evaluator 2' });
  await second.getByLabel('Scores by').selectOption('Exact match');
  await second.getByLabel('Weight').fill('3');
  await second.getByText('Counts 75 % of the score.').waitFor();
  await page.getByLabel('Maximum cost, in US dollars').fill('1');
  await page.getByRole('button', { name: 'Start the evaluation' }).click();
  await page.getByText('0 of 1 examples').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused: paused by request.').waitFor();
  await chooseMore(page, 'Raise the budget…');
  await page.getByLabel('US dollars').fill('2');
  await page.getByRole('button', { name: 'Raise', exact: true }).click();
  await page.getByText('of $2.00').waitFor();
  await page.getByText('running', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByText('canceled', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Retry failed examples' }).click();
  await page.getByText('running', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByText('canceled', { exact: true }).waitFor();
  await chooseMore(page, 'Delete…');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The evaluation was deleted.').first().waitFor();

  const { body: run } = await call('POST', '/evaluations', {
    body: {
      prompt_name: 'greeting',
      examples: [{ variables: { name: 'Ada' }, expected: 'hello ada' }],
      evaluators: [{ type: 'exact_match' }],
    },
  });
  await page.goto(stage.at(`/evaluations/${run.id}`));
  await page.getByText('below 80 %').waitFor();
  await chooseMore(page, 'Score again…');
  await page.getByText('More options').click();
  await page.getByLabel('Upper and lower case differ').uncheck();
  await page.getByRole('dialog').getByRole('button', { name: 'Score', exact: true }).click();
  await page.getByText('passed', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'another evaluation' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('an example is searched and changed, which makes a version; versions are compared; a dataset is exported', async () => {
  await call('PUT', '/datasets/team/people', {
    raw: asJsonLines([
      { id: 'a', variables: { name: 'Ada' }, expected: 'Hello Ada' },
      { id: 'b', variables: { name: 'Bob' }, expected: { greeting: 'Hello' } },
      { id: 'c', variables: { name: HOSTILE } },
    ]),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/datasets/team/people'));
  await page.getByRole('cell', { name: '<b>bold</b>' }).waitFor();
  await page.getByLabel('Search').fill('bob');
  await page.getByText('1 of 3').waitFor();
  await page.getByRole('link', { name: 'b', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'b' });
  await dialog.getByLabel('Expected', { exact: true }).fill('{"greeting": ');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Expected must be valid JSON.').waitFor();
  await dialog.getByLabel('Expected', { exact: true }).fill('{"greeting": "Hello Bob"}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The example was changed in version 2.').first().waitFor();
  const { body } = await call('GET', '/datasets/team/people/examples');
  expect(body.data[1]).toMatchObject({ id: 'b', expected: { greeting: 'Hello Bob' } });

  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByText('0 added, 0 removed, 1 changed.').waitFor();
  await page.getByRole('button', { name: 'b', exact: true }).click();
  await page.getByRole('dialog').locator('.cm-changedText').first().waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('link', { name: 'Examples', exact: true }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'JSON Lines' }).click();
  const exported = await readFile(await (await download).path(), 'utf8');
  expect(exported.trim().split('\n')).toHaveLength(3);
  expect(await page.evaluate('"wasRun" in window')).toBe(false);

  const bad = { name: 'bad.csv', mimeType: 'text/csv', buffer: Buffer.from('id,id\n1,2\n') };
  await page.getByLabel('Drop a file with the next version here').setInputFiles(bad);
  // What can't be read here can't be added here either.
  await page.getByLabel('What happens to the current examples').selectOption('They are replaced');
  await page.getByRole('dialog').getByRole('button', { name: 'Upload' }).click();
  await page
    .getByRole('alert')
    .getByText(/column/)
    .waitFor();
  expect(complaints.filter((complaint) => !complaint.includes('400'))).toEqual([]);
  await context.close();
});

test('a schedule is made, triggered and paused, and has its evaluations', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/schedules'));
  await page.getByRole('link', { name: 'New schedule' }).click();
  await page.getByLabel('Name', { exact: true }).first().fill('nightly');
  await page.getByLabel('Schedule (cron)').fill('0 3 * * *');
  await page.getByLabel('Prompt', { exact: true }).fill('greeting');
  await page.getByLabel('Dataset', { exact: true }).fill('people');
  await page.getByRole('button', { name: 'Create the schedule' }).click();
  await page.getByRole('heading', { name: 'nightly', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Start one now' }).click();
  await page.getByText('An evaluation is being started.').first().waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused', { exact: true }).waitFor();
  const { body } = await call('GET', '/schedules');
  const schedule = body.data[0];
  await waitFor('its evaluation', async () => {
    const { body: list } = await call('GET', `/evaluations?schedule_id=${schedule.id}&status=completed`);
    return list.data.length === 1;
  });
  await page.getByRole('link', { name: 'Its evaluations' }).click();
  await page.getByRole('cell', { name: 'completed' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'There are no schedules yet' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('the first result of a run is in sight, whatever stands above it', async () => {
  const { body: runs } = await call('GET', '/evaluations?prompt_name=greeting&dataset=people&status=completed');
  const { context, page } = await stage.signIn({ viewport: { width: 1280, height: 800 } });
  for (const { id } of runs.data) {
    await page.goto(stage.at(`/evaluations/${id}`));
    const first = page.getByRole('table', { name: 'Results' }).locator('[aria-rowindex="2"]');
    await first.waitFor();
    expect((await first.boundingBox())?.y).toBeLessThanOrEqual(350);
  }
  await context.close();
});

test('all these pages are accessible, in either theme, and fit a phone', async () => {
  const { body: runs } = await call('GET', '/evaluations?prompt_name=greeting&dataset=people&status=completed');
  const [newest, before] = runs.data;
  const problems = await problemsOf(stage, [
    { at: '/evaluations?prompt_name=greeting', shows: 'Score by version' },
    { at: '/evaluations/new', shows: 'What is evaluated' },
    { at: `/evaluations/${newest.id}`, shows: 'Results' },
    { at: `/evaluations/${newest.id}?example=0`, shows: 'Scores' },
    { at: `/evaluations/${newest.id}/compare/${before.id}`, shows: 'By evaluator' },
    { at: '/evaluations/eval_none', shows: 'There is no such evaluation' },
    { at: '/datasets', shows: 'Datasets' },
    { at: '/datasets/team/people', shows: 'team/people' },
    { at: '/datasets/team/people?example=b', shows: 'b' },
    { at: '/datasets/team/people?tab=versions', shows: 'All versions' },
    { at: '/schedules/new', shows: 'When' },
    { at: '/usage', shows: 'Mean latency per day' },
  ]);
  expect(problems).toEqual([]);
});
