import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { pseudo } from '../../console/strings/translate.ts';
import { buildConsole } from '../../scripts/build-console.ts';
import { modelCall, newSpanId, newTraceId, send as sendSpans, span } from '../api/traces/traces-support.ts';
import { untilQuiet } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Stage, startStage } from './stage.ts';

/** Names, codes and sample input, and output of the browser's `Intl`, which treats the pseudo-locale as English. */
const SAME_EVERYWHERE = [
  /Prompt Management|https:\/\/example\.com\/hooks|support\/(tone|unhelpful)|provider\/model/g,
  /\b[a-z_]+\.[a-z_]+\b|\b[a-z]+_none\b|\b[0-9a-f]{8,12}\b/g,
  /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d+(, \d{4})?|\d+:\d+(:\d+)? [AP]M/g,
  /\b(in )?\d+ (sec|min|hr|day|mo|yr|mth)s?\.?( ago)?|\b(tomorrow|yesterday|today|now)\b/g,
];
/** API values offered in fields: states, types, roles and the like. */
const VALUES = new Set(
  [
    'abandoned active awaiting\u00a0approval baking canceled completed delivered disabled enabled failed in\u00a0progress paused queued rejected removed',
    'rolled\u00a0back running ok error scheduled succeeded superseded suspended waiting boolean file json number string high low medium minimal none xhigh',
  ].flatMap((values) => values.split(' ').map((value) => value.replaceAll('\u00a0', ' '))),
);
/** Names in test data that contain no words of the console. */
const FOLDER = 'xylo';
const PROMPT = `${FOLDER}/qyzzle`;
const DATASET = `${FOLDER}/wuxtry`;

/**
 * Every text and attribute that a visitor reads, without duplicates. As a string, because `main.innerText` would join separate
 * texts.
 */
const READ = `(() => {
  const found = new Set();
  const skipped = 'script, style, noscript, code, pre, kbd, samp, .cm-editor, [translate=no]';
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    if (element === null || element.closest(skipped) !== null) continue;
    if (node.nodeType === Node.TEXT_NODE) found.add(node.data.trim());
    else for (const name of ['aria-label', 'aria-roledescription', 'placeholder', 'title', 'alt']) found.add(element.getAttribute(name) ?? '');
  }
  return [...found];
})()`;

let stage: Stage;
beforeAll(async () => {
  await buildConsole('pseudo');
  stage = await startStage({ CONSOLE_LOCALE: 'pseudo' });
});
afterAll(() => stage?.stop());

const said = (english: string) => {
  const text = pseudo(english);
  return typeof text === 'string' ? text : (text.other ?? '');
};

/** Every text in a value of the API. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)]);
}

/** Records every text that the API returns to a page. */
function noteData(page: Page, data: Set<string>): void {
  page.on('response', async (response) => {
    if (!/\/v1\/|config\.json/.test(response.url())) return;
    const body: unknown = await response.json().catch(() => null);
    for (const text of textsOf(body)) data.add(text);
  });
}

/** The texts of a page that are neither translated nor data: words with an unaccented vowel. */
function leftOver(texts: readonly string[], data: ReadonlySet<string>): string[] {
  const known = [...data].filter((text) => /[aeiou]/i.test(text)).sort((one, other) => other.length - one.length);
  return texts.filter((text) => {
    if (VALUES.has(text)) return false;
    let rest = text;
    // Ids and the like first: shorter words are parts of codes, and codes look like parts of ids.
    for (const each of known.filter(({ length }) => length > 12)) rest = rest.replaceAll(each, '');
    for (const pattern of SAME_EVERYWHERE) rest = rest.replace(pattern, '');
    for (const each of known) rest = rest.replaceAll(each, '');
    return /[aeiou]/i.test(rest.normalize());
  });
}

/** Something of everything that pages show. @returns the addresses of the pages */
async function seed(): Promise<string[]> {
  const { call } = stage.service;
  const send = async (method: string, at: string, body?: object) => {
    const answer = await call(method, at, body === undefined ? {} : { body });
    if (answer.status >= 400) throw new Error(`${method} ${at}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const prompt = { name: PROMPT, template: 'Xylo {{ wux }}', model: 'sandbox/echo', description: 'Qyzzle.' };
  await send('POST', '/prompts', prompt);
  await send('PUT', `/prompts/${PROMPT}`, { template: 'Qyz {{ wux }}', commit_message: 'Zyx' });
  await send('PUT', `/prompts/${PROMPT}/labels/production`, { version: 1 });
  await send('PUT', '/labels/staging', { protected: true });
  const lines = ['a', 'b', 'c'].map((id) => ({ id, variables: { wux: id }, expected: `Xylo ${id}` }));
  for (const some of [lines.slice(0, 2), lines])
    await call('PUT', `/datasets/${DATASET}`, {
      raw: some.map((line) => JSON.stringify(line)).join('\n'),
      headers: { 'Content-Type': 'application/jsonl' },
    });
  const evaluation = {
    prompt_name: PROMPT,
    dataset: { name: DATASET },
    evaluators: [{ type: 'exact_match' }, { type: 'length', at_most: 99 }],
  };
  const evaluate = async (more: object) => {
    const { id } = await send('POST', '/evaluations', { ...evaluation, ...more });
    await waitFor('the evaluation', async () => (await call('GET', `/evaluations/${id}`)).body.status === 'completed');
    return id;
  };
  const before = await evaluate({ version: 1 });
  const after = await evaluate({ version: 2, baseline: before });
  const { id: execution } = await send('POST', '/executions', { prompt_name: PROMPT, variables: { wux: 'q' } });
  await send('POST', '/executions', { prompt_name: PROMPT, variables: { wux: 'q' }, model: 'sandbox/none' }).catch(
    () => {},
  );
  await send('POST', '/scores', { name: 'tyx', value: 0.5, subject: { execution_id: execution } });
  const { id: schedule } = await send('POST', '/schedules', { name: 'xyq', cron: '0 3 * * *', evaluation });
  const release = { prompt_name: PROMPT, label: 'production', version: 2, reason: 'Zyx' };
  const { id: released } = await send('POST', '/releases', {
    ...release,
    steps: [
      {
        type: 'evaluate',
        dataset: { name: DATASET },
        evaluators: [{ type: 'exact_match' }],
        require: 'threshold',
        threshold: 0,
      },
      { type: 'approve', count: 1 },
      { type: 'canary', percent: 5 },
      { type: 'analyze', for: '1h', min_executions: 1, checks: [{ metric: 'error_rate', max_increase: 0.1 }] },
      { type: 'promote', bake: { for: '1h' } },
    ],
  });
  await waitFor(
    'the approval',
    async () => (await call('GET', `/releases/${released}`)).body.status === 'awaiting_approval',
  );
  await send('PUT', '/monitors/xyq', {
    prompt_name: PROMPT,
    window: '1h',
    checks: [
      { metric: 'error_rate', above: 0.1 },
      { metric: 'latency_p95', above: 9 },
    ],
  });
  await send('PUT', '/rules/xyq', { prompt_name: PROMPT, evaluators: [{ type: 'json_valid' }], sample_rate: 0.5 });
  await send('POST', '/rules/xyq/backfill', { since: '2020-01-01T00:00:00Z' });
  await send('PUT', '/queues/xyq', { score_names: ['tyx'], reviewers_per_item: 2 });
  await send('POST', '/queues/xyq/items', { execution_ids: [execution] });
  const { id: webhook } = await send('POST', '/webhooks', {
    url: 'http://127.0.0.1:59999/qyz',
    events: ['prompt.updated'],
  });
  const { id: delivery } = await send('POST', `/webhooks/${webhook}/test`);
  const [traceId, root] = [newTraceId(), newSpanId()];
  const attributes = { 'session.id': 'xylo', 'user.id': 'qyz' };
  await sendSpans(call, [
    span({ traceId, id: root, name: 'xyq', attributes: modelCall(52, 9, attributes) }),
    span({ traceId, parent: root, name: 'wux', at: Date.now() - 60_000, error: 'Zyx' }),
  ]);
  return [
    '/sign-in',
    '/',
    '/nothing',
    '/prompts',
    `/prompts/${PROMPT}`,
    `/prompts/${PROMPT}?tab=versions`,
    `/prompts/${PROMPT}?tab=runs`,
    '/prompts/none',
    `/playground?prompt=${PROMPT}&panes=1,2&dataset=${DATASET}&examples=0-1`,
    '/playground',
    '/executions',
    `/executions?open=${execution}`,
    `/executions/${execution}`,
    '/executions/exec_none',
    '/traces',
    `/traces/${traceId}`,
    '/traces/trace_none',
    '/conversations/xylo',
    '/conversations/none',
    '/evaluations',
    `/evaluations?prompt_name=${PROMPT}`,
    '/evaluations/new',
    `/evaluations/new?from=${before}`,
    `/evaluations/${after}`,
    `/evaluations/${after}?example=0`,
    '/evaluations/eval_none',
    `/evaluations/${after}/compare/${before}?show=all`,
    `/evaluations/compare?with=${before},${after}`,
    '/evaluations/compare',
    '/datasets',
    '/datasets?dialog=new',
    `/datasets/${DATASET}`,
    `/datasets/${DATASET}?example=b`,
    `/datasets/${DATASET}?tab=versions`,
    '/schedules',
    '/schedules/new',
    `/schedules/${schedule}`,
    '/releases',
    `/releases/new?prompt=${PROMPT}`,
    `/releases/${released}`,
    '/releases/rel_none',
    '/monitors',
    '/monitors/xyq',
    '/monitors/none',
    '/rules',
    '/rules/xyq',
    '/rules/none',
    '/agreement',
    '/agreement?score=tyx',
    '/queues',
    '/queues/xyq',
    '/queues/none',
    '/review/xyq',
    '/usage',
    '/webhooks',
    '/webhooks?tab=notifications',
    `/webhooks/${webhook}`,
    `/webhooks/${webhook}?delivery=${delivery}`,
    '/settings',
    ...['my-keys', 'members', 'labels', 'workspaces', 'providers', 'sessions', 'audit'].map(
      (tab) => `/settings?tab=${tab}`,
    ),
    '/device',
  ];
}

/** The texts on a page and in each dialog that a button with … opens. */
async function readAll(page: Page, at: string): Promise<string[]> {
  await page.goto(stage.at(at));
  await untilQuiet(page);
  const texts: string[] = await page.evaluate(READ);
  const asking = page.locator('main').getByRole('button', { name: /…/ });
  for (let index = 0; index < (await asking.count()); index++) {
    const button = asking.nth(index);
    if (!(await button.isEnabled()) || !(await button.isVisible())) continue;
    await button.click();
    await untilQuiet(page);
    texts.push(...(await page.evaluate<string[]>(READ)));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  return texts;
}

test('every text of every page is translated unless it is data', async () => {
  const pages = await seed();
  const left = new Map<string, string>();
  const look = async () => {
    const { context, page } = await stage.signIn();
    const data = new Set<string>([PROMPT, DATASET, FOLDER]);
    noteData(page, data);
    for (let at = pages.shift(); at !== undefined; at = pages.shift())
      for (const text of leftOver(await readAll(page, at), data)) left.set(text, at);
    await context.close();
  };
  await Promise.all([look(), look(), look()]);
  expect([...left].map(([text, at]) => `${at}: ${text}`)).toEqual([]);
  // Some seventy pages and as many dialogs.
}, 600_000);

test('API requests are the same in every language', async () => {
  const { call, key } = stage.service;
  const { context, page, complaints } = await stage.visit();
  await page.goto(stage.at('/prompts'));
  expect(await page.locator('html').getAttribute('lang')).toBe('en-x-pseudo');
  await page.getByLabel(said('API key')).fill(key);
  await page.getByRole('button', { name: said('Sign in') }).click();
  await page.getByRole('button', { name: said('New prompt…') }).click();
  const dialog = page.getByRole('dialog', { name: said('New prompt') });
  await dialog.getByLabel(said('Name')).fill('zyx/first');
  await dialog.getByLabel(said('Type')).selectOption(said('Text'));
  await dialog.getByRole('textbox', { name: said('Text') }).fill('Hello {{ name }}');
  await dialog.getByRole('button', { name: said('Create') }).click();
  await page.getByRole('heading', { name: 'zyx/first', level: 1 }).waitFor();
  expect((await call('GET', '/prompts/zyx/first')).body).toMatchObject({
    template: 'Hello {{ name }}',
    messages: null,
    model: 'sandbox/echo',
    commit_message: 'First version',
  });

  await page.goto(stage.at('/playground?prompt=zyx/first'));
  await page.getByLabel('name', { exact: true }).fill('Ada');
  await page
    .getByRole('button', { name: said('Run'), exact: true })
    .first()
    .click();
  await page.getByText('Hello Ada').first().waitFor();
  const { body } = await call('GET', '/executions?prompt_name=zyx/first');
  expect(body.data).toMatchObject([{ variables: { name: 'Ada' }, input: 'Hello Ada' }]);

  await page.goto(stage.at('/executions'));
  await page.getByRole('combobox', { name: said('Search and filters') }).fill('status:completed');
  await page.keyboard.press('Enter');
  await waitFor('the filter', async () => page.url().includes('status=completed'));
  expect(complaints).toEqual([]);
  await context.close();
});
