import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { waitFor } from '../support/wait-for.ts';
import { problemsOf } from './accessible.ts';
import { type Stage, startStage, type Visitor } from './stage.ts';

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const FAR = 'https://example.com/far.png';
const photo = { media_type: 'image/png', filename: 'dot.png', data: DOT };

let stage: Stage;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);
const ids = { execution: '', evaluation: '', other: '', said: '' };

async function evaluate(prompt_name: string): Promise<string> {
  const { body } = await call('POST', '/evaluations', {
    body: { prompt_name, dataset: 'photos', baseline: null, evaluators: [{ type: 'contains', values: ['this'] }] },
  });
  await waitFor(
    'the evaluation',
    async () => (await call('GET', `/evaluations/${body.id}`)).body.status === 'completed',
  );
  return body.id;
}

beforeAll(async () => {
  stage = await startStage();
  const seen = {
    model: 'sandbox/echo',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', media_type: 'image/png', variable: 'photo' },
          { type: 'file', media_type: 'image/png', url: FAR },
        ],
      },
    ],
  };
  await call('POST', '/prompts', { body: { name: 'photo', ...seen } });
  await call('POST', '/prompts', { body: { name: 'say', template: '{{ text }}', model: 'sandbox/echo' } });
  const run = (body: object) => call('POST', '/executions', { body });
  ids.execution = (await run({ prompt_name: 'photo', variables: { photo } })).body.id;
  ids.said = (await run({ prompt_name: 'say', variables: { text: `data:image/png;base64,${DOT}` } })).body.id;
  await call('PUT', '/datasets/photos', {
    raw: JSON.stringify({ id: 'first', variables: { photo }, expected: 'a dot' }),
    headers: { 'Content-Type': 'application/jsonl' },
  });
  ids.evaluation = await evaluate('photo');
  ids.other = await evaluate('photo');
  await call('PUT', '/queues/photos', { body: { score_names: ['right'] } });
  await call('POST', '/queues/photos/items', { body: { execution_ids: [ids.execution] } });
});
afterAll(() => stage?.stop());

/** Records a page's requests to hosts other than the service. */
function watchElsewhere({ page }: Visitor): string[] {
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== stage.service.origin) elsewhere.push(request.url());
  });
  return elsewhere;
}

/** Waits until a picture of one pixel is drawn. */
const drawn = (image: Locator) =>
  waitFor('the image', () =>
    image.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth === 1),
  );

test('an execution shows the images of its messages and variables, external ones as their address, and all of it raw', async () => {
  const visitor = await stage.signIn();
  const { context, page, complaints } = visitor;
  const elsewhere = watchElsewhere(visitor);
  await page.goto(stage.at(`/executions/${ids.execution}`));
  const sent = page.getByRole('list', { name: 'images of user message 1' });
  await drawn(sent.getByRole('img', { name: 'dot.png' }));
  await sent.getByText(FAR, { exact: true }).waitFor();
  const text = page.getByRole('region', { name: 'user message 1' });
  expect(await text.textContent()).toBe('What is this?');
  await drawn(page.getByRole('list', { name: 'images of variables' }).getByRole('img', { name: 'dot.png' }));
  const variables = page.getByRole('region', { name: 'variables' });
  expect(await variables.textContent()).toContain('[dot.png]');

  await page.keyboard.press('v');
  await variables.getByText(DOT).waitFor();
  expect(await text.textContent()).toContain(DOT);
  expect(await page.locator('main img').count()).toBe(0);
  await page.keyboard.press('v');
  await drawn(sent.getByRole('img', { name: 'dot.png' }));
  expect([elsewhere, complaints]).toEqual([[], []]);
  await context.close();
});

test('an image as output is shown as one', async () => {
  const { context, page } = await stage.signIn();
  await page.goto(stage.at(`/executions/${ids.said}`));
  await drawn(page.getByRole('list', { name: 'images of output' }).getByRole('img', { name: 'image/png' }));
  await context.close();
});

test('images of examples are shown in the dataset, in an evaluation, in a comparison and in a review', async () => {
  const visitor = await stage.signIn();
  const { context, page, complaints } = visitor;
  const elsewhere = watchElsewhere(visitor);
  await page.goto(stage.at('/datasets/photos'));
  await drawn(page.getByRole('row', { name: /first/ }).getByRole('img', { name: 'dot.png' }));
  await page.getByRole('link', { name: 'first' }).click();
  await drawn(page.getByRole('dialog').getByRole('img', { name: 'dot.png' }));

  await page.goto(stage.at(`/evaluations/${ids.evaluation}?example=0`));
  const example = page.getByRole('region', { name: 'Example 1' });
  await drawn(example.getByRole('list', { name: 'images of variables' }).getByRole('img', { name: 'dot.png' }));

  await page.goto(stage.at(`/evaluations/${ids.evaluation}/compare/${ids.other}?show=all`));
  await drawn(page.getByRole('list', { name: 'images of variables' }).getByRole('img', { name: 'dot.png' }));

  await page.goto(stage.at('/review/photos'));
  await drawn(page.getByRole('list', { name: 'images of user message 1' }).getByRole('img', { name: 'dot.png' }));
  expect([elsewhere, complaints]).toEqual([[], []]);
  expect(
    await problemsOf(stage, [
      { at: `/executions/${ids.execution}`, shows: 'Output' },
      { at: '/datasets/photos', shows: 'photos' },
    ]),
  ).toEqual([]);
  await context.close();
});
