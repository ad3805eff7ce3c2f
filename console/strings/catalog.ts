import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messagesOf } from './messages.ts';
import type { Translation } from './translate.ts';

const sources = fileURLToPath(new URL('../src/', import.meta.url));

/** The catalog file of a language. */
export const catalogFile = (locale: string) => fileURLToPath(new URL(`./${locale}.json`, import.meta.url));

/** Every message of the console with its files, in the format of `en.json`. */
export function englishCatalog(): Record<string, string[]> {
  const catalog = new Map<string, string[]>();
  const files = globSync('**/*.{ts,tsx}', { cwd: sources }).map((file) => file.replaceAll('\\', '/'));
  // The gallery of components is for developers and not part of a build.
  for (const file of files.filter((each) => !each.startsWith('pages/components/')).sort())
    for (const { key } of messagesOf(file, readFileSync(sources + file, 'utf8'))) {
      const found = catalog.get(key) ?? [];
      if (found.at(-1) !== file) catalog.set(key, [...found, file]);
    }
  return Object.fromEntries([...catalog].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** @throws Error if the catalog does not exist, or is not JSON */
export const readTranslations = (locale: string): Record<string, Translation> =>
  JSON.parse(readFileSync(catalogFile(locale), 'utf8'));
