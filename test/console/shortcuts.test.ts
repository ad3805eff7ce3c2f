import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  const { call } = stage.service;
  for (const name of ['support/answer', 'support/footer', 'geo/capital'])
    await call('POST', '/prompts', { body: { name, template: 'Hello {{ name }}', model: 'sandbox/echo' } });
});
afterAll(() => stage?.stop());

const MARKDOWN = [
  '# Shipping',
  '',
  '- **Norway**: five days',
  '- [terms](https://example.com/terms) and [worse](javascript:alert(1))',
  '- ![a picture](https://example.com/picture.png)',
  '- <b>bold</b><script>window.wasRun = true</script>',
  '',
  '```js',
  'const days = 5;',
  '```',
  '',
  '| to | days |',
  '|---|---|',
  '| Oslo | 5 |',
].join('\n');

/** @returns the id of an execution whose output is this text */
async function outputOf(text: string): Promise<string> {
  const { call } = stage.service;
  const name = `out/${Buffer.from(text).toString('hex').slice(0, 20)}`;
  await call('POST', '/prompts', { body: { name, template: '{{ text }}', model: 'sandbox/echo' } });
  const { body } = await call('POST', '/executions', { body: { prompt_name: name, variables: { text } } });
  expect(body).toMatchObject({ status: 'completed', output: text });
  return body.id;
}

test('the command palette leads to pages, to objects by a part of their names, and to an id; it has actions', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/'));
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  const go = async (typed: string, option: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to or do' }).fill(typed);
    await page.getByRole('option', { name: option }).waitFor();
    await page.keyboard.press('Enter');
  };
  await go('webho', 'Webhooks');
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  await go('t/ans', 'support/answer');
  await page.getByRole('heading', { name: 'support/answer', level: 1 }).waitFor();
  const id = await outputOf('plain');
  await go(id, id);
  await page.getByRole('heading', { name: /^Execution/, level: 1 }).waitFor();
  await go('new prom', 'New prompt…');
  await page.getByRole('dialog', { name: 'New prompt' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to or do' }).fill('nothing is called that');
  await page.getByText('No matches. Try another part of the name, or an id.').waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(complaints).toEqual([]);
  await context.close();
});

test('a key that can only read is offered nothing else', async () => {
  const { body } = await stage.service.call('POST', '/api-keys', { body: { name: 'reader', scopes: ['read'] } });
  const { context, page } = await stage.signIn({}, body.key);
  await page.goto(stage.at('/prompts'));
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'API documentation' }).waitFor();
  expect(await page.getByRole('option', { name: /^New/ }).count()).toBe(0);
  await context.close();
});

test('single keys: pages by g and a letter, rows by j and k, all of them in a list, and none if turned off', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/'));
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'geo/capital' }).waitFor();
  const focused = () => page.evaluate('document.activeElement.textContent');
  for (const [key, name] of [
    ['j', 'geo/capital'],
    ['j', 'out/'],
    ['k', 'geo/capital'],
  ] as const) {
    await page.keyboard.press(key);
    await page.locator('a:focus').filter({ hasText: name }).waitFor();
  }
  await page.keyboard.press('/');
  expect(await page.evaluate('document.activeElement.type')).toBe('search');
  await page.keyboard.type('gp');
  await page.getByText('No prompts match these filters').waitFor();
  await page.getByRole('link', { name: 'Show all' }).click();
  await page.getByRole('link', { name: 'geo/capital' }).waitFor();
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await dialog.waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await page.keyboard.press('j');
  expect(await focused()).not.toBe('geo/capital');
  expect(await page.getByRole('heading', { name: 'Prompts', level: 1 }).count()).toBe(1);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a row opens by a click anywhere in it', async () => {
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts'));
  await page
    .getByRole('row', { name: /geo\/capital/ })
    .getByText('sandbox/echo')
    .click();
  await page.getByRole('heading', { name: 'geo/capital', level: 1 }).waitFor();
  await context.close();
});

test('outputs are rendered by type, without running or loading anything, and raw is one key away', async () => {
  const { context, page, complaints } = await stage.signIn();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(stage.at(`/executions/${await outputOf(MARKDOWN)}`));
  const output = page.getByRole('region', { name: 'output', exact: true });
  await output.getByRole('table').waitFor();
  expect(await output.getByRole('listitem').first().textContent()).toBe('Norway: five days');
  expect(await output.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual(
    ['https://example.com/terms'],
  );
  expect(await output.locator('img, b, script').count()).toBe(0);
  expect(await page.evaluate('"wasRun" in window')).toBe(false);
  expect(asked.filter((url) => url.includes('example.com'))).toEqual([]);
  await page.keyboard.press('v');
  await output.getByText('```js').waitFor();
  await page.keyboard.press('v');
  await output.getByRole('table').waitFor();

  await page.goto(stage.at(`/executions/${await outputOf('{"capital": {"name": "Oslo"}, "known": true}')}`));
  await output.getByText('Oslo').waitFor();
  await output.getByText('capital', { exact: true }).click();
  await output.getByText('Oslo').waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('a text field with suggestions shows all, narrows them, takes one by keyboard, and takes others', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts?dialog=new'));
  const model = page.getByRole('combobox', { name: 'Model' });
  await model.click();
  expect(await page.getByRole('option').count()).toBeGreaterThan(1);
  await model.fill('js');
  await page.getByRole('option', { name: /sandbox\/json/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await model.inputValue()).toBe('sandbox/json');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
  await model.fill('openai/of-tomorrow');
  expect(await model.inputValue()).toBe('openai/of-tomorrow');
  const dialog = page.getByRole('dialog', { name: 'New prompt' });
  await dialog.waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('Escape restores a field with suggestions, and a second one closes the dialog', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts?dialog=new'));
  const model = page.getByRole('combobox', { name: 'Model' });
  await model.click();
  await page.getByRole('listbox').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
  expect(await model.inputValue()).toBe('sandbox/echo');

  await model.fill('openai/of-tomorrow');
  await page.keyboard.press('Escape');
  expect(await model.inputValue()).toBe('sandbox/echo');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'New prompt' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New prompt…' }).click();
  expect(await model.inputValue()).toBe('sandbox/echo');
  expect(complaints).toEqual([]);
  await context.close();
});

test('home shows the first steps, and problems; it is accessible', async () => {
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/'));
  const first = page.getByRole('region', { name: /First steps/ });
  await first.getByRole('heading', { name: 'Collect examples' }).waitFor();
  await first.getByRole('link', { name: 'Datasets' }).click();
  await page.getByRole('heading', { name: 'Datasets', level: 1 }).waitFor();
  await context.close();
  expect(
    await problemsOf(stage, [
      { at: '/', shows: 'Home' },
      { at: `/executions/${await outputOf(MARKDOWN)}`, shows: 'Execution' },
    ]),
  ).toEqual([]);
});
