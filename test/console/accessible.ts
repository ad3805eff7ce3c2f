import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { untilQuiet } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Stage } from './stage.ts';

/** Rules that depend on the theme. */
const THEME_RULES = ['color-contrast'];
const SCREEN = { width: 1280, height: 800 };
const PHONE = { width: 375, height: 740 };
const FITS = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
/** Buttons that the cell of a table cuts off, so that they can't be pressed. */
const CUT_OFF = `[...document.querySelectorAll('[role=cell] :is(button, a.button)')].flatMap((button) => {
  const cell = button.closest('[role=cell]');
  const rightOf = (element) => element.getBoundingClientRect().right;
  const isCut = [cell, cell.parentElement].some((each) => rightOf(button) > rightOf(each) + 1);
  return isCut ? [button.textContent] : [];
})`;
/** Buttons that break a word: "Delete…" in two lines. */
const BROKEN = `[...document.querySelectorAll('main :is(button, a.button)')].flatMap((button) => {
  const texts = [...button.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
  const isBroken = texts.some((text) => [...text.data.matchAll(/\\S+/g)].some(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
  }));
  return isBroken ? [button.textContent] : [];
})`;
/** Pages checked in parallel: each waits for a while until its network is quiet. */
const PAGES_AT_A_TIME = 3;
const axe = readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The accessibility violations on a page with axe: WCAG 2.2 AA, and axe's further rules. */
async function violationsOf(page: Page, options: RunOptions = {}): Promise<string[]> {
  const all: RunOptions = { resultTypes: ['violations'], ...options };
  const violations: AxeResults['violations'] = await page.evaluate(
    `axe.run(document, ${JSON.stringify(all)}).then(({ violations }) => violations)`,
  );
  return violations.map(
    ({ id, nodes }) =>
      `${page.url()}: ${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ''}`).join(' | ')}`,
  );
}

/** The accessibility violations on the open page, in either theme. */
export async function violationsInThemes(page: Page): Promise<string[]> {
  await page.evaluate(await axe);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await violationsOf(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...light, ...(await violationsOf(page, { runOnly: { type: 'rule', values: THEME_RULES } }))];
}

/**
 * The problems of these pages: inaccessible in either theme, cut off, or wider than a phone. `shows` is a heading of the page.
 */
export async function problemsOf(stage: Stage, pages: readonly { at: string; shows: string }[]): Promise<string[]> {
  const problems: string[] = [];
  const left = [...pages];
  const look = async () => {
    const { context, page } = await stage.signIn();
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { at, shows } = next;
      await page.setViewportSize(SCREEN);
      await page.goto(stage.at(at));
      await page.getByRole('heading', { name: shows }).first().waitFor();
      await untilQuiet(page);
      // A slow page may be quiet before it has requested everything.
      await page
        .locator('main')
        .filter({ hasText: /Loading .+…/ })
        .waitFor({ state: 'detached' });
      problems.push(...(await violationsInThemes(page)));
      for (const button of await page.evaluate<string[]>(CUT_OFF)) problems.push(`${at}: "${button}" is cut off`);
      const namesBroken = async (width: number) => {
        for (const button of await page.evaluate<string[]>(BROKEN))
          problems.push(`${at}: "${button}" is broken at ${width} px`);
      };
      await namesBroken(SCREEN.width);
      await page.setViewportSize(PHONE);
      // Charts adapt to a new width in a later frame. Not `waitForFunction`: the pages' CSP lets it evaluate text only once.
      await waitFor('the width of a phone', () => page.evaluate<boolean>(FITS)).catch(() =>
        problems.push(`${at} is too wide for a phone`),
      );
      await namesBroken(PHONE.width);
    }
    await context.close();
  };
  await Promise.all(Array.from({ length: PAGES_AT_A_TIME }, look));
  return problems;
}
