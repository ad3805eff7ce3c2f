import { fileURLToPath } from 'node:url';

/** The folder for a language of the web console: `scripts/build-console.ts` writes it, and the service serves it. */
export const consoleFolder = (locale: string): string =>
  fileURLToPath(new URL(`../../.cache/console${locale === 'en' ? '' : `-${locale}`}`, import.meta.url));
