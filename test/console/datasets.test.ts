import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage, tabTo } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

const upload = (name: string, examples: object[]) =>
  call('PUT', `/datasets/${name}`, {
    raw: examples.map((each) => JSON.stringify(each)).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });

const examplesOf = async (name: string, version?: number) => {
  const { body } = await call('GET', `/datasets/${name}/examples${version === undefined ? '' : `?version=${version}`}`);
  return body.data.map(({ id, variables, expected, metadata }: Record<string, unknown>) => ({
    ...(id !== undefined && { id }),
    variables,
    ...(expected !== undefined && { expected }),
    ...(metadata !== undefined && { metadata }),
  }));
};

const anotherAdds = (id: string) =>
  call('POST', '/datasets/shared/examples', { body: { examples: [{ id, variables: { name: id } }] } });

const preview = (page: Page) => page.getByRole('region', { name: 'Preview' });

test('pasted CSV becomes a dataset, each column as chosen', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/datasets'));
  await tabTo(page, page.getByRole('button', { name: 'New dataset…' }));
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'New dataset' });
  await dialog.getByLabel('Name', { exact: true }).fill('shop/questions');
  await dialog.getByText('Creates a new dataset.').waitFor();
  const csv = [
    'Customer question,answer,team,id,secret',
    '"Where is my order, please?",Look under Orders.,support,q1,x',
    '"Say ""hi""",,sales,q2,y',
  ].join('\r\n');
  await dialog.getByLabel('Examples', { exact: true }).fill(csv);
  await preview(page).getByText('2 examples:').waitFor();
  expect(await dialog.getByLabel('answer').inputValue()).toBe('expected');
  expect(await dialog.getByLabel('id', { exact: true }).inputValue()).toBe('id');
  await dialog.getByLabel('team').selectOption('Metadata');
  await dialog.getByLabel('secret').selectOption('Leave out');
  await preview(page).getByRole('columnheader', { name: 'Customer_question' }).waitFor();
  await preview(page).getByRole('columnheader', { name: 'secret' }).waitFor({ state: 'detached' });
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('shop/questions: version 1 has 2 examples.').first().waitFor();
  expect(await examplesOf('shop/questions')).toEqual([
    {
      id: 'q1',
      variables: { Customer_question: 'Where is my order, please?' },
      expected: 'Look under Orders.',
      metadata: { team: 'support' },
    },
    { id: 'q2', variables: { Customer_question: 'Say "hi"' }, metadata: { team: 'sales' } },
  ]);
  // Each variable has a column.
  await page.getByRole('columnheader', { name: 'Customer_question' }).waitFor();
  await page.getByRole('cell', { name: 'Say "hi"' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('CSV with semicolons and a capital in its headings is read like by the API, and the preview says so', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/datasets?dialog=new'));
  const dialog = page.getByRole('dialog', { name: 'New dataset' });
  await dialog.getByLabel('Name', { exact: true }).fill('semicolons');
  const text = dialog.getByLabel('Examples', { exact: true });
  await text.fill('ID; question ;Expected\na;"Where; when?";1,5\n');
  await preview(page).getByText('Columns are separated by semicolons.').waitFor();
  expect(await dialog.getByLabel('Expected').inputValue()).toBe('expected');
  await text.fill('sep=|\nID|question|Expected\na|"Where; when?"|1,5\n');
  await preview(page).getByText('Columns are separated by vertical bars.').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('semicolons: version 1 has 1 example.').first().waitFor();
  const examples = [{ id: 'a', variables: { question: 'Where; when?' }, expected: '1,5' }];
  expect(await examplesOf('semicolons')).toEqual(examples);
  // A file with such headings that replaces the examples is sent to the API unchanged.
  const buffer = Buffer.from('ID; question ;Expected\ra;"Where; when?";1,5\r');
  await page.goto(stage.at('/datasets/semicolons'));
  await page
    .getByLabel('Drop a file with the next version here')
    .setInputFiles({ name: 'old.csv', mimeType: 'text/csv', buffer });
  const upload = page.getByRole('dialog', { name: 'Upload a new version of semicolons' });
  await upload.getByLabel('What happens to the current examples').selectOption('They are replaced');
  await upload.getByText('1 unchanged').waitFor();
  const sent = page.waitForResponse((response) => response.request().method() === 'PUT');
  await upload.getByRole('button', { name: 'Upload' }).click();
  expect(await (await sent).json()).toMatchObject({ version: 2, delimiter: ';' });
  expect(await examplesOf('semicolons')).toEqual(examples);
  expect(complaints).toEqual([]);
  await context.close();
});

test('flat objects and a JSON list are accepted, and errors are named with a remedy', async () => {
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/datasets?dialog=new'));
  const dialog = page.getByRole('dialog', { name: 'New dataset' });
  await dialog.getByLabel('Name', { exact: true }).fill('flat');
  const text = dialog.getByLabel('Examples', { exact: true });
  await text.fill('{"city": "Oslo"}\n{"city": ');
  await dialog.getByText('Line 2 is not valid JSON: write one object per line.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await text.fill('a,a\n1,2');
  await dialog.getByText('Two columns are called “a”: rename one of them.').waitFor();
  await text.fill('a,b\n"1,2');
  await dialog.getByText('Line 2 opens a quote that is not closed: close it.').waitFor();
  await text.fill('[{"city": "Oslo", "target": {"country": "NO"}}, {"city": "Rome", "target": {"country": "IT"}}]');
  await preview(page).getByText('2 examples:').waitFor();
  // Input survives a reload of the page.
  await page.reload();
  await page.getByText(/^Your unsaved changes from/).waitFor();
  await preview(page).getByText('2 examples:').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('flat: version 1 has 2 examples.').first().waitFor();
  expect(await examplesOf('flat')).toEqual([
    { variables: { city: 'Oslo' }, expected: { country: 'NO' } },
    { variables: { city: 'Rome' }, expected: { country: 'IT' } },
  ]);
  await context.close();
});

test('an upload first shows what it replaces, and pasted examples what they add', async () => {
  await upload('people', [
    { id: 'a', variables: { name: 'Ada' }, expected: 'Hello Ada' },
    { id: 'b', variables: { name: 'Bob' }, expected: 'Hello Bob' },
    { variables: { name: 'Cid' } },
  ]);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/datasets/people'));
  const file = {
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('id,name,expected\na,Ada,Hi Ada\nd,Dan,Hi Dan\n'),
  };
  const choose = () => page.getByLabel('Drop a file with the next version here').setInputFiles(file);
  await choose();
  const dialog = page.getByRole('dialog', { name: 'Upload a new version of people' });
  const replaces = 'Version 2 replaces all examples of version 1 and holds 2 examples: 1 added, 1 changed, 2 removed.';
  const adds = 'Version 2 adds to the examples of version 1 and holds 4 examples: 1 added, 1 changed, 2 unchanged.';
  await dialog.getByText(adds).waitFor();
  const current = dialog.getByLabel('What happens to the current examples');
  await current.selectOption('They are replaced');
  await dialog.getByText(replaces).waitFor();
  await current.selectOption('They stay, and these are added');
  await dialog.getByText(adds).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('people: version 2 has 4 examples.').first().waitFor();
  expect(await examplesOf('people')).toEqual([
    { id: 'a', variables: { name: 'Ada' }, expected: 'Hi Ada' },
    { id: 'b', variables: { name: 'Bob' }, expected: 'Hello Bob' },
    { variables: { name: 'Cid' } },
    { id: 'd', variables: { name: 'Dan' }, expected: 'Hi Dan' },
  ]);

  await page.getByRole('button', { name: 'Paste examples…' }).click();
  const paste = page.getByRole('dialog', { name: 'Paste examples into people' });
  await paste.getByLabel('Examples', { exact: true }).fill('{"variables": {"name": "Eve"}}');
  await paste.getByText('Version 3 adds to the examples of version 2 and holds 5 examples').waitFor();
  await paste.getByRole('button', { name: 'Save' }).click();
  await page.getByText('people: version 3 has 5 examples.').first().waitFor();

  await choose();
  await current.selectOption('They are replaced');
  await dialog.getByText('Version 4 replaces all examples of version 3').waitFor();
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('people: version 4 has 2 examples.').first().waitFor();
  expect((await examplesOf('people')).map(({ id }: { id: string }) => id)).toEqual(['a', 'd']);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a file under the name of a dataset is added to it unless replacing is chosen', async () => {
  await upload('named', [{ id: 'a', variables: { name: 'Ada' } }]);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/datasets'));
  const choose = (lines: string) =>
    page
      .getByLabel('Drop a file with examples here')
      .setInputFiles({ name: 'named.jsonl', mimeType: 'application/x-ndjson', buffer: Buffer.from(lines) });
  const dialog = page.getByRole('dialog', { name: 'Upload a dataset' });
  await choose('{"id": "b", "variables": {"name": "Bob"}}\n');
  await dialog.getByText('Version 2 adds to the examples of version 1 and holds 2 examples').waitFor();
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('named: version 2 has 2 examples.').first().waitFor();

  // So is a large one, which the browser does not read.
  await page.goto(stage.at('/datasets'));
  const lines = Array.from({ length: 10 }, (_, at) => ({ id: `c${at}`, variables: { name: 'Cid'.padEnd(900_000) } }));
  await choose(lines.map((line) => JSON.stringify(line)).join('\n'));
  await dialog.getByText('It has 2 examples, to which these are added.').waitFor();
  await dialog.getByLabel('What happens to the current examples').selectOption('They are replaced');
  await dialog.getByText('Version 3 replaces all 2 examples of version 2.').waitFor();
  await dialog.getByLabel('What happens to the current examples').selectOption('They stay, and these are added');
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('named: version 3 has 12 examples.').first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('additions by two people at once are in the dataset: by an import, and one by one', async () => {
  await upload('shared', [{ id: 'a', variables: { name: 'Ada' } }]);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/datasets/shared'));
  await page.getByRole('button', { name: 'Paste examples…' }).click();
  const paste = page.getByRole('dialog', { name: 'Paste examples into shared' });
  await paste.getByLabel('Examples', { exact: true }).fill('id,name\na,Ada\nc,Cid\n');
  await paste.getByText('1 added, 1 unchanged').waitFor();
  await anotherAdds('b');
  await paste.getByRole('button', { name: 'Save' }).click();
  await page.getByText('shared: version 3 has 3 examples.').first().waitFor();

  // Between the page's read and its write.
  await page.route('**/v1/datasets/shared{,/examples}', async (route) => {
    if (route.request().method() !== 'GET') await anotherAdds(`before ${route.request().method()}`);
    await route.continue();
  });
  await page.getByRole('button', { name: 'Add an example…' }).click();
  const add = page.getByRole('dialog', { name: 'Add an example' });
  await add.getByLabel('Id', { exact: true }).fill('d');
  await add.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The example was added in version 5.').first().waitFor();
  expect((await examplesOf('shared')).map(({ id }: { id: string }) => id)).toEqual(['a', 'b', 'c', 'before POST', 'd']);

  await page.getByRole('button', { name: 'Add an example…' }).click();
  await add.getByLabel('Id', { exact: true }).fill('d');
  await add.getByLabel('Variables').fill('{"name": "Dan"}');
  await add.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The example of this id was replaced in version 6.').first().waitFor();

  // Without changes there is no new version.
  await page.getByRole('button', { name: 'Paste examples…' }).click();
  await paste.getByLabel('Examples', { exact: true }).fill('id,name\na,Ada\n');
  await paste.getByText('Version 6 has all of these examples already.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a name stays known as new during another lookup', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/datasets?dialog=new'));
  const dialog = page.getByRole('dialog', { name: 'New dataset' });
  await dialog.getByLabel('Name', { exact: true }).fill('unheard-of');
  await dialog.getByLabel('Examples', { exact: true }).fill('name\nAda\n');
  await dialog.getByText('Creates a new dataset.').waitFor();
  await preview(page).getByText('1 example:').waitFor();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  await page.route('**/v1/datasets/unheard-of', async (route) => {
    asked.resolve();
    await answered.promise;
    await route.continue();
  });
  // Changes by others are refetched.
  await upload('of-others', [{ variables: { name: 'Bob' } }]);
  await asked.promise;
  await dialog.getByText('Creates a new dataset.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Save' }).isEnabled()).toBe(true);
  answered.resolve();
  expect(complaints).toEqual([]);
  await context.close();
});

test('an example is deleted at once, and Undo brings it back', async () => {
  const examples = [
    { id: 'one', variables: { name: 'Ada' } },
    { id: 'two', variables: { name: 'Bob' } },
  ];
  await upload('undone', examples);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/datasets/undone?example=two'));
  await page.getByRole('dialog', { name: 'two' }).getByRole('button', { name: 'Delete this example' }).click();
  await page.getByText('The example was deleted in version 2.').first().waitFor();
  await page.getByRole('link', { name: 'two', exact: true }).waitFor({ state: 'detached' });
  expect(await examplesOf('undone')).toEqual(examples.slice(0, 1));
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').first().waitFor();
  await page.getByRole('link', { name: 'two', exact: true }).waitFor();
  expect(await examplesOf('undone')).toEqual(examples);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a dataset of many variables is accessible, and fits a phone', async () => {
  const names = Array.from({ length: 12 }, (_, index) => [`v${index}`, index]);
  await upload('wide', [{ id: 'a', variables: Object.fromEntries(names) }]);
  expect(
    await problemsOf(stage, [
      { at: '/datasets/wide', shows: 'wide' },
      { at: '/datasets?dialog=new', shows: 'New dataset' },
    ]),
  ).toEqual([]);
});
