import { launchBrowser } from '../../test/support/browser.ts';
import { assert } from './programs.ts';

/** Pages that between them load every kind of file that the console and the documentation have. */
const PAGES = ['/console/prompts', '/console/playground', '/console/evaluations', '/console/usage', '/docs'];

/**
 * Signs in to the console with a key, and opens pages in a browser.
 * @returns how many files the pages asked for, all of them at the API's own address
 * @throws Error where a page asks for something elsewhere, something is missing, or a page complains
 */
export async function checkConsole(origin: string, key: string): Promise<number> {
  const { browser, close } = await launchBrowser();
  try {
    const page = await (await browser.newContext()).newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    const session = await page.context().request.post(`${origin}/v1/session`, {
      data: { key },
      headers: { 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' },
    });
    assert(session.ok(), `the console lets nobody in: ${session.status()}`);
    for (const path of PAGES) {
      await page.goto(`${origin}${path}`, { waitUntil: 'load' });
      await page.getByRole('heading').first().waitFor();
    }
    const elsewhere = asked.filter((url) => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url));
    assert(elsewhere.length === 0, `pages ask elsewhere: ${elsewhere.join(', ')}`);
    assert(complaints.length === 0, `pages complain: ${complaints.join('; ')}`);
    return new Set(asked).size;
  } finally {
    await close();
  }
}
