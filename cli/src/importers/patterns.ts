/** Escapes a text to a pattern for the evaluator `regex` that matches only that text. */
export const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
