import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import type { Stage } from './stage.ts';

/** What a theme changes. */
const THEME_RULES = ['color-contrast'];
const SCREEN = { width: 1280, height: 800 };
const PHONE = { width: 375, height: 740 };
/** Charts take a new width in the next frame. */
const FRAME_PATIENCE_MS = 5_000;

/**
 * What is not accessible on a page: WCAG 2.2 AA, and what axe knows besides.
 * @param rules only these
 */
async function violationsOf(page: Page, rules?: string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  const { violations } = await (rules === undefined ? axe : axe.withRules(rules)).analyze();
  return violations.map(
    ({ id, nodes }) =>
      `${page.url()}: ${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ''}`).join(' | ')}`,
  );
}

/** What is not accessible on the page that is open, in either theme. */
export async function violationsInThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await violationsOf(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...light, ...(await violationsOf(page, THEME_RULES))];
}

/** What is not accessible on these pages, in either theme, or wider than a phone. Of a page `shows` names a heading. */
export async function problemsOf(stage: Stage, pages: readonly { at: string; shows: string }[]): Promise<string[]> {
  const { context, page } = await stage.signIn();
  const problems: string[] = [];
  for (const { at, shows } of pages) {
    await page.setViewportSize(SCREEN);
    await page.goto(stage.at(at));
    await page.getByRole('heading', { name: shows }).first().waitFor();
    await page.waitForLoadState('networkidle');
    problems.push(...(await violationsInThemes(page)));
    await page.setViewportSize(PHONE);
    await page
      .waitForFunction('document.documentElement.scrollWidth <= document.documentElement.clientWidth', null, {
        timeout: FRAME_PATIENCE_MS,
      })
      .catch(() => problems.push(`${at} is too wide for a phone`));
  }
  await context.close();
  return problems;
}
