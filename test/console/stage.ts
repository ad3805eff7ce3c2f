import { expect } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { launchBrowser, slowDown, type TestBrowser, watchRequests } from '../support/browser.ts';
import { atProcessEnd } from '../support/process-end.ts';
import { type ServiceOptions, startTestService, type TestService } from '../support/service.ts';
import { PATIENCE_MS } from '../support/wait-for.ts';

/** A user with a separate browser window. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Failed requests and exceptions of the page, from the browser's console. */
  complaints: string[];
}

/** The service, and a browser for the console. */
export interface Stage {
  service: TestService;
  browser: Browser;
  /** Opens a window that is not signed in. */
  visit(options?: BrowserContextOptions): Promise<Visitor>;
  /** Opens a window and signs in. Default: the first key. */
  signIn(options?: BrowserContextOptions, key?: string): Promise<Visitor>;
  /** The address of a page of the console. */
  at(path: string): string;
  stop(): Promise<void>;
}

let launched: Promise<TestBrowser> | undefined;

/** One Chromium for all files of this process. */
function sharedBrowser(): Promise<TestBrowser> {
  if (launched === undefined) {
    launched = launchBrowser();
    atProcessEnd(async () => (await launched)?.close());
  }
  return launched;
}

/**
 * @param environment the service's settings
 * @param options as for `startTestService`
 */
export async function startStage(
  environment: Record<string, string> = {},
  options: ServiceOptions = {},
): Promise<Stage> {
  const service = await startTestService(environment, options);
  const { browser } = await sharedBrowser().catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  const contexts: BrowserContext[] = [];
  const at = (path: string) => `${service.origin}/console${path}`;
  const visit: Stage['visit'] = async (options = {}) => {
    const context = await browser.newContext({
      locale: 'en-US',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      ...options,
    });
    contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    watchRequests(page);
    await slowDown(page);
    const complaints: string[] = [];
    page.on('console', (message) => {
      const text = message.text();
      // The browser logs this for every unsuccessful response; pages show them.
      if (text.startsWith('Failed to load resource')) return;
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(text);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    return { context, page, complaints };
  };
  return {
    service,
    browser,
    at,
    visit,
    async signIn(options, key = service.key) {
      const visitor = await visit(options);
      // The browser gets the session's cookie, as if it had signed in on the page.
      const response = await visitor.context.request.post(`${service.origin}/v1/session`, {
        data: { key },
        headers: { 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' },
      });
      expect(response.status()).toBe(201);
      return visitor;
    },
    async stop() {
      for (const context of contexts) await context.close();
      await service.stop();
    },
  };
}

/** Presses Tab until an element has the focus. @throws Error if it never gets it, or the focus is not visible */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  // A button may be disabled during a request.
  const usable = wanted.and(page.locator(':not(:disabled)')).first();
  const find = async () => {
    await usable.waitFor();
    return usable.elementHandle();
  };
  let element = await find();
  for (let presses = 0; presses < 150; presses++) {
    const focus = await element?.evaluate((node) => {
      // It was redrawn, such as a row of a table.
      if (!node.isConnected || node.matches(':disabled')) return 'gone';
      if (node !== node.ownerDocument.activeElement) return 'elsewhere';
      const style = node.ownerDocument.defaultView?.getComputedStyle(node.closest('.editor') ?? node);
      return style?.outlineStyle === 'none' ? 'invisible' : 'visible';
    });
    if (focus === 'visible') return;
    if (focus === 'invisible') throw new Error(`It can't be seen that ${wanted.toString()} has the focus.`);
    if (focus === 'elsewhere') await page.keyboard.press('Tab');
    else element = await find();
  }
  throw new Error(`Tab never leads to ${wanted.toString()}.`);
}

/** Replaces the content of an editor. */
export async function write(page: Page, editor: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: editor, exact: true }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Chooses one of the other actions of a page, or of a part of it. */
export async function chooseMore(page: Page, action: string, of?: string): Promise<void> {
  const name = of === undefined ? 'More actions' : `More actions: ${of}`;
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('menuitem', { name: action }).click();
}
