import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { englishCatalog, readTranslations } from './catalog.ts';
import { problemsOf, pseudo, type Translation, translate } from './translate.ts';

const sources = fileURLToPath(new URL('../src/', import.meta.url));
const PSEUDO = 'pseudo';

/**
 * The translations of a language. Says how many there are.
 * @throws Error that names every translation that is wrong
 */
function translationsOf(locale: string): Map<string, Translation> {
  const keys = Object.keys(englishCatalog());
  if (locale === PSEUDO) return new Map(keys.map((key) => [key, pseudo(key)]));
  const translations = new Map(Object.entries(readTranslations(locale)));
  const problems = problemsOf(locale, new Set(keys), translations);
  if (problems.length > 0) throw new Error(`console/strings/${locale}.json is wrong:\n${problems.join('\n')}`);
  const missing = keys.filter((key) => !translations.has(key)).length;
  console.error(
    `${locale}: ${keys.length - missing} of ${keys.length} messages are translated, ${missing} stay English`,
  );
  return translations;
}

/** Builds the console in a language: `en` unchanged, `pseudo` with accents, others by the catalog `console/strings/LOCALE.json`. */
export function strings(locale: string): Plugin {
  const tag = locale === PSEUDO ? 'en-x-pseudo' : locale;
  let translations = new Map<string, Translation>();
  return {
    name: 'strings',
    enforce: 'pre',
    config: () => ({ define: { __CONSOLE_LOCALE__: JSON.stringify(tag) } }),
    buildStart() {
      if (locale !== 'en') translations = translationsOf(locale);
    },
    transform: {
      filter: { id: /\/console\/src\/.+\.tsx?$/ },
      handler(code, id) {
        if (locale === 'en' || !id.startsWith(sources)) return null;
        const translated = translate(
          relative(sources, id),
          code,
          (key) => translations.get(key),
          `${sources}format.ts`,
        );
        return { code: translated, map: null };
      },
    },
    transformIndexHtml: (html) => html.replace('<html lang="en">', `<html lang="${tag}">`),
  };
}
