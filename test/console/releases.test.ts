import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  labelOf,
  runByLabel,
  seedPrompt,
  startRelease,
  untilRelease,
  untilStatus,
} from '../api/releases/releases-support.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

beforeAll(async () => {
  stage = await startStage();
  await call('PUT', '/datasets/release/questions', {
    raw: Array.from({ length: 10 }, (_, index) =>
      JSON.stringify({ id: `q${index}`, variables: { q: `q${index}` }, expected: `Version 1: q${index}` }),
    ).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
afterAll(() => stage?.stop());

const WAIT = { type: 'wait', for: '1h' };
const APPROVE = { type: 'approve', exclude_author: false };
const EVALUATE = { type: 'evaluate', dataset: 'release/questions', require: 'threshold', threshold: 0 };
const CHECKS = [
  { metric: 'error_rate', against: 'stable', max_increase: 0.02, on_inconclusive: 'continue' },
  { metric: 'latency_p95', against: 60_000, max_increase: 0.5, on_inconclusive: 'continue' },
];

/** Screenshots for people: set SCREENSHOTS_TO to a directory. */
async function shoot(page: Page, name: string): Promise<void> {
  const directory = process.env['SCREENSHOTS_TO'];
  if (directory === undefined) return;
  await mkdir(directory, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(500);
    await page.screenshot({ path: `${directory}/${name}-${colorScheme}.png`, fullPage: true });
  }
}

/** A key with these scopes. */
const keyWith = async (name: string, scopes: string[]): Promise<string> =>
  (await call('POST', '/api-keys', { body: { name, scopes } })).body.key;

test('a release is started by form from the versions of a prompt, evaluated, approved and rolled back', async () => {
  await seedPrompt(call, 'release/form');
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts/release/form?tab=versions'));
  await page.getByRole('link', { name: 'Release… version 2' }).click();
  await page.getByText('“production” is on version 1, which stays the stable one').waitFor();
  const step = (number: number) => page.getByRole('group', { name: `Step ${number}:` });
  await step(1).getByLabel('Dataset', { exact: true }).fill('release/questions');
  await step(1).getByLabel('The candidate must').selectOption('reach a score');
  await step(1).getByLabel('Score, in %').fill('0');
  // Without it, the stable version would not be evaluated.
  await step(1).getByLabel('Examples that may get worse').fill('10');
  await step(2).getByLabel('Exclude the author of the version and the person who started the release').uncheck();
  expect(await step(3).getByLabel('Share, in %').inputValue()).toBe('5');
  await step(4).getByLabel('Maximum increase, in points').fill('2.5');
  await page.getByLabel('Reason').fill('Shorter answers');
  expect(await violationsInThemes(page)).toEqual([]);
  await shoot(page, 'new');
  await page.getByLabel('Write them as JSON').check();
  const json = JSON.parse(await page.getByRole('textbox', { name: 'Steps' }).inputValue());
  expect(json.map(({ type }: { type: string }) => type)).toEqual([
    'evaluate',
    'approve',
    'canary',
    'analyze',
    'promote',
  ]);
  expect(json[3].checks).toEqual([
    { metric: 'error_rate', against: 'stable', max_increase: 0.025, on_inconclusive: 'pause' },
  ]);
  await page.getByLabel('Write them as JSON').uncheck();
  await page.getByRole('button', { name: 'Start the release' }).click();

  await page.getByRole('heading', { name: 'release/form: 1 → 2 on production' }).waitFor();
  const approval = page.getByRole('region', { name: 'Waits for approval' });
  await approval.getByText('0 of 1 approved').waitFor();
  await page.getByRole('listitem').and(page.locator('[aria-current=step]')).getByText('Approval').waitFor();
  const changes = page.getByRole('region', { name: 'What changes' });
  await changes.locator('.cm-changedText').first().waitFor();
  await changes.getByText(/^Worse by/).waitFor();
  const example = changes.getByRole('region', { name: 'Example q0', exact: true });
  await example.getByRole('region', { name: 'Stable: output of example q0' }).getByText('Version 1: q0').waitFor();
  await example.getByRole('region', { name: 'Candidate: output of example q0' }).getByText('Version 2: q0').waitFor();
  await shoot(page, 'approval');
  await approval.getByLabel('Comment').fill('Looks good');
  await approval.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('listitem').and(page.locator('[aria-current=step]')).getByText('Analyze for 1h').waitFor();
  await page.getByText('5 % get version 2').first().waitFor();
  const history = page.getByRole('region', { name: 'History', exact: true });
  await history.getByText('Looks good').waitFor();

  await page.goto(stage.at('/prompts/release/form?tab=versions'));
  await page.getByRole('link', { name: 'Release 1 → 2' }).click();
  await page.getByRole('button', { name: 'Pause…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('status').getByText('paused', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Resume…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('status').getByText('in progress', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Roll back…' }).click();
  await page.getByRole('dialog').getByLabel('Comment').fill('Wrong language');
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
  await page.getByRole('status').getByText('rolled back', { exact: true }).waitFor();
  await history.getByText('Wrong language').waitFor();
  expect(await page.getByRole('button', { name: 'Roll back…' }).count()).toBe(0);
  expect(await labelOf(call, 'release/form')).toBe(1);

  await page.goto(stage.at('/releases'));
  await page.getByLabel('Prompt', { exact: true }).fill('release/form');
  await page.getByLabel('Status').selectOption('rolled back');
  await page.getByRole('table', { name: 'Releases' }).getByRole('link', { name: 'release/form' }).waitFor();
  await page.getByLabel('Status').selectOption('succeeded');
  await page.getByRole('heading', { name: 'No releases match these filters' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a canary has charts and tables of both versions, and its executions show theirs', async () => {
  await seedPrompt(call, 'release/canary');
  const { id } = await startRelease(call, 'release/canary', [
    { type: 'canary', percent: 50 },
    { type: 'analyze', for: '1h', min_executions: 1, checks: CHECKS },
    { type: 'promote' },
  ]);
  await untilRelease(call, id, ({ step }) => step === 1);
  const arms = new Set<string>();
  for (let index = 0; index < 24; index++)
    arms.add((await runByLabel(call, 'release/canary', `user-${index}`)).release.arm);
  expect(arms.size).toBe(2);
  await untilRelease(
    call,
    id,
    ({ arms: { stable, candidate }, steps }) =>
      stable.executions + candidate.executions === 24 && steps[1].numbers !== null,
  );
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/releases/${id}`));
  const checks = page.getByRole('region', { name: 'Checks', exact: true });
  await checks.getByRole('rowheader', { name: 'Error rate' }).waitFor();
  await checks.getByText('at most +2 points').waitFor();
  const both = page.getByRole('region', { name: 'Both versions during the release' });
  await both.getByRole('rowheader', { name: 'Executions' }).waitFor();
  const errors = page.getByRole('figure', { name: 'Error rate' });
  await errors.getByText('Candidate: version 2').first().waitFor();
  await errors.getByText('Numbers').click();
  await errors.getByRole('cell', { name: '0 %' }).first().waitFor();
  await page.getByRole('figure', { name: 'Share' }).waitFor();
  await shoot(page, 'canary');
  await both.getByRole('link', { name: 'executions of the candidate version' }).click();
  await page.getByRole('heading', { name: 'Executions' }).waitFor();
  await page.getByRole('button', { name: 'Remove the filter Arm candidate' }).waitFor();
  await page.getByRole('table', { name: 'Executions' }).locator('a[data-row-link]').first().click();
  await page.getByText('by its rollout key').waitFor();
  await page.getByRole('link', { name: 'candidate version' }).click();
  await page.getByRole('button', { name: 'Promote now…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Promote now' }).click();
  await page.getByRole('status').getByText('succeeded', { exact: true }).waitFor();
  await page.getByText('All callers get version 2').first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('actions beyond the scopes of a key are not offered', async () => {
  await seedPrompt(call, 'release/scopes');
  const { id } = await startRelease(call, 'release/scopes', [APPROVE, WAIT]);
  await untilStatus(call, id, 'awaiting_approval');
  const reader = await stage.signIn({}, await keyWith('reader', ['read']));
  await reader.page.goto(stage.at(`/releases/${id}`));
  await reader.page.getByText('To approve or reject, a key needs the scope “publish”.').waitFor();
  for (const name of ['Approve', 'Reject', 'Pause…', 'Promote now…', 'Cancel…', 'Roll back…'])
    expect(await reader.page.getByRole('button', { name }).count()).toBe(0);
  await reader.page.goto(stage.at('/releases'));
  await reader.page.getByRole('table', { name: 'Releases' }).waitFor();
  expect(await reader.page.getByRole('link', { name: 'New release' }).count()).toBe(0);
  await reader.context.close();

  const writer = await stage.signIn({}, await keyWith('writer', ['read', 'write']));
  await writer.page.goto(stage.at(`/releases/${id}`));
  await writer.page.getByRole('button', { name: 'Roll back…' }).waitFor();
  for (const name of ['Approve', 'Reject', 'Promote now…'])
    expect(await writer.page.getByRole('button', { name }).count()).toBe(0);
  await writer.context.close();

  const publisher = await stage.signIn({}, await keyWith('publisher', ['read', 'publish']));
  await publisher.page.goto(stage.at(`/releases/${id}`));
  await publisher.page.getByRole('button', { name: 'Reject' }).click();
  await publisher.page.getByRole('status').getByText('rejected', { exact: true }).waitFor();
  await publisher.context.close();
});

test('a label gets its steps in the settings, and moves only by them', async () => {
  await seedPrompt(call, 'release/policy', undefined, 'guarded');
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/settings?tab=labels'));
  await page.getByRole('button', { name: 'Release steps… guarded' }).click();
  const dialog = page.getByRole('dialog', { name: 'Release steps of guarded' });
  await dialog.getByLabel('It moves only by releases with these steps').check();
  await dialog.getByLabel('Write them as JSON').check();
  await dialog.getByLabel('Steps', { exact: true }).fill('[{"type": "canary"');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('The steps are not valid JSON').waitFor();
  const steps = [{ type: 'canary', percent: 25 }, WAIT];
  await dialog.getByLabel('Steps', { exact: true }).fill(JSON.stringify(steps));
  await dialog.getByLabel('Write them as JSON').uncheck();
  expect(await dialog.getByLabel('Share, in %').inputValue()).toBe('25');
  expect(await violationsInThemes(page)).toEqual([]);
  await shoot(page, 'policy');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('required', { exact: true }).waitFor();
  await page.getByText('Canary 25 % → Wait 1h').first().waitFor();
  const { body } = await call('GET', '/labels');
  expect(body.data.find(({ label }: { label: string }) => label === 'guarded').release).toMatchObject({
    required: true,
    steps: [{ type: 'canary', percent: 25 }, { type: 'wait' }],
  });

  await page.goto(stage.at('/prompts/release/policy?tab=versions'));
  await page.getByRole('button', { name: 'Label… version 2' }).click();
  const labelDialog = page.getByRole('dialog', { name: 'Label version 2' });
  await labelDialog.getByLabel('Label').fill('guarded');
  await labelDialog.getByLabel('Reason').waitFor();
  await labelDialog.getByRole('link', { name: 'a release' }).click();
  await page.getByText('This label moves only by these steps:').waitFor();
  await page.getByRole('button', { name: 'Start the release' }).click();
  await page.getByText('25 % get version 2').first().waitFor();

  await page.goto(stage.at('/settings?tab=labels'));
  await page.getByRole('button', { name: 'Release steps… guarded' }).click();
  await dialog.getByLabel('This label has its own steps').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('required', { exact: true }).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('required steps are skipped only by an admin, who gives a reason', async () => {
  await seedPrompt(call, 'release/override', undefined, 'careful');
  await call('PUT', '/labels/careful', { body: { protected: true, release: { required: true, steps: [APPROVE] } } });
  const { id } = await startRelease(call, 'release/override', undefined, { label: 'careful' });
  await untilStatus(call, id, 'awaiting_approval');
  const careful = async () => (await call('GET', '/prompts/release/override?label=careful')).body.version;

  const publisher = await stage.signIn({}, await keyWith('publisher of careful', ['read', 'write', 'publish']));
  await publisher.page.goto(stage.at(`/releases/${id}`));
  await publisher.page.getByRole('button', { name: 'Promote now…' }).click();
  const refused = publisher.page.getByRole('dialog', { name: 'Promote now?' });
  await refused.getByText('“careful” moves only after the steps that its policy requires.').waitFor();
  expect(await refused.getByLabel('Skip required steps that are not done').count()).toBe(0);
  await refused.getByRole('button', { name: 'Promote now' }).click();
  await refused.getByRole('alert').waitFor();
  expect(await careful()).toBe(1);
  await publisher.context.close();

  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/releases/${id}`));
  await page.getByRole('button', { name: 'Promote now…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Promote now?' });
  await dialog.getByLabel('Skip required steps that are not done').check();
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByLabel('Reason').fill('The old version is down.');
  await dialog.getByRole('button', { name: 'Promote now' }).click();
  await page.getByText('The release is promoted.').first().waitFor();
  expect(await careful()).toBe(2);
  const { body } = await call('GET', `/audit-log?resource=release:${id}`);
  expect(JSON.stringify(body.data)).toContain('The old version is down.');
  expect(complaints).toEqual([]);
  await context.close();
});

test('all these pages are accessible, in either theme, and fit a phone', async () => {
  await seedPrompt(call, 'release/pages');
  const { id } = await startRelease(call, 'release/pages', [EVALUATE, APPROVE, WAIT]);
  await untilStatus(call, id, 'awaiting_approval');
  const { body } = await call('GET', '/releases?prompt_name=release/canary');
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/releases'));
  await page.getByRole('table', { name: 'Releases' }).waitFor();
  await shoot(page, 'list');
  await context.close();
  expect(
    await problemsOf(stage, [
      { at: '/releases', shows: 'Releases' },
      { at: '/releases/new?prompt=release/pages', shows: 'Steps' },
      { at: `/releases/${id}`, shows: 'Outputs' },
      { at: `/releases/${body.data[0].id}`, shows: 'Latency, p95' },
      { at: '/releases/rel_none', shows: 'There is no such release' },
      { at: '/settings?tab=labels', shows: 'Settings' },
    ]),
  ).toEqual([]);
});
