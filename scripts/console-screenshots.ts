// npm run screenshots:console [-- NAME…]
// Runs the service like `npm start`, fills it with a team's data, and saves the pages of the web console that docs/console.md shows, or
// only the named ones, to docs/images. Takes about four minutes. Stand-ins replace the model and the receiver of webhooks.
//
// npm run screenshots:console -- --all --out FOLDER [NAME…]
// Saves every page, or only the named ones, to FOLDER: on a phone, a screen and a wide screen, in both themes, and some as printed.
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { launchBrowser, untilQuiet, watchRequests } from '../test/support/browser.ts';
import { killOrphans } from '../test/support/processes.ts';
import { E2E_KEY, startedService } from '../test/support/processes-service.ts';
import { savePages } from './console-pages.ts';
import { DATASET, type Ids, PROMPT, startTeam } from './console-team.ts';
import { saveScreenshot } from './save-screenshot.ts';

const SCREEN = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
interface Shot {
  /** The file is `console-NAME.png`. */
  name: string;
  at: string;
  /** A text that is visible when the page has loaded. */
  shows: string;
  isDark?: boolean;
  isPhone?: boolean;
  height?: number;
  prepare?: (page: Page) => Promise<unknown>;
}

const shotsOf = (ids: Ids): Shot[] => [
  { name: 'sign-in', at: '/sign-in', shows: 'API key', height: 420 },
  { name: 'home', at: '/', shows: 'Home', height: 700 },
  { name: 'prompts', at: '/prompts', shows: PROMPT },
  { name: 'prompts-phone', at: '/prompts', shows: PROMPT, isPhone: true },
  { name: 'prompt', at: `/prompts/${PROMPT}`, shows: 'Save as version 3' },
  { name: 'versions', at: `/prompts/${PROMPT}?tab=versions`, shows: 'First version', isDark: true },
  { name: 'runs', at: `/prompts/${PROMPT}?tab=runs`, shows: 'Median latency', height: 1_000 },
  {
    name: 'playground',
    at: `/playground?prompt=${PROMPT}&panes=1,2&dataset=${DATASET}&examples=0-2`,
    shows: 'Pane 2',
    height: 1_100,
    async prepare(page) {
      await page.getByRole('button', { name: 'Run all' }).click();
      await page.getByText('completed').nth(5).waitFor();
      await page.getByRole('button', { name: 'Compare with pane 1' }).click();
    },
  },
  { name: 'executions', at: '/executions', shows: PROMPT },
  { name: 'executions-panel', at: `/executions?open=${ids.execution}`, shows: 'Timeline', isDark: true },
  { name: 'execution', at: `/executions/${ids.execution}`, shows: 'Timeline' },
  { name: 'evaluations', at: `/evaluations?prompt_name=${PROMPT}`, shows: 'Score by version' },
  {
    name: 'new-evaluation',
    at: `/evaluations/new?from=${ids.evaluation}`,
    shows: '40 calls of the model',
    height: 1_000,
  },
  { name: 'evaluation', at: `/evaluations/${ids.evaluation}`, shows: 'Better by' },
  { name: 'evaluation-dark', at: `/evaluations/${ids.evaluation}?only=regression`, shows: 'Better by', isDark: true },
  { name: 'evaluation-phone', at: `/evaluations/${ids.evaluation}`, shows: 'Better by', isPhone: true },
  {
    name: 'example',
    at: `/evaluations/${ids.evaluation}?only=regression&example=${ids.worse}`,
    shows: 'Output of the baseline',
    height: 1_100,
  },
  {
    name: 'comparison',
    at: `/evaluations/${ids.evaluation}/compare/${ids.before}`,
    shows: 'By evaluator',
    height: 1_000,
  },
  { name: 'schedule', at: `/schedules/${ids.schedule}`, shows: 'The evaluation that it starts' },
  { name: 'schedules', at: '/schedules', shows: 'every night', height: 420 },
  { name: 'datasets', at: '/datasets', shows: DATASET, height: 560 },
  { name: 'dataset', at: `/datasets/${DATASET}`, shows: 'ada-1' },
  { name: 'dataset-versions', at: `/datasets/${DATASET}?tab=versions`, shows: '2 added', height: 900 },
  { name: 'usage', at: '/usage', shows: 'By prompt', height: 1_000 },
  { name: 'webhooks', at: '/webhooks', shows: team.receiver.url, height: 420 },
  { name: 'webhook', at: `/webhooks/${ids.webhook}`, shows: 'evaluation.completed' },
  { name: 'delivery', at: `/webhooks/${ids.webhook}?delivery=${ids.delivery}`, shows: 'Attempt 1' },
  { name: 'keys', at: '/settings', shows: 'chat of the shop', height: 420 },
  { name: 'labels', at: '/settings?tab=labels', shows: 'staging', height: 560 },
  { name: 'sessions', at: '/settings?tab=sessions', shows: 'bootstrap', height: 420 },
  { name: 'audit', at: '/settings?tab=audit', shows: '127.0.0.1', isDark: true },
  {
    name: 'release',
    at: '/releases',
    shows: 'There are no releases yet',
    height: 1_020,
    // Last, because it adds executions to what the others show.
    async prepare(page) {
      await page.goto(`${origin}/console/releases/${await team.runRelease()}`);
      await page.getByRole('figure', { name: 'Error rate' }).waitFor();
    },
  },
  {
    name: 'improvement',
    at: '/improvements',
    shows: 'No improvements yet',
    height: 1_300,
    async prepare(page) {
      await page.goto(`${origin}/console/improvements/${await team.runImprovement()}`);
      await page.getByRole('figure', { name: 'Best score so far' }).waitFor();
      await page.locator('.diff').waitFor();
    },
  },
];

const { values: options, positionals: only } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean' }, out: { type: 'string' } },
});
const team = await startTeam();
const { origin } = team.place;
const chromium = await launchBrowser();
try {
  await startedService(team.place);
  const { out } = options;
  if (options.all && out !== undefined) await savePages(chromium.browser, origin, team, { folder: out, only });
  else await saveShots();
} finally {
  await chromium.close();
  await killOrphans();
  await team.stop();
}

async function saveShots(): Promise<void> {
  const shots = shotsOf(await team.useService()).filter(({ name }) => only.length === 0 || only.includes(name));
  for (const { name, at, shows, isDark = false, isPhone = false, height, prepare } of shots) {
    const context = await chromium.browser.newContext({
      locale: 'en-US',
      timezoneId: 'UTC',
      viewport: isPhone ? PHONE : { ...SCREEN, ...(height !== undefined && { height }) },
      colorScheme: isDark ? 'dark' : 'light',
    });
    const page = await context.newPage();
    watchRequests(page);
    await page.goto(`${origin}/console${at}`);
    const key = page.getByLabel('API key');
    await key.waitFor();
    if (at !== '/sign-in') {
      await key.fill(E2E_KEY);
      await page.keyboard.press('Enter');
    }
    await page.getByText(shows).first().waitFor();
    await prepare?.(page);
    await untilQuiet(page);
    await saveScreenshot(page, `console-${name}`);
    await context.close();
  }
}
