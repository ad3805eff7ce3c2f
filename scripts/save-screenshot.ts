import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const IMAGES = fileURLToPath(new URL('../docs/images/', import.meta.url));
const MAX_IMAGE_BYTES = 200_000;

/** Saves a screenshot of a page to `docs/images/NAME.png`. @throws Error if the file is larger than 200 kB */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  const file = path.join(IMAGES, `${name}.png`);
  await mkdir(IMAGES, { recursive: true });
  await page.screenshot({ path: file, animations: 'disabled' });
  const { size } = await stat(file);
  if (size > MAX_IMAGE_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_IMAGE_BYTES}.`);
  console.log(`saved ${path.relative(process.cwd(), file)}`);
}
