import { fileURLToPath } from 'node:url';

/** Where `scripts/build-console.ts` leaves the web console in a language, and from where it is served. */
export const consoleFolder = (locale: string): string =>
  fileURLToPath(new URL(`../../.cache/console${locale === 'en' ? '' : `-${locale}`}`, import.meta.url));
