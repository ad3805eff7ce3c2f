import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

test('the page of the documentation keeps no key readable by the console, and forgets an old one', async () => {
  const { page } = await stage.visit();
  const { origin, key } = stage.service;
  const kept = async () =>
    JSON.stringify([await page.context().storageState(), await page.evaluate(() => Object.entries(sessionStorage))]);
  await page.goto(`${origin}/docs#/Prompts/listPrompts`);
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const bearer = page.locator('.auth-container').filter({ has: page.locator('#auth-bearer-value') });
  await page.locator('#auth-bearer-value').fill(key);
  await bearer.locator('button[type=submit]').first().click();
  await page.locator('.auth-container .btn-done').first().click();
  const response = page.waitForResponse((each) => each.url().includes('/v1/prompts'));
  await page.locator('#operations-Prompts-listPrompts .execute').click();
  expect((await response).status()).toBe(200);
  expect(await kept()).not.toContain(key);

  await page.evaluate((value) => localStorage.setItem('authorized', JSON.stringify({ key: { value } })), key);
  await page.reload();
  await page.getByRole('button', { name: 'Authorize' }).first().waitFor();
  expect(await kept()).not.toContain(key);
});

test('the guides are found and read without scripts, from a search to the answer', async () => {
  const { page, complaints } = await stage.visit({ javaScriptEnabled: false });
  await page.goto(`${stage.service.origin}/docs/guides`);
  await page.getByRole('searchbox').fill('roll back');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('link', { name: 'How do I roll back to an earlier version?' }).click();
  expect(page.url()).toContain('/docs/guides/how-to#how-do-i-roll-back');
  await page.getByRole('heading', { name: 'How do I roll back to an earlier version?' }).waitFor();
  expect(complaints).toEqual([]);
});

test.each(['/docs/guides', '/docs/guides/how-to', '/docs/guides/console', '/docs/search?q=webhook'])(
  '%s is accessible, and fits a phone',
  async (at) => {
    const { page } = await stage.visit();
    await page.goto(`${stage.service.origin}${at}`);
    expect(await violationsInThemes(page)).toEqual([]);
    await page.setViewportSize({ width: 375, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
  },
);
