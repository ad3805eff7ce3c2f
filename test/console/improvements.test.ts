import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ENDED, type ImprovementStage, stageOf, startModel } from '../api/improvements/improvements-support.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { chooseMore, type Stage, startStage } from './stage.ts';

let stage: Stage;
let search: ImprovementStage;
beforeAll(async () => {
  const model = await startModel();
  stage = await startStage({}, { providers: true });
  search = stageOf(stage.service, model);
});
afterAll(async () => {
  await stage?.stop();
  await search?.openai.close();
});

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

test('from an evaluation to a proved candidate, its diff, its version and its release', async () => {
  await search.seed('hidden/rules', { examples: 160, rules: 4 });
  await call('PUT', '/prompts/hidden/rules/labels/production', { body: { version: 1 } });
  const { body: evaluation } = await call('POST', '/evaluations', {
    body: { prompt_name: 'hidden/rules', dataset: 'hidden/rules', evaluators: [{ type: 'exact_match' }] },
  });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/evaluations/${evaluation.id}`));
  // It is offered when the run has ended.
  await page.getByText('below 80 %').waitFor();
  await chooseMore(page, 'Improve this prompt…');
  await page.getByRole('heading', { name: 'New improvement' }).waitFor();
  expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('hidden/rules');
  expect(await page.getByLabel('Dataset', { exact: true }).inputValue()).toBe('hidden/rules');
  const estimate = page.getByRole('region', { name: 'Estimate' });
  await estimate.getByText(/^Choose a prompt/).waitFor();
  await page.getByLabel('Model that writes candidates').fill('openai/gpt-4.1-nano');
  await page.getByLabel('Maximum cost, in US dollars').fill('0.0001');
  await estimate.getByText(/max_cost/).waitFor();
  await page.getByLabel('Maximum cost, in US dollars').fill('5');
  // A warning names fields as the form does.
  await page.getByLabel('Candidates, at most').fill('4');
  await estimate.getByText(/lower “Candidates at the same time” or raise “Candidates, at most”/).waitFor();
  await page.getByLabel('Candidates, at most').fill('60');
  await estimate.getByText(/lower “Candidates at the same time”/).waitFor({ state: 'detached' });
  await estimate.getByText(/^About \$[\d.]+, at most \$[\d.]+$/).waitFor();
  await estimate.getByText(/to learn from/).waitFor();
  await page.getByLabel('Candidates, at most').fill('24');
  expect(await violationsInThemes(page)).toEqual([]);
  await page.getByRole('button', { name: 'Start the improvement' }).click();

  await page.getByRole('heading', { name: 'Improvement of hidden/rules' }).waitFor();
  const [id = ''] = /imp_[^/?]+/.exec(page.url()) ?? [];
  await page.getByRole('heading', { name: 'Verdict' }).waitFor();
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await verdict.getByText(/^Improvement proved: \+[\d.]+ points$/).waitFor();
  await verdict
    .getByText(/^With 95|that nothing had seen, candidate \d+ scores/)
    .first()
    .waitFor();
  await verdict.getByRole('row', { name: /which chose it: too good/ }).waitFor();
  await page.getByRole('figure', { name: 'Best score so far' }).waitFor();

  const { verdict: found } = await search.read(id);
  const card = page.getByRole('article', { name: `Candidate ${found.candidate}` });
  await card.getByRole('heading', { name: 'Why it was made' }).waitFor();
  await card.locator('.cm-changedText, .cm-changedLine, .cm-insertedLine').first().waitFor();
  expect(await violationsInThemes(page)).toEqual([]);

  // With the keyboard through the tree.
  await page.getByRole('button', { name: /^Base/ }).click();
  await page.getByRole('article', { name: 'Base prompt' }).waitFor();
  await page.keyboard.press('j');
  await page.waitForURL(/candidate=[1-9]/);
  await page.keyboard.press('k');
  await page.getByRole('article', { name: 'Base prompt' }).waitFor();

  await page.getByRole('button', { name: 'Accept…' }).click();
  const dialog = page.getByRole('dialog', { name: `Accept candidate ${found.candidate}` });
  await dialog.getByText('Creates version 2 of hidden/rules.').waitFor();
  await dialog.getByLabel('And then').selectOption('Start a release of it');
  await dialog.getByText(/^The usual steps:/).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Accept and start the release' }).click();
  const accepted = page.getByRole('region', { name: 'Accepted' });
  await accepted.getByText('Accepted as version 2 of').waitFor();
  await accepted.getByRole('link', { name: 'Its release' }).click();
  await page.getByRole('heading', { name: 'hidden/rules: 1 → 2 on production' }).waitFor();
  expect((await call('GET', '/prompts/hidden/rules?label=production')).body.version).toBe(1);

  await page.goto(stage.at('/improvements'));
  const row = page.getByRole('row').filter({ hasText: 'improvement proved' });
  await row.locator('time').waitFor();
  await row.getByRole('link', { name: 'hidden/rules@1' }).click();
  await page.getByRole('heading', { name: 'Improvement of hidden/rules', level: 1 }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a search whose model cannot be called says why, and can be retried', async () => {
  await search.seed('hidden/refused', { examples: 120, rules: 4, from: 5_000 });
  search.openai.behave({ mode: 'fail', status: 401, matching: 'Rules:' });
  const { id } = await search.begin('hidden/refused', { max_proposals: 2 });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/improvements/${id}`));
  const progress = page.getByRole('region', { name: 'Progress' });
  await progress.getByText('model_authentication').waitFor();
  await progress.getByText('The reflection by openai/gpt-4.1-nano failed: told to fail with 401').waitFor();
  search.openai.behave();
  await page.getByRole('button', { name: 'Retry' }).click();
  await progress.getByText('model_authentication').waitFor({ state: 'detached' });
  await search.until(id, ...ENDED);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a search that finds nothing says so, and can be paused, resumed, finished and deleted', async () => {
  await search.seed('hidden/nothing', { examples: 120, rules: 4 });
  search.reflect([{ upTo: 1, way: 'variable' }]);
  const { id } = await search.begin('hidden/nothing', { max_proposals: 200, parallel: 1, patience: 200, max_cost: 50 });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/improvements/${id}`));
  await page.getByText(/^Searching: [1-9]/).waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused: paused by request.').waitFor();
  await page.getByRole('button', { name: 'Resume…' }).click();
  const resume = page.getByRole('dialog', { name: 'Resume this improvement' });
  await resume.getByLabel('Maximum cost, in US dollars').fill('0.00000001');
  await resume.getByRole('button', { name: 'Resume' }).click();
  await resume
    .getByText(/must be above what was spent so far/)
    .first()
    .waitFor();
  await resume.getByLabel('Maximum cost, in US dollars').fill('60');
  await resume.getByRole('button', { name: 'Resume' }).click();
  await page.getByText(/^Searching: \d+ of at most 200 candidates$/).waitFor();
  const refused = page.getByRole('region', { name: 'Refused by the guard, table' });
  await refused.getByText('other variables').first().waitFor();
  await page.getByRole('button', { name: 'Finish now…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Finish now' }).click();
  await search.until(id, ...ENDED);
  await page
    .getByText(/^No improvement (found|proved)/)
    .first()
    .waitFor();
  await page.getByText('someone requested the verdict').waitFor();
  await refused.getByRole('link').first().click();
  await page.getByRole('article').getByText('refused: other variables').waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  expect(
    await problemsOf(stage, [
      { at: '/improvements', shows: 'Improvements' },
      { at: `/improvements/${id}`, shows: 'Improvement of hidden/nothing' },
      { at: `/improvements/new?from=${id}`, shows: 'New improvement' },
      { at: '/improvements/imp_none', shows: 'There is no such improvement' },
    ]),
  ).toEqual([]);
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Improvements', level: 1 }).waitFor();
  expect((await call('GET', `/improvements/${id}`)).status).toBe(404);
  expect(complaints).toEqual([]);
  await context.close();
});
