import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { untilQuiet } from '../support/browser.ts';
import { seedIncludes } from '../support/seed-rows.ts';
import { waitFor } from '../support/wait-for.ts';
import { violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

async function completed(body: object): Promise<string> {
  const { body: run } = await call('POST', '/evaluations', { body });
  await waitFor(
    'the evaluation',
    async () => (await call('GET', `/evaluations/${run.id}`)).body.status === 'completed',
  );
  return run.id;
}

test('unknown parameters of an address are ignored, the others apply', async () => {
  await call('POST', '/prompts', { body: { name: 'known', template: 'Hello', model: 'sandbox/echo' } });
  await call('POST', '/prompts', { body: { name: 'other', template: 'Hello', model: 'sandbox/echo' } });
  const { context, page, complaints } = await stage.signIn();
  for (const path of [
    'prompts',
    'executions',
    'evaluations',
    'datasets',
    'schedules',
    'monitors',
    'webhooks',
    'usage',
  ]) {
    await page.goto(stage.at(`/${path}?utm_source=x&fbclid=1`));
    await page.getByRole('heading', { level: 1 }).waitFor();
    await untilQuiet(page);
    expect([path, await page.getByRole('alert').allTextContents()]).toEqual([path, []]);
  }
  await page.goto(stage.at('/prompts?q=known&utm_source=x'));
  await page.getByRole('cell', { name: 'known' }).waitFor();
  expect(await page.getByRole('cell', { name: 'other' }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('the heading of a long table stays while it scrolls', async () => {
  await call('POST', '/prompts', { body: { name: 'long', template: '{{ n }}', model: 'sandbox/echo' } });
  const examples = Array.from({ length: 100 }, (_, n) => ({ id: `e${n}`, variables: { n: `${n}` }, expected: `${n}` }));
  const id = await completed({ prompt_name: 'long', examples });
  const { context, page } = await stage.signIn();
  await page.goto(stage.at(`/evaluations/${id}`));
  const table = page.getByRole('table', { name: 'Results' });
  await table.getByRole('link', { name: 'e0', exact: true }).waitFor();
  await table.evaluate('document.querySelector("[role=table][aria-label=Results]").scrollTo(0, 2000)');
  await table.getByRole('link', { name: 'e55', exact: true }).waitFor();
  const [around, heading] = await Promise.all([
    table.boundingBox(),
    table.getByRole('columnheader', { name: 'Example' }).boundingBox(),
  ]);
  expect(heading?.y).toBeGreaterThanOrEqual(around?.y ?? Number.NaN);
  expect(heading?.y).toBeLessThan((around?.y ?? 0) + 40);
  await context.close();
});

test('an evaluation without a baseline says which examples are below the threshold, not that they got worse', async () => {
  await call('POST', '/prompts', { body: { name: 'first', template: 'Hello {{ name }}', model: 'sandbox/echo' } });
  const examples = ['Ada', 'Bob', 'Eve'].map((name) => ({
    id: name,
    variables: { name },
    expected: `Hello ${name === 'Eve' ? 'Adam' : name}`,
  }));
  const id = await completed({ prompt_name: 'first', examples });
  const { context, page } = await stage.signIn();
  await page.goto(stage.at(`/evaluations/${id}`));
  const table = page.getByRole('table', { name: 'Results' });
  await table.getByRole('cell', { name: 'below', exact: true }).waitFor();
  expect(await table.getByRole('cell', { name: 'reached', exact: true }).count()).toBe(2);
  expect(await page.getByRole('main').textContent()).not.toMatch(/worse|better|before/i);
  await page.getByLabel('Examples', { exact: true }).selectOption('Below the threshold');
  await page.getByText('1 of 3').waitFor();

  // Compared with it, the same run has examples that are as before.
  const second = await completed({ prompt_name: 'first', examples });
  await page.goto(stage.at(`/evaluations/${second}`));
  await table.getByRole('cell', { name: 'as before' }).nth(2).waitFor();
  await context.close();
});

test('a failed example shows its input, and links to the playground and to the workflow', async () => {
  await call('POST', '/prompts', { body: { name: 'parts/tone', template: 'Be kind.', model: 'sandbox/echo' } });
  await call('POST', '/prompts', {
    body: {
      name: 'failing',
      messages: [
        { role: 'system', content: '{{> parts/tone }}' },
        { role: 'user', content: 'Greet {{ name }}' },
      ],
      model: 'sandbox/fail',
      parameters: { temperature: 0.5 },
    },
  });
  const id = await completed({
    prompt_name: 'failing',
    examples: [{ id: 'a', variables: { name: 'Ada' } }],
    evaluators: [{ type: 'contains', values: ['x'] }],
  });
  await call('PUT', '/prompts/parts/tone', { body: { template: 'Be rude.' } });
  await call('PUT', '/prompts/failing', { body: { messages: [{ role: 'user', content: 'Something else' }] } });
  const { context, page, complaints } = await stage.signIn();
  await page.route('**/console/config.json', (route) =>
    route.fulfill({
      json: { version: '0', temporal_workflows_url: 'http://127.0.0.1:8233/namespaces/default/workflows' },
    }),
  );
  await page.goto(stage.at(`/evaluations/${id}?example=0`));
  const example = page.getByRole('region', { name: 'Example 1' });
  await example.getByText('model_unavailable').waitFor();
  const sent = example.getByRole('region', { name: 'Sent to the model' });
  await sent.getByText('Be kind.', { exact: true }).waitFor();
  await sent.getByText('Greet Ada', { exact: true }).waitFor();
  const { body: run } = await call('GET', `/evaluations/${id}`);
  expect(await example.getByRole('link', { name: 'Workflow in Temporal' }).getAttribute('href')).toContain(
    encodeURIComponent(run.workflow_id),
  );
  expect(await violationsInThemes(page)).toEqual([]);
  await example.getByRole('link', { name: 'Open in the playground' }).click();
  expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Ada');
  const pane = page.getByRole('region', { name: 'Pane 1' });
  expect(await pane.getByLabel('Version').inputValue()).toBe('1');
  expect(await pane.getByLabel('Model').inputValue()).toBe('sandbox/fail');
  expect(complaints).toEqual([]);
  await context.close();
});

test('the statistics of more than 1,000 prompts cover all of them', async () => {
  const { db } = stage.service.dependencies;
  const { query } = db.system;
  await seedIncludes(query, { workspaceId: stage.service.workspaceId, count: 1_000, days: 1 });
  await call('POST', '/prompts', { body: { name: 'zz/last', template: 'Hello', model: 'sandbox/echo' } });
  await call('POST', '/executions', { body: { prompt_name: 'zz/last' } });
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts?q=zz'));
  const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'zz/last' }) });
  // Until they have loaded it does not show 0.
  expect(await row.getByRole('cell').nth(5).textContent()).not.toBe('0');
  await row.getByRole('cell').nth(5).filter({ hasText: /^1$/ }).waitFor();
  await page.goto(stage.at('/usage'));
  const usage = page.getByRole('row').filter({ hasText: 'zz/last' }).last();
  await usage.filter({ hasText: /\d ms/ }).waitFor();
  await context.close();
});
