import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createKey, createOtherWorkspace } from '../api/workspace.ts';
import { until } from '../support/wait-for.ts';
import { violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);
const run = async (word: string, more: object = {}): Promise<string> =>
  (await call('POST', '/executions', { body: { prompt_name: 'say', variables: { word }, ...more } })).body.id;

/** Ids of runs, the oldest first. */
const ids: string[] = [];
beforeAll(async () => {
  stage = await startStage();
  await call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ word }}', model: 'sandbox/echo' } });
  await call('POST', '/prompts', { body: { name: 'never', template: 'Say {{ word }}', model: 'sandbox/fail' } });
  for (const word of ['apples', 'pears', 'plums']) ids.push(await run(word, { metadata: { customer: word.slice(1) } }));
  ids.push(await run('nothing', { prompt_name: 'never' }));
});
afterAll(() => stage?.stop());

const table = (page: Page) => page.getByRole('table', { name: 'Executions' });
/** Rows with executions. */
const rows = (page: Page) =>
  table(page)
    .getByRole('row')
    .filter({ has: page.getByRole('cell') });
const panel = (page: Page) => page.getByRole('region', { name: /^Execution / });

test('a search finds words of inputs and outputs, the address holds it, and counts narrow the list down', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/executions'));
  await rows(page).nth(3).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('pears say');
  await rows(page).nth(1).waitFor({ state: 'detached' });
  await page.waitForURL(/q=pears\+say|q=pears%20say/);
  expect(await rows(page).first().innerText()).toContain('Say pears');
  // The input still has the focus.
  await page.keyboard.type(' nowhere');
  await page.getByRole('heading', { name: 'No executions match these filters' }).waitFor();
  await page.getByRole('link', { name: 'Show all' }).click();
  await rows(page).nth(3).waitFor();

  const counts = page.getByRole('region', { name: 'Status' });
  await counts.getByRole('button', { name: 'failed 1' }).click();
  await rows(page).nth(1).waitFor({ state: 'detached' });
  await page.waitForURL(/status=failed/);
  await counts.getByRole('button', { name: 'failed 1', pressed: true }).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await counts.getByRole('button', { name: 'failed 1' }).click();
  await rows(page).nth(3).waitFor();

  expect(complaints).toEqual([]);
  await context.close();
});

test('filters are typed in one line with completion; they become chips, wrong ones are explained, and hits are marked', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/executions'));
  await rows(page).nth(3).waitFor();
  const line = page.getByRole('combobox', { name: 'Search and filters' });
  const options = page.getByRole('option');
  const chip = (name: string) => page.getByRole('button', { name: `Remove the filter ${name}` });

  // Everything with the keyboard: a filter, then a value that occurs.
  await page.keyboard.press('/');
  await page.keyboard.type('sta');
  await options.filter({ hasText: 'status:' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await line.inputValue()).toBe('status:');
  await options.filter({ hasText: /failed.*1/ }).waitFor();
  await page.keyboard.type('fai');
  await options.nth(1).waitFor({ state: 'detached' });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await chip('Status failed').waitFor();
  await rows(page).nth(1).waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('status')).toBe('failed');
  expect(await line.inputValue()).toBe('');
  // Backspace makes the last chip text again.
  await page.keyboard.press('Backspace');
  await chip('Status failed').waitFor({ state: 'detached' });
  expect(await line.inputValue()).toBe('status:failed');
  await line.fill('');

  // Several at once, with a quoted value, next to words that are searched for.
  await page.keyboard.type('pears metadata:"customer=lums" duration<2m');
  await page.keyboard.press('Enter');
  await chip('Duration ms ≤ 119999').waitFor();
  await chip('Metadata customer=lums').click();
  await page.waitForURL((url) => !url.search.includes('metadata'));
  expect(await line.inputValue()).toBe('pears');
  await rows(page).nth(1).waitFor({ state: 'detached' });
  const marked = () => page.evaluate("[...(CSS.highlights.get('hits') ?? [])].map(String)");
  const hits = await until('the marked hits', async () => {
    const seen = (await marked()) as string[];
    return seen.length > 0 && seen;
  });
  expect(new Set(hits)).toEqual(new Set(['pears']));
  await page.getByRole('button', { name: 'Clear all' }).click();
  await rows(page).nth(3).waitFor();
  await until('no marked hits', async () => ((await marked()) as string[]).length === 0);

  // The client says what it cannot read, the API the rest; the text stays.
  const refusal = page.locator('search').getByRole('alert');
  for (const [typed, why] of [
    ['cost>dear', 'cost: must be US dollars, such as 0.05'],
    ['cost:1', 'cost: write cost>=…, cost<=…'],
    ['status:bad', 'status: must be one of queued, running, completed, failed, canceled'],
    ['-status:failed', '-status: a filter cannot exclude'],
    ['stauts:failed', 'stauts: there is no such filter. To search for it, put it in quotes.'],
    ['since:', 'since: needs a value'],
  ] as const) {
    await line.fill(typed);
    await page.keyboard.press('Enter');
    await refusal.getByText(why, { exact: true }).waitFor();
    expect([await line.inputValue(), await line.getAttribute('aria-invalid')]).toEqual([typed, 'true']);
  }
  expect(await violationsInThemes(page)).toEqual([]);
  await line.fill('release:none');
  await page.keyboard.press('Enter');
  await refusal.getByText(/^release: must be/).waitFor();
  await chip('Release none').click();
  await rows(page).nth(3).waitFor();

  // An address with text that looks like a filter.
  await page.goto(stage.at('/executions?q=status:ok&prompt_name=say'));
  await chip('Prompt say').waitFor();
  expect(await line.inputValue()).toBe('"status:ok"');
  expect(complaints).toEqual([]);
  await context.close();
});

test('an execution is shown beside the list: j and k move, Escape closes, and a phone shows only it', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/executions?prompt_name=say'));
  await rows(page).nth(2).waitFor();
  // A click anywhere in the row.
  await rows(page).nth(0).getByText('Say plums').first().click();
  await panel(page).getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.waitForURL(new RegExp(`open=${ids[2]}`));
  await panel(page)
    .getByText(/^1\. sandbox\/echo/)
    .waitFor();
  await panel(page).getByText('Queued', { exact: false }).first().waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await page.keyboard.press('j');
  await page.waitForURL(new RegExp(`open=${ids[1]}`));
  await panel(page).getByText('Say pears').first().waitFor();
  await page.keyboard.press('j');
  await page.waitForURL(new RegExp(`open=${ids[0]}`));
  await page.keyboard.press('k');
  await page.waitForURL(new RegExp(`open=${ids[1]}`));
  await page.keyboard.press('Escape');
  await panel(page).waitFor({ state: 'detached' });
  // The row has the focus: Enter opens it again.
  await table(page).locator('.table-row:focus-within').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`open=${ids[1]}`));
  await panel(page).getByRole('link', { name: 'Full page' }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await table(page).waitFor({ state: 'hidden' });
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= 390')).toBe(true);
  await panel(page).getByRole('button', { name: 'Close', exact: true }).click();
  await table(page).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await rows(page).nth(0).getByRole('link').first().click();
  await panel(page).getByRole('link', { name: 'Full page' }).click();
  await page.waitForURL(new RegExp(`/executions/${ids[2]}`));
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.goBack();
  await panel(page).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('columns are chosen and kept, and a view keeps them with the filters, also for others if shared', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/executions'));
  await rows(page).nth(3).waitFor();
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'customer (metadata)' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Input' }).click();
  await page.keyboard.press('Escape');
  await table(page).getByRole('columnheader', { name: 'customer' }).waitFor();
  await table(page).getByRole('columnheader', { name: 'Input' }).waitFor({ state: 'detached' });
  await page.reload();
  await table(page).getByRole('columnheader', { name: 'customer' }).waitFor();

  await page.getByRole('region', { name: 'Status' }).getByRole('button', { name: 'failed' }).click();
  await page.getByRole('button', { name: 'Save as a view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as a view' });
  await dialog.getByLabel('Name').fill('What failed');
  await dialog.getByLabel('All members of the workspace see it').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: 'What failed' }).and(page.locator('[aria-current=page]')).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);

  // Another browser, another key: the view includes filters and columns.
  const { key } = await createKey(stage.service, 'read');
  const other = await stage.signIn({}, key);
  await other.page.goto(stage.at('/executions'));
  await other.page.getByRole('link', { name: 'What failed' }).click();
  await rows(other.page).nth(1).waitFor({ state: 'detached' });
  await table(other.page).getByRole('columnheader', { name: 'customer' }).waitFor();
  expect(await other.page.getByRole('button', { name: 'Delete this view' }).count()).toBe(0);
  expect(await other.page.getByRole('checkbox').count()).toBe(0);
  await other.context.close();

  await page.getByRole('button', { name: 'Delete this view' }).click();
  await page.getByText('The view What failed was deleted.').first().waitFor();
  expect((await call('GET', '/views')).body.data).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a column sorts the list, and the address and a view keep the order', async () => {
  const { context, page, complaints } = await stage.signIn();
  const { body: mostExpensive } = await call('GET', '/executions?sort=-tokens&limit=1');
  await page.goto(stage.at('/executions?columns=tokens,cost,latency'));
  await rows(page).nth(3).waitFor();
  await table(page).getByRole('button', { name: 'Tokens' }).click();
  await page.waitForURL(/order=-tokens/);
  await table(page).getByRole('columnheader', { name: 'Tokens' }).and(page.locator('[aria-sort=descending]')).waitFor();
  await page.getByText('The newest 10,000 that match, by tokens, greatest first.').waitFor();
  await rows(page).nth(0).getByText(String(mostExpensive.data[0].tokens.total), { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Save as a view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as a view' });
  await dialog.getByLabel('Name').fill('The longest');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: 'The longest' }).and(page.locator('[aria-current=page]')).waitFor();
  expect((await call('GET', '/views')).body.data).toMatchObject([{ query: { order: '-tokens' } }]);
  await page.getByRole('button', { name: 'Newest first' }).click();
  await page.waitForURL((url) => !url.search.includes('order'));
  await views.getByRole('link', { name: 'The longest' }).click();
  await page.waitForURL(/order=-tokens/);
  await page.getByRole('button', { name: 'Delete this view' }).click();
  await page.getByText('The view The longest was deleted.').first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('chosen executions go into a queue, or become a dataset', async () => {
  await call('PUT', '/queues/look', { body: { score_names: ['tone'] } });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/executions'));
  await rows(page).nth(3).waitFor();
  await rows(page).nth(0).getByRole('checkbox').check();
  await rows(page).nth(2).getByRole('checkbox').check();
  const chosen = page.getByRole('toolbar');
  await chosen.getByText('2 chosen').waitFor();
  await chosen.getByRole('button', { name: 'Add to a queue…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add to a queue' });
  await dialog.getByLabel('Queue').fill('look');
  await dialog.getByRole('button', { name: 'Put', exact: true }).click();
  await page.getByText('2 put into look.').first().waitFor();
  expect((await call('GET', '/queues/look')).body.progress.pending).toBe(2);

  await page.getByRole('checkbox', { name: 'Choose all in the list' }).check();
  await chosen.getByText('4 chosen').waitFor();
  await chosen.getByRole('button', { name: 'Add them to a dataset…' }).click();
  const make = page.getByRole('dialog', { name: 'Add to a dataset' });
  await make.getByText('1 that is not completed is left out.', { exact: false }).waitFor();
  await make.getByLabel('Dataset').fill('chosen');
  await make.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL(/datasets\/chosen/);
  expect((await call('GET', '/datasets/chosen')).body.examples_total).toBe(3);

  // Adding an existing example changes nothing; replacing is a separate choice.
  await page.goBack();
  await page.getByRole('checkbox', { name: 'Choose all in the list' }).check();
  await chosen.getByRole('button', { name: 'Add them to a dataset…' }).click();
  await make.getByLabel('Dataset').fill('chosen');
  await make.getByText('It has 3 examples and will have at most 6.').waitFor();
  expect(await make.getByLabel('Existing examples').inputValue()).toBe('add');
  await make.getByRole('button', { name: 'Add', exact: true }).click();
  await page.waitForURL(/datasets\/chosen/);
  expect((await call('GET', '/datasets/chosen')).body).toMatchObject({ version: 1, examples_total: 3 });
  expect(complaints).toEqual([]);
  await context.close();
});

test('another version is tried on chosen executions, and says what it is compared with', async () => {
  const body = { prompt_name: 'support/again', variables: { name: 'Ada' } };
  for (const template of ['Hello {{ name }}', 'Goodbye {{ name }}'])
    await call('POST', '/prompts', { body: { name: 'support/again', template, model: 'sandbox/echo' } }).then(
      async ({ status }) =>
        status === 201 || (await call('PUT', '/prompts/support/again', { body: { template, model: 'sandbox/echo' } })),
    );
  for (let count = 0; count < 2; count += 1) await call('POST', '/executions', { body: { ...body, version: 1 } });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/executions?prompt_name=support/again'));
  await rows(page).nth(1).waitFor();
  await page.getByRole('link', { name: 'Try another version on these' }).waitFor();
  await rows(page).nth(0).getByRole('checkbox').check();
  await page.getByRole('toolbar').getByRole('link', { name: 'Try another version on these' }).click();
  await page.getByRole('heading', { name: 'New evaluation' }).waitFor();
  expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('support/again');
  await page.getByText('1 selected execution').waitFor();
  await page.getByText('1 example, 1 call of the model', { exact: false }).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await page.getByRole('button', { name: 'Start the evaluation' }).click();
  await page.getByText('compared with the recorded outputs').waitFor();
  await page.getByRole('link', { name: 'the recorded outputs' }).click();
  await page.getByText('recorded', { exact: true }).waitFor();

  await page.goto(stage.at('/executions?prompt_name=support/again'));
  await page.getByRole('link', { name: 'Try another version on these' }).click();
  await page.getByText('prompt name: support/again').waitFor();
  await page.getByText('2 examples, 2 calls of the model', { exact: false }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('new executions appear automatically, and wait while one reads', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/executions?prompt_name=say'));
  await rows(page).nth(2).waitFor();
  await run('cherries');
  await table(page).getByText('Say cherries').first().waitFor();

  await rows(page).nth(1).getByRole('link').first().click();
  await panel(page).waitFor();
  await run('figs');
  const button = page.getByRole('button', { name: '1 new' });
  await button.waitFor();
  expect(await table(page).getByText('Say figs').count()).toBe(0);
  await button.click();
  await table(page).getByText('Say figs').first().waitFor();
  await page.getByRole('button', { name: /new$/ }).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('the timeline has the queue, each call, the wait for its retry, and links to the next step', async () => {
  const { body } = await call('POST', '/executions', { body: { draft: { template: 'x', model: 'sandbox/flaky' } } });
  expect(body.calls).toHaveLength(2);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/executions/${body.id}`));
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('listitem').nth(3).waitFor();
  const parts = await timeline.getByRole('listitem').allInnerTexts();
  expect(parts.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    expect.stringMatching(/^Queued \d+ ms/),
    expect.stringMatching(/^1\. sandbox\/flaky .*model_unavailable: sandbox\/flaky fails/),
    expect.stringMatching(/^Waited before the next attempt \d/),
    expect.stringMatching(/^2\. sandbox\/flaky \(again\) /),
  ]);
  // An execution without a webhook delivery has none.
  expect(await page.getByRole('heading', { name: 'Webhooks' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Add to a queue…' }).waitFor();
  await page.getByRole('button', { name: 'Add to a dataset…' }).waitFor();
  await page.getByRole('link', { name: 'Open in the playground' }).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a count is whole beside its value, however long', async () => {
  const other = await createOtherWorkspace(stage.service, 'long names');
  const name = `support/${'answers-of-the-night-shift-'.repeat(4)}`.replace(/-$/, '');
  await other.call('POST', '/prompts', { body: { name, template: 'Hi', model: 'sandbox/echo' } });
  await other.call('POST', '/executions', { body: { prompt_name: name } });
  const { context, page } = await stage.signIn({ viewport: { width: 1280, height: 800 } }, other.key);
  await page.goto(stage.at('/executions'));
  const counts = page.getByRole('region', { name: 'Prompt', exact: true });
  await counts.getByRole('button', { name: `${name} 1` }).waitFor();
  const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('.facet-count')].flatMap((count) => {
    const list = count.closest('.facets-list').getBoundingClientRect();
    const { right, width } = count.getBoundingClientRect();
    return right > list.right || width < count.scrollWidth ? [count.parentElement.textContent] : [];
  })`);
  expect(cut).toEqual([]);
  await context.close();
});
