import type { Page } from 'playwright-core';
import { untilQuiet } from '../test/support/browser.ts';

/** Time from an interaction to the paint that shows its result, in ms, for each one. */
export type Interactions = Record<string, number[]>;

/** The browser does not report anything faster. */
const LEAST_MS = 16;
/** Interactions are reported after their paint. */
const REPORTED_MS = 250;
/** Time for a slow interaction and its request. */
const SETTLED_MS = 700;
const STEPS = 10;
const TYPED = 'example-77';

const WATCH = `(() => {
  window.seen_ = [];
  window.tasks_ = [];
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) if (interactionId > 0) window.seen_.push([interactionId, duration]);
  }).observe({ type: 'event', durationThreshold: ${LEAST_MS}, buffered: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.tasks_.push(duration);
  }).observe({ type: 'longtask', buffered: true });
})()`;

/** Must be called before the page is opened. */
export const watchInteractions = (page: Page): Promise<unknown> => page.addInitScript(WATCH);

/** Records the browser's interaction timings, and the longest task in between, which delays the next interaction. */
function keeperOf(page: Page) {
  const found: Interactions = {};
  const add = (name: string, ms: number) => {
    found[name] = [...(found[name] ?? []), ms];
  };
  const keep = async (name: string, act: () => Promise<unknown>, waitMs = REPORTED_MS): Promise<void> => {
    await page.evaluate('window.seen_ = []; window.tasks_ = []');
    await act();
    await page.waitForTimeout(waitMs);
    const seen = await page.evaluate<[number, number][]>('window.seen_');
    const longest = new Map<number, number>();
    for (const [id, ms] of seen) longest.set(id, Math.max(longest.get(id) ?? 0, ms));
    if (longest.size === 0) add(name, LEAST_MS);
    for (const ms of longest.values()) add(name, ms);
    for (const ms of await page.evaluate<number[]>('window.tasks_')) add(`${name}: tasks`, ms);
  };
  return { found, keep };
}

/** For the page of a run, opened from the list of runs. */
export async function interactionsOfRun(page: Page, id: string): Promise<Interactions> {
  const { found, keep } = keeperOf(page);
  const link = page.locator(`a[href$="/evaluations/${id}"]`).first();
  await link.waitFor();
  const table = page.getByRole('table', { name: 'Results' });
  await keep(
    'open a run',
    async () => {
      await link.click();
      await table.waitFor();
    },
    SETTLED_MS,
  );
  const head = (name: string) => page.getByRole('columnheader', { name }).getByRole('button');
  for (const name of ['Cost', 'Latency', 'Score']) await keep('sort', () => head(name).first().click(), SETTLED_MS);
  await keep('filter', () => page.locator('.histogram-bar:enabled').last().click(), SETTLED_MS);
  await keep('filter', () => page.locator('.histogram-bar[aria-pressed="true"]').click(), SETTLED_MS);
  const search = page.getByRole('combobox', { name: 'Search and filters' });
  await search.click();
  for (const key of TYPED) await keep('type into the search', () => page.keyboard.press(key));
  await page.waitForTimeout(SETTLED_MS);
  await keep('type into the search', () => page.keyboard.press('Backspace'), SETTLED_MS);
  await search.fill('');
  await page.waitForTimeout(2 * SETTLED_MS);
  await keep('open an example', () => table.getByRole('link').nth(2).click(), SETTLED_MS);
  await page.getByRole('dialog').waitFor();
  for (let step = 0; step < STEPS; step += 1) await keep('the next example, by j', () => page.keyboard.press('j'));
  for (let step = 0; step < STEPS / 2; step += 1)
    await keep('the example before, by k', () => page.keyboard.press('k'));
  await keep('close the example', () => page.keyboard.press('Escape'), SETTLED_MS);
  return found;
}

/** For the list of prompts. */
export async function interactionsOfPrompts(page: Page): Promise<Interactions> {
  const { found, keep } = keeperOf(page);
  const search = page.getByRole('combobox', { name: 'Search and filters' });
  await page.getByRole('table', { name: 'Prompts' }).waitFor();
  await search.click();
  for (const key of 'many/19') await keep('type into the search of prompts', () => page.keyboard.press(key));
  await keep('type into the search of prompts', () => page.keyboard.press('Backspace'), SETTLED_MS);
  return found;
}

/** For a long template. */
export async function interactionsOfEditor(page: Page): Promise<Interactions> {
  const { found, keep } = keeperOf(page);
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.waitFor();
  await untilQuiet(page);
  await text.click();
  for (let key = 0; key < STEPS; key += 1) await keep('type into the template', () => page.keyboard.press('a'));
  await keep('a new line in the template', () => page.keyboard.press('Enter'), SETTLED_MS);
  return found;
}
