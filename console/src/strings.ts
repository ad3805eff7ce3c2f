/** The language that this build was made for, a BCP 47 tag: `CONSOLE_LOCALE` of scripts/build-console.ts. */
declare const __CONSOLE_LOCALE__: string;
export const LOCALE = __CONSOLE_LOCALE__;

/**
 * Marks a text that people read where that can't be seen from its place: values of a table of words, constants, what a function
 * gives back. Between tags, and in the attributes, properties and functions that `console/strings/messages.ts` lists, no mark is
 * needed. A build for another language has the translation in its place; the English text must stand there itself, as a string or a
 * template: `t(\`${name} was deleted.\`)`.
 * @param _context where the same English text needs two translations: which of them this is, for translators
 */
export const t = <const Text extends string>(text: Text, _context?: string): Text => text;
