import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { endLeases, reviewers } from '../api/queues/queues-support.ts';
import { createKey } from '../api/workspace.ts';
import { waitFor } from '../support/wait-for.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage, tabTo } from './stage.ts';

let stage: Stage;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);
beforeAll(async () => {
  stage = await startStage();
  await call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ word }}', model: 'sandbox/echo' } });
  await call('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean' } });
  await call('PUT', '/score-definitions/topic', {
    body: { data_type: 'categorical', categories: [{ value: 'billing', label: 'Billing' }, { value: 'other' }] },
  });
  await call('PUT', '/score-definitions/quality', { body: { data_type: 'numeric', min: 1, max: 5 } });
  await call('PUT', '/score-definitions/remark', { body: { data_type: 'text' } });
});
afterAll(() => stage?.stop());

/** Runs the prompt with each word. @returns ids of the executions */
async function run(...words: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const word of words) {
    const { body } = await call('POST', '/executions', { body: { prompt_name: 'say', variables: { word } } });
    ids.push(body.id);
  }
  return ids;
}

async function queueOf(name: string, body: object, ids: string[]): Promise<void> {
  await call('PUT', `/queues/${name}`, { body });
  // One by one, for a fixed order.
  for (const id of ids) await call('POST', `/queues/${name}/items`, { body: { execution_ids: [id] } });
}

const output = (page: Page, word: string) =>
  page.getByRole('region', { name: 'output', exact: true }).getByText(`Say ${word}`, { exact: true });

async function scoresOf(id: string): Promise<unknown[]> {
  const { body } = await call('GET', `/scores?execution_id=${id}`);
  return body.data.map(({ name, value, comment }: Record<string, unknown>) => [name, value, comment]).sort();
}

test('a queue is created with a filter, filled, changed, listed with its progress and deleted', async () => {
  await run('one', 'two');
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/queues'));
  await page.getByRole('button', { name: 'New queue…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New queue' });
  await dialog.getByLabel('Name').fill('team/first');
  await dialog.getByLabel('Instructions').fill('Is the answer kind?');
  await dialog.getByLabel('Scores', { exact: true }).fill('helpful\ntopic');
  await dialog.getByLabel('Reviewers for each item').fill('2');
  await dialog.getByLabel('Add matches automatically').selectOption('Executions');
  await dialog.getByLabel('Prompt').fill('say');
  await dialog.getByLabel('Status').selectOption('failed');
  await dialog.getByLabel('Conditions on scores').fill('tone<<0.5');
  await dialog.getByLabel('Sampling rate, in %').fill('20');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByLabel('Conditions on scores').fill('tone<0.5');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'team/first', level: 1 }).waitFor();
  await page.getByText('20 % of executions: prompt_name say, status failed, tone<0.5').waitFor();
  expect((await call('GET', '/queues/team/first')).body).toMatchObject({
    description: 'Is the answer kind?',
    score_names: ['helpful', 'topic'],
    filter: { prompt_name: 'say', status: 'failed', score: ['tone<0.5'] },
    sample_rate: 0.2,
    reviewers_per_item: 2,
  });

  await page.getByRole('button', { name: 'Add executions…' }).click();
  await page.getByRole('dialog').getByLabel('Prompt').fill('say');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByText('2 added.').first().waitFor();
  await page.getByRole('table', { name: 'Items' }).getByRole('row', { name: /to do/ }).first().waitFor();
  await page
    .getByText('No item has been scored by two reviewers yet.')
    .or(page.getByRole('table', { name: 'Agreement' }))
    .waitFor();

  await page.getByRole('button', { name: 'Change…' }).click();
  const change = page.getByRole('dialog', { name: 'Change team/first' });
  await change.getByLabel('Reviewers for each item').fill('1');
  await change.getByRole('button', { name: 'Save' }).click();
  await waitFor('the change', async () => (await call('GET', '/queues/team/first')).body.reviewers_per_item === 1);

  await page.goto(stage.at('/queues'));
  await page.getByRole('row', { name: /team\/first helpful, topic .*0 of 2 2 0 0 Review/ }).waitFor();
  expect(
    await problemsOf(stage, [
      { at: '/queues', shows: 'Queues' },
      { at: '/queues/team/first', shows: 'Items' },
      { at: '/queues/none', shows: 'There is no such queue' },
      { at: '/review/none', shows: 'There is no such queue' },
    ]),
  ).toEqual([]);
  await page.getByRole('link', { name: 'team/first', exact: true }).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'There are no queues yet' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a queue is worked through with only the keyboard: number keys, Enter, skip, undo, a correction', async () => {
  const ids = await run('alpha', 'beta', 'gamma');
  await queueOf('keys', { score_names: ['helpful', 'quality', 'remark'] }, ids);
  const { context, page, complaints } = await stage.signIn();
  const { keyboard } = page;
  await page.goto(stage.at('/queues'));
  await tabTo(page, page.getByRole('link', { name: 'Review keys' }));
  await keyboard.press('Enter');
  await output(page, 'alpha').waitFor();
  expect(
    await page.getByRole('heading', { level: 2 }).evaluate((node) => node === node.ownerDocument.activeElement),
  ).toBe(true);
  // Yes; four; and the third is typed.
  await keyboard.press('1');
  await keyboard.press('4');
  expect(await page.getByRole('radio', { name: 'Yes' }).isChecked()).toBe(true);
  expect(await page.getByRole('radio', { name: '4' }).isChecked()).toBe(true);
  await tabTo(page, page.getByLabel('remark', { exact: true }).and(page.locator('textarea')));
  await keyboard.type('s u 1');
  await keyboard.press('Escape');
  expect(await violationsInThemes(page)).toEqual([]);
  await keyboard.press('Enter');
  await output(page, 'beta').waitFor();
  expect(await scoresOf(ids[0] ?? '')).toEqual([
    ['helpful', true, null],
    ['quality', 4, null],
    ['remark', 's u 1', null],
  ]);

  await keyboard.press('2');
  expect(await page.getByRole('radio', { name: 'No' }).isChecked()).toBe(true);
  await keyboard.press('u');
  await output(page, 'alpha').waitFor();
  expect(await scoresOf(ids[0] ?? '')).toEqual([]);
  expect(await page.getByRole('radio', { name: '4' }).isChecked()).toBe(true);
  await keyboard.press('Enter');
  await output(page, 'beta').waitFor();
  // Input from before the undo is still there.
  expect(await page.getByRole('radio', { name: 'No' }).isChecked()).toBe(true);
  await keyboard.press('s');
  await output(page, 'gamma').waitFor();

  await call('PUT', '/datasets/keys/corrected', {
    raw: '{"id": "before", "variables": {"word": "delta"}}',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  await keyboard.press('c');
  await keyboard.press('ControlOrMeta+a');
  await keyboard.type('Gamma!');
  await keyboard.press('Tab');
  await keyboard.type('keys/corrected');
  await page.getByText('It has 1 example and will have at most 2.').waitFor();
  await keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'Nothing is left for you' }).waitFor();
  const { body } = await call('GET', '/datasets/keys/corrected/examples');
  expect(body.data).toMatchObject([{ id: 'before' }, { variables: { word: 'gamma' }, expected: 'Gamma!' }]);
  expect((await call('GET', '/queues/keys')).body.progress).toMatchObject({ completed: 2, skipped: 1 });
  await keyboard.press('u');
  await output(page, 'gamma').waitFor();
  expect(await page.getByLabel('What the output should have been').inputValue()).toBe('Gamma!');
  expect((await call('GET', '/queues/keys')).body.progress).toMatchObject({ completed: 1 });
  expect(complaints).toEqual([]);
  await context.close();
});

test('an expired lease is shown, and typed text stays while it can’t be stored', async () => {
  const ids = await run('delta', 'epsilon');
  await queueOf('lost', { score_names: ['topic'] }, ids);
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/review/lost'));
  await output(page, 'delta').waitFor();
  await page.getByText(/^It is reserved for you until/).waitFor();
  await page.keyboard.press('1');
  await page.getByLabel('Comment').fill('About the invoice');

  await context.setOffline(true);
  await page.getByRole('button', { name: /^Complete/ }).click();
  await page.getByRole('form').or(page.locator('form')).getByRole('alert').first().waitFor();
  expect(await page.getByLabel('Comment').inputValue()).toBe('About the invoice');
  await context.setOffline(false);

  await endLeases(stage.service);
  const [other] = await reviewers(stage.service, 1);
  await other?.call('POST', '/queues/lost/next');
  await page.getByRole('button', { name: /^Complete/ }).click();
  await page.getByText(/Another reviewer holds this item/).waitFor();
  expect(await page.getByLabel('Comment').inputValue()).toBe('About the invoice');
  expect(await page.getByRole('radio', { name: 'Billing' }).isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Get the next item' }).click();
  await output(page, 'epsilon').waitFor();
  expect(await page.getByLabel('Comment').inputValue()).toBe('');
  await context.close();
});

test('an item stays with its reviewer, and the page shows when its time has ended', async () => {
  await queueOf('time', { score_names: ['topic'] }, await run('eta'));
  const { context, page } = await stage.signIn();
  await page.clock.install();
  await page.goto(stage.at('/review/time'));
  await page.getByText(/^It is reserved for you until/).waitFor();
  await page.clock.fastForward('06:00');
  const renewed = page.waitForResponse((response) => response.url().endsWith('/queues/time/next'));
  await page.getByLabel('Comment').fill('Still reading');
  expect((await renewed).status()).toBe(200);
  await page.clock.fastForward('15:00');
  await page.getByText(/^Your reservation of this item ended at/).waitFor();
  await page.getByRole('radio', { name: 'Billing' }).check();
  await page.getByRole('button', { name: /^Complete/ }).click();
  await page.getByRole('heading', { name: 'Nothing is left for you' }).waitFor();
  await context.close();
});

test('an example of an evaluation is reviewed with its input and expected value; keys can be disabled', async () => {
  const { body } = await call('POST', '/evaluations', {
    body: {
      prompt_name: 'say',
      examples: [{ id: 'zeta', variables: { word: 'zeta' }, expected: 'Zeta, please' }],
      evaluators: [{ type: 'exact_match' }],
    },
  });
  await waitFor(
    'the evaluation',
    async () => (await call('GET', `/evaluations/${body.id}`)).body.status === 'completed',
  );
  await queueOf('examples', { score_names: ['helpful'] }, []);
  const added = await call('POST', '/queues/examples/items', {
    body: { examples: [{ evaluation_id: body.id, example_id: 'zeta' }] },
  });
  expect(added.body).toMatchObject({ added: 1 });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/review/examples'));
  await output(page, 'zeta').waitFor();
  await page.getByRole('region', { name: 'expected', exact: true }).getByText('Zeta, please').waitFor();
  await page.getByRole('region', { name: 'input', exact: true }).getByText('Say zeta').waitFor();
  expect(await problemsOf(stage, [{ at: '/review/examples', shows: 'Review of examples' }])).toEqual([]);
  await page.getByLabel(/^Single-key shortcuts/).uncheck();
  await page.getByRole('heading', { level: 2 }).focus();
  await page.keyboard.press('1');
  expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
  await page.getByRole('radio', { name: 'Yes' }).check();
  await page.getByRole('button', { name: /^Complete/ }).click();
  await page.getByRole('heading', { name: 'Nothing is left for you' }).waitFor();
  const { key } = await createKey(stage.service, 'read');
  const reader = await stage.signIn({}, key);
  await reader.page.goto(stage.at('/review/examples'));
  await reader.page.getByText('To review, a key needs the scope “score” or “write”.').waitFor();
  await reader.context.close();
  expect(complaints).toEqual([]);
  await context.close();
});

test('pairs of two evaluations are sent to a queue and reviewed side by side, with a key for each answer', async () => {
  const examples = ['Ada', 'Grace', 'Jean'].map((name) => ({
    id: name,
    variables: { name },
    expected: `Hello ${name}`,
  }));
  const evaluators = [{ type: 'exact_match' }];
  const ids: string[] = [];
  for (const template of ['Hi {{ name }}', 'Hello {{ name }}']) {
    await (ids.length === 0
      ? call('POST', '/prompts', { body: { name: 'greet/pairs', template, model: 'sandbox/echo' } })
      : call('PUT', '/prompts/greet/pairs', { body: { template } }));
    const { body } = await call('POST', '/evaluations', { body: { prompt_name: 'greet/pairs', examples, evaluators } });
    ids.push(body.id);
    await waitFor('the run', async () => (await call('GET', `/evaluations/${body.id}`)).body.status === 'completed');
  }
  const [before = '', after = ''] = ids;
  const { context, page, complaints } = await stage.signIn();
  const { keyboard } = page;
  await page.goto(stage.at(`/evaluations/${after}/compare/${before}`));
  await page.getByRole('button', { name: 'Send pairs to a queue…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send pairs to a queue' });
  await dialog.getByLabel('Queue').fill('greet/pairs');
  await dialog.getByText('is created with the score “better”').waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('3 put into greet/pairs.').first().waitFor();
  await page.getByRole('heading', { name: 'greet/pairs', level: 1 }).waitFor();
  await page
    .getByRole('table', { name: 'Items' })
    .getByRole('row', { name: /Hello Ada or Hi Ada/ })
    .waitFor();

  await page.getByRole('link', { name: 'Review', exact: true }).click();
  const heading = page.getByRole('heading', { name: 'Which output is better?' });
  const first = page.getByRole('region', { name: 'first output' });
  const second = page.getByRole('region', { name: 'second output' });
  const nothingIsLeft = page.getByRole('heading', { name: 'Nothing is left for you' });
  /** The scores of the later run that the answers mean, by example. */
  const meant: Record<string, number> = {};
  for (const [key, choice] of [
    ['ArrowLeft', 'first'],
    ['t', 'tie'],
    ['ArrowRight', 'second'],
  ] as const) {
    await heading.waitFor();
    await second.waitFor();
    await page.getByText('name', { exact: true }).waitFor();
    const [left = '', right = ''] = [await first.textContent(), await second.textContent()].map((text) => text ?? '');
    expect(new Set([left, right].map((text) => text.split(' ')[0]))).toEqual(new Set(['Hello', 'Hi']));
    const [one, other] = await Promise.all([first.boundingBox(), second.boundingBox()]);
    expect((one?.x ?? 0) + (one?.width ?? 0)).toBeLessThanOrEqual(other?.x ?? 0);
    // Which run is which is not to be seen.
    expect(await page.locator('main').innerText()).not.toMatch(/eval_|greet\/pairs@/);
    if (key === 'ArrowLeft') {
      expect(await violationsInThemes(page)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    const chosen = choice === 'first' ? left : right;
    meant[left.split(' ')[1] ?? ''] = choice === 'tie' ? 0.5 : chosen.startsWith('Hello') ? 1 : 0;
    await keyboard.press(key);
    await page.locator(`input[value=${choice}]:checked`).waitFor();
    await keyboard.press('Enter');
    await waitFor('the next item', async () => {
      const shown = await first.textContent({ timeout: 1_000 }).catch(() => null);
      return shown === null ? nothingIsLeft.isVisible() : shown !== left;
    });
  }
  await nothingIsLeft.waitFor();
  const { body } = await call('GET', `/scores?evaluation_id=${after}`);
  expect(
    Object.fromEntries(
      body.data.map(({ subject, value }: { subject: { example_id: string }; value: number }) => [
        subject.example_id,
        value,
      ]),
    ),
  ).toEqual(meant);
  expect(complaints).toEqual([]);
  await context.close();
});
