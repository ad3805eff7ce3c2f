import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { waitFor } from '../support/wait-for.ts';
import { violationsInThemes } from './accessible.ts';
import { chooseMore, type Stage, startStage, write } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  await call('POST', '/prompts', {
    body: { name: 'greeting', template: 'Hello {{ name }}, how are you?', model: 'sandbox/echo' },
  });
  await call('PUT', '/prompts/greeting', { body: { template: 'Hi {{ name }}, how are you?' } });
  await call('PUT', '/prompts/greeting/labels/production', { body: { version: 1 } });
  const lines = ['Ada', 'Grace', 'Jean', 'Barbara'].map((name) =>
    JSON.stringify({ variables: { name }, expected: `Hi ${name}, how are you?` }),
  );
  await stage.service.call('PUT', '/datasets/people', {
    raw: lines.join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

const output = (page: Page, cell: string) => page.getByRole('region', { name: `output of ${cell}`, exact: true });
const runsOf = (page: Page, pane: number) => page.getByRole('region', { name: `Runs of pane ${pane}` });
const cellOf = (page: Page, cell: string) => page.getByRole('article', { name: `Cell ${cell}`, exact: true });

test('examples of a dataset are rows, versions are panes: each cell runs, panes are compared and summed up', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground?prompt=greeting'));
  await page.getByRole('button', { name: 'Rows of a dataset…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rows of a dataset' });
  await dialog.getByLabel('Dataset').fill('people');
  await dialog.getByLabel('How many').fill('3');
  await dialog.getByLabel('2. Grace').uncheck();
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add 2 rows' }).click();
  await page.getByRole('region', { name: 'Row 2' }).getByText('Hi Jean, how are you?').waitFor();

  await page.getByRole('button', { name: 'Add a pane' }).click();
  await page.getByRole('region', { name: 'Pane 1' }).getByLabel('Version').selectOption('production');
  await page.getByRole('button', { name: 'Run all' }).click();
  await output(page, 'pane 1, row 1').getByText('Hello Ada, how are you?').waitFor();
  await output(page, 'pane 2, row 1').getByText('Hi Ada, how are you?').waitFor();
  await output(page, 'pane 1, row 2').getByText('Hello Jean, how are you?').waitFor();
  await output(page, 'pane 2, row 2').getByText('Hi Jean, how are you?').waitFor();
  const numbers = cellOf(page, 'pane 2, row 2');
  for (const fact of ['Tokens', 'Cost', 'First token', 'Total'])
    await numbers.getByText(fact, { exact: true }).waitFor();
  await runsOf(page, 2).getByText('2 of 2').waitFor();

  await page.getByRole('button', { name: 'Compare with pane 1' }).click();
  await output(page, 'pane 2, row 1').locator('ins', { hasText: 'Hi' }).waitFor();
  await output(page, 'pane 2, row 1').locator('del', { hasText: 'Hello' }).waitFor();
  expect(await output(page, 'pane 1, row 1').locator('ins').count()).toBe(0);
  expect(await violationsInThemes(page)).toEqual([]);

  // The address restores the same panes and rows.
  await waitFor('the address', async () => page.url().includes('examples=') && page.url().includes('panes='));
  const other = await stage.signIn({ viewport: { width: 390, height: 800 } });
  await other.page.goto(page.url());
  await other.page.getByRole('region', { name: 'Row 2' }).getByText('Hi Jean, how are you?').waitFor();
  expect(await other.page.getByRole('region', { name: 'Pane 1' }).getByLabel('Version').inputValue()).toBe(
    'production',
  );
  await other.page.getByRole('button', { name: 'Run row 2' }).click();
  await output(other.page, 'pane 2, row 2').getByText('Hi Jean, how are you?').waitFor();
  expect(await output(other.page, 'pane 1, row 1').count()).toBe(0);
  expect(
    await other.page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
  ).toBe(true);
  expect([complaints, other.complaints]).toEqual([[], []]);
  await Promise.all([context.close(), other.context.close()]);
});

test('a few of many cells run at once, and stopping also stops waiting ones', async () => {
  await call('POST', '/prompts', {
    body: { name: 'slow', template: 'A b c {{ name }}', model: 'sandbox/slow-600000' },
  });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground?prompt=slow&panes=1,1&dataset=people&examples=0-2'));
  await page.getByRole('region', { name: 'Row 3' }).waitFor();
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByText('Running…').nth(3).waitFor();
  expect(await page.getByText('Waiting for its turn…').count()).toBe(2);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('canceled').nth(3).waitFor();
  expect(await page.getByText('Stopped before it started').count()).toBe(2);
  const { body } = await call('GET', '/executions?prompt_name=slow');
  expect(body.data.map(({ status }: { status: string }) => status)).toEqual(Array(4).fill('canceled'));
  // A single cell.
  await page.getByRole('button', { name: 'Run pane 1, row 3' }).click();
  await cellOf(page, 'pane 1, row 3').getByText('Running…').waitFor();
  await page.getByRole('button', { name: 'Stop pane 1, row 3' }).click();
  await cellOf(page, 'pane 1, row 3').getByText('canceled').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('tool calls are answered by hand, and the conversation resumes', async () => {
  const tool = {
    name: 'weather',
    description: 'The weather of a city.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  };
  await call('POST', '/prompts', {
    body: { name: 'tools', template: 'How is it in {{ city }}?', model: 'sandbox/tools', tools: [tool] },
  });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground?prompt=tools'));
  await page.getByLabel('city', { exact: true }).fill('Oslo');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByLabel('Result of weather').fill('{"celsius": 3}');
  expect(await violationsInThemes(page)).toEqual([]);
  await page.keyboard.press('Control+Enter');
  await output(page, 'pane 1').getByText('weather gave {"celsius":3}.').waitFor();

  await chooseMore(page, 'Continue…', 'pane 1');
  await page.getByLabel('Next message to pane 1').fill('And tomorrow?');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The conversation so far: 4 messages').waitFor();
  await page.getByLabel('Result of weather').waitFor();
  const { body } = await call('GET', '/executions?prompt_name=tools');
  expect(body.data[0].input).toEqual([
    { role: 'user', content: 'How is it in Oslo?' },
    { role: 'assistant', content: [{ type: 'tool_call', id: 'call_1', name: 'weather', input: { city: 'city' } }] },
    { role: 'tool', content: [{ type: 'tool_result', id: 'call_1', name: 'weather', output: { celsius: 3 } }] },
    { role: 'assistant', content: 'weather gave {"celsius":3}.' },
    { role: 'user', content: 'And tomorrow?' },
  ]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('outputs are scored, a judge too, and lead to an evaluation', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground?prompt=greeting&panes=1,2&dataset=people&examples=0-1'));
  await page.getByRole('region', { name: 'Row 2' }).waitFor();
  await page.getByRole('button', { name: 'Run all' }).click();
  await runsOf(page, 2).getByText('2 of 2').waitFor();
  await page.getByRole('button', { name: 'Score…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Score outputs' });
  await dialog.getByRole('button', { name: 'Add an evaluator' }).click();
  const judge = dialog.getByRole('group', { name: 'Evaluator 2' });
  await judge.getByLabel('Scores by').selectOption('llm_judge');
  await judge.getByLabel('Model of the judge').fill('sandbox/judge');
  await judge.getByLabel('Rubric').fill('Is it what is expected?');
  await dialog.getByRole('button', { name: 'Score', exact: true }).click();
  await cellOf(page, 'pane 2, row 1').getByText('exact_match: 100 %').waitFor();
  await cellOf(page, 'pane 2, row 1').getByText('llm_judge: 100 %').waitFor();
  await cellOf(page, 'pane 1, row 2').getByText('llm_judge: 0 %').waitFor();
  await cellOf(page, 'pane 1, row 2').getByText('The output differs from the expected text.').waitFor();
  await runsOf(page, 2).getByText('100 %').waitFor();
  expect(await violationsInThemes(page)).toEqual([]);

  await page.getByRole('link', { name: 'Evaluate… pane 1' }).click();
  await page.getByRole('heading', { name: 'New evaluation', level: 1 }).waitFor();
  await waitFor('the form', async () => (await page.getByLabel('Prompt', { exact: true }).inputValue()) === 'greeting');
  expect(await page.getByLabel('Dataset', { exact: true }).inputValue()).toBe('people');
  expect(complaints).toEqual([]);
  await context.close();
});

test('earlier attempts can be restored, and a row is an example', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground?prompt=greeting'));
  await page.getByLabel('name', { exact: true }).fill('Dorothy');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await output(page, 'pane 1').getByText('Hi Dorothy, how are you?').waitFor();
  await page.getByLabel('name', { exact: true }).fill('Frances');
  await page.getByRole('region', { name: 'Pane 1' }).getByLabel('Version').selectOption('1');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await output(page, 'pane 1').getByText('Hello Frances, how are you?').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'History…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Earlier runs' });
  await dialog.getByRole('listitem').filter({ hasText: 'Dorothy' }).getByRole('button', { name: 'Bring back' }).click();
  await output(page, 'pane 2, row 2').getByText('Hi Dorothy, how are you?').waitFor();
  expect(await page.getByRole('region', { name: 'Pane 2' }).getByLabel('Version').inputValue()).toBe('');

  const row = page.getByRole('region', { name: 'Row 2' });
  await row.getByLabel('Expected output').fill('Hi Dorothy');
  await row.getByRole('button', { name: 'Save as an example…' }).click();
  await page.getByRole('dialog').getByLabel('Dataset').fill('kept');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The example is in kept, version 1, which has 1 example.').first().waitFor();
  await row.getByLabel('Expected output').fill('Hi Dorothy!');
  await row.getByRole('button', { name: 'Save as an example…' }).click();
  await page.getByRole('dialog').getByLabel('Dataset').fill('kept');
  await page.getByRole('dialog').getByText('It has 1 example and will have at most 2.').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The example is in kept, version 2, which has 2 examples.').first().waitFor();
  expect((await call('GET', '/datasets/kept/examples')).body.data).toMatchObject([
    { variables: { name: 'Dorothy' }, expected: 'Hi Dorothy' },
    { variables: { name: 'Dorothy' }, expected: 'Hi Dorothy!' },
  ]);

  // Concurrent additions by another person are kept.
  const added = { id: 'meanwhile', variables: { name: 'Grace' } };
  await page.route('**/v1/datasets/kept{,/examples}', async (route) => {
    if (route.request().method() !== 'GET')
      await call('POST', '/datasets/kept/examples', { body: { examples: [added] } });
    await route.continue();
  });
  await row.getByLabel('Expected output').fill('Hello Dorothy');
  await row.getByRole('button', { name: 'Save as an example…' }).click();
  await page.getByRole('dialog').getByLabel('Dataset').fill('kept');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The example is in kept, version 4, which has 4 examples.').first().waitFor();
  const { body } = await call('GET', '/datasets/kept/examples');
  expect(body.data[2]).toMatchObject(added);
  expect(complaints).toEqual([]);
  await context.close();
});

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

test('editors are beside the outputs: a text is edited in place, runs with its result in sight, and is saved without leaving', async () => {
  await call('POST', '/prompts', {
    body: { name: 'edited', template: `${'Word {{ name }}\n'.repeat(60)}`, model: 'sandbox/echo' },
  });
  const { context, page, complaints } = await stage.signIn({ viewport: { width: 1280, height: 800 } });
  await page.goto(stage.at('/playground?prompt=edited'));
  const pane = page.getByRole('region', { name: 'Pane 1', exact: true });
  await page.getByLabel('name', { exact: true }).fill('Ada');
  await write(page, 'Text of pane 1', 'Good day, {{ name }}');
  await page.keyboard.press('Control+Enter');
  const shown = output(page, 'pane 1');
  await shown.getByText('Good day, Ada', { exact: true }).waitFor();
  const [editing, reading] = await Promise.all([pane.boundingBox(), shown.boundingBox()]);
  expect((editing?.x ?? 0) + (editing?.width ?? 0)).toBeLessThanOrEqual(reading?.x ?? 0);
  expect((reading?.y ?? 0) + (reading?.height ?? 0)).toBeLessThanOrEqual(800);
  await pane.getByText('edited', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Save as a version…' }).click();
  await page.getByRole('dialog').getByLabel('What changes, and why').fill('Politer');
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved as edited, version 2.').first().waitFor();
  await waitFor('the version', async () => (await pane.getByLabel('Version').inputValue()) === '2');
  expect(await pane.getByText('edited', { exact: true }).count()).toBe(0);
  await shown.getByText('Good day, Ada', { exact: true }).waitFor();
  expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Ada');
  expect(await violationsInThemes(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('on a phone, and with many rows, Ctrl+Enter scrolls to the result of the row', async () => {
  const { context, page, complaints } = await stage.signIn({ viewport: { width: 390, height: 700 } });
  await page.goto(stage.at('/playground?prompt=greeting&panes=1,2&dataset=people&examples=0-3'));
  const row = page.getByRole('region', { name: 'Row 4' });
  await row.getByRole('button', { name: 'Edit row 4' }).click();
  await row.getByLabel('name', { exact: true }).fill('Zoe');
  await page.keyboard.press('Control+Enter');
  await output(page, 'pane 1, row 4').getByText('Hello Zoe, how are you?').waitFor();
  await waitFor('the result in sight', async () => {
    const { y = -1 } = (await cellOf(page, 'pane 1, row 4').boundingBox()) ?? {};
    return y >= 0 && y < 500;
  });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  // A folded pane is only a line, and unfolds for a question.
  const second = page.getByRole('region', { name: 'Pane 2', exact: true });
  const model = second.getByRole('combobox', { name: 'Model' });
  await model.fill('sandbox/slow-8');
  await second.getByRole('button', { name: 'Pane 2', exact: true }).click();
  await model.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Run all' }).click();
  const asked = second.getByLabel('This model is not in the list: use it anyway');
  await waitFor('the question', () => asked.evaluate((box) => box === box.ownerDocument.activeElement));
  expect(complaints).toEqual([]);
  await context.close();
});

test('the failing examples of an evaluation open with outputs, expected values and scores, and are scored as there', async () => {
  await call('POST', '/prompts', { body: { name: 'half', template: 'Hi {{ name }}', model: 'sandbox/echo' } });
  const examples = Array.from({ length: 30 }, (_, index) => ({
    id: `person-${index}`,
    variables: { name: `N${index}` },
    expected: index < 4 ? `Hi N${index}` : `Hello N${index}`,
  }));
  const evaluators = [{ type: 'exact_match', name: 'same' }];
  const { body, status } = await call('POST', '/evaluations', { body: { prompt_name: 'half', examples, evaluators } });
  expect(status).toBe(201);
  await waitFor('the end', async () => (await call('GET', `/evaluations/${body.id}`)).body.status === 'completed');
  const { context, page, complaints } = await stage.signIn({ viewport: { width: 1280, height: 800 } });
  await page.goto(stage.at(`/evaluations/${body.id}`));
  await page.getByRole('link', { name: 'Open 20 failing examples' }).click();
  const first = cellOf(page, 'pane 1, row 1');
  await first.getByText('Result of the evaluation').waitFor();
  await first.getByText('same: 0 %').waitFor();
  await output(page, 'pane 1, row 1')
    .getByText(/^Hi N\d+$/)
    .waitFor();
  await page
    .getByRole('region', { name: 'Row 1', exact: true })
    .getByText(/^Hello N\d+$/)
    .waitFor();
  expect(await page.getByRole('region', { name: /^Row \d+$/ }).count()).toBe(20);
  expect((await call('GET', '/executions?prompt_name=half')).body.data).toEqual([]);
  expect(await violationsInThemes(page)).toEqual([]);

  await write(page, 'Text of pane 1', 'Hello {{ name }}');
  await page.keyboard.press('Control+Enter');
  await runsOf(page, 1).getByText('20 of 20').waitFor();
  await runsOf(page, 1).getByText('100 %').waitFor();
  await first.getByText('same: 100 %').waitFor();
  await page
    .getByRole('region', { name: 'Row 1', exact: true })
    .getByRole('link', { name: /^person-/ })
    .click();
  await page.getByRole('region', { name: /^Example \d+$/ }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('an image among the variables is shown, and an external one is not loaded', async () => {
  await call('POST', '/prompts', {
    body: {
      name: 'photo',
      model: 'sandbox/echo',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'file', media_type: 'image/png', variable: 'photo' },
          ],
        },
      ],
    },
  });
  const { body: execution } = await call('POST', '/executions', {
    body: { prompt_name: 'photo', variables: { photo: { media_type: 'image/png', filename: 'dot.png', data: DOT } } },
  });
  const { context, page, complaints } = await stage.signIn();
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== stage.service.origin) elsewhere.push(request.url());
  });
  await page.goto(stage.at(`/playground?execution=${execution.id}`));
  const image = page.getByRole('region', { name: 'Variables' }).getByRole('img', { name: 'dot.png' });
  await waitFor('the image', () =>
    image.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth === 1),
  );
  await page
    .getByLabel('photo (file, as JSON)')
    .or(page.getByLabel('photo (JSON)'))
    .fill('{"media_type": "image/png", "url": "https://example.com/far.png"}');
  await page.getByText('https://example.com/far.png', { exact: true }).first().waitFor();
  expect(elsewhere).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});
