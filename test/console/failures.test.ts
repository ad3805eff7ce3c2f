import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { checkNow, putMonitor } from '../api/monitors/monitors-support.ts';
import { runByLabel, seedPrompt, startRelease, untilRelease } from '../api/releases/releases-support.ts';
import { waitFor } from '../support/wait-for.ts';
import { problemsOf } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

// Pages report failures first: how many, why, and which.

let stage: Stage;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);
/** An evaluation whose examples have all failed. */
let evaluation: string;
let release: string;

beforeAll(async () => {
  stage = await startStage();
  await call('POST', '/prompts', { body: { name: 'broken', template: 'Hi {{ name }}', model: 'sandbox/fail' } });
  const examples = Array.from({ length: 4 }, (_, index) => ({
    variables: { name: `person ${index}` },
    expected: 'Hi',
  }));
  const { body } = await call('POST', '/evaluations', {
    body: { prompt_name: 'broken', examples, evaluators: [{ type: 'exact_match' }] },
  });
  evaluation = body.id;
  await waitFor(
    'the evaluation',
    async () => (await call('GET', `/evaluations/${evaluation}`)).body.status === 'completed',
  );
  for (const name of ['Ada', 'Bob'])
    await call('POST', '/executions', { body: { prompt_name: 'broken', variables: { name } } });

  await seedPrompt(call, 'canary', ['sandbox/echo', 'sandbox/fail']);
  const steps = [
    { type: 'canary', percent: 100 },
    { type: 'wait', for: '1h' },
  ];
  ({ id: release } = await startRelease(call, 'canary', steps));
  await untilRelease(call, release, ({ percent }) => percent === 100);
  for (let index = 0; index < 3; index += 1) await runByLabel(call, 'canary', `key ${index}`);
  await putMonitor(call, 'team/broken', {
    prompt_name: 'broken',
    label: undefined,
    window: '1h',
    checks: [{ metric: 'error_rate', above: 0.1, min_executions: 1, for: '1m' }],
  });
  await checkNow(stage.service.dependencies);
});
afterAll(() => stage?.stop());

const failures = (page: Page) => page.getByRole('region', { name: 'Failures' });

test('an evaluation says how many examples failed and why, links to them, and is no success', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/evaluations'));
  const row = page.getByRole('row', { name: /broken/ });
  await row.getByText('all failed').waitFor();
  expect(await page.locator('.badge.good').count()).toBe(0);
  await row.getByRole('link').first().click();
  await failures(page).getByText('4 of 4 examples failed').waitFor();
  const [line, score] = await Promise.all([
    failures(page).boundingBox(),
    page.getByText('Score', { exact: true }).first().boundingBox(),
  ]);
  expect(line?.y).toBeLessThan(score?.y ?? 0);
  expect(await page.locator('.badge.good').count()).toBe(0);
  await failures(page).getByRole('link', { name: 'Open' }).click();
  await page.waitForURL(/only=failed/);
  await page.getByRole('table', { name: 'Results' }).getByText('failed', { exact: true }).nth(3).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('home, a prompt, a release and a monitor say how many executions failed and why, and link to them', async () => {
  const { context, page, complaints } = await stage.signIn();
  const says = async (at: string, title: string, leadsTo: RegExp) => {
    await page.goto(stage.at(at));
    const found = failures(page).filter({ hasText: title });
    await found
      .getByRole('listitem')
      .filter({ hasText: /^\d × model_\w+ sandbox\/fail always fails/ })
      .first()
      .waitFor();
    await found.getByRole('link', { name: 'Open' }).click();
    await page.waitForURL((url) => url.pathname.endsWith('/executions') && leadsTo.test(url.search));
    await page.getByRole('table', { name: 'Executions' }).getByText('failed').first().waitFor();
  };
  await says('/', '5 of 5 executions failed in the last 24 hours', /status=failed/);
  await says('/prompts/broken', '2 of 2 executions of this prompt failed in the last 24 hours', /prompt_name=broken/);
  await says(`/releases/${release}`, '3 of 3 executions of the candidate failed', /arm=candidate/);
  await says('/monitors/team/broken', '2 of 2 executions failed in the last 1 hr', /prompt_name=broken/);

  await page.goto(stage.at('/'));
  await page
    .getByRole('region', { name: 'Problems' })
    .getByRole('listitem')
    .filter({ hasText: 'Evaluation of broken@1' })
    .getByText('4 of 4 failed')
    .waitFor();
  await page.getByRole('region', { name: 'Latest evaluations' }).getByText('all failed').waitFor();
  await page.goto(stage.at('/monitors'));
  await page.getByRole('region', { name: 'Alerts' }).getByText('error rate is 100 %, of ').waitFor();
  await page.goto(stage.at('/prompts/canary'));
  await page.getByRole('heading', { name: 'canary', level: 1 }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('what failed is run again: all of a run, or executions with the same version and variables', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/evaluations/${evaluation}`));
  await failures(page).getByRole('button', { name: 'Retry' }).click();
  await waitFor('the second round', async () => (await call('GET', `/evaluations/${evaluation}`)).body.retries === 1);

  const failed = async () =>
    (await call('GET', '/executions?prompt_name=broken&status=failed')).body.data as { variables: { name: string } }[];
  const before = (await failed()).length;
  await page.goto(stage.at('/prompts/broken'));
  await failures(page).getByRole('button', { name: 'Retry…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(`${before} executions run again.`).waitFor();
  await dialog.getByRole('button', { name: 'Run again' }).click();
  await page.getByText(`${before} executions were started again.`).waitFor();
  await waitFor('the new executions', async () => (await failed()).length === 2 * before);
  const names = (await failed()).map(({ variables }) => variables.name);
  expect(names.filter((name) => name === 'Ada')).toHaveLength(2);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a code of the causes leads to the executions that failed with it', async () => {
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts/broken'));
  await failures(page)
    .getByRole('link', { name: /^model_/ })
    .first()
    .click();
  await page.waitForURL(/error_code=model_/);
  await context.close();
});

test('these pages are accessible, and fit a phone', async () => {
  expect(
    await problemsOf(stage, [
      { at: '/', shows: 'Home' },
      { at: '/prompts/broken', shows: 'broken' },
      { at: '/evaluations', shows: 'Evaluations' },
      { at: `/evaluations/${evaluation}`, shows: 'Results' },
      { at: `/releases/${release}`, shows: 'Steps' },
      { at: '/monitors', shows: 'Monitors' },
      { at: '/monitors/team/broken', shows: 'Checks' },
    ]),
  ).toEqual([]);
});
