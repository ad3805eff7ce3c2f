import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkNow, putMonitor } from '../api/monitors/monitors-support.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

test('monitors are listed with their state; one shows its measurements and history, and is disabled and deleted', async () => {
  const { call, dependencies } = stage.service;
  await call('POST', '/prompts', { body: { name: 'say', template: 'Hi', model: 'sandbox/fail' } });
  for (let index = 0; index < 2; index += 1) await call('POST', '/executions', { body: { prompt_name: 'say' } });
  const checks = [
    { metric: 'error_rate', above: 0.1, min_executions: 1, for: '1m' },
    { metric: 'cost_total', above: 5 },
  ];
  await putMonitor(call, 'team/say', { prompt_name: 'say', label: undefined, window: '1h', checks });
  await checkNow(dependencies);

  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/monitors'));
  await page
    .getByRole('row', {
      name: /team\/say alerting .* say, 1 hr error rate above 10 % for 1 min, total cost above \$5.00 for/,
    })
    .waitFor();
  await page
    .getByRole('row', { name: /team\/say/ })
    .getByRole('link', { name: 'team/say' })
    .click();
  await page.getByRole('heading', { name: 'team/say', level: 1 }).waitFor();
  await page
    .getByRole('table', { name: 'Checks' })
    .getByRole('row', { name: 'error rate above 10 % for 1 min 9 % 100 % 2 (at least 1) alerting Show the failing' })
    .waitFor();
  await page.getByRole('group', { name: /^error rate: measured 100 %; alerts above 10 %/ }).waitFor();
  const history = page.getByRole('table', { name: 'History' });
  await history.getByText('error_rate 1 is above 0.1 (2 in 1 h)').waitFor();
  expect(
    await problemsOf(stage, [
      { at: '/monitors', shows: 'Monitors' },
      { at: '/monitors/team/say', shows: 'Checks' },
    ]),
  ).toEqual([]);

  // The link has the window of the monitor.
  await page.getByRole('link', { name: 'Show the failing' }).click();
  await page.getByRole('button', { name: 'Remove the filter Status failed' }).waitFor();
  await page.getByRole('table', { name: 'Executions' }).getByRole('row').nth(2).waitFor();
  const since = new URL(page.url()).searchParams.get('since') ?? '';
  expect(Date.now() - Date.parse(since)).toBeLessThan(62 * 60_000);
  await page.goBack();

  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('disabled', { exact: true }).waitFor();
  await history.getByText('the monitor was disabled').waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  expect((await call('GET', '/monitors/team/say')).body).toMatchObject({ enabled: true, prompt_name: 'say' });

  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'There are no monitors yet' }).waitFor();
  await page.goto(stage.at('/monitors/team/say'));
  await page.getByRole('heading', { name: 'There is no such monitor' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a monitor is created and changed; errors are shown at the field', async () => {
  const { call } = stage.service;
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/monitors'));
  await page.getByRole('button', { name: 'New monitor…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New monitor' });
  const field = (name: string) => dialog.getByLabel(name, { exact: true });
  await field('Name of the monitor').fill('team/slow');
  await field('Window').fill('30d');
  await field('Threshold, in %').fill('700');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const whyNot = async (name: string) => {
    await page.locator('[aria-invalid=true]').first().waitFor();
    const ids = (await field(name).getAttribute('aria-describedby'))?.split(' ') ?? [];
    return (await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).innerText()))).join(' ');
  };
  expect(await whyNot('Threshold, in %')).toBe('must be from 0 to 1: 5 % is 0.05');
  expect(await whyNot('Window')).toBe('must be from 1 min to 24 h, such as 15m');
  expect(await violationsInThemes(page)).toEqual([]);

  await field('Window').fill('1h');
  await field('Alerts when').selectOption('latency (95 % within)');
  await field('Threshold, in ms').fill('5000');
  await field('Send e-mails to the owner of the workspace').uncheck();
  await dialog.getByRole('button', { name: 'Add a check' }).click();
  await dialog.getByRole('group', { name: 'Check 2' }).getByLabel('Threshold, in %').fill('20');
  await dialog.getByText('Alerts when: error rate above 20 % for 2 min').waitFor();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'team/slow', level: 1 }).waitFor();
  expect((await call('GET', '/monitors/team/slow')).body).toMatchObject({
    prompt_name: null,
    window: '1h',
    checks: [
      { metric: 'latency_p95', above: 5000, recover_at: 4500, min_executions: 20 },
      { metric: 'error_rate', above: 0.2 },
    ],
    notify: { email: false },
  });

  await page.getByRole('button', { name: 'Change…' }).click();
  const change = page.getByRole('dialog', { name: 'Change team/slow' });
  await change.getByRole('button', { name: 'Remove check 2' }).click();
  await change.getByLabel('Threshold, in ms').fill('6000');
  await change.getByLabel('By the label').fill('production');
  await change.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('table', { name: 'Checks' }).getByText('latency (95 % within) above 6.00 s for').waitFor();
  const { body } = await call('GET', '/monitors/team/slow');
  expect([body.label, body.checks.length, body.checks[0].recover_at, body.notify.email]).toEqual([
    'production',
    1,
    5400,
    false,
  ]);

  // Another one of the same name would replace it.
  await page.goto(stage.at('/monitors'));
  await page.getByRole('button', { name: 'New monitor…' }).click();
  await field('Name of the monitor').fill('team/slow');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('There is a monitor of the name “team/slow” already.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
