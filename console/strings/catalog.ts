import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messagesOf } from './messages.ts';
import type { Translation } from './translate.ts';

const sources = fileURLToPath(new URL('../src/', import.meta.url));

/** Where the catalog of a language is. */
export const catalogFile = (locale: string) => fileURLToPath(new URL(`./${locale}.json`, import.meta.url));

/** Every message of the console with the files that it is in, as `en.json` has it. */
export function englishCatalog(): Record<string, string[]> {
  const catalog = new Map<string, string[]>();
  const files = globSync('**/*.{ts,tsx}', { cwd: sources }).map((file) => file.replaceAll('\\', '/'));
  // The page of components is for engineers: no build has it.
  for (const file of files.filter((each) => !each.startsWith('pages/components/')).sort())
    for (const { key } of messagesOf(file, readFileSync(sources + file, 'utf8'))) {
      const found = catalog.get(key) ?? [];
      if (found.at(-1) !== file) catalog.set(key, [...found, file]);
    }
  return Object.fromEntries([...catalog].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** @throws Error where there is no such catalog, or it is no JSON */
export const readTranslations = (locale: string): Record<string, Translation> =>
  JSON.parse(readFileSync(catalogFile(locale), 'utf8'));
