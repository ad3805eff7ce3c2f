import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { launchBrowser, untilQuiet, watchRequests } from '../test/support/browser.ts';
import { startProxy } from '../test/support/proxy.ts';

/** Pages that together load every kind of file of the console and the documentation. */
const PAGES = ['/console/prompts', '/console/playground', '/console/evaluations', '/console/usage', '/docs'];
/** Chromium's error when a network interface of this machine appears or disappears, as with any container: retry. */
const NETWORK_CHANGED = 'ERR_NETWORK_CHANGED';
const MOST_TRIES = 10;

/** Opens a page. @returns its errors, and whether this machine's network has changed in the meantime */
async function open(page: Page, url: string): Promise<{ complaints: string[]; isDisturbed: boolean }> {
  const complaints: string[] = [];
  page.removeAllListeners();
  watchRequests(page);
  page.on('requestfailed', (request) => {
    // The previous page's stream of changes ends with that page.
    if (!request.url().endsWith('/v1/changes')) complaints.push(`${request.url()}: ${request.failure()?.errorText}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.goto(url).catch((error: Error) => complaints.push(error.message));
  await page.getByRole('heading').first().waitFor();
  await untilQuiet(page);
  return { complaints, isDisturbed: complaints.some((complaint) => complaint.includes(NETWORK_CHANGED)) };
}

/**
 * Signs in to the console with a key, and opens pages in a browser at an address of this machine, as with `kubectl port-forward`.
 * @param host of the API
 * @returns the number of files that the pages requested, all from that address
 * @throws Error if a page requests another address, a file is missing, or a page reports an error
 */
export async function checkConsole(host: string, key: string): Promise<number> {
  const proxy = await startProxy({ host, port: 3000 });
  const origin = `http://127.0.0.1:${proxy.port}`;
  const chromium = await launchBrowser();
  try {
    const context = await chromium.browser.newContext({ locale: 'en-US' });
    const asked: string[] = [];
    context.on('request', (request) => asked.push(request.url()));
    const session = await context.request.post(`${origin}/v1/session`, {
      data: { key },
      headers: { 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' },
    });
    assert(session.ok(), `the console lets nobody in: ${session.status()}`);
    const page = await context.newPage();
    for (const path of PAGES) {
      let tries = 1;
      let { complaints, isDisturbed } = await open(page, `${origin}${path}`);
      for (; isDisturbed && tries < MOST_TRIES; tries += 1)
        ({ complaints, isDisturbed } = await open(page, `${origin}${path}`));
      assert(complaints.length === 0, `${path} complains: ${complaints.join('; ')}`);
    }
    const elsewhere = asked.filter((url) => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url));
    assert(elsewhere.length === 0, `pages ask elsewhere: ${elsewhere.join(', ')}`);
    return new Set(asked).size;
  } finally {
    await chromium.close();
    await proxy.close();
  }
}
