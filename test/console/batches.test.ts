import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { insertBatch } from '../support/provider-batch-rows.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import { sharedProviders } from '../support/providers/shared.ts';
import type { StandIn } from '../support/providers/stand-in.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { chooseMore, type Stage, startStage } from './stage.ts';

let stage: Stage;
let openai: StandIn;
beforeAll(async () => {
  openai = await startOpenAiServer({
    on: (await sharedProviders()).openai,
    answer: ({ prompt }) => ({ text: prompt, usage: { input: 1_000, output: 1_000 } }),
  });
  stage = await startStage({}, { providers: true });
  for (const [name, model] of [
    ['say', 'openai/gpt-4o-mini'],
    ['echo', 'sandbox/echo'],
  ])
    await stage.service.call('POST', '/prompts', { body: { name, template: 'Hello {{ name }}', model } });
});
afterAll(async () => {
  await stage?.stop();
  await openai?.close();
});

test('a run in batches is started with its saving shown, followed, and an unknown batch is resubmitted', async () => {
  openai.batches.behave({ completeMs: null });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/evaluations/new?prompt=echo'));
  await page.getByLabel('From', { exact: true }).selectOption('inline');
  await page.getByRole('region', { name: 'Estimate' }).getByText('1 call of the model').waitFor();
  const mode = page.getByLabel('Model calls');
  const offered = () => mode.locator('option').allTextContents();
  await page.getByText('Name, model calls, concurrency and start').click();
  await page.getByText('In batches, calls cost less').waitFor();
  // The sandbox has none.
  expect(await offered()).toEqual(['Individually, now', 'In batches where all models support them']);

  await page.getByLabel('Prompt', { exact: true }).fill('say');
  await mode.locator('option', { hasText: /^In batches$/ }).waitFor({ state: 'attached' });
  await mode.selectOption('In batches');
  await page.getByLabel('Maximum wait for a batch').selectOption('12 hours');
  await page.getByLabel('Calls without a response by then').selectOption('count as failed');
  await page
    .getByRole('region', { name: 'Estimate' })
    .getByText(/less than with single calls/)
    .waitFor();
  await page.getByRole('button', { name: 'Start the evaluation' }).click();

  const batches = page.getByRole('region', { name: 'Provider batches', exact: true });
  await batches.getByText('waits at most 12h for each').waitFor();
  await batches.getByRole('row', { name: /^1 openai\/gpt-4o-mini openai batch_\S+ in_progress .*0 of 1/ }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const path = new URL(page.url()).pathname.replace('/console', '');
  // Its stream stays open: the network is never quiet.
  expect(await violationsInThemes(page)).toEqual([]);

  await openai.batches.endAll();
  await batches.getByRole('row', { name: /^1 .* completed/ }).waitFor();
  await page.getByText('100 %', { exact: true }).first().waitFor();
  await page.getByText('Saved by batches').waitFor();
  // 1,000 tokens each way at half of 0.15 and 0.60 US dollars a million.
  expect(await page.locator('dl.facts div', { hasText: 'Saved by batches' }).locator('dd').textContent()).toBe(
    '$0.00038',
  );

  await insertBatch(stage.service, id, {
    number: 2,
    status: 'unknown',
    provider_batch_id: null,
    error: { code: 'batch_unknown', message: 'it is not among the batches there' },
  });
  await page.reload();
  await batches.getByText('batch_unknown: it is not among the batches there').waitFor();
  expect(await problemsOf(stage, [{ at: path, shows: 'Provider batches' }])).toEqual([]);
  await batches.getByRole('button', { name: 'Submit again… batch 2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Submit batch 2 again?' });
  await dialog.getByText('paid for twice').waitFor();
  await dialog.getByRole('button', { name: 'Submit it again' }).click();
  await page.getByText('Batch 2 is submitted again.').first().waitFor();
  await batches.getByText('unknown', { exact: true }).waitFor({ state: 'detached' });

  await chooseMore(page, 'Duplicate…');
  await page.getByLabel('Maximum wait for a batch').waitFor();
  expect([await mode.inputValue(), await page.getByLabel('Maximum wait for a batch').inputValue()]).toEqual([
    'batch',
    '12h',
  ]);
  expect(complaints).toEqual([]);
  await context.close();
});
