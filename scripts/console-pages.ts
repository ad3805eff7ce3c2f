import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { untilQuiet, watchRequests } from '../test/support/browser.ts';
import { E2E_KEY } from '../test/support/processes-service.ts';
import { DATASET, type Ids, type MoreIds, PROMPT, type Team } from './console-team.ts';

const WIDTHS = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1300 },
];
const THEMES = ['light', 'dark'] as const;
/** In CSS pixels: A4 minus its margins. */
const PAPER = { width: 690, height: 1000 };

export interface PageToSave {
  name: string;
  at: string;
  /** A text that is visible when the page has loaded. */
  shows: string | RegExp;
  prepare?: (page: Page) => Promise<unknown>;
  isPrinted?: boolean;
}

/** The pages of an unused service. */
export const firstPages: PageToSave[] = [
  { name: 'sign-in', at: '/sign-in', shows: 'API key' },
  ...[
    '',
    'prompts',
    'executions',
    'evaluations',
    'datasets',
    'releases',
    'schedules',
    'improvements',
    'monitors',
    'rules',
    'queues',
  ].map((page) => ({
    name: `empty-${page === '' ? 'home' : page}`,
    at: `/${page}`,
    shows: /^(Home|There are no|No )/,
  })),
  { name: 'empty-playground', at: '/playground', shows: 'Pane 1' },
  { name: 'empty-usage', at: '/usage', shows: 'Usage' },
  { name: 'empty-webhooks', at: '/webhooks', shows: /^There are no/ },
  { name: 'empty-agreement', at: '/agreement', shows: 'Judges against people' },
];

/** Every page with the data of a team. */
export const allPages = (ids: Ids & MoreIds & { release: string }): PageToSave[] => [
  { name: 'home', at: '/', shows: 'Home' },
  { name: 'prompts', at: '/prompts', shows: PROMPT },
  { name: 'prompts-folder', at: '/prompts?group=support', shows: PROMPT },
  { name: 'prompts-none', at: '/prompts?q=nothing', shows: /^No / },
  { name: 'new-prompt', at: '/prompts?dialog=new', shows: 'Create' },
  { name: 'prompt', at: `/prompts/${PROMPT}`, shows: 'Save as version 3' },
  { name: 'prompt-messages', at: '/prompts/support/photo', shows: 'Save as version 2' },
  { name: 'prompt-versions', at: `/prompts/${PROMPT}?tab=versions`, shows: 'First version' },
  { name: 'prompt-runs', at: `/prompts/${PROMPT}?tab=runs`, shows: 'Median latency' },
  {
    name: 'move-label',
    at: `/prompts/${PROMPT}?tab=versions`,
    shows: 'First version',
    prepare: (page) =>
      page
        .getByRole('button', { name: /^Label…/ })
        .first()
        .click(),
  },
  {
    name: 'use-in-code',
    at: `/prompts/${PROMPT}`,
    shows: 'Save as version 3',
    prepare: (page) => page.getByRole('button', { name: 'Use in code' }).click(),
  },
  { name: 'playground', at: '/playground', shows: 'Pane 1' },
  {
    name: 'playground-grid',
    at: `/playground?prompt=${PROMPT}&panes=1,2&dataset=${DATASET}&examples=0-2`,
    shows: 'Pane 2',
    async prepare(page) {
      await page.getByRole('button', { name: 'Run all' }).click();
      await page.getByText('completed').nth(5).waitFor();
      await page.getByRole('button', { name: 'Compare with pane 1' }).click();
    },
  },
  { name: 'executions', at: '/executions', shows: PROMPT },
  {
    name: 'executions-columns',
    at: `/executions?prompt_name=${PROMPT}&columns=input,output,tokens`,
    shows: PROMPT,
  },
  { name: 'executions-panel', at: `/executions?open=${ids.execution}`, shows: 'Timeline' },
  { name: 'execution', at: `/executions/${ids.execution}`, shows: 'Timeline', isPrinted: true },
  { name: 'execution-failed', at: `/executions/${ids.failed}`, shows: 'Timeline' },
  { name: 'execution-markdown', at: `/executions/${ids.summary}`, shows: 'Timeline' },
  { name: 'execution-photo', at: `/executions/${ids.photo}`, shows: 'Timeline' },
  { name: 'execution-json', at: `/executions/${ids.json}`, shows: 'Timeline' },
  { name: 'execution-tools', at: `/executions/${ids.tools}`, shows: 'Timeline' },
  { name: 'evaluations', at: '/evaluations', shows: PROMPT },
  { name: 'evaluations-prompt', at: `/evaluations?prompt_name=${PROMPT}`, shows: 'Score by version' },
  { name: 'new-evaluation', at: `/evaluations/new?from=${ids.evaluation}`, shows: '40 calls of the model' },
  { name: 'evaluation', at: `/evaluations/${ids.evaluation}`, shows: 'Better by', isPrinted: true },
  {
    name: 'example',
    at: `/evaluations/${ids.evaluation}?only=regression&example=${ids.worse}`,
    shows: 'Output of the baseline',
  },
  {
    name: 'comparison',
    at: `/evaluations/${ids.evaluation}/compare/${ids.before}?by=topic`,
    shows: 'By evaluator',
    isPrinted: true,
  },
  { name: 'comparison-columns', at: `/evaluations/compare?with=${ids.runs}`, shows: 'Cost' },
  { name: 'new-improvement', at: '/improvements/new', shows: 'Choose a prompt, a dataset' },
  { name: 'datasets', at: '/datasets', shows: DATASET },
  { name: 'new-dataset', at: '/datasets?dialog=new', shows: 'New dataset' },
  {
    name: 'dataset-paste',
    at: '/datasets?dialog=new',
    shows: 'New dataset',
    async prepare(page) {
      const dialog = page.getByRole('dialog');
      await dialog
        .getByLabel('Examples')
        .fill('customer,question,expected\nAda,Where is it?,on its way\nGrace,"When, then?",soon');
    },
  },
  { name: 'dataset', at: `/datasets/${DATASET}`, shows: 'ada-1' },
  { name: 'dataset-versions', at: `/datasets/${DATASET}?tab=versions`, shows: '2 added' },
  { name: 'dataset-example', at: `/datasets/${DATASET}?example=ada-1`, shows: 'ada-1' },
  { name: 'rules', at: '/rules', shows: 'support/short' },
  { name: 'rule', at: '/rules/support/short', shows: 'Backfills' },
  {
    name: 'new-rule',
    at: '/rules',
    shows: 'support/short',
    prepare: (page) => page.getByRole('button', { name: 'New rule…' }).click(),
  },
  { name: 'queues', at: '/queues', shows: 'support/kindness' },
  { name: 'queue', at: '/queues/support/kindness', shows: 'Items' },
  {
    name: 'new-queue',
    at: '/queues',
    shows: 'support/kindness',
    prepare: (page) => page.getByRole('button', { name: 'New queue…' }).click(),
  },
  { name: 'review', at: '/review/support/kindness', shows: 'helpful' },
  { name: 'review-photo', at: '/review/support/photos', shows: 'helpful' },
  { name: 'monitors', at: '/monitors', shows: 'checkout/errors' },
  { name: 'monitor', at: '/monitors/checkout/errors', shows: 'Checks' },
  { name: 'releases', at: '/releases', shows: 'geo/capital' },
  { name: 'release', at: `/releases/${ids.release}`, shows: 'Checks' },
  { name: 'release-waiting', at: `/releases/${ids.waiting}`, shows: 'Waits for approval' },
  { name: 'release-done', at: `/releases/${ids.done}`, shows: 'One word is enough' },
  { name: 'new-release', at: `/releases/new?prompt=${PROMPT}&label=production&version=2`, shows: 'Start the release' },
  { name: 'schedules', at: '/schedules', shows: 'every night' },
  { name: 'schedule', at: `/schedules/${ids.schedule}`, shows: 'The evaluation that it starts' },
  { name: 'new-schedule', at: '/schedules/new', shows: 'New schedule' },
  { name: 'webhooks', at: '/webhooks', shows: 'Tells the team' },
  { name: 'notifications', at: '/webhooks?tab=notifications', shows: 'Notifications' },
  { name: 'webhook', at: `/webhooks/${ids.webhook}`, shows: 'evaluation.completed' },
  { name: 'delivery', at: `/webhooks/${ids.webhook}?delivery=${ids.delivery}`, shows: 'Attempt 1' },
  { name: 'usage', at: '/usage', shows: 'By prompt', isPrinted: true },
  { name: 'agreement', at: '/agreement?score=helpful', shows: 'Judges against people' },
  { name: 'keys', at: '/settings', shows: 'chat of the shop' },
  ...['my-keys', 'members', 'workspaces', 'labels', 'providers', 'sessions', 'audit'].map((tab) => ({
    name: `settings-${tab}`,
    at: `/settings?tab=${tab}`,
    shows: 'Settings',
  })),
  { name: 'device', at: `/device?code=${ids.code}`, shows: 'pms on workstation' },
  {
    name: 'palette',
    at: '/prompts',
    shows: PROMPT,
    async prepare(page) {
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByRole('dialog').getByRole('combobox').fill('supp');
    },
  },
  { name: 'shortcuts', at: '/prompts', shows: PROMPT, prepare: (page) => page.keyboard.press('?') },
  { name: 'none', at: '/nothing', shows: 'There is no such page' },
  { name: 'execution-none', at: '/executions/exec_none', shows: /exec_none/ },
];

async function open(browser: Browser, origin: string) {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' });
  const page = await context.newPage();
  watchRequests(page);
  await context.request.post(`${origin}/v1/session`, {
    data: { key: E2E_KEY },
    headers: { 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' },
  });
  return { context, page };
}

/** Saves each page as `NAME-WIDTH-THEME.png`, and printed pages as `NAME-print.png`. @returns the errors by page */
export async function savePagesOf(
  browser: Browser,
  origin: string,
  pages: readonly PageToSave[],
  folder: string,
): Promise<string[]> {
  const problems: string[] = [];
  const { context, page } = await open(browser, origin);
  const save = (name: string) =>
    page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled', fullPage: true });
  for (const { name, at, shows, prepare, isPrinted = false } of pages) {
    try {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${origin}/console${at}`);
      await page.getByText(shows).first().waitFor({ timeout: 10_000 });
      await untilQuiet(page);
      await prepare?.(page);
      await untilQuiet(page);
      for (const size of WIDTHS)
        for (const colorScheme of THEMES) {
          await page.setViewportSize(size);
          await page.emulateMedia({ colorScheme });
          // Charts adapt to a new width in a later frame.
          await page.waitForTimeout(150);
          await save(`${name}-${size.width}-${colorScheme}`);
        }
      if (isPrinted) {
        await page.setViewportSize(PAPER);
        await page.emulateMedia({ media: 'print', colorScheme: 'light' });
        await page.waitForTimeout(150);
        await save(`${name}-print`);
        await page.emulateMedia({ media: 'screen' });
      }
      console.log(`saved ${name}`);
    } catch (error) {
      problems.push(`${name}: ${String(error).slice(0, 300)}`);
    }
  }
  await context.close();
  return problems;
}

/** Saves every page, or the named ones, before and after a team has used the service. */
export async function savePages(
  browser: Browser,
  origin: string,
  team: Team,
  { folder, only }: { folder: string; only: readonly string[] },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const chosen = (pages: readonly PageToSave[]) => pages.filter(({ name }) => only.length === 0 || only.includes(name));
  const problems = await savePagesOf(browser, origin, chosen(firstPages), folder);
  const ids = await team.useService();
  const more = await team.useEverything(ids);
  const release = await team.runRelease();
  problems.push(...(await savePagesOf(browser, origin, chosen(allPages({ ...ids, ...more, release })), folder)));
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
