import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  agent,
  DONE,
  modelCall,
  newSpanId,
  newTraceId,
  type Span,
  type SpanOptions,
  send,
  settled,
  span,
} from '../api/traces/traces-support.ts';
import { createKey, createOtherWorkspace } from '../api/workspace.ts';
import { waitFor } from '../support/wait-for.ts';
import { violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

/** A run that calls a model, fails at a tool, and answers. */
function agentRun({
  traceId = newTraceId(),
  at = Date.now() - 60_000,
  question = 'Do I need an umbrella?',
  attributes = {},
}: {
  traceId?: string;
  at?: number;
  question?: string;
  attributes?: SpanOptions['attributes'];
} = {}): Span[] {
  const root = newSpanId();
  const lookUp = newSpanId();
  return [
    span({
      traceId,
      id: root,
      name: 'invoke_agent travel',
      at,
      ms: 400,
      attributes: agent(0, 0, {
        ...DONE,
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: question }] }]),
        'gen_ai.output.messages': JSON.stringify([
          { role: 'assistant', parts: [{ type: 'text', content: 'Yes: **it rains**.' }] },
        ]),
        ...attributes,
      }),
    }),
    span({ traceId, parent: root, name: 'chat plan', at: at + 10, ms: 50, attributes: modelCall(52, 9) }),
    span({ traceId, parent: root, id: lookUp, name: 'look up', at: at + 80, ms: 100, error: 'no forecast' }),
    span({
      traceId,
      parent: lookUp,
      name: 'execute_tool get_weather',
      at: at + 90,
      ms: 60,
      error: 'The station does not respond.',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'get_weather',
        'gen_ai.tool.call.arguments': JSON.stringify({ city: 'Paris' }),
      },
    }),
    // Its clock is behind its parent's.
    span({ traceId, parent: root, name: 'chat answer', at: at - 5_000, ms: 50, attributes: modelCall(53, 9) }),
  ];
}

const idOf = ([first]: readonly Span[]) => first?.traceId ?? '';
async function store(spans: readonly Span[], by = call): Promise<string> {
  expect((await send(by, spans)).body).toEqual({});
  return idOf(spans);
}

beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const table = (page: Page) => page.getByRole('table', { name: 'Traces' });
/** The rows of traces. */
const rows = (page: Page) =>
  table(page)
    .getByRole('row')
    .filter({ has: page.getByRole('cell') });
const tree = (page: Page) => page.getByRole('tree', { name: 'Steps' });
const current = (page: Page) => tree(page).getByRole('treeitem', { selected: true });
const detail = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const fits = (page: Page, width: number) => page.evaluate<boolean>(`document.documentElement.scrollWidth <= ${width}`);

test('without a trace, the page says how to send one, and continues when the first arrives', async () => {
  const other = await createOtherWorkspace(stage.service, 'first trace');
  const { context, page, complaints } = await stage.signIn({}, other.key);
  await page.goto(stage.at('/traces'));
  await page.getByRole('heading', { name: 'No traces yet' }).waitFor();
  const settings = await page.getByRole('region', { name: 'settings' }).innerText();
  expect(settings).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${stage.service.origin}`);
  expect(await violationsInThemes(page)).toEqual([]);
  // A trace of another day, as in a file of spans.
  await store(agentRun({ at: Date.now() - 86_400_000 }), other.call);
  await rows(page).first().getByRole('link', { name: 'invoke_agent travel' }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await fits(page, 390)).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

test('the list is filtered, also by address, and read page by page', async () => {
  const other = await createOtherWorkspace(stage.service, 'many traces');
  const at = Date.now() - 3_600_000;
  const many = Array.from({ length: 120 }, (_, index) =>
    span({ traceId: newTraceId(), name: `run ${index}`, at: at + index * 1000, attributes: DONE }),
  );
  await store(many, other.call);
  const customer = await store(
    agentRun({
      at,
      question: 'Is Lyon sunny?',
      attributes: { 'user.id': 'ada', 'session.id': 'chat/17', metadata: JSON.stringify({ customer: 'acme' }) },
    }),
    other.call,
  );
  await settled(other, customer);
  const { context, page, complaints } = await stage.signIn({ viewport: { width: 1280, height: 800 } }, other.key);
  await page.goto(stage.at('/traces'));
  await rows(page).nth(5).waitFor();
  const heads = await table(page).getByRole('columnheader').allInnerTexts();
  expect(heads).toEqual(['Name', 'Status', 'Started', 'Duration', 'Steps', 'Tokens', 'Cost', 'Conversation']);
  expect(await fits(page, 1280)).toBe(true);
  // Only visible rows are in the page; later pages are fetched on scrolling.
  expect(await rows(page).count()).toBeLessThan(60);
  await waitFor('the end of the list', async () => {
    await page.evaluate('document.querySelector("main .table").scrollTo(0, 10000)');
    return (await table(page).getAttribute('aria-rowcount')) === '122';
  });
  await page.evaluate('document.querySelector("main .table").scrollTo(0, 0)');

  await page.keyboard.press('/');
  await page.keyboard.type('lyon');
  await rows(page).nth(1).waitFor({ state: 'detached' });
  await page.waitForURL(/q=lyon/);
  const row = rows(page).first();
  expect(await row.innerText()).toMatch(/invoke_agent travel\s+ok\s+2\s/);
  const line = page.getByRole('combobox', { name: 'Search and filters' });
  await line.fill('');
  await page.waitForURL((url) => !url.search.includes('q='));
  for (const filter of [
    'user:ada',
    'conversation:chat/17',
    'model:openai/gpt-4o-mini',
    'metadata:customer=acme',
    'steps>4',
  ]) {
    await line.fill(filter);
    await page.keyboard.press('Enter');
    await rows(page).nth(1).waitFor({ state: 'detached' });
    await rows(page).first().waitFor();
    await page.getByRole('button', { name: /^Remove the filter/ }).click();
    await rows(page).nth(5).waitFor();
  }
  await line.fill('tool:none');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No traces match these filters' }).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await page.getByRole('link', { name: 'Show all' }).click();
  await rows(page).nth(5).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a trace is shown beside the list, counts narrow it down, columns sort it, and a view keeps both', async () => {
  const other = await createOtherWorkspace(stage.service, 'peek at traces');
  const at = Date.now() - 3_600_000;
  const questions = ['Is Lyon sunny?', 'Is Nice sunny?', 'Is Metz sunny?'];
  const ids: string[] = [];
  for (const [index, question] of questions.entries()) {
    const attributes = { 'gen_ai.agent.name': index === 0 ? 'first' : 'second', 'user.id': `user ${index}` };
    const spans = agentRun({ at: at + index * 60_000, question, attributes });
    // The second has fewer steps than the others.
    ids.push(await store(index === 1 ? spans.slice(0, 2) : spans, other.call));
  }
  for (const id of ids) await settled(other, id);
  const { context, page, complaints } = await stage.signIn({ viewport: { width: 1280, height: 800 } }, other.key);
  await page.goto(stage.at('/traces'));
  await rows(page).nth(2).waitFor();
  const panel = page.getByRole('region', { name: 'invoke_agent travel' });
  // A click anywhere in the row.
  await rows(page).nth(0).getByText('ok', { exact: true }).click();
  await page.waitForURL(new RegExp(`open=${ids[2]}`));
  await panel.getByText('Is Metz sunny?').waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await page.keyboard.press('j');
  await page.waitForURL(new RegExp(`open=${ids[1]}`));
  await panel.getByText('Is Nice sunny?').waitFor();
  await panel.getByRole('link', { name: 'Try another version on its calls' }).waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await table(page).locator('.table-row:focus-within').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`open=${ids[1]}`));
  await page.setViewportSize({ width: 390, height: 800 });
  await table(page).waitFor({ state: 'hidden' });
  expect(await fits(page, 390)).toBe(true);
  await panel.getByRole('button', { name: 'Close', exact: true }).click();
  await page.setViewportSize({ width: 1280, height: 800 });

  const agents = page.getByRole('region', { name: 'Agent', exact: true });
  await agents.getByRole('button', { name: 'second' }).click();
  await rows(page).nth(2).waitFor({ state: 'detached' });
  await agents.getByRole('button', { name: 'second', pressed: true }).waitFor();
  await table(page).getByRole('button', { name: 'Steps' }).click();
  await page.waitForURL(/order=-steps/);
  await rows(page).nth(0).getByText('5', { exact: true }).waitFor();
  await table(page).getByRole('button', { name: 'Steps' }).click();
  await page.getByText('The newest 10,000 that match, by number of steps, least first.').waitFor();
  await rows(page).nth(1).getByText('5', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Save as a view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as a view' });
  await dialog.getByLabel('Name').fill('Short runs');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: 'Short runs' }).and(page.locator('[aria-current=page]')).waitFor();
  expect((await other.call('GET', '/views')).body.data).toMatchObject([
    { page: 'traces', query: { agent: 'second', order: 'steps' } },
  ]);
  expect(await violationsInThemes(page)).toEqual([]);
  await views.getByRole('link', { name: 'All' }).click();
  await rows(page).nth(2).waitFor();
  // The lists keep their views apart.
  await page.goto(stage.at('/executions'));
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  await page.getByRole('table', { name: 'Executions' }).waitFor();
  expect(await page.getByRole('link', { name: 'Short runs' }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a trace shows errors first; keys walk through its tree, and texts are read on demand', async () => {
  const id = await store(agentRun({ attributes: { 'session.id': 'walk', 'user.id': 'ada' } }));
  await settled(stage.service, id);
  const { context, page, complaints } = await stage.signIn({ viewport: { width: 1280, height: 800 } });
  await page.goto(stage.at(`/traces/${id}`));
  // The step that caused the error, not the one around it.
  await detail(page, 'execute_tool get_weather').getByText('The station does not respond.').waitFor();
  await detail(page, 'execute_tool get_weather').getByText('Paris').waitFor();
  expect(await tree(page).getByRole('treeitem').allInnerTexts()).toHaveLength(5);
  await current(page).getByText('execute_tool get_weather').waitFor();
  await tree(page)
    .getByRole('treeitem', { name: /chat answer/ })
    .getByText(/shown .* later/)
    .waitFor({ state: 'attached' });
  expect(await violationsInThemes(page)).toEqual([]);
  expect(await fits(page, 1280)).toBe(true);

  await page.keyboard.press('e');
  await current(page).getByText('look up').waitFor();
  await page.waitForURL(/step=/);
  await tree(page).focus();
  await page.keyboard.press('ArrowLeft');
  await tree(page)
    .getByRole('treeitem', { name: /look up/, expanded: false })
    .waitFor();
  await tree(page).getByText('execute_tool get_weather').waitFor({ state: 'detached' });
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await current(page).getByText('execute_tool get_weather').waitFor();
  await page.keyboard.press('Home');
  await current(page).getByText('invoke_agent travel').waitFor();
  await detail(page, 'invoke_agent travel').getByText('it rains', { exact: false }).waitFor();
  // The clock of the last step is behind, so it is the first in the tree.
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await current(page).getByText('chat plan').waitFor();
  const plan = detail(page, 'chat plan');
  await plan.getByText('Do I need an umbrella?').waitFor();
  await plan.getByRole('link', { name: 'Open in the playground' }).waitFor();
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('step-title');
  await plan.getByRole('link', { name: 'Execution' }).click();
  await page.getByRole('heading', { name: /^Execution / }).waitFor();
  await page.getByRole('link', { name: id.slice(-12) }).click();
  // The step is in the URL.
  await current(page).getByText('chat plan').waitFor();

  expect(
    (await call('POST', '/scores', { body: { subject: { trace_id: id }, name: 'solved', value: true } })).status,
  ).toBe(201);
  await page.reload();
  const scores = page.getByRole('region', { name: 'Scores', exact: true });
  await scores.getByRole('row', { name: /solved/ }).waitFor();
  await scores.getByRole('button', { name: /^Delete/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await scores.getByText('None yet.').waitFor();

  await page.setViewportSize({ width: 390, height: 800 });
  expect(await fits(page, 390)).toBe(true);
  await page.getByRole('link', { name: 'Conversation' }).click();
  await page.getByRole('heading', { name: 'walk', level: 1 }).waitFor();

  await page.goto(stage.at(`/traces/${id}`));
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The trace was deleted.').first().waitFor();
  await page.waitForURL(/\/traces$/);
  expect((await call('GET', `/traces/${id}`)).status).toBe(404);
  await page.goto(stage.at(`/traces/${id}`));
  await page.getByRole('heading', { name: 'No spans of this trace have been received, or it was deleted' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a running trace updates by itself until it is settled', async () => {
  const traceId = newTraceId();
  const root = { traceId, id: newSpanId(), name: 'long run', at: Date.now() - 20_000 };
  await store([span({ ...root, ms: null })]);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/traces/${traceId}`));
  await tree(page)
    .getByRole('treeitem', { name: /long run.*running/ })
    .waitFor();
  await page.getByText('More steps may come.', { exact: false }).waitFor();
  await store([span({ traceId, parent: root.id, name: 'late step' })]);
  await tree(page).getByText('late step').waitFor();
  await store([span({ ...root, ms: 15_000, attributes: DONE })]);
  await page.getByText('More steps may come.', { exact: false }).waitFor({ state: 'detached' });
  await tree(page)
    .getByRole('treeitem', { name: /long run.*15\.0 s/ })
    .waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a step without its parent is marked, as is a trace without its root', async () => {
  const traceId = newTraceId();
  await store([span({ traceId, parent: newSpanId(), name: 'lost' })]);
  const { context, page } = await stage.signIn();
  await page.goto(stage.at(`/traces/${traceId}`));
  await tree(page)
    .getByRole('treeitem', { name: /lost.*no parent/ })
    .waitFor();
  await page.getByText('The root of this trace has not arrived.', { exact: false }).waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await context.close();
});

test('the page holds only visible steps of 10,000, and keys reach all of them', async () => {
  const traceId = newTraceId();
  const root = newSpanId();
  const at = Date.now() - 100_000;
  const spans = [
    span({ traceId, id: root, name: 'large run', at, ms: 90_000, attributes: DONE }),
    ...Array.from({ length: 9_999 }, (_, index) =>
      span({
        traceId,
        parent: root,
        name: `step ${index}`,
        at: at + index * 9,
        ms: 9,
        ...(index === 7_000 && { error: 'It broke here.' }),
      }),
    ),
  ];
  for (let from = 0; from < spans.length; from += 2_500) await store(spans.slice(from, from + 2_500));
  await settled(stage.service, traceId);
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/traces/${traceId}`));
  // The failed step is in view, at any depth.
  await current(page).getByText('step 7000').waitFor();
  await detail(page, 'step 7000').getByText('It broke here.').waitFor();
  const items = tree(page).getByRole('treeitem');
  expect(await items.count()).toBeLessThan(100);
  await tree(page).focus();
  await page.keyboard.press('End');
  await current(page).getByText('step 9998').waitFor();
  await detail(page, 'step 9998').waitFor();
  await page.keyboard.press('Home');
  await current(page).getByText('large run').waitFor();
  await page.keyboard.press('e');
  await current(page).getByText('step 7000').waitFor();
  expect(await items.count()).toBeLessThan(100);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a conversation reads like a chat, page by page, and leads to its traces', async () => {
  const at = Date.now() - 3_600_000;
  const attributes = { 'session.id': 'chat/18' };
  const turns = Array.from({ length: 55 }, (_, index) =>
    agentRun({ at: at + index * 10_000, question: `Question ${index}?`, attributes }),
  );
  await store(turns.flat());
  await settled(stage.service, idOf(turns.at(-1) ?? []));
  const { context, page, complaints } = await stage.signIn({ viewport: { width: 1280, height: 800 } });
  await page.goto(stage.at('/conversations/chat/18'));
  await page.getByRole('heading', { name: 'chat/18', level: 1 }).waitFor();
  const items = page.getByRole('list', { name: 'Turns' }).getByRole('listitem');
  await items.nth(49).waitFor();
  expect(await items.count()).toBe(50);
  await items.first().getByText('Question 0?').waitFor();
  await items.first().getByText('it rains').waitFor();
  await page.getByRole('button', { name: 'Show later turns' }).click();
  await items.nth(54).getByText('Question 54?').waitFor();
  await page.getByRole('button', { name: 'Show later turns' }).waitFor({ state: 'detached' });
  expect(await violationsInThemes(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await fits(page, 390)).toBe(true);
  await items.first().getByRole('link', { name: 'invoke_agent travel' }).click();
  await tree(page).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a key that only reads can delete nothing', async () => {
  const id = await store(agentRun());
  const { key } = await createKey(stage.service, 'read');
  const { context, page } = await stage.signIn({}, key);
  await page.goto(stage.at(`/traces/${id}`));
  await tree(page).waitFor();
  expect(await page.getByRole('button', { name: 'Delete…' }).count()).toBe(0);
  await context.close();
});
