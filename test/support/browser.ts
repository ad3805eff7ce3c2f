import { readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page, type Request } from 'playwright-core';
import { userCacheDir } from '../../src/embedded/programs/cache-dir.ts';
import { run } from '../../src/embedded/programs/programs.ts';
import { fillOnce } from '../../src/embedded/programs/sources.ts';
import { PATIENCE_MS, waitFor } from './wait-for.ts';

export interface TestBrowser {
  browser: Browser;
  close(): Promise<void>;
}

/**
 * Starts a headless Chromium: the program that `CHROMIUM` names, otherwise the one from npm, which is for Linux on x64. That
 * one is unpacked once into the user's cache (2 to 3 s, 210 MB).
 */
export async function launchBrowser(): Promise<TestBrowser> {
  const given = process.env['CHROMIUM'];
  const folder = given ? undefined : await unpackedFolder();
  const browser = await chromium.launch({
    executablePath: given || path.join(folder ?? '', 'chromium'),
    // The sandbox does not start as root, which containers and CI often run as. Only pages of this project are opened.
    chromiumSandbox: false,
    args: ['--no-zygote'],
    timeout: PATIENCE_MS,
    // Bare systems lack libraries that Chromium needs, so the package brings them. With its fonts it crashes on some pages.
    ...(folder !== undefined && {
      env: { ...process.env, LD_LIBRARY_PATH: path.join(folder, 'al2023', 'lib'), FONTCONFIG_PATH: '/etc/fonts' },
    }),
  });
  return { browser, close: () => browser.close() };
}

const QUIET_MS = 500;
/** The unanswered requests of each page, except event streams, which do not end. */
const requestsOf = new WeakMap<Page, Set<Request>>();

/** Makes `untilQuiet` wait for the page's requests from now on. */
export function watchRequests(page: Page): void {
  const open = new Set<Request>();
  requestsOf.set(page, open);
  page.on('request', (request) => {
    if (request.headers()['accept'] !== 'text/event-stream') open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

/**
 * Waits until a page has had no open requests for half a second: like `networkidle`, which never happens while a stream is open.
 */
export async function untilQuiet(page: Page): Promise<void> {
  let quietSince = performance.now();
  await waitFor('a quiet page', async () => {
    if ((requestsOf.get(page)?.size ?? 0) > 0) quietSince = performance.now();
    return performance.now() - quietSince >= QUIET_MS;
  });
}

/** How many times slower pages run, to find wrong assumptions about speed. Unset for full speed. */
const SLOWED = Number(process.env['CONSOLE_SLOWED'] ?? 1);
const LONGEST_DELAY_MS = 1_000;

/**
 * With `CONSOLE_SLOWED=8` a page gets an eighth of the CPU time, and each request a random delay, so that responses overtake each other.
 */
export async function slowDown(page: Page): Promise<void> {
  if (SLOWED <= 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED });
  await page.route('**/v1/**', async (route) => {
    await delay(Math.random() * LONGEST_DELAY_MS);
    // The page may have been closed in the meantime.
    await route.continue().catch(() => {});
  });
}

const UNPACK = `
  import packed, { inflate } from '@sparticuz/chromium';
  await Promise.all([packed.executablePath(), inflate(process.argv[1])]);
`;

/** The package unpacks to the temporary folder. Each process has a separate one. */
async function unpackedFolder(): Promise<string> {
  const packed = path.resolve(path.dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..');
  const { version }: { version: string } = JSON.parse(readFileSync(path.join(packed, 'package.json'), 'utf8'));
  const folder = path.join(userCacheDir(process.env), 'chromium', version);
  await fillOnce({
    folder,
    isFilled: () =>
      access(path.join(folder, 'chromium')).then(
        () => true,
        () => false,
      ),
    onWait: () => {},
    fill: async (scratch) => {
      const libraries = path.join(packed, 'bin', 'al2023.tar.br');
      const { code, output } = await run(process.execPath, ['--input-type=module', '--eval', UNPACK, libraries], {
        cwd: fileURLToPath(new URL('../../', import.meta.url)),
        env: { ...process.env, TMPDIR: scratch },
      });
      if (code !== 0) throw new Error(`Chromium could not be unpacked: ${output}`);
    },
  });
  return folder;
}
