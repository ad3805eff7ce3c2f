import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { lookNow, putMonitor } from '../api/monitors/monitors-support.ts';
import { problemsOf } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

test('monitors are listed with their state; one shows what it sees and its history, and is disabled and deleted', async () => {
  const { call, foundation } = stage.service;
  await call('POST', '/prompts', { body: { name: 'say', template: 'Hi', model: 'sandbox/fail' } });
  for (let index = 0; index < 2; index += 1) await call('POST', '/executions', { body: { prompt_name: 'say' } });
  const checks = [
    { metric: 'error_rate', above: 0.1, min_executions: 1, for: '1m' },
    { metric: 'cost_total', above: 5 },
  ];
  await putMonitor(call, 'team/say', { prompt_name: 'say', label: undefined, window: '1h', checks });
  await lookNow(foundation);

  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/monitors'));
  await page
    .getByRole('row', { name: /team\/say alerting .* say, 1h error_rate above 0.1, cost_total above 5/ })
    .waitFor();
  await page.getByRole('link', { name: 'team/say' }).click();
  await page.getByRole('heading', { name: 'team/say', level: 1 }).waitFor();
  await page
    .getByRole('table', { name: 'Checks' })
    .getByRole('row', { name: 'error_rate above 0.1 0.09 1m 1 2 (at least 1) alerting' })
    .waitFor();
  const history = page.getByRole('table', { name: 'History' });
  await history.getByText('error_rate 1 is above 0.1 (2 in 1 h)').waitFor();
  expect(
    await problemsOf(stage, [
      { at: '/monitors', shows: 'Monitors' },
      { at: '/monitors/team/say', shows: 'Checks' },
    ]),
  ).toEqual([]);

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
