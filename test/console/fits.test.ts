import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { seedPrompt, startRelease } from '../api/releases/releases-support.ts';
import { agent, DONE, modelCall, newSpanId, newTraceId, send, span } from '../api/traces/traces-support.ts';
import { untilQuiet } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Stage, startStage } from './stage.ts';

// What is cut off can be read on hover, tables fit the screen, rows are cards on a phone, and nothing jumps while a page loads.

let stage: Stage;
let evaluation: string;
let improvement: string;
let execution: string;
let release: string;
let webhook: string;
const trace = newTraceId();
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);
const make: Stage['service']['call'] = async (...args) => {
  const answer = await call(...args);
  if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
};
const LONG = 'a/rather/deep/folder/with-a-prompt-whose-name-is-long-indeed';
/** A layout shift that people notice, by https://web.dev/articles/cls. */
const MOST_SHIFT = 0.1;

beforeAll(async () => {
  stage = await startStage();
  for (const [name, model] of [
    [LONG, 'sandbox/echo'],
    ['broken', 'sandbox/fail'],
  ]) {
    await make('POST', '/prompts', { body: { name, template: 'Hello {{ name }}', model } });
    await make('PUT', `/prompts/${name}/labels/production`, { body: { version: 1 } });
    const { body: run } = await make('POST', '/executions', {
      body: { prompt_name: name, variables: { name: 'Ada' } },
    });
    execution = run.id;
  }
  const examples = Array.from({ length: 30 }, (_, index) => ({
    id: `example-with-a-rather-long-name-${index}`,
    variables: { name: `person ${index} with a long text that no cell of a table can show as a whole` },
    expected: 'Hello',
  }));
  const { body } = await make('POST', '/evaluations', {
    body: { prompt_name: LONG, examples, evaluators: [{ type: 'contains' }, { type: 'exact_match' }] },
  });
  evaluation = body.id;
  await waitFor(
    'the evaluation',
    async () => (await call('GET', `/evaluations/${evaluation}`)).body.status === 'completed',
  );
  await make('PUT', '/monitors/team/errors', {
    body: { prompt_name: 'broken', window: '1h', checks: [{ metric: 'error_rate', above: 0.1, for: '5m' }] },
  });
  const lines = Array.from({ length: 160 }, (_, index) =>
    JSON.stringify({ variables: { name: `person ${index}` }, expected: `Hi person ${index}` }),
  );
  await make('PUT', '/datasets/a/folder/of/people-with-a-long-name', {
    raw: lines.join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const search = await make('POST', '/improvements', {
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
  const { body: hook } = await make('POST', '/webhooks', {
    body: { url: 'http://127.0.0.1:9999/a/rather/long/address', events: ['prompt.updated'] },
  });
  webhook = hook.id;
  const root = newSpanId();
  const at = Date.now() - 60_000;
  const text = 'A question that is so long that no cell of a table can show it as a whole';
  const inputs = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]);
  await send(make, [
    span({
      traceId: trace,
      id: root,
      name: 'invoke_agent with-a-rather-long-name',
      at,
      ms: 900,
      attributes: agent(0, 0, { ...DONE, 'gen_ai.conversation.id': 'chat/17', 'gen_ai.input.messages': inputs }),
    }),
    span({ traceId: trace, parent: root, name: 'chat plan', at: at + 10, ms: 50, attributes: modelCall(52, 9) }),
    span({
      traceId: trace,
      parent: root,
      name: 'execute_tool get_weather',
      at: at + 80,
      ms: 100,
      error: 'no forecast',
    }),
  ]);
  const evaluators = [{ type: 'contains', values: ['Hello'], name: 'greets-with-a-rather-long-name' }];
  await make('PUT', '/rules/team/greets', {
    body: { prompt_name: LONG, sample_rate: 1, max_cost_per_day: '5', evaluators },
  });
  await make('POST', '/rules/team/greets/backfill', { body: { since: '2026-01-01T00:00:00Z', max_cost: '1' } });
  await make('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean', description: 'Does it help?' } });
  await make('PUT', '/queues/team/kindness', { body: { score_names: ['helpful'] } });
  await make('POST', '/queues/team/kindness/items', { body: { execution_ids: [execution] } });
  await make('PUT', '/saved-evaluators/greets', { body: { evaluator: evaluators[0], description: text } });
  await seedPrompt(call, 'team/released');
  release = (await startRelease(call, 'team/released', [{ type: 'wait', for: '1h' }])).id;
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
  `/executions/${execution}`,
  '/traces',
  `/traces/${trace}`,
  '/conversations/chat/17',
  '/rules',
  '/rules/team/greets',
  '/queues',
  '/queues/team/kindness',
  '/review/team/kindness',
  '/schedules',
  '/releases',
  '/releases/new',
  `/releases/${release}`,
  '/evaluators',
  '/evaluators/greets',
  '/evaluations',
  '/evaluations/new',
  `/evaluations/${evaluation}`,
  '/improvements',
  `/improvements/${improvement}`,
  '/usage',
  '/monitors',
  '/monitors/team/errors',
  '/webhooks',
  `/webhooks/${webhook}`,
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

/** In the page: tables that are wider than the page has room for, and the page if it is wider than the screen. */
const TOO_WIDE = `[...document.querySelectorAll('main .table')]
  .filter((table) => table.scrollWidth > table.clientWidth + 1)
  .map((table) => table.getAttribute('aria-label'))
  .concat(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page'] : [])`;

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
