/** The language of this build, a BCP 47 tag: `CONSOLE_LOCALE` of scripts/build-console.ts. */
declare const __CONSOLE_LOCALE__: string;
export const LOCALE = __CONSOLE_LOCALE__;

/**
 * Marks a user-visible text where its position does not show that: values of a table of words, constants, return values. Between
 * tags, and in the attributes, properties and functions that `console/strings/messages.ts` lists, no mark is needed. A build for
 * another language replaces it with the translation; the English text must be written here, as a string or a template: `t(\`${name}
 * was deleted.\`)`.
 * @param _context distinguishes identical English texts that need two translations, for translators
 */
export const t = <const Text extends string>(text: Text, _context?: string): Text => text;
