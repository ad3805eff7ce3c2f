import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { untilQuiet } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Stage, startStage } from './stage.ts';

// What is cut off can be read on hover, tables fit the screen, rows are cards on a phone, and nothing jumps while a page loads.

let stage: Stage;
let evaluation: string;
let improvement: string;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);
const LONG = 'a/rather/deep/folder/with-a-prompt-whose-name-is-long-indeed';
/** A layout shift that people notice, by https://web.dev/articles/cls. */
const MOST_SHIFT = 0.1;

beforeAll(async () => {
  stage = await startStage();
  for (const [name, model] of [
    [LONG, 'sandbox/echo'],
    ['broken', 'sandbox/fail'],
  ]) {
    await call('POST', '/prompts', { body: { name, template: 'Hello {{ name }}', model } });
    await call('PUT', `/prompts/${name}/labels/production`, { body: { version: 1 } });
    await call('POST', '/executions', { body: { prompt_name: name, variables: { name: 'Ada' } } });
  }
  const examples = Array.from({ length: 30 }, (_, index) => ({
    id: `example-with-a-rather-long-name-${index}`,
    variables: { name: `person ${index} with a long text that no cell of a table can show as a whole` },
    expected: 'Hello',
  }));
  const { body } = await call('POST', '/evaluations', {
    body: { prompt_name: LONG, examples, evaluators: [{ type: 'contains' }, { type: 'exact_match' }] },
  });
  evaluation = body.id;
  await waitFor(
    'the evaluation',
    async () => (await call('GET', `/evaluations/${evaluation}`)).body.status === 'completed',
  );
  await call('PUT', '/monitors/team/errors', {
    body: { prompt_name: 'broken', window: '1h', checks: [{ metric: 'error_rate', above: 0.1, for: '5m' }] },
  });
  const lines = Array.from({ length: 160 }, (_, index) =>
    JSON.stringify({ variables: { name: `person ${index}` }, expected: `Hi person ${index}` }),
  );
  await call('PUT', '/datasets/a/folder/of/people-with-a-long-name', {
    raw: lines.join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const search = await call('POST', '/improvements', {
    body: {
      prompt_name: LONG,
      dataset: 'a/folder/of/people-with-a-long-name',
      evaluators: [{ type: 'exact_match' }],
      reflection: { model: 'sandbox/echo' },
      max_cost: null,
      max_proposals: 1,
    },
  });
  expect(search.status).toBe(201);
  improvement = search.body.id;
  await waitFor(
    'the improvement',
    async () => !['running', 'paused'].includes((await call('GET', `/improvements/${improvement}`)).body.status),
  );
  await call('POST', '/webhooks', {
    body: { url: 'http://127.0.0.1:9999/a/rather/long/address', events: ['prompt.updated'] },
  });
});
afterAll(() => stage?.stop());

const pages = () => [
  '/',
  '/prompts',
  `/prompts/${LONG}`,
  `/prompts/${LONG}?tab=versions`,
  `/prompts/${LONG}?tab=runs`,
  '/playground',
  '/datasets',
  '/datasets/a/folder/of/people-with-a-long-name',
  '/executions',
  '/executions?q=hello&status=completed',
  '/traces',
  '/rules',
  '/queues',
  '/schedules',
  '/releases',
  '/releases/new',
  '/evaluations',
  '/evaluations/new',
  `/evaluations/${evaluation}`,
  '/improvements',
  `/improvements/${improvement}`,
  '/usage',
  '/monitors',
  '/monitors/team/errors',
  '/webhooks',
  '/settings',
  '/settings?tab=members',
  '/settings?tab=audit',
];

/** In the page: cells with text that is cut off, and that no element shows on hover. The pointer is over each of them. */
const CUT_OFF = `[...document.querySelectorAll('main :is([role=cell], [role=columnheader], td, th, dd, .badge, .name-text)')]
  .filter((cell) => cell.scrollWidth > cell.clientWidth + 1 && cell.clientWidth > 1 && getComputedStyle(cell).overflow !== 'visible')
  .filter((cell) => {
    cell.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
    return cell.closest('[title]') === null && cell.querySelector('[title]') === null;
  })
  .map((cell) => cell.textContent)`;

/** In the page: tables that are wider than the page has room for. */
const TOO_WIDE = `[...document.querySelectorAll('main .table')]
  .filter((table) => table.scrollWidth > table.clientWidth + 1)
  .map((table) => table.getAttribute('aria-label'))`;

const COUNT_SHIFTS = `window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

test.each([
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
])(
  'at $width pixels no text is cut off without a title, no table scrolls sideways, and no page jumps',
  async (viewport) => {
    const { context, page, complaints } = await stage.signIn({ viewport });
    await page.addInitScript(COUNT_SHIFTS);
    const problems: unknown[] = [];
    for (const path of pages()) {
      await page.goto(stage.at(path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await untilQuiet(page);
      const [cut, wide, shifted] = await page.evaluate<[string[], string[], number]>(
        `[${CUT_OFF}, ${TOO_WIDE}, window.shifted]`,
      );
      if (cut.length + wide.length > 0 || shifted > MOST_SHIFT) problems.push({ path, cut, wide, shifted });
    }
    expect(problems).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  },
);

test('on a phone a card of an execution has its prompt, its state and its error, and opens it', async () => {
  const { context, page } = await stage.signIn({ viewport: { width: 390, height: 844 } });
  await page.goto(stage.at('/executions'));
  const card = page.getByRole('row').filter({ hasText: 'broken@1' });
  for (const text of ['failed', 'sandbox/fail always fails']) {
    const box = await card.getByText(text).first().boundingBox();
    expect([box?.x, (box?.x ?? 0) + (box?.width ?? 0)].every((x) => x !== undefined && x >= 0 && x <= 390)).toBe(true);
  }
  await card.getByText('sandbox/fail always fails').click();
  await page.getByRole('region', { name: /^Execution / }).waitFor();
  await context.close();
});

test('a name without room is cut in its middle: its end and its version are in sight', async () => {
  const { context, page } = await stage.signIn({ viewport: { width: 1280, height: 800 } });
  await page.goto(stage.at('/executions'));
  const link = page.getByRole('link', { name: `${LONG}@1` });
  const end = link.locator('.name-text > :last-child');
  expect(await end.textContent()).toBe('ong-indeed@1');
  const [around, box] = await Promise.all([link.locator('xpath=..').boundingBox(), end.boundingBox()]);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((around?.x ?? 0) + (around?.width ?? 0) + 1);
  await context.close();
});
